import pytest

from workers.codec_server.origins import NotAnOriginError, origin


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("https://temporal.example", "https://temporal.example"),
        ("https://Temporal.Example/", "https://temporal.example"),
        ("https://temporal.example:443", "https://temporal.example"),
        ("http://127.0.0.1:8233", "http://127.0.0.1:8233"),
        ("http://[::1]:8233", "http://[::1]:8233"),
    ],
)
def test_an_origin_is_written_as_a_browser_sends_it(text: str, sent: str) -> None:
    assert origin(text) == sent


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "*",
            "null",
            "temporal.example",
            "https://",
            "https://*.example",
            "https://temporal.example/ui",
        ),
        *("https://ada@temporal.example", "https://temporal.example:port", "ftp://temporal.example"),
        *("https://temporal.example?", "https://temporal.example#top", " https://temporal.example"),
    ],
)
def test_what_no_browser_would_send_is_refused(text: str) -> None:
    with pytest.raises(NotAnOriginError, match="is no origin: write scheme, host and port of the UI"):
        origin(text)

"""The pages of a browser that may ask: each named exactly, as a browser names where a page is from."""

from urllib.parse import urlsplit

_USUAL_PORTS = {"http": 80, "https": 443}


class NotAnOriginError(ValueError):
    """One sentence on what is no origin."""


def origin(text: str) -> str:
    """Give `scheme://host[:port]` in the form in which browsers send it.

    Raises:
        NotAnOriginError: it is `*`, has a path, or is no such thing at all.
    """
    wrong = f"{text!r} is no origin: write scheme, host and port of the UI, such as https://temporal.example"
    try:
        parts = urlsplit(text.removesuffix("/"))
        port = parts.port
    except ValueError:
        raise NotAnOriginError(wrong) from None
    usual = _USUAL_PORTS.get(parts.scheme)
    bare = f"{parts.scheme}://{parts.netloc}"
    host = parts.hostname
    if usual is None or not host or "*" in host or "@" in parts.netloc or bare != text.removesuffix("/"):
        raise NotAnOriginError(wrong)
    named = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{named}" + ("" if port in (None, usual) else f":{port}")

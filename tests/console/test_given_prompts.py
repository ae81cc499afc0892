import pytest

from tests.console.command import MODEL, Surefoot


@pytest.mark.parametrize(
    ("prompt", "sentence"),
    [
        pytest.param(b"", "the prompt is empty", id="nothing"),
        pytest.param(
            b"p" * (1024 * 1024 + 1), "the prompt on stdin is above the limit of 1MB", id="too much"
        ),
        pytest.param(b"a\xff", "the prompt on stdin is not UTF-8 text: byte 1 is not", id="bytes"),
    ],
)
def test_a_prompt_on_stdin_is_bounded_text(usable: Surefoot, prompt: bytes, sentence: str) -> None:
    ended = usable("run", "-", *MODEL, stdin=prompt)

    assert (ended.exit_code, ended.stdout, ended.stderr) == (2, "", f"surefoot: {sentence}\n")


def test_a_prompt_that_was_typed_is_text(usable: Surefoot) -> None:
    assert usable.refuses("run", "a\udcff", *MODEL) == "the prompt holds bytes that are no UTF-8"


def test_the_longest_prompt_is_answered(surefoot: Surefoot) -> None:
    ended = surefoot("run", "-", *MODEL, stdin=b"p" * (1024 * 1024 - 2))

    assert (ended.exit_code, ended.stdout) == (0, "Done.\n")
    assert "warning" not in ended.stderr

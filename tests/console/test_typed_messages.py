"""What is a message, of what somebody types, pastes or pipes."""

import asyncio
import os
import pty
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from console.errors import CommandError
from console.typed_messages import TypedMessages


async def piped(content: bytes) -> list[str]:
    read, write = os.pipe()
    with os.fdopen(write, "wb") as stdin:
        stdin.write(content)
    messages: list[str] = []
    with os.fdopen(read, "rb"):
        typed = TypedMessages(read, terminal=False)
        while (message := await typed.next()) is not None:
            messages.append(message)
    return messages


@pytest.mark.parametrize(
    ("content", "messages"),
    [
        pytest.param(b"", [], id="nothing"),
        pytest.param(b"one\ntwo\n", ["one", "two"], id="a line each"),
        pytest.param(b"one\r\ntwo", ["one", "two"], id="without a last end of line"),
        pytest.param(b"one\\\n two\nthree\n", ["one\n two", "three"], id="a backslash goes on"),
        pytest.param(b"one\\\n", ["one"], id="a backslash at the very end"),
        pytest.param(b"one\n\ntwo\n", ["one", "", "two"], id="an empty line"),
        pytest.param("süß\n".encode(), ["süß"], id="more than ASCII"),
        pytest.param(b"\xff\n", ["\ufffd"], id="no UTF-8"),
    ],
)
async def test_each_line_of_a_pipe_is_a_message(content: bytes, messages: list[str]) -> None:
    assert await piped(content) == messages


async def test_a_line_longer_than_any_message_is_refused(tmp_path: Path) -> None:
    (tmp_path / "long").write_text("x" * 200_000)
    with (tmp_path / "long").open("rb") as file, pytest.raises(CommandError) as refused:
        await TypedMessages(file.fileno(), terminal=False).next()

    assert refused.value.message == "a line on stdin is above the limit of 64KB"


@dataclass(frozen=True)
class Keyboard:
    keys: int
    terminal: int

    def close(self) -> None:
        os.close(self.keys)
        os.close(self.terminal)


async def test_lines_that_are_pasted_together_are_one_message_and_typed_ones_are_not() -> None:
    with closing(Keyboard(*pty.openpty())) as keyboard:
        typed = TypedMessages(keyboard.terminal, terminal=True)
        os.write(keyboard.keys, b"def f():\n    return 1\n")
        pasted = await typed.next()
        waiting = asyncio.create_task(typed.next())
        await asyncio.sleep(0)
        os.write(keyboard.keys, b"Shorter?\n")
        then = await waiting
        os.write(keyboard.keys, b"\x04")
        end = await typed.next()

    assert (pasted, then, end) == ("def f():\n    return 1", "Shorter?", None)


async def test_what_was_typed_before_a_question_is_no_reply_to_it() -> None:
    with closing(Keyboard(*pty.openpty())) as keyboard:
        typed = TypedMessages(keyboard.terminal, terminal=True)
        message = asyncio.create_task(typed.next())
        await asyncio.sleep(0)
        message.cancel()
        os.write(keyboard.keys, b"yes\nno\n")
        first = await typed.line()
        typed.forget()
        os.write(keyboard.keys, b"perhaps\nalways\n")
        lines = [first, await typed.line(), await typed.line()]

    assert lines == ["yes", "perhaps", "always"]

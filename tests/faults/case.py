"""One way in which a tool call can go, and what must come of it."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

EFFECTS = "side-effects"
"""In the run's working directory: every tool appends one line with its call's id before it does anything."""


@dataclass(frozen=True, eq=False)
class Like:
    """Equals every text that this regular expression describes from end to end."""

    pattern: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and re.fullmatch(self.pattern, other, re.DOTALL) is not None

    __hash__ = None  # pyright: ignore[reportAssignmentType]  nothing that equals many texts has one


@dataclass(frozen=True, eq=False)
class AtMost:
    """Equals every number up to this one."""

    limit: float

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int | float) and other <= self.limit

    __hash__ = None  # pyright: ignore[reportAssignmentType]  as above


Text = str | Like


@dataclass(frozen=True)
class Failure:
    """What the model is told of a call without a valid answer; the x of 'x' and DIR/x stands for the tool."""

    error_code: str
    exit_code: int | None
    error: Text
    stdout: Text = ""
    stderr: Text = ""

    def envelope(self, tool: str) -> dict[str, object]:
        """Give all six keys."""
        return {
            "tool_success": False,
            "error": _named(self.error, tool),
            "error_code": self.error_code,
            "exit_code": self.exit_code,
            "stdout": self.stdout,
            "stderr": self.stderr,
        }


@dataclass(frozen=True)
class Success:
    """What the model is told of a call that was answered; texts in `result` may be a `Like`."""

    result: object

    def envelope(self, tool: str) -> dict[str, object]:
        """Give the three keys."""
        return {"tool": tool, "tool_success": True, "result": self.result}


@dataclass(frozen=True)
class Program:
    """The file of a tool: what it holds, which may be anything, and its mode. None is a directory."""

    content: bytes | None
    mode: int = 0o755


def shell(body: str) -> Program:
    """A shell script that leaves its side effect and then does this."""
    return Program(f'#!/bin/sh\nulimit -c 0\necho "$SUREFOOT_CALL_ID" >> {EFFECTS}\n{body}\n'.encode())


def python(body: str) -> Program:
    """A Python script that leaves its side effect and then does this."""
    effect = f'open({EFFECTS!r}, "a").write(os.environ["SUREFOOT_CALL_ID"] + "\\n")'
    return Program(f"#!{sys.executable} -IS\nimport os, sys, time\n{effect}\n{body}\n".encode())


@dataclass(frozen=True)
class Case:
    """One call of one tool. Its name, in plain words, is also the tool's."""

    name: str
    program: Program | None
    """None where there is no executable: another program's tool, or one that runs elsewhere."""
    sees: Failure | Success
    params: JsonValue = field(default_factory=dict[str, JsonValue])
    manifest: Mapping[str, object] | None = field(default_factory=dict[str, object])
    """Fields beside the required ones; None where the model was never told of such a tool."""
    function: str | None = None
    """Python with a function as the tool, in place of a program and a manifest; NAME stands for its name."""
    called: str | None = None
    """The tool that is called, where it is another case's or not the case's own."""
    beforehand: str | None = None
    """Shell that the model runs in the tools' directory before the calls of any case."""
    side_effects: int = 1
    within_seconds: float = 10

    @property
    def tool(self) -> str:
        """The name by which the model calls it."""
        return self.called or re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")[:64]


def _named(text: Text, tool: str) -> Text:
    if isinstance(text, Like):
        return Like(text.pattern.replace("'x'", f"'{tool}'"))
    return text.replace("'x'", f"'{tool}'").replace("DIR/x", f"DIR/{tool}")

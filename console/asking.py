"""Asking somebody at a terminal about calls that wait for approval, while the run is shown there."""

import asyncio
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue
from temporalio.client import Client

from console.approval_text import question_lines
from console.drawing import Drawing
from console.lines import write_line
from console.open_questions import OpenQuestion, OpenQuestions
from console.safe_text import safe_line
from console.signing import signed_if_asked, why_not_signable
from console.typed_line import TypedLines
from surefoot.events import ApprovalRequested, Event
from surefoot.run import Approve, Deny
from surefoot.strict_json import NotStrictJsonError, strict_json
from workers.authority_key import AuthorityKey
from workers.deciding import decide_call
from workers.updates import UnansweredError, UpdateRefusedError

_UNEXPLAINED = "an operator said no"


@dataclass(frozen=True)
class Yes:
    """Let the call be made; with `always` all calls of its tool."""

    always: bool = False


@dataclass(frozen=True)
class No:
    """Have it not be made."""

    reason: str


class Edit:
    """Ask for other params first."""


class Reveal:
    """Show first what the tool's definition hides."""


def read_reply(text: str) -> Yes | No | Edit | Reveal | None:
    """Read what was typed: `y`, `always`, `edit`, `reveal`, `n` or `n REASON`; None for anything else."""
    word, _, rest = text.strip().partition(" ")
    match word.lower():
        case "y" | "yes" if not rest:
            return Yes()
        case "a" | "always" if not rest:
            return Yes(always=True)
        case "e" | "edit" if not rest:
            return Edit()
        case "r" | "reveal" if not rest:
            return Reveal()
        case "n" | "no" | "d" | "deny":
            return No(rest.strip() or _UNEXPLAINED)
        case _:
            return None


class Lines(Protocol):
    """What somebody types, line by line."""

    def forget(self) -> None:
        """Leave out what was typed before a question was seen: it can be no answer to it."""
        ...

    async def line(self) -> str | None:
        """Wait for a line; None at the end of the input."""
        ...


class Asker:
    """Asks about one call after the other; those that others decided about are not asked any more."""

    def __init__(
        self,
        client: Client,
        output: object,
        key: AuthorityKey | None = None,
        lines: Lines | None = None,
    ) -> None:
        """Decisions are signed with the `key`; without one, nothing is asked that would have to be.

        Replies are read from `lines`, for whoever shares the terminal; else from stdin.
        """
        self._lines = lines or TypedLines(sys.stdin.fileno())
        self._client = client
        self._key = key
        self._drawing = output if isinstance(output, Drawing) else None
        self._questions = OpenQuestions()
        self._heard = asyncio.Event()
        self._turned = asyncio.Event()
        self._ended = False
        self._prompt = ""

    def hear(self, workflow_id: str, event: Event) -> None:
        """Take note of an event of a run that was shown just now."""
        self._questions.hear(workflow_id, event)
        self._heard.set()
        self._turned.set()
        if self._prompt and self._open:
            _write(self._prompt)

    def leaves(self, asked: ApprovalRequested) -> bool:
        """Tell whether nobody is asked here about a call, though it waits."""
        return self._ended or why_not_signable(asked, self._key) is not None

    async def until(self, *, asks: bool) -> None:
        """Wait until there is something to ask, or until there is not."""
        while bool(self._open and not self._ended) is not asks:
            self._turned.clear()
            await self._turned.wait()

    async def ask(self) -> None:
        """Ask for as long as the run goes on; ends with its input."""
        try:
            await self._ask()
        finally:
            self._ended = True
            self._turned.set()

    async def _ask(self) -> None:
        while True:
            self._heard.clear()
            if not self._open:
                await self._heard.wait()
            elif not await self._about(self._open[0]):
                return

    @property
    def _open(self) -> tuple[OpenQuestion, ...]:
        waiting = self._questions.all
        return tuple(one for one in waiting if why_not_signable(one.asked, self._key) is None)

    async def _about(self, question: OpenQuestion) -> bool:
        if self._drawing is not None:
            self._drawing.hold()
        try:
            return await self._settle(question)
        finally:
            self._prompt = ""
            if self._drawing is not None:
                self._drawing.go_on()

    async def _settle(self, question: OpenQuestion) -> bool:
        """Ask until it is decided, here or elsewhere; False at the end of the input."""
        call = f"{safe_line(question.asked.tool, 64)} ({question.asked.tool_exec_id})"
        also = ", reveal" if question.asked.redact else ""
        self._lines.forget()
        while question in self._questions.all:
            line = await self._typed(f"Approve {call}? y, n REASON, always, edit{also}: ", question)
            if line is None:
                return question not in self._questions.all
            match read_reply(line):
                case Yes(always=always):
                    await self._approve(question, always=always)
                case No(reason=reason):
                    await self._deny(question, reason)
                case Edit():
                    await self._edit(question)
                case Reveal():
                    for shown in question_lines(question.asked, reveal=True):
                        write_line(sys.stderr, shown)
                case None:
                    pass
        return True

    async def _edit(self, question: OpenQuestion) -> None:
        line = await self._typed("Arguments, as one JSON object: ", question)
        if not line:
            return
        try:
            params = strict_json(line)
        except NotStrictJsonError as error:
            _say(f"they are not JSON: {error}")
        else:
            await self._approve(question, params=params)

    async def _approve(
        self, question: OpenQuestion, *, always: bool = False, params: JsonValue = None
    ) -> None:
        request = Approve(
            tool_exec_id=question.asked.tool_exec_id,
            params_sha256=question.asked.params_sha256,
            scope="run" if always else "once",
            params=params,
        )
        await self._decide(question, request)

    async def _deny(self, question: OpenQuestion, reason: str) -> None:
        request = Deny(
            tool_exec_id=question.asked.tool_exec_id,
            params_sha256=question.asked.params_sha256,
            reason=reason,
        )
        await self._decide(question, request)

    async def _decide(self, question: OpenQuestion, request: Approve | Deny) -> None:
        run = question.workflow_id
        with _told():
            request = await signed_if_asked(self._client, run, request, question.asked, self._key)
            await decide_call(self._client, run, request)
            await self._decided(question)

    async def _decided(self, question: OpenQuestion) -> None:
        """Wait until the decision is shown, so that the same is not asked again."""
        self._prompt = ""
        while question in self._questions.all:
            self._heard.clear()
            await self._heard.wait()

    async def _typed(self, prompt: str, question: OpenQuestion) -> str | None:
        """Give the line that is typed; None at the end of the input, or once others have decided."""
        self._prompt = prompt
        _write(prompt)
        typing = asyncio.create_task(self._lines.line())
        try:
            while not typing.done() and question in self._questions.all:
                self._heard.clear()
                hearing = asyncio.create_task(self._heard.wait())
                await asyncio.wait({typing, hearing}, return_when=asyncio.FIRST_COMPLETED)
                hearing.cancel()
            return typing.result() if typing.done() else None
        finally:
            typing.cancel()
            with suppress(asyncio.CancelledError):
                await typing


@contextmanager
def _told() -> Generator[None]:
    """Say what the run has against a decision."""
    try:
        yield
    except (UpdateRefusedError, UnansweredError) as error:
        _say(str(error))


def _say(line: str) -> None:
    write_line(sys.stderr, safe_line(line, 1_000))


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()

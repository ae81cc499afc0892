"""Asking somebody at a terminal about calls that wait for approval, while the run is shown there."""

import asyncio
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pydantic import JsonValue
from temporalio.client import Client

from console.lines import write_line
from console.open_questions import OpenQuestion, OpenQuestions
from console.safe_text import safe_line
from console.signing import signed_if_asked, why_not_signable
from console.typed_line import forget_typed, typed_line
from surefoot.ledger import Event
from surefoot.run import Approve, Deny
from surefoot.strict_json import NotStrictJsonError, strict_json
from workers.authority_key import AuthorityKey
from workers.deciding import decide_call
from workers.updates import UnansweredError, UpdateRefusedError

_UNEXPLAINED = "an operator said no"


@runtime_checkable
class Drawing(Protocol):
    """An output that draws at the bottom of the terminal, and can leave it to others for a while."""

    def hold(self) -> None:
        """Draw nothing until `go_on`; what happens is printed all the same."""
        ...

    def go_on(self) -> None:
        """Draw again."""
        ...


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


def read_reply(text: str) -> Yes | No | Edit | None:
    """Read what was typed: `y`, `always`, `edit`, `n` or `n REASON`; None if it is none of these."""
    word, _, rest = text.strip().partition(" ")
    match word.lower():
        case "y" | "yes" if not rest:
            return Yes()
        case "a" | "always" if not rest:
            return Yes(always=True)
        case "e" | "edit" if not rest:
            return Edit()
        case "n" | "no" | "d" | "deny":
            return No(rest.strip() or _UNEXPLAINED)
        case _:
            return None


class Asker:
    """Asks about one call after the other; those that others decided about are not asked any more."""

    def __init__(self, client: Client, output: object, key: AuthorityKey | None = None) -> None:
        """Decisions are signed with the `key`; without one, nothing is asked that would have to be."""
        self._client = client
        self._key = key
        self._drawing = output if isinstance(output, Drawing) else None
        self._questions = OpenQuestions()
        self._heard = asyncio.Event()
        self._prompt = ""

    def hear(self, workflow_id: str, event: Event) -> None:
        """Take note of an event of a run that was shown just now."""
        self._questions.hear(workflow_id, event)
        self._heard.set()
        if self._prompt and self._open:
            _write(self._prompt)

    async def ask(self) -> None:
        """Ask for as long as the run goes on; ends with its input."""
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
        forget_typed(sys.stdin.fileno())
        while question in self._questions.all:
            line = await self._typed(f"Approve {call}? y, n REASON, always, edit: ", question)
            if line is None:
                return question not in self._questions.all
            match read_reply(line):
                case Yes(always=always):
                    await self._approve(question, always=always)
                case No(reason=reason):
                    await self._deny(question, reason)
                case Edit():
                    await self._edit(question)
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
        typing = asyncio.create_task(typed_line(sys.stdin.fileno()))
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

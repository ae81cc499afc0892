"""Where agents run in tests."""

import secrets
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, TypedDict, Unpack

from temporalio.client import WorkflowHandle
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from activities.interface import LlmTurnInput
from activities.llm_turn import OpenModel
from activities.model import Model
from activities.scripted.model import ScriptedModel
from activities.scripted.script import Script
from surefoot.after_untrusted import RiskClass
from surefoot.approval import Approval
from surefoot.json_schema import JsonSchema
from surefoot.limits import Limits
from surefoot.run import WORKFLOW, ChainLimits, ModelPatience, OnApproval, Protocol, RunInput, RunResult
from surefoot.testing.cast import Cast
from surefoot.testing.clock import Clock
from surefoot.testing.executors import FakeExecutors
from surefoot.testing.fake_tool import FakeTool
from surefoot.testing.finished_run import FinishedRun
from surefoot.testing.observed_model import ModelTurn, ObservedModel
from surefoot.testing.plan import Plan
from surefoot.testing.running_run import PATIENCE, RunningRun
from surefoot.testing.server import start_test_server
from workers.environment import process_environment
from workers.settings import Settings
from workers.worker import build_worker


class RunSettings(TypedDict, total=False):
    """What else a run can be started with; the defaults are those of `surefoot run`."""

    protocol: Protocol
    system: str
    output_schema: JsonSchema
    limits: Limits
    model_patience: ModelPatience
    chain: ChainLimits
    on_approval: OnApproval
    approval_seconds: float
    approve: dict[str, Approval]
    after_untrusted: dict[RiskClass, Approval]
    network: bool


class Environment:
    """A Temporal server of its own, and the runs that were made on it."""

    def __init__(self, server: WorkflowEnvironment, directory: Path) -> None:
        """Use a server that skips time; `directory` is where workers keep files and tools on disk run."""
        self.server = server
        self.directory = directory
        self.finished: list[FinishedRun] = []
        """Every run that was awaited here, the newest last."""

    async def run(
        self,
        prompt: str,
        *,
        model: Script | Model,
        tools: Sequence[FakeTool | Path] = (),
        patience: timedelta = PATIENCE,
        **settings: Unpack[RunSettings],
    ) -> FinishedRun:
        """Run an agent to its end, however it ends.

        `tools` are fakes, and directories of tools on disk, which do run, and take real time.

        Raises:
            RunTooSlowError: the run did not end within `patience` of real time.
            ValueError: the run's input is not valid, a tool on disk is not, or two tools have one name.
        """
        async with self.running(prompt, model=model, tools=tools, **settings) as run:
            return await run.end(patience=patience)

    @asynccontextmanager
    async def running(
        self,
        prompt: str,
        *,
        model: Script | Model,
        tools: Sequence[FakeTool | Path] = (),
        **settings: Unpack[RunSettings],
    ) -> AsyncGenerator[RunningRun]:
        """Start a run and serve it; when the context is left, so is the run, wherever it stands.

        Raises:
            ValueError: as for `run`.
        """
        run = RunInput(prompt=prompt, model=_name(model), **settings)
        cast, queue = Cast.of(tools), f"run-{secrets.token_hex(4)}"
        plan, turns = Plan(cast.fakes, cast.definitions), list[ModelTurn]()
        executors = FakeExecutors(self.server.client, workflow_id=queue, plan=plan, clock=Clock(self.server))

        async def hear(turn: ModelTurn) -> None:
            turns.append(turn)
            if not turn.closing:
                await executors.attend(plan.expect(turn.reply.tool_calls, turn=turn.turn))

        def open_model(turn: LlmTurnInput, attempt: int) -> Model:
            opened = ScriptedModel(model, attempt) if isinstance(model, Script) else model
            return ObservedModel(opened, turn.turn, show=plan.message, tell=hear)

        async with executors, self._worker(queue, cast, open_model):
            handle = await self._start(run, queue)
            try:
                yield RunningRun(
                    self.server.client, handle, plan=plan, turns=turns, ended=self.finished.append
                )
            finally:
                await _leave(handle)

    def _worker(self, queue: str, cast: Cast, open_model: OpenModel) -> Worker:
        return build_worker(
            self.server.client,
            queue=queue,
            tools=cast.tools,
            directory=self.directory,
            environment=process_environment(),
            open_model=open_model,
            settings=_settings(self.directory),
        )

    async def _start(self, run: RunInput, queue: str) -> WorkflowHandle[Any, RunResult]:
        return await self.server.client.start_workflow(
            WORKFLOW, run, id=queue, task_queue=queue, result_type=RunResult
        )


async def start_environment(directory: Path) -> Environment:
    """Give an environment whose `server` is to be shut down in the end; `directory` is for its files.

    Raises:
        NoTestServerError: there is no executable for the server.
    """
    return Environment(await start_test_server(), directory)


def _settings(directory: Path) -> Settings:
    state = directory / ".surefoot"
    return Settings(state_directory=state, store=str(state / "store"))


def _name(model: Script | Model) -> str:
    return f"scripted:{model.file}" if isinstance(model, Script) else f"test:{type(model).__name__}"


async def _leave(handle: WorkflowHandle[Any, Any]) -> None:
    # One that has ended cannot be terminated, and that is well.
    with suppress(RPCError):
        await handle.terminate("its test is over")

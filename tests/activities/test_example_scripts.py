import asyncio
import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from activities.interface import ToolCallInput
from activities.scripted.model import ScriptedModel
from activities.scripted.script import load_script, parse_script
from activities.tools.discovery import discover_tools
from activities.tools.executor import ToolExecutor
from activities.tools.sources import BUILTIN_DIRECTORY
from surefoot.admission import Admitted, Refused, admit
from surefoot.conversation import AssistantMessage, Conversation, SystemMessage, ToolMessage, UserMessage
from surefoot.limits import Limits
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.spent import NOTHING_SPENT
from surefoot.turn import CallModel, Finish, RunTools, next_step

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CONVERSATIONS = ROOT / "examples/conversations"
FAILURES = ROOT / "examples/failures"
WORKDIR = CONVERSATIONS / "workdir"

BASH = (BUILTIN_DIRECTORY,)
BROKEN = (FAILURES,)


async def hold(script: Path, tools: Sequence[Path], directory: Path) -> Conversation:
    """Hold the scripted conversation with real tools, to its end."""
    found = discover_tools(tools)
    executor = ToolExecutor(found.tools, directory, os.environ)
    conversation = Conversation().append(
        SystemMessage(text="", tools=found.definitions), UserMessage(text="Go on.")
    )
    while True:
        match next_step(conversation, Limits(), NOTHING_SPENT):
            case CallModel():
                model = ScriptedModel(load_script(script))
                result = await model.reply(conversation.messages, closing=False)
                conversation = conversation.append(result.reply)
            case RunTools(calls=calls):
                checked = admit(calls, found.definitions)
                outcomes = await asyncio.gather(*(run(executor, one) for one in checked))
                messages = (
                    ToolMessage(call_id=call.id, tool=call.tool, outcome=outcome)
                    for call, outcome in zip(calls, outcomes, strict=True)
                )
                conversation = conversation.append(*messages)
            case Finish():
                return conversation
            case other:
                raise AssertionError(other)


async def run(executor: ToolExecutor, checked: Admitted | Refused) -> ToolSuccess | ToolFailure:
    match checked:
        case Refused(failure=failure):
            return failure
        case Admitted(call=call, params=params, timeout=timeout):
            return await executor.run(
                ToolCallInput(
                    tool=call.tool, params=params, call_id=call.id, timeout_seconds=timeout.total_seconds()
                )
            )


def answer(conversation: Conversation) -> str:
    last = conversation.last
    assert isinstance(last, AssistantMessage)
    return last.text


@pytest.mark.parametrize(
    ("script", "tools", "told"),
    [
        pytest.param(
            "list-files.yaml",
            BASH,
            ["- src/db.c, 924 bytes", "- src/util.c, 126 bytes", "That makes 2198 bytes"],
            id="list files",
        ),
        pytest.param(
            "missing-file.yaml",
            BASH,
            ["There is no config.json", "config.json: No such file or directory", "1. I search"],
            id="a missing file",
        ),
        pytest.param(
            "todo-count.yaml",
            BASH,
            ["hold 4 TODO comments", "- src/db.c, line 6: replace an older note", "Shall I"],
            id="count TODOs in two steps",
        ),
        pytest.param(
            "truncation.yaml",
            BASH,
            ["files are installed under /usr", "- /usr/lib: ", "Name a directory"],
            id="truncated, then narrower",
        ),
        pytest.param(
            "timeout.yaml",
            BROKEN,
            ["Tool 'slow-tool' timed out after 2s", "  Processing item 1...", "a much smaller one"],
            id="a timeout",
        ),
        pytest.param(
            "crash.yaml",
            BROKEN,
            ["Tool 'buggy-tool' crashed with exit code 139", "  Segmentation fault", "Shall we do that?"],
            id="a crash",
        ),
    ],
)
async def test_a_conversation_tells_what_was_captured_and_offers_another_way(
    script: str, tools: Sequence[Path], told: list[str]
) -> None:
    said = answer(await hold(CONVERSATIONS / script, tools, WORKDIR))
    assert [part for part in told if part not in said] == []


@pytest.mark.parametrize(
    ("script", "tools", "told"),
    [
        pytest.param("list-files.yaml", BASH, "I could not list src/", id="no directory to list"),
        pytest.param("list-files.yaml", BROKEN, "There is no tool 'bash'", id="no tool to list with"),
        pytest.param("missing-file.yaml", BASH, "This is config.json:\n\n{}", id="a file that is there"),
        pytest.param("todo-count.yaml", BASH, "The search went wrong", id="no directory to search"),
        pytest.param("timeout.yaml", BASH, "The batch was not processed", id="no tool that is slow"),
        pytest.param("crash.yaml", BASH, "I have no number for you", id="no tool that crashes"),
    ],
)
async def test_the_same_script_says_something_else_where_things_are_otherwise(
    tmp_path: Path, script: str, tools: Sequence[Path], told: str
) -> None:
    (tmp_path / "config.json").write_text("{}\n")
    said = answer(await hold(CONVERSATIONS / script, tools, tmp_path))
    assert told in said


async def test_the_demo_meets_every_failure_and_tells_what_it_found() -> None:
    conversation = await hold(FAILURES / "demo.yaml", (*BASH, *BROKEN), ROOT)
    outcomes = [message.outcome for message in conversation.messages if isinstance(message, ToolMessage)]
    codes = {outcome.error_code for outcome in outcomes if isinstance(outcome, ToolFailure)}
    said = answer(conversation)
    assert codes == {"TOOL_NOT_FOUND", "INVALID_PARAMS", "TOOL_TIMEOUT", "TOOL_CRASHED", "INVALID_OUTPUT"}
    assert [code for code in codes if code not in said] == []


async def test_the_demo_says_so_where_there_is_nothing_to_take_stock_of(tmp_path: Path) -> None:
    said = answer(await hold(FAILURES / "demo.yaml", (*BASH, *BROKEN), tmp_path))
    assert said == "There is no Python here. Start me in the root of Surefoot's repository."


def test_every_script_of_the_manual_is_one() -> None:
    manual = (ROOT / "docs/scripted-model.md").read_bytes()
    blocks = re.findall(rb"```yaml\n(.*?)```", manual, re.DOTALL)
    scripts = [parse_script(block, file="scripted-model.md") for block in blocks]
    assert [len(script.steps) for script in scripts] == [2, 2, 2, 2]

"""One call of an isolated function, in a process of its own: `child ADDRESS PARAMS`.

The answer alone goes to stdout; whatever else is written there goes to stderr.
"""

import asyncio
import importlib
import os
import sys
import traceback
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, cast

from activities.tools.environment import ARTIFACTS_DIRECTORY, CALL_ID
from activities.tools.functions.address import Address
from activities.tools.functions.modules import import_file
from surefoot.current_call import CURRENT_CALL, CurrentCall
from surefoot.function_answer import NoAnswerError, answer_json, answer_to, failed_answer
from surefoot.function_definition import FunctionTool, describe
from surefoot.function_tool import decorated
from surefoot.strict_json import strict_json


def main() -> None:
    """Answer the call and end, whatever the function has left running."""
    answer, process = os.dup(1), os.getpid()
    os.dup2(2, 1)
    address, params = sys.argv[1:]
    given: Any = strict_json(sys.stdin.buffer.read() if params == "-" else params)
    CURRENT_CALL.set(_current())
    text = _answer(_tool(Address.from_json(address)), given)
    sys.stdout.flush()
    sys.stderr.flush()
    if os.getpid() == process:
        with os.fdopen(answer, "wb") as stdout:
            stdout.write(text.encode("utf-8", "surrogatepass"))
    os._exit(0)


def _tool(address: Address) -> FunctionTool:
    sys.path[:] = address.search
    if address.file is None:
        module = importlib.import_module(address.module)
    else:
        module = import_file(Path(address.file))
    recorded = decorated(address.find(module))
    described = None if recorded is None else describe(recorded)
    if described is None or described.tool is None:
        raise SystemExit(f"{address.name} in {address.file or address.module} is no tool any more")
    return described.tool


def _answer(tool: FunctionTool, params: dict[str, Any]) -> str:
    try:
        value = _call(tool, params)
    except Exception as error:  # noqa: BLE001  the contract: the model is told, and decides
        traceback.print_exc()
        given = tool.parameters.with_defaults(params)
        return answer_json(failed_answer(error, tool.form, given))
    try:
        return answer_json(answer_to(value, tool.form))
    except NoAnswerError as error:
        sys.stderr.write(f"what it returned is no JSON: {error}\n")
        return ""


def _call(tool: FunctionTool, params: dict[str, Any]) -> object:
    value: object = tool.function(**tool.parameters.arguments(params))
    if isinstance(value, Awaitable):
        return asyncio.run(_awaited(cast(Awaitable[object], value)))
    return value


async def _awaited(value: Awaitable[object]) -> object:
    return await value


def _current() -> CurrentCall:
    artifacts = os.environ.get(ARTIFACTS_DIRECTORY)
    return CurrentCall(
        id=os.environ.get(CALL_ID, ""),
        directory=Path.cwd(),
        timeout_seconds=float(os.environ.get("SUREFOOT_TIMEOUT_SECONDS", "0")),
        artifacts=None if artifacts is None else Path(artifacts),
    )


if __name__ == "__main__":
    main()

"""What a run answered, as the tool that it was called as."""

from pydantic import JsonValue

from surefoot.outcome import ToolSuccess
from surefoot.room_in_json import ends_in_json
from surefoot.run import RunResult
from surefoot.strict_json import json_bytes


def agent_answer(tool: str, result: RunResult, *, output: bool, limit_bytes: int, run: str) -> ToolSuccess:
    """Give what the caller's model reads: how the run ended, and its answer within `limit_bytes` of JSON.

    `output` is whether the agent's answers are structured. `run` is the id of the run, which has the whole
    answer in its history.
    """
    told: dict[str, JsonValue] = {
        "status": result.status,
        "answer": result.answer,
        "reason": result.reason,
        "turns": result.turns,
        **({"output": result.output} if output else {}),
    }
    if json_bytes(told) > limit_bytes:
        told = _cut(told, result.answer, limit_bytes, f"`surefoot show {run}` prints the whole answer")
    return ToolSuccess(tool=tool, result=told)


def _cut(told: dict[str, JsonValue], answer: str, limit_bytes: int, where: str) -> dict[str, JsonValue]:
    """Shorten the text; a value that it stands for would not be one any more, and is left out."""
    rest = {key: value for key, value in told.items() if key != "output"}
    rest |= {"answer": "", "truncated": True, "note": where}
    room_in_json = limit_bytes - json_bytes(rest)
    return {**rest, "answer": ends_in_json(answer, limit_bytes=limit_bytes, room_in_json=room_in_json)}

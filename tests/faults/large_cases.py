"""The rows of the fault suite for calls that ask for too much: refused before anything is scheduled."""

from pydantic import JsonValue

from tests.faults.case import Case, Failure, Success, shell

BULK = "bulk"
"""The tool whose answer, this many characters, a model repeats in the params that are too large."""
BULK_CHARACTERS = 200_000

WHOLE = {"result": 1024 * 1024}
"""The limits of a tool whose answers the model gets whole."""

_MANY = 45_000


def _given(times: int) -> dict[str, JsonValue]:
    return {"text": "{{bulk.result}}" * times}


def _too_large(name: str, times: int, said: str) -> Case:
    return Case(
        name,
        shell("echo true"),
        Failure("INPUT_TOO_LARGE", None, f"Tool 'x' was not called: {said}"),
        _given(times),
        side_effects=0,
    )


SINGLE_INPUT = (
    _too_large("is called with 1.2 MB", 6, "its params are 1,200,012 bytes, above the limit of 1MB"),
)

INPUTS_OF_A_TURN = (
    Case("is called with 0.8 MB", shell("echo true"), Success(True), _given(4)),
    _too_large(
        "is called with another 0.8 MB",
        4,
        "its params and those of this turn's calls before it are 1,600,024 bytes, above the limit of 1536KB",
    ),
)


def _exclusive(name: str, sees: Failure | Success, *, side_effects: int) -> Case:
    answers = shell(f"printf '[0'; head -c {_MANY - 1} /dev/zero | sed 's/\\x00/,0/g'; printf ']'")
    return Case(name, answers, sees, manifest={"exclusive": True, "limits": WHOLE}, side_effects=side_effects)


ANSWERS_OF_A_TURN = (
    *(
        _exclusive(f"answers with 45,000 values, call {number}", Success([0] * _MANY), side_effects=1)
        for number in range(1, 6)
    ),
    _exclusive(
        "comes after 225,000 values",
        Failure(
            "LIMIT_REACHED",
            None,
            "Tool 'x' was not called: this turn's answers hold 200,000 values already; ask for less at once",
        ),
        side_effects=0,
    ),
)

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import failures
from surefoot.failures import Captured, acted, seconds
from surefoot.outcome import ERROR_CODES, REPORTABLE, Acted, ErrorCode, ToolFailure

SHOWN = Captured("out", "err")
MIB = 1024 * 1024


def failure(code: ErrorCode, error: str, exit_code: int | None, shown: Captured = SHOWN) -> ToolFailure:
    return ToolFailure(
        error=error, error_code=code, exit_code=exit_code, stdout=shown.stdout, stderr=shown.stderr
    )


NOTHING = Captured()
TABLE: list[tuple[str, ToolFailure, ToolFailure, Acted]] = [
    (
        "ran past its timeout",
        failures.timed_out("x", timedelta(seconds=30), SHOWN),
        failure("TOOL_TIMEOUT", "Tool 'x' timed out after 30s", None),
        "unknown",
    ),
    (
        "exit code not 0, or killed by a signal",
        failures.crashed("x", 139, SHOWN),
        failure("TOOL_CRASHED", "Tool 'x' crashed with exit code 139", 139),
        "unknown",
    ),
    (
        "could not be started: not executable",
        failures.not_started("x", 126, "/tools/x is not executable (chmod +x)"),
        failure(
            "TOOL_CRASHED",
            "Tool 'x' could not be started: /tools/x is not executable (chmod +x)",
            126,
            NOTHING,
        ),
        "no",
    ),
    (
        "could not be started: no interpreter",
        failures.not_started("x", 127, "its interpreter '/no' was not found"),
        failure(
            "TOOL_CRASHED", "Tool 'x' could not be started: its interpreter '/no' was not found", 127, NOTHING
        ),
        "no",
    ),
    (
        "an in-process tool raised",
        failures.raised("x", "KeyError: 'a'", SHOWN),
        failure("TOOL_CRASHED", "Tool 'x' crashed: KeyError: 'a'", None),
        "unknown",
    ),
    (
        "an in-process tool raised words of ours",
        failures.raised("x", "OSError: the database could not be started: no disk", SHOWN),
        failure(
            "TOOL_CRASHED", "Tool 'x' crashed: OSError: the database could not be started: no disk", None
        ),
        "unknown",
    ),
    (
        "stdout is not JSON",
        failures.invalid_json("x", SHOWN),
        failure("INVALID_OUTPUT", "Tool 'x' returned invalid JSON", 0),
        "unknown",
    ),
    (
        "not what its outputSchema says",
        failures.schema_mismatch("x", ["a: required, and missing", "b: is not allowed"], SHOWN, exit_code=0),
        failure(
            "INVALID_OUTPUT",
            "Tool 'x' returned JSON that does not match its output schema: "
            "a: required, and missing; b: is not allowed",
            0,
        ),
        "unknown",
    ),
    (
        "not what its outputSchema says, from an executor",
        failures.schema_mismatch("x", ["a: is not allowed"], SHOWN, exit_code=None),
        failure(
            "INVALID_OUTPUT",
            "Tool 'x' returned JSON that does not match its output schema: a: is not allowed",
            None,
        ),
        "unknown",
    ),
    (
        "an executor's answer cannot be decoded",
        failures.undecodable("x", "its encoding is none, and not json/plain", SHOWN),
        failure(
            "INVALID_OUTPUT",
            "Tool 'x' returned an answer that cannot be decoded: its encoding is none, and not json/plain",
            None,
        ),
        "unknown",
    ),
    (
        "answer over the size cap",
        failures.output_too_large("x", SHOWN, size_bytes=2_000_000, exit_code=0),
        failure(
            "OUTPUT_TOO_LARGE",
            "Tool 'x' returned an answer of 2,000,000 bytes above the limit of 1MB; ask for less at once",
            0,
        ),
        "unknown",
    ),
    (
        "answer that the server found too large",
        failures.output_too_large("x"),
        failure(
            "OUTPUT_TOO_LARGE",
            "Tool 'x' returned an answer above the limit of 1MB; ask for less at once",
            None,
            NOTHING,
        ),
        "unknown",
    ),
    (
        "something that the SDK or the server would not carry",
        failures.sent_too_much("x", SHOWN),
        failure(
            "OUTPUT_TOO_LARGE",
            "Tool 'x' sent more than fits an answer, a failure or a heartbeat; ask for less at once",
            None,
        ),
        "unknown",
    ),
    (
        "answer of too many values",
        failures.too_many_values("x", SHOWN, exit_code=0),
        failure(
            "OUTPUT_TOO_LARGE",
            "Tool 'x' returned an answer of more than 50,000 values; ask for less at once",
            0,
        ),
        "unknown",
    ),
    (
        "params over the size cap",
        failures.input_too_large("x", size_bytes=2_000_000, limit_bytes=MIB, of="its params"),
        failure(
            "INPUT_TOO_LARGE",
            "Tool 'x' was not called: its params are 2,000,000 bytes, above the limit of 1MB",
            None,
            NOTHING,
        ),
        "no",
    ),
    (
        "no executor picked it up",
        failures.not_picked_up("x", timedelta(seconds=60), queue="gpu", reason="no executor took it in time"),
        failure(
            "TOOL_INVOCATION_TIMEOUT",
            "Tool 'x' was not picked up within 60s on 'gpu': no executor took it in time",
            None,
            NOTHING,
        ),
        "no",
    ),
    (
        "its worker died",
        failures.lost("x", SHOWN),
        failure(
            "TOOL_LOST",
            "Tool 'x' was lost: its worker stopped answering; it may or may not have taken effect",
            None,
        ),
        "unknown",
    ),
    (
        "its worker was shut down",
        failures.interrupted("x", SHOWN),
        failure(
            "TOOL_INTERRUPTED",
            "Tool 'x' was interrupted: its worker was shut down before it finished; "
            "it may or may not have taken effect",
            None,
        ),
        "unknown",
    ),
    (
        "an operator cancelled it",
        failures.cancelled("x", SHOWN),
        failure("TOOL_CANCELLED", "Tool 'x' was cancelled by an operator", None),
        "unknown",
    ),
    (
        "approval refused",
        failures.denied("x", "not on a Friday"),
        failure(
            "TOOL_DENIED", "Tool 'x' was not called, it was not approved: not on a Friday", None, NOTHING
        ),
        "no",
    ),
    (
        "a limit was reached before the call",
        failures.limit_reached("x", "the limit of 3 turns is reached"),
        failure("LIMIT_REACHED", "Tool 'x' was not called: the limit of 3 turns is reached", None, NOTHING),
        "no",
    ),
    (
        "no such tool for the model",
        failures.not_found("bahs", ["bash", "grep"]),
        failure("TOOL_NOT_FOUND", "There is no tool 'bahs'; did you mean 'bash'?", None, NOTHING),
        "no",
    ),
    (
        "no such tool on that executor",
        failures.not_found_on_executor("x"),
        failure(
            "TOOL_NOT_FOUND", "Tool 'x' is not known to the executor that was asked for it", None, NOTHING
        ),
        "no",
    ),
    (
        "params fail the schema",
        failures.invalid_params("x", ["a: required, and missing", "b: is not allowed"]),
        failure(
            "INVALID_PARAMS",
            "Tool 'x' was not called, its params are invalid: a: required, and missing; b: is not allowed",
            None,
            NOTHING,
        ),
        "no",
    ),
]


@pytest.mark.parametrize(("told", "expected", "effect"), [pytest.param(*row[1:], id=row[0]) for row in TABLE])
def test_every_way_to_fail_has_its_fixed_text_its_exit_code_and_its_effect(
    told: ToolFailure, expected: ToolFailure, effect: Acted
) -> None:
    assert (told, acted(told)) == (expected, effect)


def test_no_error_code_lacks_a_row() -> None:
    assert {told.error_code for _, told, _, _ in TABLE} == ERROR_CODES


def test_a_call_that_no_executor_took_had_no_effect() -> None:
    assert acted(failures.cancelled("x"), started=False) == "no"


@pytest.mark.parametrize("code", [pytest.param(code, id=code) for code in sorted(REPORTABLE)])
def test_what_an_executor_may_report_is_passed_on(code: ErrorCode) -> None:
    told = failures.reported("x", code, "it says so", SHOWN, exit_code=3)
    assert told == failure(code, "it says so", 3)


NEVER_GIVEN: list[ErrorCode] = ["TOOL_DENIED", "LIMIT_REACHED", "TOOL_INVOCATION_TIMEOUT"]


@pytest.mark.parametrize("code", [pytest.param(code, id=code) for code in NEVER_GIVEN])
def test_an_executor_cannot_claim_that_it_was_never_given_the_call(code: ErrorCode) -> None:
    told = failures.reported("x", code, "not on a Friday", SHOWN, exit_code=3)

    text = (
        f"Tool 'x' crashed: it may or may not have taken effect; its executor claimed {code}: not on a Friday"
    )
    assert (told, acted(told)) == (failure("TOOL_CRASHED", text, 3), "unknown")


@pytest.mark.parametrize(
    ("exit_code", "shown", "effect"),
    [
        pytest.param(126, NOTHING, "no", id="not executable"),
        pytest.param(127, NOTHING, "no", id="something is missing"),
        pytest.param(None, NOTHING, "unknown", id="no exit code"),
        pytest.param(1, NOTHING, "unknown", id="another exit code"),
        pytest.param(126, Captured(stdout="out"), "unknown", id="with output"),
        pytest.param(127, Captured(stderr="err"), "unknown", id="with words on stderr"),
    ],
)
def test_only_an_exit_code_proves_that_a_tool_could_not_be_started(
    exit_code: int | None, shown: Captured, effect: Acted
) -> None:
    claim = "Tool 'x' could not be started: no disk"

    told = failures.reported("x", "TOOL_CRASHED", claim, shown, exit_code=exit_code)

    doubted = f"Tool 'x' crashed: it may or may not have taken effect; its executor said: {claim}"
    text = claim if effect == "no" else doubted
    assert (told, acted(told)) == (failure("TOOL_CRASHED", text, exit_code, shown), effect)


@pytest.mark.parametrize(
    ("tool", "known", "error"),
    [
        pytest.param("bash", [], "There is no tool 'bash'; there are no tools", id="no tools at all"),
        pytest.param("bahs", ["bash"], "There is no tool 'bahs'; did you mean 'bash'?", id="a slip"),
        pytest.param(
            "read-file",
            ["read_file", "read_files", "write_file"],
            "There is no tool 'read-file'; did you mean 'read_file' or 'read_files' or 'write_file'?",
            id="several that are close",
        ),
        pytest.param(
            "zzz", ["a", "b"], "There is no tool 'zzz'; the tools are: a, b", id="none that is close"
        ),
        pytest.param("", ["a"], "There is no tool ''; the tools are: a", id="no name"),
        pytest.param(
            "it's\n", ["a"], "There is no tool 'it's\n'; the tools are: a", id="quotes and line breaks"
        ),
        pytest.param("\ud800", ["a"], "There is no tool '?'; the tools are: a", id="a lone surrogate"),
        pytest.param(
            "x" * 500_000, ["bash"], f"There is no tool '{'x' * 64}'; the tools are: bash", id="a huge name"
        ),
    ],
)
def test_an_unknown_tool_is_answered_with_those_that_there_are(
    tool: str, known: list[str], error: str
) -> None:
    assert failures.not_found(tool, known).error == error


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        pytest.param(timedelta(seconds=30), "30s", id="whole seconds"),
        pytest.param(timedelta(seconds=1.5), "1.5s", id="half seconds"),
        pytest.param(timedelta(milliseconds=1), "0.001s", id="a millisecond"),
        pytest.param(timedelta(0), "0s", id="nothing"),
        pytest.param(timedelta(days=1, seconds=5, milliseconds=250), "86405.25s", id="more than a day"),
        pytest.param(timedelta(days=30), "2592000s", id="a month"),
    ],
)
def test_durations_are_printed_in_seconds(duration: timedelta, text: str) -> None:
    assert seconds(duration) == text


ANY_TEXT = st.text(st.characters(), max_size=10).flatmap(
    lambda text: st.integers(0, 400).map(lambda times: text * times)
)


@given(tool=ANY_TEXT, reason=ANY_TEXT)
def test_no_error_is_longer_than_two_kilobytes(tool: str, reason: str) -> None:
    told = [
        failures.timed_out(tool, timedelta(seconds=1)),
        failures.not_started(tool, 126, reason),
        failures.raised(tool, reason),
        failures.schema_mismatch(tool, [reason] * 3, SHOWN, exit_code=0),
        failures.undecodable(tool, reason),
        failures.not_picked_up(tool, timedelta(seconds=1), queue=reason, reason=reason),
        failures.denied(tool, reason),
        failures.limit_reached(tool, reason),
        failures.not_found(tool, [reason] * 100),
        failures.invalid_params(tool, [reason] * 3),
        failures.reported(tool, "TOOL_LOST", reason),
        failures.reported(tool, "TOOL_DENIED", reason),
    ]
    assert max(len(one.error.encode()) for one in told) <= 2048


def test_an_error_that_is_too_long_keeps_its_beginning() -> None:
    told = failures.raised("x", "é" * 2_000)
    assert told.error == f"Tool 'x' crashed: {'é' * 1_013}…"

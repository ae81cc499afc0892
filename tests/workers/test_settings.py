from datetime import timedelta
from pathlib import Path

import pytest

from workers.settings import Settings, SettingsError, load_settings


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        pytest.param(
            {"XDG_STATE_HOME": "/srv/state"}, Path("/srv/state/surefoot"), id="under XDG_STATE_HOME"
        ),
        pytest.param({"XDG_STATE_HOME": ""}, Path("/home/ada/.local/state/surefoot"), id="under the home"),
        pytest.param(
            {"XDG_STATE_HOME": "state"},
            Path("/home/ada/.local/state/surefoot"),
            id="a relative one does not count",
        ),
        pytest.param({"SUREFOOT_STATE_DIRECTORY": "~/mine"}, Path("/home/ada/mine"), id="its own variable"),
    ],
)
def test_the_state_directory_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: Path
) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.delenv("SUREFOOT_STATE_DIRECTORY", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert load_settings().state_directory == expected


def test_durations_are_read_as_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFOOT_TOOL_GRACE", "2.5")

    assert load_settings().tool_grace == timedelta(seconds=2.5)


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFOOT_TASK_QUEUE", "")

    assert load_settings().task_queue == "surefoot"


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        pytest.param("TOOL_GRACE", "soon", "it must be a number of seconds", id="not a number"),
        pytest.param("TOOL_GRACE", "nan", "it must be a number of seconds", id="not a number at all"),
        pytest.param("TOOL_GRACE", "1e300", "it must be a number of seconds", id="beyond every calendar"),
        pytest.param("TOOL_GRACE", "-1", "it must be between 0 seconds and a year", id="negative"),
        pytest.param("TOOL_GRACE", "0", "it must be more than 0 seconds", id="zero"),
        pytest.param(
            "STATE_DIRECTORY",
            "/a?b",
            "it must be a path without '?', '#' and '%'",
            id="a path that SQLite misreads",
        ),
        *(
            pytest.param(
                "METRICS_ADDRESS",
                address,
                "it must be an IP address and a port, such as 127.0.0.1:9464",
                id=f"a metrics address {why}",
            )
            for address, why in [
                ("localhost:9464", "with a name"),
                ("9464", "without an IP address"),
                ("127.0.0.1", "without a port"),
                ("127.0.0.1:70000", "with a port that there is not"),
            ]
        ),
    ],
)
def test_a_bad_variable_is_named_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(f"SUREFOOT_{name}", value)

    with pytest.raises(SettingsError) as caught:
        load_settings()

    assert str(caught.value) == f"SUREFOOT_{name} is {value!r}: {sentence}"


def test_every_bad_variable_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFOOT_TOOL_GRACE", "soon")
    monkeypatch.setenv("SUREFOOT_MAX_CONCURRENT_ACTIVITIES", "many")

    with pytest.raises(SettingsError, match=r"TOOL_GRACE.*; SUREFOOT_MAX_CONCURRENT_ACTIVITIES is 'many'"):
        load_settings()


def test_the_model_patience_of_a_run_is_given_in_seconds() -> None:
    patience = Settings(model_total_timeout=timedelta(hours=1)).model_patience()

    assert (patience.attempt_seconds, patience.longest_pause_seconds, patience.total_seconds) == (
        600,
        300,
        3600,
    )

from datetime import timedelta

import pytest

from activities.tools.environment import tool_environment


def test_only_what_is_known_to_be_harmless_is_passed_on() -> None:
    base = {
        "PATH": "/bin",
        "LC_TIME": "C",
        "ANTHROPIC_API_KEY": "secret",
        "HTTPS_PROXY": "http://user:secret@proxy",
        "SSH_AUTH_SOCK": "/run/agent",
        "SUREFOOT_CALL_ID": "another run's",
        "LD_PRELOAD": "/lib/x.so",
    }
    assert tool_environment(base, call_id="run/1-1", timeout=timedelta(seconds=30)) == {
        "PATH": "/bin",
        "LC_TIME": "C",
        "SUREFOOT_CALL_ID": "run/1-1",
        "SUREFOOT_TIMEOUT_SECONDS": "30",
    }


@pytest.mark.parametrize(
    ("seconds", "printed"), [(30, "30"), (1.5, "1.5"), (86_400, "86400"), (0.25, "0.25"), (100, "100")]
)
def test_a_tool_is_told_its_timeout_in_seconds(seconds: float, printed: str) -> None:
    environment = tool_environment({}, call_id="", timeout=timedelta(seconds=seconds))
    assert environment["SUREFOOT_TIMEOUT_SECONDS"] == printed

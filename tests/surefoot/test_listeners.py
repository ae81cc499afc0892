import pytest

from surefoot.listeners import QueueListeners, why_not_picked_up


@pytest.mark.parametrize(
    ("listeners", "reason"),
    [
        pytest.param(None, "no executor took it in time", id="the server cannot tell"),
        pytest.param(QueueListeners(recent=0), "nobody listens on this queue", id="nobody"),
        pytest.param(
            QueueListeners(recent=0, silent_seconds=95.4),
            "nobody has asked for work for 95s: its listeners are gone or busy with long calls",
            id="nobody lately",
        ),
        pytest.param(
            QueueListeners(recent=1, silent_seconds=3),
            "its only listener is busy, or went away within the last 70s",
            id="one",
        ),
        pytest.param(
            QueueListeners(recent=12, silent_seconds=0),
            "all of its 12 listeners are busy, or went away within the last 70s",
            id="many",
        ),
    ],
)
def test_who_listens_says_why_nobody_took_a_call(listeners: QueueListeners | None, reason: str) -> None:
    assert why_not_picked_up(listeners) == reason

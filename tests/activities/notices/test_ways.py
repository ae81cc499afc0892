"""Notices to a real command, and to a real server."""

import hashlib
import hmac
import os
from pathlib import Path

import pytest

from activities.notices.command import ByCommand
from activities.notices.notify import NotDeliveredError
from activities.notices.webhook import SIGNATURE, ByUrl
from tests.activities.notices.listener import Listener

DOCUMENT = b'{"what":"ended"}'


def by(directory: Path, *arguments: str) -> ByCommand:
    return ByCommand(arguments, directory, {"PATH": os.environ["PATH"], "OPENAI_API_KEY": "sk-1"})


async def test_a_command_reads_the_notice_and_sees_no_key(tmp_path: Path) -> None:
    script = 'cat > told; printf "%s" "$0 ${OPENAI_API_KEY-none}" >> told'

    await by(tmp_path, "sh", "-c", script, "first").tell(DOCUMENT)

    assert (tmp_path / "told").read_bytes() == DOCUMENT + b"\nfirst none"


@pytest.mark.parametrize(
    ("arguments", "reason", "final"),
    [
        pytest.param(
            ("sh", "-c", "cat >&2; exit 3"), '\'sh\' exited with 3: {"what":"ended"}', False, id="it fails"
        ),
        pytest.param(("sh", "-c", "exit 3"), "'sh' exited with 3", False, id="it fails and says nothing"),
        pytest.param(
            ("no-such-program",),
            "there is no program 'no-such-program' that can be started",
            True,
            id="it does not exist",
        ),
    ],
)
async def test_a_command_that_fails_says_how(
    tmp_path: Path, arguments: tuple[str, ...], reason: str, final: bool
) -> None:
    with pytest.raises(NotDeliveredError) as caught:
        await by(tmp_path, *arguments).tell(DOCUMENT)

    assert (str(caught.value), caught.value.final) == (reason, final)


async def test_a_command_leaves_nothing_behind(tmp_path: Path) -> None:
    await by(tmp_path, "sh", "-c", "setsid sleep 60 & echo $! > pid").tell(DOCUMENT)
    process = int((tmp_path / "pid").read_text())

    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


async def test_a_server_gets_the_notice_as_json_and_its_signature() -> None:
    with Listener(204) as listener:
        await ByUrl(listener.url, "a secret").tell(DOCUMENT)

    digest = hmac.new(b"a secret", DOCUMENT, hashlib.sha256).hexdigest()
    ((headers, body),) = listener.posted
    assert (body, headers["content-type"], headers[SIGNATURE.lower()]) == (
        DOCUMENT,
        "application/json",
        f"sha256={digest}",
    )


async def test_without_a_secret_nothing_is_signed() -> None:
    with Listener(200) as listener:
        await ByUrl(listener.url).tell(DOCUMENT)

    ((headers, _),) = listener.posted
    assert SIGNATURE.lower() not in headers


@pytest.mark.parametrize(
    ("status", "final"),
    [
        pytest.param(500, False, id="the server fails"),
        pytest.param(429, False, id="there are too many"),
        pytest.param(404, True, id="nothing is there"),
        pytest.param(302, True, id="it is elsewhere"),
    ],
)
async def test_a_server_that_does_not_take_it_says_how(status: int, final: bool) -> None:
    with Listener(status) as listener, pytest.raises(NotDeliveredError) as caught:
        await ByUrl(listener.url).tell(DOCUMENT)

    assert (str(caught.value), caught.value.final) == (f"the server answered {status}", final)


async def test_a_server_that_is_away_is_asked_again() -> None:
    with Listener(200) as listener:
        url = listener.url

    with pytest.raises(NotDeliveredError, match=r"^no answer: ") as caught:
        await ByUrl(url).tell(DOCUMENT)

    assert not caught.value.final

import socket
from collections.abc import Generator
from pathlib import Path

import pytest

from workers.server_ports import (
    PortTakenError,
    ServerPorts,
    WantedPorts,
    choose_ports,
    free_port,
    last_ports,
    remember_ports,
)
from workers.state_directory import StateDirectory


@pytest.fixture
def taken() -> Generator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_ports_that_are_asked_for_are_given() -> None:
    port, ui_port = free_port(), free_port()

    chosen = choose_ports(WantedPorts(port=port, ui_port=ui_port), last=None)

    assert chosen == ServerPorts(port=port, ui_port=ui_port)


def test_whoever_stays_gets_the_last_ports() -> None:
    last = ServerPorts(port=free_port(), ui_port=free_port())

    assert choose_ports(WantedPorts(stay=True), last=last) == last


def test_the_ui_gets_somebody_to_ask_where_there_are_keys() -> None:
    last = ServerPorts(port=free_port(), ui_port=free_port(), codec_port=free_port())

    assert choose_ports(WantedPorts(stay=True, codec=True), last=last) == last
    assert choose_ports(WantedPorts(stay=True), last=last).codec_port is None


def test_who_answered_the_ui_of_the_last_server_goes_on_answering(taken: int) -> None:
    last = ServerPorts(port=free_port(), ui_port=free_port(), codec_port=taken)

    assert choose_ports(WantedPorts(stay=True, codec=True), last=last).codec_port == taken


def listener_two_above(port: int) -> socket.socket | None:
    try:
        return socket.create_server(("127.0.0.1", port + 2))
    except (OSError, OverflowError):
        return None


def test_the_ui_of_a_first_server_asks_on_a_port_that_is_free() -> None:
    ui_port, listener = next(
        (port, listener)
        for port in (free_port() for _ in range(100))
        if (listener := listener_two_above(port)) is not None
    )
    with listener:
        beside = choose_ports(WantedPorts(ui_port=ui_port, codec=True), last=None)
    after = choose_ports(WantedPorts(ui_port=ui_port, codec=True), last=None)

    assert beside.codec_port not in (None, beside.port, ui_port, ui_port + 2)
    assert after.codec_port == ui_port + 2


def test_a_last_port_that_is_taken_by_now_is_passed_over(taken: int) -> None:
    last = ServerPorts(port=taken, ui_port=taken)

    chosen = choose_ports(WantedPorts(stay=True), last=last)

    assert taken not in (chosen.port, chosen.ui_port)


def test_the_ui_does_not_get_the_port_that_the_server_was_asked_for() -> None:
    last = ServerPorts(port=free_port(), ui_port=free_port())

    chosen = choose_ports(WantedPorts(port=last.ui_port, stay=True), last=last)

    assert chosen.port != chosen.ui_port


def test_a_port_that_is_asked_for_and_taken_is_one_sentence(taken: int) -> None:
    with pytest.raises(PortTakenError) as caught:
        choose_ports(WantedPorts(port=taken), last=None)

    assert (caught.value.port, str(caught.value)) == (
        taken,
        f"port {taken} cannot be used: Address already in use",
    )


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        pytest.param(WantedPorts(port=70_000), "ports end at 65535", id="no such port"),
        pytest.param(WantedPorts(ui_port=70_000), "ports end at 65535", id="no such port for the UI"),
    ],
)
def test_a_port_that_cannot_be_is_one_sentence(wanted: WantedPorts, reason: str) -> None:
    with pytest.raises(PortTakenError, match=f"port 70000 cannot be used: {reason}"):
        choose_ports(wanted, last=None)


def test_one_port_for_both_is_refused() -> None:
    port = free_port()

    with pytest.raises(PortTakenError, match="the server and its UI need a port each"):
        choose_ports(WantedPorts(port=port, ui_port=port), last=None)


@pytest.mark.parametrize("content", ["", "{}", '{"port": "x", "ui_port": 1}'])
def test_a_damaged_record_of_ports_counts_as_none(tmp_path: Path, content: str) -> None:
    state = StateDirectory.open(tmp_path)
    state.server_ports.write_text(content)

    assert last_ports(state) is None


def test_ports_are_remembered(tmp_path: Path) -> None:
    state = StateDirectory.open(tmp_path)
    before = last_ports(state)

    remember_ports(state, ServerPorts(port=1, ui_port=2))

    assert (before, last_ports(state)) == (None, ServerPorts(port=1, ui_port=2))

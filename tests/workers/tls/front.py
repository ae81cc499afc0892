"""A server that speaks TLS, wants a client certificate, and passes on what it is told to a plain one."""

import socket
import ssl
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress

from tests.workers.tls.authority import Authority, Pair

_PATIENCE_SECONDS = 5


@contextmanager
def tls_front(
    backend: str,
    own: Pair,
    *,
    trusting: Authority | None = None,
    newest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3,
) -> Generator[str]:
    """Serve at the address that is given, in front of another.

    With `trusting`, clients have to show a certificate of that authority.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = newest
    context.load_cert_chain(own.certificate, own.key)
    context.set_alpn_protocols(["h2"])
    if trusting is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(trusting.certificate)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_accept, args=(listening, context, backend), daemon=True).start()
        host, port = listening.getsockname()
        yield f"{host}:{port}"


def _accept(listening: socket.socket, context: ssl.SSLContext, backend: str) -> None:
    with suppress(OSError):
        while True:
            client, _ = listening.accept()
            threading.Thread(target=_serve, args=(client, context, backend), daemon=True).start()


def _serve(plain: socket.socket, context: ssl.SSLContext, backend: str) -> None:
    with context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False) as client:
        client.settimeout(_PATIENCE_SECONDS)
        try:
            client.do_handshake()
        except OSError:
            _refuse(client)
            return
        client.settimeout(None)
        host, _, port = backend.rpartition(":")
        with suppress(OSError), socket.create_connection((host, int(port))) as server:
            threading.Thread(target=_pass_on, args=(client, server), daemon=True).start()
            _pass_on(server, client)


def _refuse(client: ssl.SSLSocket) -> None:
    # An alert that was sent is lost when the socket is closed before all is read that came in.
    with suppress(OSError):
        client.shutdown(socket.SHUT_WR)
        while socket.socket.recv(client, 65_536):
            pass


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while said := source.recv(65_536):
            sink.sendall(said)
    for each in (source, sink):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)

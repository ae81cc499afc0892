import os
import socket

from workers.listening import listens


def test_a_process_listens_on_the_port_that_it_opened_and_on_no_other() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        assert listens(os.getpid(), port)
        assert not listens(os.getppid(), port)
    assert not listens(os.getpid(), port)


def test_a_port_that_is_only_connected_to_is_not_listened_on() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as connection,
    ):
        assert not listens(os.getpid(), connection.getsockname()[1])


def test_a_process_that_is_gone_listens_on_nothing() -> None:
    assert not listens(2**22 + 1, 80)

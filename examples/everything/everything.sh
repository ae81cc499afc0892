#!/bin/sh
# One run that uses an executable, a function, MCP servers over stdio and HTTP, a sub-agent and a remote executor.
# PORT, UI_PORT and CLOCK_PORT are those of the server, its UI and the clock.
set -eu
cd "$(dirname "$0")"
PORT=${PORT:-7233} UI_PORT=${UI_PORT:-8233} CLOCK_PORT=${CLOCK_PORT:-8765}
export CLOCK_URL="http://127.0.0.1:$CLOCK_PORT/mcp"

started=
stop() {
    for process in $started; do kill "$process" 2> /dev/null || true; done
    wait
}
trap stop EXIT

python3 clock_server.py "$CLOCK_PORT" > /dev/null 2>&1 & started="$!"
surefoot dev --port "$PORT" --ui-port "$UI_PORT" > /dev/null & started="$! $started"
connect='import socket, sys; [socket.create_connection(("127.0.0.1", int(port))) for port in sys.argv[1:]]'
until python3 -c "$connect" "$PORT" "$CLOCK_PORT" 2> /dev/null; do
    kill -0 $started 2> /dev/null || { echo "everything.sh: the server or the clock did not start" >&2; exit 1; }
    sleep 0.2
done
surefoot worker --address "127.0.0.1:$PORT" --queue everything-remote --tools remote & started="$! $started"

surefoot run "Use everything." --agent everything.md "$@"

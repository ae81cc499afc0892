"""Bangumi, Anitabi, a geocoder and a model on loopback: they answer as the real ones, or get into trouble."""

# ruff: noqa: RUF001 - titles are written as those services write them

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

SUBJECT: dict[str, Any] = {
    "id": 115908,
    "type": 2,
    "name": "響け！ユーフォニアム",
    "name_cn": "吹响吧！上低音号",
    "summary": "京都府宇治市…",
    "nsfw": False,
    "locked": False,
    "date": "2015-04-07",
    "platform": "TV",
    "images": {"large": "https://lain.bgm.tv/l.jpg"},
    "infobox": [{"key": "话数", "value": "13"}],
    "volumes": 0,
    "eps": 13,
    "total_episodes": 14,
    "rating": {"rank": 177, "total": 9000, "count": {"10": 1000}, "score": 8.2},
    "collection": {"wish": 1, "collect": 2, "doing": 3, "on_hold": 4, "dropped": 5},
    "tags": [{"name": "京都动画", "count": 3000}],
}
"""As the schema of `GET /v0/subjects/{subject_id}` has it."""

CONCERT_HALL: dict[str, Any] = {
    "id": "qys7fu",
    "cn": "京都音乐厅",
    "name": "京都コンサートホール",
    "image": "https://image.anitabi.cn/points/115908/qys7fu.jpg?plan=h160",
    "ep": 1,
    "s": 1,
    "geo": [35.0503, 135.7664],
}
RIVERSIDE: dict[str, Any] = {"id": "7evkbmy2", "name": "あじろぎの道", "ep": "OP", "geo": [34.8899, 135.8081]}
NOWHERE: dict[str, Any] = {
    "id": "5qypywhs",
    "name": "池田長寿苑",
    "origin": "Google Maps",
    "originURL": "https://g",
}
WORKS: dict[int, dict[str, Any]] = {
    115908: {
        "id": 115908,
        "cn": "吹响吧！上低音号",
        "title": "響け！ユーフォニアム",
        "city": "宇治市",
        "cover": "https://image.anitabi.cn/bangumi/115908.jpg?plan=h160",
        "color": "#02a7bd",
        "geo": [34.90646037778022, 135.81221398475236],
        "zoom": 12.383488825333831,
        "modified": 1674702846652,
        "litePoints": [CONCERT_HALL, RIVERSIDE],
        "pointsLength": 388,
        "imagesLength": 388,
    },
    1424: {
        "id": 1424,
        "title": "けいおん！",
        "geo": [35.0263, 135.7808],
        "litePoints": [],
        "pointsLength": 9,
    },
    27364: {"id": 27364, "title": "氷菓", "litePoints": [NOWHERE]},
}
"""As Anitabi's document has it; the second has no points of its own, and the third no coordinates at all."""


@dataclass(frozen=True)
class Reply:
    """What is answered: a JSON value, or bytes as they are; None hangs up without a word."""

    body: object = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Request:
    """What was asked of which service."""

    service: str
    method: str
    path: str
    query: dict[str, list[str]]
    user_agent: str
    body: Any
    at: float
    """On the clock of `time.monotonic`."""


Trouble = Callable[[Request], Reply | None]
"""Gives what is answered in place of the truth; None for the truth."""


def _not_found(path: str) -> Reply:
    return Reply({"title": "Not Found", "description": "resource can't be found", "details": path}, 404)


def _bangumi(request: Request) -> Reply:
    if request.method == "POST" and request.path == "/v0/search/subjects":
        found = [SUBJECT] if request.body["keyword"] in SUBJECT["name"] else []
        return Reply({"total": len(found), "limit": 10, "offset": 0, "data": found})
    return Reply(SUBJECT) if request.path == "/v0/subjects/115908" else _not_found(request.path)


def _anitabi(request: Request) -> Reply:
    _, _, id_, asked = request.path.split("/", 3)
    work = WORKS.get(int(id_))
    if work is None:
        return _not_found(request.path)
    return Reply(work if asked == "lite" else [CONCERT_HALL, RIVERSIDE, NOWHERE])


def _geocoder(request: Request) -> Reply:
    known = {"木幡駅": {"place_id": 1, "lat": "34.9263", "lon": "135.7945", "display_name": "木幡, 宇治市"}}
    return Reply([known[name] for name in request.query["q"] if name in known])


def _model(request: Request) -> Reply:
    message = {"role": "assistant", "content": f" Sound! Euphonium, by {request.body['model']}\n"}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    about = {"id": "1", "object": "chat.completion", "created": 1, "model": request.body["model"]}
    return Reply({**about, "choices": [choice]})


_TRUTH = {"bangumi": _bangumi, "anitabi": _anitabi, "geocoder": _geocoder, "openai": _model}


class Services:
    """The four services of one test, below a path of its own."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[Request] = []
        self.trouble: dict[str, Trouble] = {}
        """By the service that has it."""

    @property
    def environment(self) -> dict[str, str]:
        """What the tools have to be told."""
        return {
            "PILGRIMAGE_BANGUMI_URL": f"{self.url}/bangumi",
            "PILGRIMAGE_ANITABI_URL": f"{self.url}/anitabi/",
            "PILGRIMAGE_GEOCODER_URL": f"{self.url}/geocoder",
            "PILGRIMAGE_MODEL": "openai-chat:translator",
            "OPENAI_BASE_URL": f"{self.url}/openai",
            "OPENAI_API_KEY": "of-a-test",
            "NO_PROXY": "127.0.0.1",
        }

    def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        trouble = self.trouble.get(request.service, lambda _: None)
        return trouble(request) or _TRUTH[request.service](request)


class LocalServer:
    """One HTTP server for the services of many tests."""

    def __init__(self) -> None:
        tests: dict[str, Services] = {}
        self._tests = tests

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._reply("GET")

            def do_POST(self) -> None:
                self._reply("POST")

            def _reply(self, method: str) -> None:
                at = urlsplit(self.path)
                _, test, service, *rest = at.path.split("/")
                sent = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                agent = self.headers.get("User-Agent", "")
                body = json.loads(sent) if sent else None
                path, query = "/" + "/".join(rest), parse_qs(at.query)
                request = Request(service, method, path, query, agent, body, time.monotonic())
                self._send(tests[test].reply(request))

            def _send(self, reply: Reply) -> None:
                if reply.body is None:
                    return
                body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                self.send_response(reply.status)
                for name, value in {"Content-Length": str(len(body)), **reply.headers}.items():
                    self.send_header(name, value)
                # Who waited too long, or is told too much, has hung up.
                with suppress(ConnectionError):
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def services(self) -> Services:
        name = f"test-{len(self._tests)}"
        self._tests[name] = Services(f"http://127.0.0.1:{self._server.server_port}/{name}")
        return self._tests[name]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

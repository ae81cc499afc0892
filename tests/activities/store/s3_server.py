"""A small S3 server in a thread: buckets in memory, and signatures that it checks."""

import hashlib
import hmac
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.sax.saxutils import escape

KEY_ID = "AKIDEXAMPLE"
SECRET = "a-secret-that-no-sentence-may-hold"
REGION = "eu-test-1"
_STORED_AT = "2026-01-02T03:04:05.000Z"
_PAGE = 3


@dataclass
class S3Server:
    """What is in its buckets, and where it is; `failing` is the status that it answers everything with."""

    url: str = ""
    buckets: dict[str, dict[str, bytes]] = field(default_factory=dict[str, dict[str, bytes]])
    failing: int | None = None

    def environment(self, **changes: str) -> dict[str, str]:
        """The variables by which a client reaches it."""
        return {
            "AWS_ACCESS_KEY_ID": KEY_ID,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": REGION,
            "AWS_ENDPOINT_URL": self.url,
            **changes,
        }


@contextmanager
def s3_server(*buckets: str) -> Generator[S3Server]:
    """Serve these buckets on a free port of the loopback interface."""
    served = S3Server(buckets={bucket: {} for bucket in buckets})
    handler = type("Handler", (_Handler,), {"served": served})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        served.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    served: S3Server

    def do_PUT(self) -> None:
        body = self._body()
        with_bucket = self._checked(body)
        if with_bucket is not None:
            bucket, key = with_bucket
            bucket[key] = body
            self._answer(200, b"", ETag=f'"{hashlib.md5(body).hexdigest()}"')

    def do_GET(self) -> None:
        found = self._checked(b"")
        if found is None:
            return
        bucket, key = found
        if not key:
            self._list(bucket)
        elif key in bucket:
            self._answer(200, bucket[key], **_object_headers(bucket[key]))
        else:
            self._error(404, "NoSuchKey")

    do_HEAD = do_GET  # noqa: N815

    def do_DELETE(self) -> None:
        found = self._checked(b"")
        if found is not None:
            bucket, key = found
            bucket.pop(key, None)
            self._answer(204, b"")

    def do_POST(self) -> None:
        """Delete what an XML document lists, as clients do that delete many at once."""
        body = self._body()
        found = self._checked(body)
        if found is not None:
            bucket, _ = found
            keys = [part.split("</Key>")[0] for part in body.decode().split("<Key>")[1:]]
            for key in keys:
                bucket.pop(key, None)
            gone = "".join(f"<Deleted><Key>{escape(key)}</Key></Deleted>" for key in keys)
            self._answer(200, f"<DeleteResult>{gone}</DeleteResult>".encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  its name upstream
        pass

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", "0")))

    def _checked(self, body: bytes) -> tuple[dict[str, bytes], str] | None:
        if self.served.failing is not None:
            self._error(self.served.failing, "InternalError")
            return None
        if not self._signed(body):
            self._error(403, "SignatureDoesNotMatch")
            return None
        bucket, _, key = unquote(urlsplit(self.path).path).lstrip("/").partition("/")
        if bucket not in self.served.buckets:
            self._error(404, "NoSuchBucket")
            return None
        return self.served.buckets[bucket], key

    def _signed(self, body: bytes) -> bool:
        """Check the signature of AWS's fourth version, as its documentation says how."""
        scheme, _, rest = self.headers.get("Authorization", "").partition(" ")
        if scheme != "AWS4-HMAC-SHA256":
            return False
        fields = dict(part.strip().split("=", 1) for part in rest.split(","))
        key_id, day, region, service, ending = fields["Credential"].split("/")
        url = urlsplit(self.path)
        query = sorted(parse_qsl(url.query, keep_blank_values=True))
        names = fields["SignedHeaders"].split(";")
        content = self.headers["x-amz-content-sha256"]
        request = "\n".join(
            [
                self.command,
                url.path,
                "&".join(f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}" for name, value in query),
                *(f"{name}:{self.headers[name].strip()}" for name in names),
                "",
                fields["SignedHeaders"],
                content,
            ]
        )
        scope = f"{day}/{region}/{service}/{ending}"
        text = "\n".join(("AWS4-HMAC-SHA256", self.headers["x-amz-date"], scope, _sha256(request.encode())))
        key = f"AWS4{SECRET}".encode()
        for part in (day, region, service, ending):
            key = hmac.digest(key, part.encode(), "sha256")
        signature = hmac.digest(key, text.encode(), "sha256").hex()
        whole = content in (_sha256(body), "UNSIGNED-PAYLOAD")
        return key_id == KEY_ID and whole and hmac.compare_digest(signature, fields["Signature"])

    def _list(self, bucket: dict[str, bytes]) -> None:
        query = dict(parse_qsl(urlsplit(self.path).query))
        after = query.get("continuation-token") or query.get("start-after", "")
        keys = sorted(key for key in bucket if key.startswith(query.get("prefix", "")) and key > after)
        page, more = keys[:_PAGE], len(keys) > _PAGE
        contents = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>{_STORED_AT}</LastModified>"
            f'<ETag>"x"</ETag><Size>{len(bucket[key])}</Size></Contents>'
            for key in page
        )
        following = f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if more else ""
        self._answer(
            200,
            f"<ListBucketResult><IsTruncated>{str(more).lower()}</IsTruncated>{following}{contents}"
            "</ListBucketResult>".encode(),
        )

    def _error(self, status: int, code: str) -> None:
        key = self.headers.get("Authorization", "")
        self._answer(
            status,
            f"<Error><Code>{code}</Code><AWSAccessKeyId>{escape(key)}</AWSAccessKeyId></Error>".encode(),
        )

    def _answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _object_headers(data: bytes) -> dict[str, str]:
    return {"ETag": f'"{hashlib.md5(data).hexdigest()}"', "Last_Modified": "Fri, 02 Jan 2026 03:04:05 GMT"}

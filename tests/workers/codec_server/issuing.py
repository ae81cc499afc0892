"""An OpenID Connect issuer on this machine: its discovery document, its keys, its tokens."""

import json
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import TracebackType
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as new_curve_key
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key as new_rsa_key
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

AUDIENCE = "surefoot-codec"


class TestIssuer:
    """Serves within its context; `asked` are the paths that it was asked for."""

    __test__ = False

    def __init__(self) -> None:
        self.rsa = new_rsa_key(public_exponent=65537, key_size=2048)
        self.curve = new_curve_key(SECP256R1())
        self.published = ["rsa", "curve"]
        self.asked: list[str] = []
        self.answers: dict[str, tuple[int, object]] = {}
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked.append(self.path)
                status, document = issuer.answers.get(self.path) or (200, issuer.document(self.path))
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(document).encode())

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def document(self, path: str) -> object:
        if path == "/.well-known/openid-configuration":
            return {"issuer": self.url, "jwks_uri": f"{self.url}/keys", "more": []}
        keys = {
            "rsa": json.loads(RSAAlgorithm.to_jwk(self.rsa.public_key())),
            "curve": json.loads(ECAlgorithm.to_jwk(self.curve.public_key())),
        }
        return {"keys": [keys[name] | {"kid": name, "use": "sig"} for name in self.published]}

    def token(
        self,
        claims: Mapping[str, Any] | None = None,
        *,
        key: RSAPrivateKey | EllipticCurvePrivateKey | None = None,
        algorithm: str = "RS256",
        kid: str = "rsa",
    ) -> str:
        """Sign a token that is good but for what is given; None leaves a claim out."""
        all_claims = {"iss": self.url, "aud": AUDIENCE, "sub": "ada", "exp": time.time() + 300} | dict(
            claims or {}
        )
        kept = {name: value for name, value in all_claims.items() if value is not None}
        return jwt.encode(kept, key or self.rsa, algorithm=algorithm, headers={"kid": kid})

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

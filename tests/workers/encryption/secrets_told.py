"""Secrets of five kinds, each told in a place of its own, and the search for what a disk holds of them."""

import base64
import secrets
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

_FORMS = {
    "API key": "sk-proj-{mark}",
    "password": 'P"w\\{mark}\u00e9',
    "connection string": "postgres://app:{mark}@db.example:5432/orders?sslmode=require",
    "private key": "-----BEGIN PRIVATE KEY-----\nMIIEvQ{mark}\n-----END PRIVATE KEY-----",
    "bearer token": "Authorization: Bearer eyJhbGciOi.{mark}.c2ln",
}
KINDS = tuple(_FORMS)


@dataclass
class Told:
    """The secrets that were made up, by the place and the kind of each."""

    marks: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def at(self, place: str) -> str:
        """Make up a secret of every kind for a place; each has a mark that no way of quoting changes."""
        for kind in KINDS:
            self.marks.setdefault((place, kind), secrets.token_hex(12))
        return "\n".join(_FORMS[kind].format(mark=self.marks[place, kind]) for kind in KINDS)

    def found_in(self, texts: Iterable[bytes]) -> set[tuple[str, str]]:
        """Give those of which a text holds the mark, as it is or in a form that reads like it."""
        held = list(texts)
        return {
            secret
            for secret, mark in self.marks.items()
            if any(form in text for form in _forms(mark) for text in held)
        }


def _forms(mark: str) -> Iterator[bytes]:
    plain = mark.encode()
    yield plain
    yield plain.hex().encode()
    yield mark.encode("utf-16-le")
    for before in range(3):
        # Of what stands beside it only the characters at both ends depend.
        encoded = base64.b64encode(b"\0" * before + plain + b"\0" * 3)
        inner = encoded[4 if before else 0 : (before + len(plain)) // 3 * 4]
        yield inner
        yield inner.replace(b"+", b"-").replace(b"/", b"_")


def all_that_is_kept(directory: Path) -> Iterator[bytes]:
    """Give every file below, once more without the compression of ours, and every value of a database."""
    for file in sorted(path for path in directory.rglob("*") if path.is_file()):
        try:
            data = file.read_bytes()
        except FileNotFoundError:
            # A journal of the database lasts for one transaction.
            continue
        yield data
        with suppress(zlib.error):
            yield zlib.decompress(data)
        if data.startswith(b"SQLite format 3\0"):
            yield from _values(file)


def _values(database: Path) -> Iterator[bytes]:
    """Give what rows hold, whole: a large value is spread over pages in the file."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        connection.text_factory = bytes
        tables = [
            name.decode()
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        for table in tables:
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                yield b"\n".join(value for value in row if isinstance(value, bytes))

"""What a setting may be: texts of the environment, each checked in one way."""

import re
import shlex
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator

from surefoot.authority import read_public_keys

_S3_URL = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9_][A-Za-z0-9._-]*)*/?")


def _duration(value: object) -> object:
    if not isinstance(value, str | int | float):
        return value
    try:
        return timedelta(seconds=float(value))
    except (ValueError, OverflowError):
        raise ValueError("it must be a number of seconds") from None


def _bounded(duration: timedelta) -> timedelta:
    if not timedelta(0) <= duration <= timedelta(days=365):
        raise ValueError("it must be between 0 seconds and a year")
    return duration


def _above_zero(duration: timedelta) -> timedelta:
    if duration == timedelta(0):
        raise ValueError("it must be more than 0 seconds")
    return duration


def _resolved(path: Path) -> Path:
    try:
        return path.expanduser().resolve()
    except (RuntimeError, OSError, ValueError) as error:
        raise ValueError(f"it cannot be resolved: {error}") from None


def _usable_directory(path: Path) -> Path:
    absolute = _resolved(path)
    # The server opens its database by a URL made of this path without escaping it.
    if set("?#%") & set(str(absolute)):
        raise ValueError("it must be a path without '?', '#' and '%'")
    return absolute


def is_s3_url(text: str) -> bool:
    """Tell whether a store is a bucket, and not a directory."""
    return text.startswith("s3://")


def _usable_store(text: str) -> str:
    if is_s3_url(text):
        if _S3_URL.fullmatch(text) is None:
            raise ValueError("it must be s3://BUCKET or s3://BUCKET/PREFIX")
        return text.rstrip("/")
    if "://" in text:
        raise ValueError("it must be a directory or an s3:// URL")
    return str(_resolved(Path(text)))


def _plain_name(name: str) -> str:
    # Temporal writes a version as the deployment, a dot and the build id.
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,100}", name):
        raise ValueError("it must be at most 100 letters, digits, _ and -")
    return name


def _build_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_.+-]{1,100}", name):
        raise ValueError("it must be at most 100 letters, digits, _, -, + and .")
    return name


def _listening_address(address: str) -> str:
    host, _, port = address.rpartition(":")
    try:
        ip_address(host.removeprefix("[").removesuffix("]"))
        usable = port.isdecimal() and 0 < int(port) < 2**16
    except ValueError:
        usable = False
    if not usable:
        raise ValueError("it must be an IP address and a port, such as 127.0.0.1:9464")
    return address


def _words(command: str) -> str:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"it cannot be split into words as a shell does: {error}") from None
    if not words:
        raise ValueError("it names no program")
    return command


def _public_keys(text: str) -> str:
    read_public_keys(text)
    return text


def _absolute_paths(paths: str) -> str:
    if not all(path.startswith("/") for path in paths.split(":") if path):
        raise ValueError("it must be absolute paths with : between them")
    return paths


def _http_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or not url.isprintable() or " " in url:
        raise ValueError("it must be a URL with http:// or https://")
    return url


Pause = Annotated[timedelta, BeforeValidator(_duration), AfterValidator(_bounded)]
"""A duration that may be zero; a number, also as text, counts seconds."""
Period = Annotated[Pause, AfterValidator(_above_zero)]
"""A duration above zero; a number, also as text, counts seconds."""

PlainName = Annotated[str, AfterValidator(_plain_name)]
"""A deployment's."""
BuildName = Annotated[str, AfterValidator(_build_name)]
"""A version's."""
Resolved = Annotated[Path, AfterValidator(_resolved)]
"""A path that is made absolute; `~` is the user's home."""
DatabaseDirectory = Annotated[Path, AfterValidator(_usable_directory)]
"""A path in which the embedded server can have its database."""
StoreLocation = Annotated[str, AfterValidator(_usable_store)]
"""A directory, or s3://BUCKET/PREFIX."""
ListeningAddress = Annotated[str, AfterValidator(_listening_address)]
"""An IP address and a port."""
CommandLine = Annotated[str, AfterValidator(_words)]
"""A program with its arguments, as a shell splits them."""
HttpUrl = Annotated[str, AfterValidator(_http_url)]
"""With http:// or https://."""
PublicKeys = Annotated[str, AfterValidator(_public_keys)]
"""Whose signed decisions runs take (docs/approvals.md)."""
AbsolutePaths = Annotated[str, AfterValidator(_absolute_paths)]
"""With : between them."""

"""Where the secrets of an executor are: files of a directory, and variables."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG

from activities.tools.problem import Problem
from surefoot.secret_reference import NAME_PATTERN
from surefoot.sizes import count

DIRECTORY = "SUREFOOT_SECRETS"
"""Names the directory with a file for each secret, as Docker and Kubernetes mount them."""

VARIABLE = "SUREFOOT_SECRET_"
"""What the name of a variable that holds a secret begins with."""

LEAST_CHARACTERS = 6
"""A shorter one would be found in texts that have nothing to do with it."""

MAX_SECRET_BYTES = 64 * 1024

_NAME = re.compile(NAME_PATTERN)


@dataclass(frozen=True)
class SecretSource:
    """What tells the secrets by their names; where both have one of a name, the file counts."""

    directory: Path | None = None
    variables: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "SecretSource":
        """Give what a worker's environment names."""
        directory = environment.get(DIRECTORY)
        variables = {
            name.removeprefix(VARIABLE): value
            for name, value in environment.items()
            if name.startswith(VARIABLE) and _NAME.fullmatch(name.removeprefix(VARIABLE))
        }
        return cls(Path(directory) if directory else None, variables)

    @property
    def directories(self) -> tuple[Path, ...]:
        """What no executable is to see."""
        return () if self.directory is None else (self.directory.absolute(),)

    def __bool__(self) -> bool:
        """Whether there may be any."""
        return self.directory is not None or bool(self.variables)

    def read(self) -> Mapping[str, str]:
        """Give the secrets as they are now: files may have been replaced since the worker was started."""
        if not self:
            return {}
        return {name: value for name, _, value in self._found() if isinstance(value, str)}

    def problems(self) -> Iterator[Problem]:
        """Tell what is wrong with them; no sentence holds a secret."""
        if self.directory is not None and not self.directory.is_dir():
            yield Problem(self.directory, "is no directory of secrets that can be read", DIRECTORY)
        for _, place, value in self._found():
            if isinstance(value, _Unusable):
                yield Problem(place, value.reason)

    def _found(self) -> Iterator[tuple[str, str, "str | _Unusable"]]:
        for name, value in self.variables.items():
            yield name, f"{VARIABLE}{name}", _checked(value)
        for path in self._files():
            # Files of Kubernetes are links, which it replaces one day.
            yield path.name, str(path), _content(path)

    def _files(self) -> list[Path]:
        try:
            listed = sorted(self.directory.iterdir()) if self.directory is not None else []
        except OSError:
            return []
        return [path for path in listed if _NAME.fullmatch(path.name) and not path.is_dir()]


@dataclass(frozen=True)
class _Unusable:
    reason: str


def _content(path: Path) -> str | _Unusable:
    try:
        status = path.stat()
        if not S_ISREG(status.st_mode):
            return _Unusable("is not a file")
        if status.st_size > MAX_SECRET_BYTES:
            return _Unusable(f"is larger than {count(MAX_SECRET_BYTES)}")
        text = path.read_bytes().decode()
    except OSError as error:
        return _Unusable(f"cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        return _Unusable("is no text in UTF-8")
    return _checked(text.removesuffix("\n").removesuffix("\r"))


def _checked(value: str) -> str | _Unusable:
    if "\0" in value or any("\ud800" <= one <= "\udfff" for one in value):
        return _Unusable("holds what no tool can be given: a null character, or bytes that are no UTF-8")
    if len(value.strip()) < LEAST_CHARACTERS:
        return _Unusable(f"is a secret of fewer than {LEAST_CHARACTERS} characters, too short to be hidden")
    return value

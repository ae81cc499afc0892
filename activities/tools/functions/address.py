"""Where a function is, so that another process finds it: what `isolated` needs."""

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import reduce
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Address:
    """A function of a module, or of a file that is none."""

    module: str
    file: str | None
    """The file that is loaded under the module's name; None for a module that can be imported."""
    name: str
    search: tuple[str, ...]
    """Where modules are looked for."""

    @classmethod
    def of(cls, function: Callable[..., Any], *, file: str | None) -> "Address | None":
        """Give the address of a function, None for one that is not where its name says."""
        # An empty one is the current directory, and the other process has another.
        search = tuple(path or str(Path.cwd()) for path in sys.path)
        address = cls(function.__module__, file, function.__qualname__, search)
        try:
            there = address.find(sys.modules[function.__module__])
        except (AttributeError, KeyError):
            return None
        return address if there is function else None

    def find(self, module: object) -> Any:  # noqa: ANN401  whatever is there
        """Give what is there; raises AttributeError."""
        return reduce(getattr, self.name.split("."), module)

    def to_json(self) -> str:
        """Give it as one argument of a command."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Address":
        """Read what `to_json` gave."""
        fields: dict[str, Any] = json.loads(text)
        return cls(fields["module"], fields["file"], fields["name"], tuple(fields["search"]))

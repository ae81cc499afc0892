"""What is wrong with a tool, as its author wants to know it."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a tool, or with a directory of tools; a warning does not stop a worker."""

    file: Path | str
    """The file, with its line after a colon where one is meant; or what stands for a file."""
    reason: str
    field: str | None = None
    warning: bool = False

    def __str__(self) -> str:
        where = f"{self.file}: {self.field}" if self.field else str(self.file)
        return f"{where}: {self.reason}"

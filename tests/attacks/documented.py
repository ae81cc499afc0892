"""The table of docs/security.md."""

import re
from collections.abc import Mapping
from pathlib import Path

from activities.tools.sandbox.level import LEVELS, Level

_PAGE = Path(__file__).parents[2] / "docs" / "security.md"


def documented() -> Mapping[Level, Mapping[str, str]]:
    """Give what each level does with each attack: held or LEAKS."""
    rows = re.findall(
        r"^\| ([^|]+?) \| (held|LEAKS) \| (held|LEAKS) \| (held|LEAKS) \|$",
        _PAGE.read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    columns: tuple[Level, ...] = ("none", "landlock", "bwrap")
    assert set(columns) == set(LEVELS)
    return {level: {row[0]: row[1 + number] for row in rows} for number, level in enumerate(columns)}

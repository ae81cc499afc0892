"""How long ago something was, as people type it."""

import re
from datetime import timedelta

from console.errors import CommandError

_AGE = re.compile(r"(\d{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def read_age(text: str) -> timedelta:
    """Read `90d`, `12h`, `30m`, `45s` or `2w`; raises CommandError for anything else."""
    match = _AGE.fullmatch(text.strip())
    if match is None:
        raise CommandError(f"'{text}' is no age: it is a whole number and s, m, h, d or w, such as 90d")
    number, unit = match.groups()
    return timedelta(**{_UNITS[unit]: int(number)})

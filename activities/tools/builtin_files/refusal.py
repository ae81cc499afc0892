"""Why a file tool did not do what was asked, in the words and codes that the model reads."""

from __future__ import annotations

import errno
import os
from typing import Literal

RefusalCode = Literal["not_found", "invalid_input", "internal_error"]
"""Those of the function tools' codes that apply: nothing here imports surefoot, which takes a while."""

_OF_THE_MACHINE = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE}
)
"""What another path or another content does not help against."""


class RefusalError(Exception):
    """The operation failed: one sentence, and one of the codes of function tools."""

    def __init__(self, error: str, error_code: RefusalCode = "invalid_input") -> None:
        super().__init__(error)
        self.error = error
        self.error_code: RefusalCode = error_code


def outside(path: str) -> RefusalError:
    """Say that a path leads out of what may be touched."""
    return RefusalError(f"{path!r} leads outside of the working directory")


def refusal_of(error: OSError, path: str) -> RefusalError:
    """Say what the system said of a path."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    if error.errno == errno.ENOENT:
        return RefusalError(f"there is no {path!r}", "not_found")
    if error.errno in _OF_THE_MACHINE:
        return RefusalError(f"{path!r}: {reason}", "internal_error")
    return RefusalError(f"{path!r}: {reason}")

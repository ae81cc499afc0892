"""What a mistake in the code of a workflow raises: such a run fails, where it would be tried for ever."""

import asyncio
import re

import jsonschema_rs

# `Exception` would also fail a run on non-determinism. That waits for a worker with the right code, and so
# does what is wrong with one worker alone: MemoryError, ImportError, SyntaxError, a warning made an error.
BUGS: tuple[type[Exception], ...] = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BufferError,
    EOFError,
    ExceptionGroup,
    LookupError,
    NameError,
    OSError,
    ReferenceError,
    RuntimeError,
    StopAsyncIteration,
    StopIteration,
    SystemError,
    TypeError,
    ValueError,
    asyncio.InvalidStateError,
    jsonschema_rs.ReferencingError,
    re.error,
)
"""What ends a run as failed; the families that Python and the libraries of a workflow raise."""


def is_bug(error: BaseException) -> bool:
    """Tell whether this ends a run as failed: one of `BUGS`, or a panic of a library written in Rust."""
    # A panic is no Exception and its class cannot be imported. The SDK drops it: the run would stand still,
    # with no failed task for anybody to find.
    return isinstance(error, BUGS) or type(error).__module__ == "pyo3_runtime"


def explained(bug: BaseException) -> str:
    """Give one sentence for who waits for the run; the traceback goes along with the failure."""
    return f"a bug in Surefoot: {type(bug).__name__}: {bug}".rstrip(": ")

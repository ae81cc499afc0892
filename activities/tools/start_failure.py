"""Why an executable could not be started, in words that its author can act on."""

import ast
import os
from errno import ENOEXEC
from pathlib import Path

CANNOT_EXECUTE = 126
NOT_FOUND = 127

_SHEBANG_BYTES = 256


def start_failure(error: OSError, *, executable: Path, directory: Path) -> tuple[int, str]:
    """The exit code that a shell would give, and the reason, for an error in starting it."""
    if error.filename == directory:
        return CANNOT_EXECUTE, f"its working directory {directory} cannot be entered: {error.strerror}"
    if error.filename is not None and os.fsdecode(error.filename) != str(executable):
        return CANNOT_EXECUTE, f"its supervisor could not be started with {error.filename}: {error.strerror}"
    if not executable.exists():
        return NOT_FOUND, f"there is no file {executable}"
    interpreter = _interpreter(executable)
    if isinstance(error, FileNotFoundError):
        return NOT_FOUND, f"its interpreter {interpreter or 'or loader'} was not found"
    return CANNOT_EXECUTE, _cannot_execute(error, executable, interpreter)


def foreseen_start_failure(executable: Path) -> str | None:
    """Why this file could not be started now, as far as can be told without starting it; None if it could."""
    if executable.is_dir() or not os.access(executable, os.X_OK):
        return _cannot_execute(PermissionError(), executable, None)
    if not executable.is_file():
        return f"{executable} is not a file"
    interpreter = _interpreter(executable)
    if interpreter is not None and not _is_executable(ast.literal_eval(interpreter)):
        return f"its interpreter {interpreter} was not found or is not executable"
    return None


def _is_executable(path: str) -> bool:
    return "\0" not in path and os.access(path, os.X_OK)


def _cannot_execute(error: OSError, executable: Path, interpreter: str | None) -> str:
    if executable.is_dir():
        return f"{executable} is a directory"
    if isinstance(error, PermissionError) and not os.access(executable, os.X_OK):
        return f"{executable} is not executable (chmod +x)"
    if isinstance(error, PermissionError) and interpreter is not None:
        return f"its interpreter {interpreter} is not executable"
    if error.errno == ENOEXEC:
        return f"{executable} is neither a program for this machine nor a script with a #! line"
    return error.strerror or str(error)


def interpreter_of(executable: Path) -> str | None:
    """Give the interpreter that the first line of a script names, as it is written; None: it names none."""
    try:
        with executable.open("rb") as script:
            first_line = script.read(_SHEBANG_BYTES).partition(b"\n")[0]
    except OSError:
        return None
    if not first_line.startswith(b"#!"):
        return None
    name = first_line[2:].replace(b"\t", b" ").strip(b" ").partition(b" ")[0]
    return name.decode(errors="replace")


def _interpreter(executable: Path) -> str | None:
    """The same, quoted so that a stray carriage return can be seen."""
    interpreter = interpreter_of(executable)
    return None if interpreter is None else repr(interpreter)

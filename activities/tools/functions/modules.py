"""Importing an author's Python: a module by its name, or a file that is none."""

import contextlib
import hashlib
import importlib
import importlib.util
import sys
import sysconfig
import traceback
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType


class CannotImportError(Exception):
    """Says where and why a module cannot be imported."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}")
        self.place = place
        self.reason = reason


def import_module(name: str, directory: Path) -> ModuleType:
    """Import a module; what is installed comes first, then the directory.

    Raises:
        CannotImportError: it is not there, it raises, or a module of that name from elsewhere is.
    """
    _search_also(directory)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _cannot(name, error) from error
        reason = f"there is no module '{error.name}' in {directory} or among what is installed"
        raise CannotImportError(name, reason) from None
    except (Exception, SystemExit) as error:
        raise _cannot(name, error) from error
    if (other := _other_than_meant(module, name, directory)) is not None:
        raise CannotImportError(name, f"a module of this name is there already: {other}")
    return module


def import_file(path: Path) -> ModuleType:
    """Import a file under a name of its own, in which modules beside it can be imported.

    Raises:
        CannotImportError: it raises.
    """
    _search_also(path.parent)
    name = file_module(path)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CannotImportError(str(path), "cannot be imported")
    module = importlib.util.module_from_spec(spec)
    # Types are looked up in the module that they say they are from.
    sys.modules[name] = module
    try:
        with contextlib.redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _cannot(str(path), error) from error
    return module


def file_module(path: Path) -> str:
    """Give the name that a file has as a module: the same in every process."""
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    return f"surefoot_tools_{digest}_{path.stem}"


def _search_also(directory: Path) -> None:
    # Last, so that nothing in it takes the place of what is installed.
    if str(directory) not in sys.path:
        sys.path.append(str(directory))


def _other_than_meant(module: ModuleType, name: str, directory: Path) -> str | None:
    """Give the file of a module where the directory has another one of that name."""
    top = sys.modules[name.partition(".")[0]]
    meant = PathFinder.find_spec(top.__name__, [str(directory)])
    if meant is None or meant.origin is None or top.__file__ is None:
        return None
    return None if Path(meant.origin).resolve() == Path(top.__file__).resolve() else module.__file__


def _cannot(place: str, error: BaseException) -> CannotImportError:
    if isinstance(error, SyntaxError) and error.filename:
        return CannotImportError(f"{error.filename}:{error.lineno}", f"is no Python: {error.msg}")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_authors(frame.filename)]
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else place
    return CannotImportError(where, f"cannot be imported: {type(error).__name__}: {error}")


def _is_authors(filename: str) -> bool:
    """Tell whether a file is one that an author of tools looks into."""
    elsewhere = (__file__, "<", sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"))
    return not filename.startswith(elsewhere)

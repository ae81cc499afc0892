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

import surefoot

_OURS = Path(surefoot.__file__).parent


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
    """Import a file as a module of a package that is its directory: `from .beside import …` works in it.

    Raises:
        CannotImportError: it raises.
    """
    name = f"{_package(path.parent)}.{path.stem.replace('.', '_')}"
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
        raise _cannot(str(path), error, beside=path.parent) from error
    return module


def _package(directory: Path) -> str:
    """Give the package that a directory is: under a name of its own, for helpers may be called alike."""
    name = f"surefoot_tools_{hashlib.sha256(str(directory.resolve()).encode()).hexdigest()[:8]}"
    package = sys.modules.setdefault(name, ModuleType(name))
    package.__path__ = [str(directory)]
    return name


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


def _cannot(place: str, error: BaseException, *, beside: Path | None = None) -> CannotImportError:
    if isinstance(error, SyntaxError) and error.filename:
        return CannotImportError(f"{error.filename}:{error.lineno}", f"is no Python: {error.msg}")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_authors(frame.filename)]
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else place
    reason = f"cannot be imported: {type(error).__name__}: {error}"
    if isinstance(error, ModuleNotFoundError) and beside and (beside / f"{error.name}.py").exists():
        reason += f"; write `from .{error.name} import …` for the file beside it"
    return CannotImportError(where, reason)


def _is_authors(filename: str) -> bool:
    """Tell whether a file is one that an author of tools looks into."""
    elsewhere = (str(_OURS), __file__, "<", sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"))
    return not filename.startswith(elsewhere)

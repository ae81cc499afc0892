import ast
from pathlib import Path

import pytest

import surefoot.testing

SOURCE = Path(surefoot.testing.__file__)


def test_every_name_that_type_checkers_see_can_be_imported() -> None:
    imports = [node for node in ast.walk(ast.parse(SOURCE.read_text())) if isinstance(node, ast.ImportFrom)]
    seen = {(str(node.module), name.name) for node in imports for name in node.names if name.asname}

    given = {(getattr(surefoot.testing, name).__module__, name) for _, name in seen}

    assert given == seen
    assert {("surefoot.testing.environment", "Environment"), ("surefoot.testing.replay", "replays")} <= seen


def test_a_name_that_is_not_there_is_an_error_as_anywhere() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = surefoot.testing.nothing

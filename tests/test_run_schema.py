import json

import jsonschema_rs
import pytest
from pydantic import ValidationError

from surefoot.run import RunInput
from tests.run_schema import FILE, schema_text


def test_the_schema_that_is_documented_is_that_of_todays_code() -> None:
    current = FILE.read_text(encoding="utf-8") == schema_text()

    assert current, "renew it with `python -m tests.run_schema`"


@pytest.mark.parametrize(
    ("document", "valid"),
    [
        pytest.param({"prompt": "Go on.", "model": "scripted:done.yaml"}, True, id="the least"),
        pytest.param(
            {"prompt": "Go on.", "model": "anthropic:x", "limits": {"max_turns": 3, "max_cost": "0.5"}},
            True,
            id="limits",
        ),
        pytest.param({"prompt": "Go on."}, False, id="no model"),
        pytest.param({"prompt": "Go on.", "model": "x", "protocol": "smoke"}, False, id="another protocol"),
        pytest.param({"prompt": "Go on.", "model": "x", "limits": {"max_turns": 0}}, False, id="no turns"),
    ],
)
def test_the_schema_takes_what_a_run_takes(document: dict[str, object], valid: bool) -> None:
    schema = json.loads(FILE.read_text(encoding="utf-8"))

    assert jsonschema_rs.is_valid(schema, document) is valid
    if valid:
        RunInput.model_validate(document)
    else:
        with pytest.raises(ValidationError):
            RunInput.model_validate(document)

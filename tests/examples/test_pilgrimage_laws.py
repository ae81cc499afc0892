import asyncio
import copy
from pathlib import Path
from typing import Any, cast, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from activities.interface import ToolCallInput
from activities.tools.discovery import Discovery
from activities.tools.executor import ToolExecutor
from surefoot.outcome import ToolSuccess
from surefoot.tool_error import FunctionErrorCode
from tests.examples.pilgrimage_calls import NEAR, SEARCH, SUBJECT, Call, always
from tests.examples.pilgrimage_services import SUBJECT as SUBJECT_TOLD
from tests.examples.pilgrimage_services import WORKS, LocalServer, Reply

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.just({"geo": [1e308, -1e308]})
    ),
    max_leaves=5,
)

NEAR_ONE: Call = (NEAR[0], {"station_name": "Uji", "works": [115908]})


@st.composite
def spoiled(draw: st.DrawFn, told: Any) -> Any:  # noqa: ANN401
    """Give an answer in which one value, or all of it, is something else."""
    if not told or not isinstance(told, dict | list) or draw(st.integers(0, 3)) == 0:
        return draw(JSON)
    keys: list[Any] = (
        sorted(cast(dict[str, Any], told))
        if isinstance(told, dict)
        else list(range(len(cast(list[Any], told))))
    )
    key = draw(st.sampled_from(keys))
    changed = copy.copy(cast(Any, told))
    changed[key] = draw(spoiled(changed[key]))
    return changed


@pytest.mark.parametrize(
    ("call", "service", "told"),
    [
        pytest.param(SEARCH, "bangumi", {"total": 1, "data": [SUBJECT_TOLD]}, id="a search"),
        pytest.param(SUBJECT, "bangumi", SUBJECT_TOLD, id="a work"),
        pytest.param(NEAR_ONE, "anitabi", WORKS[115908], id="works near a station"),
    ],
)
def test_whatever_a_service_answers_the_contract_is_kept(
    found: Discovery, local_server: LocalServer, call: Call, service: str, told: object
) -> None:
    schema: Any = found.tools[call[0]].definition.output_schema
    own = set[str](schema["required"])
    executor = ToolExecutor(found.tools, Path(), {})
    asked = ToolCallInput(tool=call[0], params=call[1], call_id="run-1/1-1", timeout_seconds=30)

    @settings(max_examples=60)
    @given(spoiled(told))
    def keeps_the_contract(body: object) -> None:
        # Each is asked for the first time, and waits for no turn.
        services = local_server.services()
        services.trouble[service] = always(Reply(body))
        with pytest.MonkeyPatch.context() as environment:
            for name, value in services.environment.items():
                environment.setenv(name, value)
            outcome = asyncio.run(executor.run(asked))
        assert isinstance(outcome, ToolSuccess), outcome
        answer: Any = outcome.result
        assert own <= answer.keys()
        assert answer["success"] or (answer["error"] and answer["error_code"] in get_args(FunctionErrorCode))

    keeps_the_contract()

from decimal import Decimal

import pytest

from surefoot.definition import ToolDefinition
from surefoot.limits import Limits
from surefoot.run import RunInput
from surefoot.static_details import static_details
from surefoot.untrusted import UntrustedSource


def definition(name: str) -> ToolDefinition:
    return ToolDefinition.model_validate(
        {"name": name, "description": "x", "inputSchema": {"type": "object"}}
    )


@pytest.mark.parametrize(
    ("run", "details"),
    [
        pytest.param(
            RunInput(prompt="Go.", model="anthropic:x"),
            ["**Model** `anthropic:x`", "**Limits** 50 turns", "**Tools** those of its worker"],
            id="the least",
        ),
        pytest.param(
            RunInput(
                prompt="Go.",
                model="openai-chat:gpt-5",
                protocol="prompted",
                agent_name="scout",
                limits=Limits(
                    max_turns=1_000,
                    max_tool_calls=9,
                    max_input_tokens=10_000,
                    max_output_tokens=900,
                    max_cost=Decimal("2.5"),
                    max_seconds=5_400,
                ),
                tools=tuple(definition(f"t{n}") for n in range(26)),
            ),
            [
                "**Agent** `scout`",
                "**Model** `openai-chat:gpt-5`, prompted protocol",
                (
                    "**Limits** 1,000 turns · 9 tool calls · 10,000 input tokens · 900 output tokens · "
                    "`$2.50` · 1h 30m"
                ),
                f"**Tools** {', '.join(f'`t{n}`' for n in range(24))}, 2 more",
            ],
            id="everything",
        ),
        pytest.param(
            RunInput(
                prompt="Go.",
                model="m",
                tools=(),
                network=False,
                after_untrusted={"write": "always", "network": "outside-workdir"},
                untrusted=UntrustedSource(tool="fetch", tool_exec_id="3-1", of_caller=True),
            ),
            [
                "**Model** `m`",
                "**Limits** 50 turns",
                "**Tools** none",
                "**Network** off",
                "**After untrusted content** approval of calls: write always, network outside-workdir",
                "**Untrusted content** read by its caller, from `fetch` in call `3-1`",
            ],
            id="what it may do after untrusted content",
        ),
        pytest.param(
            RunInput(prompt="Go.", model="x`|<b>", tools=()),
            ["**Model** `x'¦<b>`", "**Limits** 50 turns", "**Tools** none"],
            id="a name that would be markdown",
        ),
    ],
)
def test_a_run_is_described_by_what_it_starts_with(run: RunInput, details: list[str]) -> None:
    assert static_details(run).split("\n\n") == details

"""What is typed about approvals and the network, and what a run is started with for it."""

from pathlib import Path
from typing import Literal

import pytest

from activities.agents.agent_file import AgentFile, read_agent
from console.approval_options import asked_approvals
from console.asked_run import AskedRun, run_input
from console.errors import CommandError
from console.output import OutputFormat
from surefoot.limits import Limits
from surefoot.run import RunInput
from workers.settings import Settings

OnOrOff = Literal["on", "off"]


def agent(directory: Path, *fields: str) -> AgentFile:
    file = directory / "a.md"
    file.write_text("\n".join(["---", "description: d", *fields, "---", "Prompt."]))
    read = read_agent(file)
    assert isinstance(read, AgentFile), read
    return read


def started(file: AgentFile | None, *rules: str, network: OnOrOff | None = None) -> RunInput:
    approvals = asked_approvals(None, None, None, OutputFormat.JSON, after_untrusted=rules)
    asked = AskedRun("p", file, Limits(), model="scripted:x", approvals=approvals, network=network)
    return run_input(asked, Settings(), elsewhere=True)


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        pytest.param("always", " takes CLASS=RULE, such as write=always, and not 'always'", id="no class"),
        pytest.param(
            "read=always", " read: must be 'irreversible', 'write' or 'network'", id="another class"
        ),
        pytest.param("write=often", " write: must be never, always, destructive", id="another rule"),
        pytest.param("write={", " write: the rule is not JSON", id="no JSON"),
        pytest.param("write=first-use", ": write: cannot be first-use", id="a first use"),
    ],
)
def test_a_rule_for_untrusted_content_that_cannot_be_used_is_a_complaint(rule: str, reason: str) -> None:
    with pytest.raises(CommandError) as caught:
        started(None, rule)

    assert f"--after-untrusted{reason}" in str(caught.value)


def test_an_option_comes_before_the_agents_rule_for_the_same_class(tmp_path: Path) -> None:
    file = agent(tmp_path, "afterUntrusted: {write: always, irreversible: always}")

    run = started(file, "write=never", "network=outside-workdir")

    assert run.after_untrusted == {"write": "never", "irreversible": "always", "network": "outside-workdir"}


@pytest.mark.parametrize(
    ("typed", "written", "network"),
    [
        pytest.param(None, (), None, id="nobody says"),
        pytest.param(None, ("network: off",), False, id="the file says"),
        pytest.param("on", ("network: off",), True, id="the option says otherwise"),
        pytest.param("off", (), False, id="the option says"),
    ],
)
def test_the_network_is_as_typed_or_else_as_the_agent_has_it(
    tmp_path: Path, typed: OnOrOff | None, written: tuple[str, ...], network: bool | None
) -> None:
    assert started(agent(tmp_path, *written), network=typed).network is network

import json
import signal
from decimal import Decimal
from pathlib import Path

import pytest

from activities.agents.agent_file import AgentFile, read_agent
from console.agent_files import agent_or_complain
from console.agent_run import chosen_limits, chosen_protocol, say_whose_tools
from console.agents import AgentsFormat, check, list_agents, show_agent
from console.errors import CommandError
from console.exit_codes import ExitCode
from surefoot.limits import Limits
from tests.activities.agents.agents_on_disk import write_agent
from tests.activities.tools.disk_tools import SHELL, write_tool
from tests.conftest import RealServer
from tests.console.command import Surefoot
from workers.agent_directories import agent_directories
from workers.served_queues import ServedQueue
from workers.takeover import tools_of


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that is the current one, and its user's own directory of agents beside it."""
    directory = tmp_path / "project"
    directory.mkdir()
    monkeypatch.chdir(directory)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return directory


def users(project: Path) -> Path:
    return project.parent / "config" / "surefoot" / "agents"


def read(path: Path) -> AgentFile:
    agent = read_agent(path)
    assert isinstance(agent, AgentFile)
    return agent


def test_agents_are_those_of_the_project_and_then_those_of_its_user(project: Path) -> None:
    assert agent_directories() == (Path("agents"), users(project))


def test_without_a_directory_for_configuration_it_is_that_of_the_home(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/of/nobody")

    assert agent_directories()[1] == Path("/home/of/nobody/.config/surefoot/agents")


def test_the_list_has_all_agents_damaged_ones_included(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_agent(project / "agents" / "reviewer.md", "model: openai-chat:x")
    write_agent(users(project) / "planner.md", "colour: red", "limits: 3")

    codes = [list_agents(), list_agents(AgentsFormat.JSON)]
    *table, listed = capsys.readouterr().out.splitlines()

    assert codes == [ExitCode.DONE, ExitCode.DONE]
    assert [line.split() for line in table[:1]] == [["NAME", "MODEL", "FILE", "DESCRIPTION"]]
    assert f"damaged: {users(project)}/planner.md:3: colour: is no field of an agent file" in table[1]
    assert table[1].endswith("(and 1 more)")
    assert table[2].split() == [
        *("reviewer", "openai-chat:x", "agents/reviewer.md"),
        *("The", "agent", "reviewer."),
    ]
    assert [(row["name"], row["model"], len(row["problems"])) for row in json.loads(listed)] == [
        ("planner", None, 2),
        ("reviewer", "openai-chat:x", 0),
    ]


def test_where_no_agent_is_it_is_said_where_one_would_be(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = (list_agents(), check(None))

    said = f"there is no agent file in agents or {users(project)}\n"
    assert (ended, capsys.readouterr().err) == ((0, 0), 2 * said)


def test_an_agent_is_shown_with_all_that_its_file_says(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fields = ("limits: {maxTurns: 1000, maxCost: 2, maxTime: 90m}", "mcpServers: {time: {command: a}}")
    safety = ("network: off", "afterUntrusted: {irreversible: always}")
    write_agent(
        project / "agents" / "reviewer.md", *fields, *safety, "model: scripted:a.yaml", prompt="One.\n\nTwo."
    )

    show_agent("reviewer")
    shown = capsys.readouterr().out
    show_agent("reviewer", AgentsFormat.JSON)
    fields_shown = json.loads(capsys.readouterr().out)

    assert shown == (
        "reviewer  agents/reviewer.md\n"
        "The agent reviewer.\n\n"
        "model     scripted:a.yaml\n"
        "protocol  that of the run\n"
        "tools     builtin\n"
        "servers   time\n"
        "limits    maxTurns 1,000, maxCost $2.00, maxTime 1h 30m, maxFailuresInARow 5\n"
        "          after untrusted content: irreversible always\n"
        "network   off\n\n"
        "One.\n\nTwo.\n"
    )
    assert fields_shown == {
        "name": "reviewer",
        "file": "agents/reviewer.md",
        "description": "The agent reviewer.",
        "model": f"scripted:{project}/agents/a.yaml",
        "protocol": None,
        "tools": ["builtin"],
        "mcp_servers": ["time"],
        "limits": Limits(max_turns=1000, max_cost=Decimal(2), max_seconds=5400).model_dump(mode="json"),
        "approval": {},
        "after_untrusted": {"irreversible": "always"},
        "network": False,
        "on_model_failure": None,
        "output_schema": None,
        "system": "One.\n\nTwo.",
    }


def test_a_check_names_everything_that_is_wrong_with_files_and_tools(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tool(project / "tools", "look", SHELL)
    write_tool(project / "tools", "late", SHELL, timeoutSeconds=-1)
    write_agent(project / "agents" / "good.md", "tools: [builtin]")
    write_agent(project / "agents" / "one.md", "tools: [../tools]", "model: scripted:none.yaml")
    write_agent(project / "agents" / "two.md", "tools: [../tools, missing.md]", "model: gpt")
    write_agent(project / "broken.md", "colour: red")

    every = check()
    shown = capsys.readouterr()
    some = check(["good", "broken.md", "gud"], AgentsFormat.JSON)
    reports = json.loads(capsys.readouterr().out)

    late = "timeoutSeconds: Input should be greater than or equal to 0.001"
    no_script = "the script '/agents/none.yaml' cannot be read: No such file or directory"
    no_model = "'gpt' is no model: a model is scripted:FILE or PROVIDER:NAME, such as openai-chat:gpt-5-mini"
    no_agent = "/agents/missing.md: there is no such file; an agent file is meant"
    assert (every, shown.out) == (ExitCode.RUN_FAILED, "ok: good (agents/good.md): bash\n")
    assert shown.err.replace(str(project), "").splitlines() == [
        f"problem: agents/one.md:4: model: {no_script}",
        f"problem: /agents/../tools/late.tool.json: {late}",
        f"problem: agents/two.md:4: model: {no_model}",
        f"problem: agents/two.md:3: tools.1: {no_agent}",
    ]
    assert some == ExitCode.RUN_FAILED
    assert [(one["agent"], one["tools"], len(one["problems"])) for one in reports] == [
        ("good", ["bash"], 0),
        ("broken.md", [], 1),
        ("gud", [], 1),
    ]


def test_a_check_of_good_agents_alone_succeeds(project: Path) -> None:
    write_agent(project / "agents" / "good.md")

    assert check() == ExitCode.DONE


@pytest.mark.parametrize(
    ("name", "said"),
    [
        pytest.param("nobody", "there is no agent 'nobody'", id="an unknown name"),
        pytest.param("", "--agent is empty", id="no name"),
        pytest.param("broken.md", "broken.md:3: colour: is no field", id="a file with a mistake"),
    ],
)
def test_an_agent_that_cannot_be_used_is_a_complaint(project: Path, name: str, said: str) -> None:
    write_agent(project / "broken.md", "colour: red")

    with pytest.raises(CommandError) as caught:
        agent_or_complain(name)

    assert caught.value.message.startswith(said)


def test_an_option_wins_over_the_file_and_the_file_over_what_every_run_has(tmp_path: Path) -> None:
    path = write_agent(tmp_path / "a.md", "protocol: prompted", "limits: {maxTurns: 9, maxToolCalls: 8}")
    agent = read(path)

    assert chosen_limits(agent, max_turns=7, max_seconds=1.5) == Limits(
        max_turns=7, max_tool_calls=8, max_seconds=1.5
    )
    assert chosen_limits(None) == Limits()
    assert (chosen_protocol(agent), chosen_protocol(None)) == ("prompted", "native")


def test_tools_that_a_server_is_not_sent_are_said_to_be_the_workers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    say_whose_tools(read(write_agent(tmp_path / "a.md")), "surefoot")

    assert "the worker on queue surefoot" in capsys.readouterr().err


def test_a_queue_that_was_served_for_an_agent_is_served_with_its_tools(tmp_path: Path) -> None:
    agent = write_agent(tmp_path / "a.md", "tools: [builtin]")
    queue = ServedQueue(
        queue="q", workflow_id="w", tool_directories=(), agent=agent, working_directory=tmp_path
    )

    before = tools_of(ServedQueue.model_validate_json(queue.model_dump_json()), {})
    write_agent(agent, "colour: red")
    after = tools_of(queue, {})

    assert (list(before.tools), before.errors) == (["bash"], ())
    assert (list(after.tools), len(after.errors)) == ([], 1)


def test_a_run_of_an_agent_has_the_model_tools_and_limits_of_its_file(surefoot: Surefoot) -> None:
    project = surefoot.directory
    write_tool(project / "tools", "look", f"{SHELL}echo '{{\"seen\": 1}}'\n")
    (project / "look.yaml").write_text(
        "steps:\n  - call: [{look: {}}]\n  - call: [{look: {}}]\n  - say: Seen.\nclosing: {say: No more.}\n"
    )
    write_agent(
        project / "agents" / "looker.md",
        "tools: [../tools]",
        "model: scripted:../look.yaml",
        "limits: {maxTurns: 1}",
    )

    limited = surefoot("run", "Look.", "--agent", "looker", "-o", "jsonl")
    option_wins = surefoot("run", "Look.", "--agent", "agents/looker.md", "--max-turns", 9, "-o", "jsonl")

    assert [limited.exit_code, option_wins.exit_code] == [ExitCode.LIMIT_REACHED, ExitCode.DONE]
    assert option_wins.event("run_finished")["answer"] == "Seen."


def test_a_worker_serves_the_tools_of_an_agent_and_a_client_takes_all_else_from_its_file(
    surefoot: Surefoot, server: RealServer, tmp_path: Path
) -> None:
    place = ("--address", server.address, "--queue", f"queue-of-{tmp_path.name}")
    write_tool(tmp_path / "tools", "look", f"{SHELL}echo '{{\"seen\": 1}}'\n")
    (tmp_path / "look.yaml").write_text(
        "steps: [{call: [{look: {}}]}, {say: 'It saw {{last.result.seen}}.'}]\n"
    )
    write_agent(tmp_path / "agents" / "looker.md", "tools: [../tools]", "model: scripted:../look.yaml")
    worker = surefoot.start("worker", *place, "--agent", "looker")
    worker.until_it_says('"event": "serving"')

    ended = surefoot("run", "Look.", *place, "--agent", "looker", "-o", "jsonl")
    worker.signal(signal.SIGTERM)

    assert (ended.event("run_finished")["answer"], worker.ends().exit_code) == ("It saw 1.", 0)
    assert "`surefoot worker --agent agents/looker.md` serves those that the file names" in ended.stderr

import pytest

from tests.console.command import MODEL, Surefoot

NOBODY = ("--address", "127.0.0.1:1")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param([], "Missing command (see `surefoot --help`)", id="no command"),
        pytest.param(
            ["rnu"],
            "No such command 'rnu'. Did you mean 'run'? (see `surefoot --help`)",
            id="an unknown command",
        ),
        pytest.param(["run"], "Missing argument 'prompt' (see `surefoot run --help`)", id="no prompt"),
        pytest.param(
            ["tools", "call", "bash"],
            "Missing argument 'JSON' (see `surefoot tools call --help`)",
            id="no params of a tool",
        ),
        pytest.param(
            ["tools", "cal"],
            "No such command 'cal'. Did you mean 'call'? (see `surefoot tools --help`)",
            id="an unknown command of a group",
        ),
        pytest.param(
            ["run", "Go on.", "--tols", "x"],
            "No such option: --tols (Possible options: --model, --protocol, --tools) "
            "(see `surefoot run --help`)",
            id="an unknown option",
        ),
        pytest.param(
            ["run", "Go on.", *MODEL, "--max-turns", "0"],
            "Invalid value for '--max-turns': Input should be greater than or equal to 1 "
            "(see `surefoot run --help`)",
            id="no turns",
        ),
        pytest.param(
            ["run", "Go on.", *MODEL, "--max-time", "soon"],
            "Invalid value for '--max-time': 'soon' is no time; write it as 90s, 30m, 2h or 1h30m "
            "(see `surefoot run --help`)",
            id="no time",
        ),
        pytest.param(
            ["run", "Go on.", *MODEL, "--max-cost", "0"],
            "Invalid value for '--max-cost': it must be more than 0 and at most 1,000,000 dollars "
            "(see `surefoot run --help`)",
            id="no dollars",
        ),
        pytest.param(
            ["run", "Go on.", *MODEL, "-o", "xml"],
            "Invalid value for '--output' / '-o': 'xml' is not one of 'text', 'json', 'jsonl' "
            "(see `surefoot run --help`)",
            id="an unknown format",
        ),
        pytest.param(
            ["dev", "--port", "99999"],
            "Invalid value for '--port': Input should be less than or equal to 65535 "
            "(see `surefoot dev --help`)",
            id="a port beyond the last",
        ),
    ],
)
def test_a_command_that_cannot_be_read_says_what_is_wrong_and_where_help_is(
    usable: Surefoot, arguments: list[str], sentence: str
) -> None:
    assert usable.refuses(*arguments) == sentence


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param(
            ["--tools", "nowhere"], "there is no such tools directory: DIR/nowhere", id="no such tools"
        ),
        pytest.param(["--tools", "done.yaml"], "DIR/done.yaml is not a directory", id="tools in a file"),
        pytest.param(
            ["--workdir", "nowhere"], "the working directory DIR/nowhere does not exist", id="no such workdir"
        ),
        pytest.param(
            ["--workdir", "done.yaml"], "the working directory DIR/done.yaml is not a directory", id="a file"
        ),
        pytest.param(
            ["--system", "nowhere.md"],
            "the system prompt nowhere.md cannot be read: No such file or directory",
            id="no such system prompt",
        ),
        pytest.param(
            ["--queue", "gpu"],
            "--queue names a worker on a server: pass --address too",
            id="a queue of nobody",
        ),
        pytest.param(
            ["--detach"],
            "--detach needs somebody who goes on serving the run: start `surefoot dev` first, or name a "
            "server with --address",
            id="detached from nobody",
        ),
        pytest.param(
            [*NOBODY, "--tools", "builtin"],
            "--tools belongs to the worker: start `surefoot worker --tools …` on 127.0.0.1:1, and leave it "
            "out here",
            id="tools for another's worker",
        ),
        pytest.param(
            [*NOBODY, "--stay"],
            "--stay is for the embedded server, and this run goes to 127.0.0.1:1",
            id="stay",
        ),
        pytest.param(
            ["--address", ""], "--address is empty; leave it out, or name something", id="no address"
        ),
        pytest.param(
            ["--max-cost", "1"],
            "the price of 'scripted:DIR/done.yaml' is not known, and this run has a cost limit: put it into "
            "the file that SUREFOOT_PRICES names",
            id="a cost limit and no price",
        ),
        pytest.param(
            ["--workflow-id", "a\nb"],
            r"--workflow-id 'a\nb' holds characters that cannot be printed",
            id="an id of two lines",
        ),
        pytest.param(
            ["--workflow-id", "a" * 1001], "--workflow-id is longer than 1,000 bytes", id="an endless id"
        ),
    ],
)
def test_a_run_that_cannot_be_is_one_sentence(usable: Surefoot, arguments: list[str], sentence: str) -> None:
    assert usable.refuses("run", "Go on.", *MODEL, *arguments) == sentence


@pytest.mark.parametrize("command", [("run", "Go on.", *MODEL), ("worker",), ("dev",)])
def test_a_price_table_that_cannot_be_used_is_one_sentence(
    usable: Surefoot, command: tuple[str, ...]
) -> None:
    (usable.directory / "prices.toml").write_text("[gpt]\ninput = 1\n")
    said = usable.refuses(*command, environment={"SUREFOOT_PRICES": "prices.toml"})
    assert said == (
        "SUREFOOT_PRICES cannot be used: the price table 'prices.toml', model 'gpt': "
        "a price has both 'input' and 'output'"
    )

import json

from tests.console.command import Surefoot
from tests.console.lasting_tools import Gated


def test_a_message_to_a_run_at_work_is_told_to_its_model_and_to_everybody_who_looks(
    surefoot: Surefoot,
) -> None:
    gated = Gated(surefoot.directory / "tools")
    (surefoot.directory / "talk.yaml").write_text(
        "steps: [{call: [{gated: {}}]}, {say: 'You said: {{message}}'}]"
    )
    asked = ("--model", "scripted:talk.yaml", "--tools", "tools", "--workflow-id", "talked-to")
    running = surefoot.start("run", "Go on.", *asked, "-o", "jsonl")
    running.until(gated.has_begun)

    sent = surefoot("send", "talked-to", "-", "--from", "Ada", stdin=b"And in\n/srv, too.")
    gated.open()
    ran = running.ends()

    assert (sent.exit_code, sent.stdout) == (0, ""), sent.stderr
    assert sent.stderr == "taken; `surefoot watch talked-to` follows the run\n"
    assert ran.event("run_finished")["answer"] == "You said: And in\n/srv, too."
    received = ran.event("message_received")
    assert (received["text"], received["sender"]) == ("And in\n/srv, too.", "Ada")
    told = json.loads(surefoot("show", "talked-to", "-o", "json").stdout)
    assert told["transcript"][0]["messages_received"] == [{"text": "And in\n/srv, too.", "sender": "Ada"}]

    late = surefoot("send", "talked-to", "Hello?")
    assert (late.exit_code, late.stderr) == (
        2,
        "surefoot: the run 'talked-to' has ended, and takes no more messages\n",
    )


def test_a_message_to_nobody_is_a_sentence(surefoot: Surefoot) -> None:
    unknown = surefoot("send", "no-such-run", "Hello?")

    assert (unknown.exit_code, unknown.stderr) == (2, "surefoot: there is no run 'no-such-run'\n")


def test_a_server_that_is_not_there_is_4(usable: Surefoot) -> None:
    sentence = usable.refuses("send", "a-run", "Hello?", "--address", "127.0.0.1:1", exit_code=4)

    assert "127.0.0.1:1" in sentence

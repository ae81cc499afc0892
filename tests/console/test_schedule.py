"""`surefoot schedule`: what is said, what is refused, and what the server does by itself."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from console.errors import CommandError
from console.schedule_times import chosen_times
from tests.console.command import MODEL, Surefoot
from workers.schedule_times import At, Cron, Every, Times
from workers.server_ports import free_port


@pytest.mark.long
def test_a_schedule_is_created_triggered_paused_resumed_and_deleted_while_dev_is_up(
    surefoot_alone: Surefoot,
) -> None:
    surefoot = surefoot_alone
    dev = surefoot.start("dev", "--port", free_port(), "--ui-port", free_port())
    dev.until_it_says("task queue surefoot")

    created = surefoot("schedule", "create", "nightly", "Report.", "--cron", "0 7 * * *", *MODEL)
    again = surefoot("schedule", "create", "nightly", "Report.", "--every", "1h", *MODEL)
    bad = surefoot("schedule", "create", "other", "Report.", "--cron", "at seven", *MODEL)
    triggered = surefoot("schedule", "trigger", "nightly")
    dev.until(lambda: json.loads(surefoot("schedule", "show", "nightly", "-o", "json").stdout)["recent"])
    shown = json.loads(surefoot("schedule", "show", "nightly", "-o", "json").stdout)
    answered = surefoot("watch", shown["recent"][0]["workflow_id"])
    paused = surefoot("schedule", "pause", "nightly", "--reason", "on holiday")
    told = surefoot("schedule", "show", "nightly").stdout
    resumed = surefoot("schedule", "resume", "nightly")
    listed = surefoot("schedule", "list").stdout
    deleted = surefoot("schedule", "delete", "nightly")
    gone = surefoot("schedule", "delete", "nightly")

    assert created.stderr.startswith("created, next at 20")
    assert created.stderr.endswith("07:00:00Z; `surefoot schedule show nightly` tells what it has done\n")
    assert (again.exit_code, again.stderr) == (2, "surefoot: there is a schedule 'nightly' already\n")
    assert bad.exit_code == 2
    assert bad.stderr.startswith("surefoot: the server refuses the schedule 'other': ")
    assert triggered.stderr == "triggered; `surefoot schedule show nightly` names the run\n"
    assert answered.stdout == "Done.\n"
    assert paused.stderr == "paused; `surefoot schedule resume nightly` lets it start runs again\n"
    assert "next     paused: on holiday\nso far   1 started, 0 skipped, 0 missed\n" in told
    assert resumed.stderr == "resumed; `surefoot schedule show nightly` tells when it starts a run\n"
    assert [line.split()[0] for line in listed.splitlines()] == ["ID", "nightly"]
    assert (deleted.exit_code, deleted.stderr) == (0, "deleted\n")
    assert (gone.exit_code, gone.stderr) == (2, "surefoot: there is no schedule 'nightly'\n")


def test_a_schedule_that_nobody_serves_is_refused(usable: Surefoot) -> None:
    said = usable.refuses("schedule", "create", "nightly", "Report.", *MODEL, "--every", "1h")

    assert said == (
        "a scheduled run needs somebody who serves it: start `surefoot dev` first, or name a server with "
        "--address"
    )


@dataclass(frozen=True)
class Typed:
    """What was typed of when runs are to start."""

    every: float | None = None
    cron: str | None = None
    at: str | None = None
    time_zone: str | None = None

    def times(self) -> Times:
        now = datetime(2026, 12, 31, 12, tzinfo=UTC)
        return chosen_times(every=self.every, cron=self.cron, at=self.at, time_zone=self.time_zone, now=now)


@pytest.mark.parametrize(
    ("typed", "times"),
    [
        pytest.param(Typed(every=3_600), Every(timedelta(hours=1)), id="an interval"),
        pytest.param(Typed(cron="@daily"), Cron("@daily", "UTC"), id="an expression"),
        pytest.param(
            Typed(cron="@daily", time_zone="Europe/Berlin"),
            Cron("@daily", "Europe/Berlin"),
            id="an expression in a time zone",
        ),
        pytest.param(
            Typed(at="2027-01-31T07:00", time_zone="Europe/Berlin"),
            At(datetime(2027, 1, 31, 6, tzinfo=UTC)),
            id="a moment in a time zone",
        ),
        pytest.param(
            Typed(at="2027-01-31T07:00+01:00"),
            At(datetime(2027, 1, 31, 6, tzinfo=UTC)),
            id="a moment with a time zone",
        ),
    ],
)
def test_one_way_to_say_when_gives_the_times(typed: Typed, times: Times) -> None:
    assert typed.times() == times


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        pytest.param(Typed(), "say when: pass one of --every, --cron and --at", id="no times"),
        pytest.param(
            Typed(every=3_600, cron="@daily"),
            "say when: pass one of --every, --cron and --at",
            id="two kinds of times",
        ),
        pytest.param(
            Typed(every=1.5), "--every is a whole number of seconds, and at least one", id="a fraction"
        ),
        pytest.param(Typed(at="2020-01-01T07:00"), "--at '2020-01-01T07:00' is over", id="the past"),
        pytest.param(Typed(at="seven"), "--at 'seven' is no moment such as 2027-01-31T07:00", id="a word"),
        pytest.param(
            Typed(at="2027-01-31T07:00+01:00", time_zone="Europe/Berlin"),
            "--at '2027-01-31T07:00+01:00' has a time zone of its own: leave out --time-zone",
            id="a moment with two time zones",
        ),
        pytest.param(
            Typed(cron="@daily", time_zone="Nowhere"),
            "there is no time zone 'Nowhere' on this machine",
            id="an unknown time zone",
        ),
        pytest.param(
            Typed(every=3_600, time_zone="Europe/Berlin"),
            "--time-zone is for --cron and --at: --every counts from 1970 in UTC",
            id="an interval with a time zone",
        ),
    ],
)
def test_what_says_no_time_is_refused(typed: Typed, sentence: str) -> None:
    with pytest.raises(CommandError) as caught:
        typed.times()

    assert caught.value.message == sentence


def test_a_server_that_does_not_answer_is_4(usable: Surefoot) -> None:
    said = usable.refuses("schedule", "list", "--address", "127.0.0.1:1", exit_code=4)

    assert said.startswith("cannot reach Temporal at 127.0.0.1:1: ")


def test_a_run_that_is_to_tell_people_needs_somebody_to_tell(usable: Surefoot) -> None:
    said = usable.refuses("run", "Report.", *MODEL, "--notify", "ended")

    assert said == "--notify tells nobody: set SUREFOOT_NOTIFY_COMMAND or SUREFOOT_NOTIFY_URL"


def test_a_run_tells_people_that_it_has_ended_before_its_worker_leaves(surefoot: Surefoot) -> None:
    environment = {"SUREFOOT_NOTIFY_COMMAND": "sh -c 'sleep 1; cat > told.json'"}
    asked = ("--workflow-id", "reported", "--notify", "ended")
    ran = surefoot("run", "Report.", *MODEL, *asked, environment=environment)
    late = surefoot("resume", "reported")

    told = json.loads((surefoot.directory / "told.json").read_text())
    assert (ran.exit_code, ran.stdout) == (0, "Done.\n")
    assert (told["what"], told["status"], told["text"]) == ("ended", "completed", "Done.")
    assert late.stderr == "surefoot: the run 'reported' has ended, and cannot be resumed\n"

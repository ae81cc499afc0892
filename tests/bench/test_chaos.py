from pathlib import Path

import pytest

from bench.chaos import chaos
from bench.chaos_plan import Scale, make_plan

SHORT = Scale(runs=16, calls=3, worker_kills=6, server_kills=1, network_cuts=1, workers=3, seconds=5)


def test_the_same_seed_plans_the_same_and_another_one_something_else() -> None:
    plans = [make_plan(SHORT, seed=seed, name="run") for seed in (1, 1, 2)]
    assert (plans[0] == plans[1], plans[0] == plans[2]) == (True, False)


def test_every_run_is_planned_with_as_many_calls_as_asked_for() -> None:
    assert {len(run.calls()) for run in make_plan(SHORT, seed=1, name="run").runs} == {3}


@pytest.mark.long
async def test_killed_workers_a_killed_server_and_a_cut_network_break_no_promise(tmp_path: Path) -> None:
    report = await chaos(SHORT, seed=3, directory=tmp_path)
    assert {figure.name: figure.bad for figure in report.figures if figure.bad} == {}

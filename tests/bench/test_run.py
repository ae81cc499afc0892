import json
from pathlib import Path

import pytest

from bench.figure import Figure, table
from bench.run import MEASURES, TINY, measured, report
from bench.workload import Workload, spoken


@pytest.mark.parametrize(
    ("figure", "met"),
    [
        pytest.param(Figure("f", "s", 1.0, 1.0, at_most=1.0), True, id="as much as the other side"),
        pytest.param(Figure("f", "s", 1.1, 1.0, at_most=1.0), False, id="more than the other side"),
        pytest.param(Figure("f", "s", 1.1, None, at_most=1.05), False, id="more than it may be by itself"),
        pytest.param(Figure("f", "s", 1.1, 1.0), None, id="nothing asked of it"),
    ],
)
def test_a_figure_tells_whether_it_is_as_it_should_be(figure: Figure, met: bool | None) -> None:
    assert figure.met == met


def test_a_table_has_a_line_for_each_figure_below_its_head() -> None:
    figures = [Figure("history", "bytes", 1.0, 46.0, at_most=1 / 35), Figure("query", "ms", 2.5)]
    assert [line.split()[-1] for line in table(figures).splitlines()[1:]] == ["1/35.0", "2.50"]


def test_a_workload_survives_as_the_name_of_a_model() -> None:
    workloads = [Workload(turns=3), Workload(turns=3, calls=2, result_bytes=7, window_tokens=9)]
    assert [Workload.named(each.name) for each in workloads] == workloads


def test_an_answer_has_the_size_asked_for_and_is_the_same_each_time() -> None:
    assert (len(spoken(1, 2, 100)), spoken(1, 2, 100) == spoken(1, 2, 100)) == (100, True)


@pytest.mark.long
@pytest.mark.parametrize("measure", MEASURES)
async def test_every_measure_gives_figures_that_json_can_carry(measure: str, tmp_path: Path) -> None:
    figures = await measured(measure, TINY, tmp_path / measure)
    told = json.loads(json.dumps(report(figures, TINY)))
    assert [each["name"] for each in told["figures"]] == [figure.name for figure in figures] != []

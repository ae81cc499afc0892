import mmap
import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import temporalio.bridge
import yaml
from pydantic import BaseModel, ConfigDict, Field

from tests.deploy.stack import ROOT, SCRIPTS, Stack, read_stack

DEPLOY = ROOT / "deploy"


class Grid(BaseModel):
    x: int
    y: int
    w: int
    h: int

    def overlaps(self, other: "Grid") -> bool:
        apart_across = self.x + self.w <= other.x or other.x + other.w <= self.x
        apart_down = self.y + self.h <= other.y or other.y + other.h <= self.y
        return not (apart_across or apart_down)


class Target(BaseModel):
    expression: str = Field(alias="expr")


class Panel(BaseModel):
    id: int
    type: str
    title: str
    description: str = ""
    grid: Grid = Field(alias="gridPos")
    targets: list[Target] = []


class Dashboard(BaseModel):
    uid: str
    title: str
    panels: list[Panel]


class Alert(BaseModel):
    model_config = ConfigDict(extra="forbid")

    alert: str
    expression: str = Field(alias="expr")
    patience: str = Field(alias="for", pattern=r"^\d+m$")
    annotations: dict[str, str]


def loaded(path: str) -> Any:  # noqa: ANN401  what a file may hold
    return yaml.safe_load((DEPLOY / path).read_text())


DASHBOARD = Dashboard.model_validate_json((DEPLOY / "grafana/dashboards/surefoot.json").read_text())
SHOWING = [panel for panel in DASHBOARD.panels if panel.type != "row"]
ALERTS = [
    Alert.model_validate(rule)
    for group in loaded("prometheus/alerts.yml")["groups"]
    for rule in group["rules"]
]


@pytest.fixture(scope="module")
def stack() -> Stack:
    return read_stack()


def expressions() -> Iterator[str]:
    yield from (target.expression for panel in SHOWING for target in panel.targets)
    yield from (alert.expression for alert in ALERTS)


def metrics(prefix: str) -> set[str]:
    names = {name for said in expressions() for name in re.findall(rf"\b{prefix}_[a-z_]+", said)}
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in names}


def test_what_is_shown_of_ours_are_all_of_our_metrics() -> None:
    measured = (ROOT / "workers/telemetry/metrics.py").read_text(encoding="utf-8")
    assert {name.removeprefix("surefoot_") for name in metrics("surefoot")} == set(
        re.findall(r'"surefoot_(\w+)"', measured)
    )


def test_what_is_shown_of_the_sdk_is_what_it_measures() -> None:
    [core] = Path(temporalio.bridge.__path__[0]).glob("temporal_sdk_bridge*")
    with core.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as program:
        unknown = [
            name for name in metrics("temporal") if program.find(name.removeprefix("temporal_").encode()) < 0
        ]
    assert (len(metrics("temporal")), unknown) == (9, [])


def test_what_temporals_own_workers_tell_of_themselves_is_left_out() -> None:
    # The server's metrics have the same names.
    everybodys = [
        said
        for said in expressions()
        for selected in re.findall(r"\btemporal_\w+(\{[^}]*\})?", said)
        if 'job="surefoot"' not in selected
    ]
    assert everybodys == []


def test_the_dashboard_says_of_each_panel_what_it_shows() -> None:
    assert [panel.title for panel in SHOWING if not (panel.description and panel.targets)] == []
    assert len({panel.id for panel in DASHBOARD.panels}) == len(DASHBOARD.panels)


def test_no_panel_lies_on_another_or_outside() -> None:
    grids = [panel.grid for panel in DASHBOARD.panels]
    assert [pair for pair in combinations(grids, 2) if pair[0].overlaps(pair[1])] == []
    assert [grid for grid in grids if grid.x + grid.w > 24] == []


def test_every_bracket_of_an_expression_is_closed() -> None:
    def closed(said: str) -> bool:
        while said != (less := re.sub(r"\([^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}", "", said)):
            said = less
        return not set(said) & set("()[]{}")

    assert [said for said in expressions() if not closed(said)] == []


def test_an_alert_says_what_is_the_matter() -> None:
    assert [alert.alert for alert in ALERTS if not alert.annotations.get("summary", "").endswith(".")] == []


def test_prometheus_asks_every_worker_and_the_server_where_they_answer(stack: Stack) -> None:
    jobs = {job["job_name"]: job for job in loaded("prometheus/prometheus.yml")["scrape_configs"]}
    [found] = jobs["surefoot"]["dns_sd_configs"]
    [fixed] = jobs["temporal"]["static_configs"]

    workers = {stack.services[name].environment["SUREFOOT_METRICS_ADDRESS"] for name in found["names"]}
    assert (found["names"], found["type"], workers) == (
        ["agent", "llm", "tools"],
        "A",
        {f"0.0.0.0:{found['port']}"},
    )
    server = stack.services["temporal"].environment["PROMETHEUS_ENDPOINT"]
    assert fixed["targets"] == [f"temporal:{str(server).rpartition(':')[2]}"]


def test_every_source_and_target_of_the_observers_is_a_service_of_the_stack(stack: Stack) -> None:
    sources = loaded("grafana/provisioning/datasources/datasources.yaml")["datasources"]
    addresses = [re.sub(r"^http://", "", source["url"]) for source in sources]
    collector = loaded("collector.yaml")
    pipeline = collector["service"]["pipelines"]["traces"]
    addresses += [collector["exporters"][name]["endpoint"] for name in pipeline["exporters"]]

    assert {address.partition(":")[0] for address in addresses} <= set(stack.services)
    for kind in ("receivers", "processors", "exporters"):
        assert set(pipeline[kind]) == set(collector[kind])
    assert pipeline["processors"][0] == "memory_limiter"


def test_grafana_finds_the_dashboard_where_it_is_mounted(stack: Stack) -> None:
    [provider] = loaded("grafana/provisioning/dashboards/dashboards.yaml")["providers"]
    grafana = stack.services["grafana"]
    mounts = {mount.target: mount.source for mount in grafana.mounts}
    assert mounts[provider["options"]["path"]] == str(DEPLOY / "grafana/dashboards")
    assert (
        grafana.environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
        == "/etc/grafana/dashboards/surefoot.json"
    )


def test_the_ui_knows_every_key_of_its_configuration() -> None:
    # The embedded server carries the same UI. A key that it does not know, it leaves out without a word.
    keys = re.findall(r"^ *(\w+):", (DEPLOY / "ui.yaml").read_text(), re.MULTILINE)
    with (
        (SCRIPTS / "temporal").open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as program,
    ):
        unknown = [key for key in keys if program.find(f'yaml:"{key}"'.encode()) < 0]
    assert (len(keys), unknown) == (7, [])

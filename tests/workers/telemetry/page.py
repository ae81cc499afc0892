"""What docs/observability.md says of metrics and spans."""

import re
from pathlib import Path

_PAGE = Path(__file__).parents[3] / "docs" / "observability.md"

EVERYWHERE = {"namespace", "task_queue"}
OF_RUNS = {*EVERYWHERE, "workflow_type"}


def _rows(first: str) -> list[list[str]]:
    rows = re.findall(rf"^\| (`{first}.*) \|$", _PAGE.read_text(), re.MULTILINE)
    return [re.split(r" ?\| ?", row) for row in rows]


def documented_metrics() -> dict[str, set[str]]:
    """Give the labels of each metric, without those that all have."""
    return {row[0].strip("`"): set(re.findall("`(.*?)`", row[2])) for row in _rows("surefoot_")}


def documented_spans() -> dict[str, set[str]]:
    """Give the attributes of each span, by the first word of its name."""
    rows = _rows("(?:invoke_agent|turn|chat|execute_tool|run_tool|list_tools)")
    return {
        row[0].strip("`").split()[0]: set(re.findall(r"`((?:gen_ai|surefoot|error)\.[a-z_.]+)`", row[3]))
        for row in rows
    }

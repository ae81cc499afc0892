import json
from pathlib import Path

import pytest

from tests.console.command import SUREFOOT, Surefoot
from tests.console.tools_on_disk import write_tool

SCRIPT = f"""
steps:
  - call:
      - bash: {{command: seq 9999}}
        as: numbers
      - rows: {{}}
        as: rows
  - call:
      - bash:
          command: |
            tail -n 1 "{{{{numbers.result.stdout_artifact}}}}"
            "{SUREFOOT}" artifacts get "{{{{rows.result.artifact}}}}" | tail -c 12
        as: read
  - say: "{{{{read.result.stdout}}}}"
"""
ROWS = 'seq 40000 | paste -sd, | sed "s/.*/{\\"rows\\": [&]}/"'
"""An answer of about 230 KB."""
SCHEMA = {"type": "object", "required": ["rows"], "maxProperties": 1}
"""Which what stands for the answer does not meet."""


@pytest.mark.slow
def test_what_a_model_was_not_given_is_read_back_by_tools_and_by_people(
    surefoot: Surefoot, tmp_path: Path
) -> None:
    (tmp_path / "script.yaml").write_text(SCRIPT)
    (tmp_path / "tools").mkdir()
    write_tool(tmp_path / "tools", "rows", ROWS, outputSchema=SCHEMA)
    store = {"SUREFOOT_STORE": str(tmp_path / "kept")}

    tools = ("--tools", "builtin", "--tools", "tools")
    ran = surefoot(
        "run", "Count.", "--model", "scripted:script.yaml", *tools, "-o", "jsonl", environment=store
    )
    run_id = ran.event("run_started")["workflow_id"]
    listed = surefoot("artifacts", "list", "--run", run_id, "-o", "json", environment=store)
    numbers, rows = sorted(json.loads(listed.stdout), key=lambda one: one["bytes"])
    (shown,) = [
        event["outcome"]["result"]
        for event in ran.events
        if event["type"] == "tool_execution_completed" and event["tool"] == "rows"
    ]

    assert (ran.exit_code, ran.event("run_finished")["answer"]) == (0, "9999\n999, 40000]}")
    assert json.loads(Path(rows["path"]).read_text()) == {"rows": list(range(1, 40_001))}
    assert shown.pop("text").startswith('{"rows": [1, 2, 3, ')
    assert shown == {"truncated": True, "bytes": rows["bytes"], "artifact": rows["path"]}
    assert Path(numbers["path"]).read_text().endswith("9998\n9999\n")

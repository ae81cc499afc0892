"""A worker's process with nothing but one tool in it, for a test to kill.

python -m tests.activities.tools.lone_worker DIRECTORY TAG
"""

import asyncio
import sys
from pathlib import Path

from tests.activities.tools.tool_run import TAG, ToolRun

if __name__ == "__main__":
    run = ToolRun(Path(sys.argv[1]))
    run.environment[TAG] = sys.argv[2]
    asyncio.run(run(run.directory / "tool"))

"""The pictures of docs/operations.md, taken from the real UI: `python -m tests.browser.screenshots`."""

import asyncio
import sys
import tempfile
from pathlib import Path

from temporalio.client import Client

from tests.browser.chromium import open_page
from tests.browser.pages import Pages
from tests.browser.scenes import publication, release, reviewers, write_tools
from workers.embedded_server import embedded_server
from workers.runtime import shared_runtime
from workers.server_ports import free_port
from workers.settings import Settings
from workflows.converter import DATA_CONVERTER

FOLDER = Path(__file__).parents[2] / "docs" / "images"

MAX_BYTES = 150_000


async def take(client: Client, ui_url: str, directory: Path, folder: Path) -> None:
    """Play the scenes in a directory, and write every picture to a folder."""
    write_tools(directory)
    async with (
        open_page(width=1_860, height=2_200) as page,
        release(client, directory) as run,
        reviewers(client) as review,
        publication(client) as publish,
    ):
        pages = Pages(page, ui_url)
        run_id, review_id = run.first_execution_run_id or "", review.first_execution_run_id or ""

        await pages.list()
        await pages.shows("release-1.5", "review-1.5/1-2")
        await pages.add_columns()
        await pages.shows("TOOL_CRASHED")
        await pages.photograph(folder / "operations-list.png", height=420)
        await page.set_viewport_size({"width": 1_360, "height": 2_200})

        await pages.run(run.id, run_id, "timeline")
        await pages.shows("lint • src/", "deploy •")
        await pages.photograph(folder / "operations-timeline.png", below="Hide idle time", height=290)

        await pages.open_call("lint • src/")
        await pages.shows("Segmentation fault")
        await pages.photograph(
            folder / "operations-failed-call.png", below="Activity Task Failed", height=330
        )

        await pages.run(run.id, run_id, "user-metadata")
        await pages.shows("Runs deploy", "Spent")
        await pages.photograph(folder / "operations-current-details.png", below="User Metadata", height=660)

        await pages.run(run.id, run_id, "pending-activities")
        await pages.shows("uploading 2 of 3")
        await pages.photograph(folder / "operations-running-call.png", below="Pending Activities", height=340)

        await pages.run(publish.id, publish.first_execution_run_id or "", "user-metadata")
        await pages.shows("Waits for approval of 1 call", "Spent")
        await pages.photograph(folder / "operations-approval.png", below="User Metadata", height=500)

        await pages.run(review.id, review_id, "relationships")
        await pages.shows("review-1.5/1-2")
        await pages.photograph(folder / "operations-sub-agents.png", below="Relationships", height=660)


async def main() -> None:
    """Take the pictures on a server of their own."""
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        settings = Settings(state_directory=directory / "state")
        async with embedded_server(settings, port=free_port(), ui_port=free_port()) as server:
            client = await Client.connect(
                server.address,
                namespace=server.namespace,
                data_converter=DATA_CONVERTER,
                runtime=shared_runtime(),
                identity="worker",
            )
            await take(client, server.ui_url, directory, FOLDER)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

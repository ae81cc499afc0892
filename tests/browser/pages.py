"""Temporal's UI as an operator uses it."""

from pathlib import Path
from urllib.parse import quote

from playwright.async_api import FloatRect, Page, TimeoutError  # noqa: A004  Playwright's own

COLUMNS = (
    "SurefootAgent",
    "SurefootStatus",
    "SurefootTurns",
    "SurefootFailures",
    "SurefootLastErrorCode",
    "SurefootCost",
)
_OTHER_COLUMNS = ("Run ID", "Type", "End")

_PATIENCE_MILLISECONDS = 60_000
_NAVIGATION_PIXELS = 256
_HEADER_PIXELS = 48
_MARGIN_PIXELS = 16

# What a run says of itself is shown in frames of the page's own origin.
_SAID = """() => [document, ...[...document.querySelectorAll('iframe')].map(frame => frame.contentDocument)]
    .map(each => each?.body?.innerText ?? '').join('\\n').replace(/\\s+/g, ' ')"""


class Pages:
    """The UI's pages of one namespace, in one browser page."""

    def __init__(self, page: Page, ui_url: str, *, namespace: str = "default") -> None:
        self._page = page
        self._workflows = f"{ui_url}/namespaces/{namespace}/workflows"

    async def list(self, query: str = "") -> None:
        """Open the list of runs that a visibility query finds."""
        await self._open(f"{self._workflows}?query={quote(query)}" if query else self._workflows)

    async def run(self, workflow_id: str, run_id: str, tab: str) -> None:
        """Open a tab of a run: timeline, history, relationships, pending-activities, user-metadata."""
        await self._open(f"{self._workflows}/{quote(workflow_id, safe='')}/{run_id}/{tab}")

    async def add_columns(self) -> None:
        """Have the list show Surefoot's columns, as an operator does once."""
        await self._page.get_by_label("Configure Columns").click(timeout=_PATIENCE_MILLISECONDS)
        for name in COLUMNS:
            await self._page.get_by_label(f"Add {name} column").click()
        for name in _OTHER_COLUMNS:
            await self._page.get_by_label(f"Remove {name} column").click()
        await self._page.get_by_label("Close Workflows Table configuration").click()

    async def click(self, text: str) -> None:
        """Click what has this text."""
        await self._page.get_by_text(text, exact=True).first.click(timeout=_PATIENCE_MILLISECONDS)

    async def shows(self, *texts: str) -> None:
        """Wait until all these texts are on the page; line breaks count as spaces."""
        script = f"texts => {{ const said = ({_SAID})(); return texts.every(text => said.includes(text)) }}"
        try:
            await self._page.wait_for_function(script, arg=[*texts], timeout=_PATIENCE_MILLISECONDS)
        except TimeoutError:
            said = await self.said()
            missing = [text for text in texts if text not in said]
            raise AssertionError(f"the page does not show {missing}, but: {said}") from None

    async def settled(self) -> None:
        """Wait until the page asks for nothing more, which that of a run that goes on never does."""
        await self._page.wait_for_load_state("networkidle", timeout=_PATIENCE_MILLISECONDS)

    async def said(self) -> str:
        """Give all text of the page, on one line."""
        return str(await self._page.evaluate(_SAID))

    async def photograph(self, file: Path, *, below: str | None = None, height: int) -> None:
        """Write what is right of the navigation, from the line of a text on, to a PNG file."""
        top = _HEADER_PIXELS
        if below is not None:
            box = await self._page.get_by_text(below).first.bounding_box()
            assert box is not None, below
            top = max(top, box["y"] - _MARGIN_PIXELS)
        size = self._page.viewport_size
        assert size is not None
        clip: FloatRect = {
            "x": _NAVIGATION_PIXELS,
            "y": top,
            "width": size["width"] - _NAVIGATION_PIXELS,
            "height": height,
        }
        await self._page.screenshot(path=file, clip=clip, animations="disabled")

    async def open_call(self, text: str) -> None:
        """Open what the timeline knows of one bar, by its text."""
        await self.click(text)
        await self._page.get_by_text("Activity Task Failed").first.wait_for()

    async def send_update(self, name: str, argument: str) -> None:
        """Fill in the UI's own form for an update of the run, and submit it."""
        await self._page.locator("text=More Actions >> visible=true").first.click()
        await self._page.locator("text=Send an Update >> visible=true").first.click()
        form = self._page.locator("dialog[open]")
        # What is there to choose from hangs on a field that is never visible.
        await form.get_by_test_id("update-select").locator("xpath=ancestor::button[1]").click()
        await self._page.locator(f'[role=option]:has-text("{name}") >> visible=true').first.click()
        await form.locator(".cm-content").click()
        await self._page.keyboard.insert_text(argument)
        # Leaving the field sets its text out over several lines, which moves the button.
        await form.get_by_text("Single JSON payload supported.").click()
        await form.locator("button[type=submit]").click()

    async def _open(self, url: str) -> None:
        # A page of a run that goes on never stops loading.
        await self._page.goto(url, wait_until="domcontentloaded")

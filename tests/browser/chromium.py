"""Pages of a real, headless Chromium."""

import shutil
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from playwright.async_api import Page, async_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome")

NO_CHROMIUM = (
    "these tests look at Temporal's UI with Chromium, and there is none: apt-get update && "
    "apt-get install -y --no-install-recommends chromium fonts-dejavu-core fonts-noto-color-emoji"
)


def chromium() -> str:
    """Give the path of a Chromium; without one the test fails, and says how to install it."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    assert found is not None, NO_CHROMIUM
    return found


@asynccontextmanager
async def open_page(
    *, width: int = 1360, height: int = 900, names: Mapping[str, str] | None = None
) -> AsyncGenerator[Page]:
    """Open an empty page of a browser that nobody has used before; `names` are hosts, and where they are."""
    rules = ", ".join(f"MAP {name} {address}" for name, address in (names or {}).items())
    async with async_playwright() as playwright:
        # In a container there is often no other user than root, for whom Chromium has no sandbox.
        browser = await playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", f"--host-resolver-rules={rules}"]
        )
        try:
            yield await browser.new_page(viewport={"width": width, "height": height})
        finally:
            await browser.close()

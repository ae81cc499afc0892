from collections.abc import AsyncGenerator

import pytest

from tests.browser.chromium import open_page
from tests.browser.pages import Pages
from tests.conftest import RealServer


@pytest.fixture
async def pages(server: RealServer) -> AsyncGenerator[Pages]:
    async with open_page() as page:
        yield Pages(page, server.ui_url)

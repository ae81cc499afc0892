from pathlib import Path

import pytest

from workers.dev_presence import DevIsUpError, announce_dev, dev_is_up
from workers.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_directory=tmp_path)


async def test_dev_is_up_from_its_announcement_to_its_release(settings: Settings) -> None:
    before = dev_is_up(settings)
    presence = await announce_dev(settings)
    during = dev_is_up(settings)
    presence.release()

    assert (before, during, dev_is_up(settings)) == (False, True, False)


async def test_a_second_dev_on_the_state_directory_is_refused(settings: Settings) -> None:
    presence = await announce_dev(settings)

    with pytest.raises(DevIsUpError) as caught:
        await announce_dev(settings)

    presence.release()
    assert str(caught.value) == f"`surefoot dev` is already up on {settings.state_directory}"

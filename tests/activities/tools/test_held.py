import asyncio

from activities.tools.held import Held


class _Door:
    """Something that lasts until it is closed, which takes as long as the test likes."""

    def __init__(self) -> None:
        self.is_over = False
        self.may_close = asyncio.Event()
        self.closed = 0

    async def close(self) -> None:
        await self.may_close.wait()
        self.is_over = True
        self.closed += 1


async def test_what_is_held_is_made_once_and_again_when_it_is_over() -> None:
    held = Held()
    first = held.get("a", _Door, _Door)
    again, other = held.get("a", _Door, _Door), held.get("b", _Door, _Door)
    first.is_over = True
    anew = held.get("a", _Door, _Door)
    assert (again is first, other is first, anew is first) == (True, False, False)


async def test_closing_waits_for_all_and_also_for_what_was_ended_before() -> None:
    held = Held()
    kept, ended = held.get("a", _Door, _Door), _Door()
    held.end(ended)
    closing = asyncio.create_task(held.close())
    for door in (kept, ended):
        await asyncio.sleep(0)
        assert not closing.done()
        door.may_close.set()
    await closing
    assert (kept.closed, ended.closed, held.get("a", _Door, _Door) is kept) == (1, 1, False)

from workers.codec_server.rate_limit import RateLimit


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_caller_who_waits_gets_more_but_never_more_than_a_minutes_worth() -> None:
    clock = Clock()
    limit = RateLimit(2, clock=clock)

    waits: list[float] = []
    for now in (0, 0, 0, 15, 30, 10_000, 10_000, 10_000):
        clock.now = float(now)
        waits.append(limit.wait_seconds("ada"))
        if not waits[-1]:
            limit.spend("ada")

    assert waits == [0, 0, 30, 15, 0, 0, 0, 30]


def test_each_caller_has_a_limit_of_their_own() -> None:
    limit = RateLimit(1, clock=Clock())
    limit.spend("ada")

    assert (limit.wait_seconds("ada"), limit.wait_seconds("grace")) == (60, 0)


def test_callers_who_have_all_they_may_have_are_forgotten() -> None:
    clock = Clock()
    limit = RateLimit(60, clock=clock)
    for number in range(10_000):
        limit.spend(f"caller {number}")
    clock.now = 2.0

    limit.spend("ada")

    assert limit.callers == 1

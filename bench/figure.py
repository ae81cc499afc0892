"""One line of the bench: a figure of Surefoot beside that of the hand-written loop, and what it should be."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import quantiles


@dataclass(frozen=True)
class Figure:
    """What was measured; without a loop beside it where only Surefoot has such a thing."""

    name: str
    unit: str
    surefoot: float
    handwritten: float | None = None
    at_most: float | None = None
    """What the ratio may be; of the figure itself, where there is nothing beside it."""

    @property
    def ratio(self) -> float | None:
        """Surefoot's figure, with the hand-written one counted as 1."""
        return self.surefoot / self.handwritten if self.handwritten else None

    @property
    def met(self) -> bool | None:
        """Whether it is as it should be; None where nothing was asked of it."""
        found = self.surefoot if self.handwritten is None else self.ratio
        return None if self.at_most is None or found is None else found <= self.at_most


def as_json(figures: Iterable[Figure]) -> list[dict[str, object]]:
    """Give the figures with what follows from them."""
    return [{**asdict(each), "ratio": each.ratio, "met": each.met} for each in figures]


def table(figures: Sequence[Figure]) -> str:
    """Lay the figures out for people."""
    head = f"{'':56}{'surefoot':>14}{'hand-written':>14}{'ratio':>9}{'at most':>9}"
    return "\n".join([head, *(_line(figure) for figure in figures)])


def _line(figure: Figure) -> str:
    name = f"{figure.name}, {figure.unit}" if figure.unit else figure.name
    cells = f"{_number(figure.surefoot):>14}{_number(figure.handwritten):>14}"
    verdict = {True: "", False: "  MISSED", None: ""}[figure.met]
    return f"{name:56}{cells}{_ratio(figure.ratio):>9}{_ratio(figure.at_most):>9}{verdict}"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 1_000 or value == int(value) else f"{value:,.2f}"


def _ratio(value: float | None) -> str:
    if value is None:
        return ""
    return f"1/{1 / value:.1f}" if 0 < value < 0.1 else f"{value:.3f}"


def percentile(values: Sequence[float], percent: int) -> float:
    """Give the value below which so many of a hundred lie."""
    return values[0] if len(values) == 1 else quantiles(values, n=100, method="inclusive")[percent - 1]

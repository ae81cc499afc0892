"""The auditor: compares what was done on disk with what every model was told."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.chaos_evidence import Evidence, Told
from bench.chaos_plan import PlannedRun
from bench.chaos_tools import ANYONES, BEHAVIOURS
from surefoot.outcome import NEVER_ACTED, ToolFailure, ToolSuccess


@dataclass(frozen=True)
class SideEffects:
    """How often each call started and finished, as its tool noted on disk."""

    started: Counter[str]
    finished: Counter[str]
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """So many of something, and what was bad about which of them."""

    name: str
    counted: int
    bad: tuple[str, ...] = field(default=())


def read_side_effects(file: Path) -> SideEffects:
    """Read the lines `<call> started` and `<call> finished`; a file that is not there holds none."""
    lines = file.read_text(errors="replace").splitlines() if file.exists() else []
    words = [line.split(" ") for line in lines]
    return SideEffects(
        started=Counter(call for call, *what in words if what == ["started"]),
        finished=Counter(call for call, *what in words if what == ["finished"]),
        unreadable=tuple(line for line, (_, *what) in zip(lines, words, strict=True) if not _is_note(what)),
    )


def _is_note(what: list[str]) -> bool:
    return what in (["started"], ["finished"])


def audit(
    runs: Sequence[PlannedRun], evidence: Sequence[Evidence], side_effects: SideEffects
) -> tuple[Figure, ...]:
    """Give one figure for each promise; nothing is bad when all were kept."""
    planned = {call: spec.tool for run in runs for call, spec in run.calls().items()}
    told = [each for one in evidence for each in one.told]
    started, finished = side_effects.started, side_effects.finished
    successes = [each for each in told if isinstance(each.outcome, ToolSuccess)]
    spared = [each for each in told if _says_it_never_acted(each)]
    return (
        Figure("runs that ended completed", len(runs), tuple(_lost(runs, evidence))),
        Figure("calls with exactly one outcome", len(planned), tuple(_miscounted(planned, told))),
        Figure("calls that started, once each", len(started), tuple(_repeated(planned, side_effects))),
        Figure("successes whose tool finished", len(successes), _calls(successes, unless=finished)),
        Figure('"it never acted", and it did not', len(spared), _calls(spared, when=started)),
        Figure("outcomes that fit their tool", len(told), tuple(_unfitting(planned, told))),
        Figure(
            "histories that replay",
            len(evidence),
            tuple(f"{one.workflow_id}: {one.replay_problem}" for one in evidence if one.replay_problem),
        ),
    )


def _lost(runs: Sequence[PlannedRun], evidence: Sequence[Evidence]) -> Iterator[str]:
    statuses = {one.workflow_id: one.status for one in evidence}
    for run in runs:
        if (status := statuses.get(run.workflow_id, "never heard of")) != "completed":
            yield f"{run.workflow_id}: {status}"


def _miscounted(planned: Iterable[str], told: Sequence[Told]) -> Iterator[str]:
    endings = Counter(each.call for each in told)
    spoken = {each.call: each.times for each in told}
    for call in planned:
        if (endings[call], spoken.get(call)) != (1, 1):
            yield f"{call}: {endings[call]} endings, {spoken.get(call, 0)} messages"
    yield from (f"{call}: nobody asked for it" for call in endings.keys() - set(planned))


def _repeated(planned: Iterable[str], side_effects: SideEffects) -> Iterator[str]:
    for call, times in side_effects.started.items():
        if times != 1:
            yield f"{call}: started {times} times"
    for call in side_effects.started.keys() - set(planned):
        yield f"{call}: nobody asked for it"
    yield from (f"no note: {line!r}" for line in side_effects.unreadable)


def _says_it_never_acted(told: Told) -> bool:
    match told.outcome:
        case ToolSuccess():
            return False
        case ToolFailure(error_code=code):
            return code in NEVER_ACTED or told.acted == "no"


def _calls(
    told: Iterable[Told], *, when: Counter[str] | None = None, unless: Counter[str] | None = None
) -> tuple[str, ...]:
    return tuple(
        f"{each.call}: {each.outcome.model_dump_json()}"
        for each in told
        if (when is not None and when[each.call]) or (unless is not None and not unless[each.call])
    )


def _unfitting(planned: dict[str, str], told: Sequence[Told]) -> Iterator[str]:
    for each in told:
        behaviour = BEHAVIOURS[planned[each.call]] if each.call in planned else None
        match each.outcome:
            case ToolSuccess():
                fits = behaviour is not None and behaviour.succeeds
            case ToolFailure(error_code=code):
                fits = behaviour is not None and code in ANYONES | behaviour.own
        if not fits:
            yield f"{each.call} {planned.get(each.call)}: {each.outcome.model_dump_json()}"

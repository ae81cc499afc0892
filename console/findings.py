"""What a check of `surefoot doctor` found."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from console.safe_text import safe_text
from workers.wedged_runs import WedgedRun


class Verdict(StrEnum):
    """How good a finding is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Finding:
    """One check's finding: a sentence on how it is and, unless it is well, on what to do."""

    verdict: Verdict
    name: str
    sentence: str
    wedged: WedgedRun | None = None
    """The run that it is about, if it is about one."""

    def line(self) -> str:
        """Give it on one line of text."""
        return f"{self.verdict:<4}  {self.name:<16}  {safe_text(' '.join(self.sentence.split()))}"


def ok(name: str, sentence: str) -> Finding:
    """Give the finding that all is well."""
    return Finding(Verdict.OK, name, sentence)


def warn(name: str, sentence: str) -> Finding:
    """Give a finding that one may live with."""
    return Finding(Verdict.WARN, name, sentence)


def fail(name: str, sentence: str) -> Finding:
    """Give a finding that keeps something from working."""
    return Finding(Verdict.FAIL, name, sentence)


def worst(findings: Iterable[Finding]) -> Verdict:
    """Give the worst verdict of all; nothing found is well."""
    order = list(Verdict)
    return max((finding.verdict for finding in findings), key=order.index, default=Verdict.OK)

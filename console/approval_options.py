"""The options of commands that start runs on what becomes of calls that need approval."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Annotated, TypeVar

import typer
from pydantic import TypeAdapter, ValidationError

from activities.tools.discovery import Discovery
from console.errors import CommandError
from console.limit_options import read_period
from console.output import OutputFormat
from surefoot.after_untrusted import AfterUntrusted, RiskClass
from surefoot.approval import Approval, Approvals, unknown_tools
from surefoot.run import OnApproval
from surefoot.strict_json import NotStrictJsonError, strict_json

ApproveOption = Annotated[
    list[str] | None,
    typer.Option(
        "--approve",
        metavar="TOOL=RULE",
        help="When calls of a tool, or of any (*), need approval: never, always, destructive, "
        "outside-workdir, first-use, or JSON; can be repeated.",
    ),
]
AfterUntrustedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--after-untrusted",
        metavar="CLASS=RULE",
        help="When calls that may do as much need approval once the run has read untrusted content: "
        "irreversible, write or network; can be repeated.",
    ),
]
OnApprovalOption = Annotated[
    OnApproval | None,
    typer.Option(
        "--on-approval",
        help="What becomes of a call that needs approval.",
        show_default="wait on a terminal with text output, else deny",
    ),
]
ApprovalTimeoutOption = Annotated[
    float | None,
    typer.Option(
        "--approval-timeout",
        parser=read_period,
        metavar="TIME",
        help="How long such a call waits before it is denied: 90s, 30m, 2h; for ever if unset.",
    ),
]

_RULES: TypeAdapter[Approvals] = TypeAdapter(Approvals)
_CLASSES: TypeAdapter[AfterUntrusted] = TypeAdapter(AfterUntrusted)
_Rules = TypeVar("_Rules")


@dataclass(frozen=True)
class AskedApprovals:
    """What was typed about approvals."""

    rules: Mapping[str, Approval]
    on_approval: OnApproval
    seconds: float | None = None
    after_untrusted: Mapping[RiskClass, Approval] = field(default_factory=dict[RiskClass, Approval])


NOTHING_ASKED = AskedApprovals({}, "deny")


def asked_approvals(
    approve: Sequence[str] | None,
    on_approval: OnApproval | None,
    seconds: float | None,
    output: OutputFormat,
    *,
    after_untrusted: Sequence[str] | None = None,
) -> AskedApprovals:
    """Read the options; without `--on-approval` a run waits only where somebody can be asked.

    Raises:
        CommandError: a rule cannot be read.
    """
    asks = output is OutputFormat.TEXT and sys.stdin.isatty() and sys.stderr.isatty()
    return AskedApprovals(
        _rules(_RULES, "--approve", "TOOL=RULE, such as bash=always", approve or ()),
        on_approval or ("wait" if asks else "deny"),
        seconds,
        _rules(_CLASSES, "--after-untrusted", "CLASS=RULE, such as write=always", after_untrusted or ()),
    )


def refuse_unknown_tools(rules: Mapping[str, Approval], tools: Discovery) -> None:
    """Refuse rules for tools that neither a run nor an agent that it calls has.

    Raises:
        CommandError: it names the closest ones.
    """
    sets = (tools.definitions, *tools.tool_sets.values())
    known = sorted({definition.name for each in sets for definition in each})
    for name in unknown_tools(rules, known):
        close = get_close_matches(name, known, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"they are {', '.join(known)}"
        raise CommandError(f"--approve names no tool of this run: '{name}'; {hint}")


def _rules(rules: TypeAdapter[_Rules], option: str, form: str, given: Sequence[str]) -> _Rules:
    written = dict(_rule(one, option, form) for one in given)
    try:
        return rules.validate_python(written)
    except ValidationError as error:
        first = error.errors()[0]
        named = f" {first['loc'][0]}" if first["loc"] else ""
        reason = first["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
        raise CommandError(f"{option}{named}: {reason}") from None


def _rule(text: str, option: str, form: str) -> tuple[str, object]:
    name, separator, rule = text.partition("=")
    if not name or not separator:
        raise CommandError(f"{option} takes {form}, and not '{text}'")
    if not rule.startswith("{"):
        return name, rule
    try:
        return name, strict_json(rule)
    except NotStrictJsonError as error:
        raise CommandError(f"{option} {name}: the rule is not JSON: {error}") from None

"""What is wrong with an executor's secrets, and with the tools that refer to them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from activities.tools.disk_tool import DiskTool
from activities.tools.executor import Tool
from activities.tools.problem import Problem
from activities.tools.secrets.scrubber import Scrubber
from activities.tools.secrets.source import DIRECTORY, VARIABLE, SecretSource
from surefoot.secret_reference import referenced


def secret_problems(tools: Iterable[Tool], source: SecretSource) -> Iterator[Problem]:
    """Tell of secrets that cannot be used, and warn of tools whose secrets are not there."""
    yield from source.problems()
    secrets = source.read()
    for tool in tools:
        for field, name in _wanted(tool):
            if name not in secrets:
                reason = (
                    f"the secret '{name}' is not there: neither {VARIABLE}{name} nor a file of {DIRECTORY}"
                )
                yield Problem(tool.origin, reason, field, warning=True)


def without_secrets(problems: Iterable[Problem], secrets: Mapping[str, str]) -> Iterator[Problem]:
    """Give problems as they can be shown: a server that does not start may have printed what it was given."""
    hide = Scrubber.of(secrets)
    for problem in problems:
        reason = hide.text(problem.reason)
        yield problem if reason == problem.reason else replace(problem, reason=reason)


def _wanted(tool: Tool) -> Iterator[tuple[str, str]]:
    """Name the secrets of a tool that runs here, each with the field that it stands in."""
    written: Mapping[str, str] = {}
    if isinstance(tool, DiskTool):
        if tool.executable is None:
            return
        written = tool.environment
    yield from (("secrets", name) for name in tool.definition.secrets)
    for variable, value in written.items():
        yield from ((f"environment.{variable}", name) for name in referenced(value))

"""The secrets of an executor as one call finds them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from activities.interface import ToolCallInput
from activities.tools.secrets.scrubber import Scrubber
from surefoot.definition import ToolDefinition
from surefoot.failures import invalid_params
from surefoot.outcome import ToolFailure
from surefoot.secret_reference import referenced, text_with_secrets, with_secrets


class SecretMissingError(ValueError):
    """Names the secrets that are referred to, and that this executor does not have."""


@dataclass(frozen=True)
class Secrets:
    """What secrets there are, by their names."""

    values: Mapping[str, str] = field(repr=False)

    @property
    def scrubber(self) -> Scrubber:
        """What hides all of them: a tool may find one that it was never given."""
        return Scrubber.of(self.values)

    def put_into(self, call: ToolCallInput, definition: ToolDefinition) -> ToolCallInput | ToolFailure:
        """Give a call with the secrets that its params refer to; the same call where they refer to none.

        A tool that is allowed none, on an executor that has none, is given every text as it is. Else it is
        INVALID_PARAMS, and the call is not made, when a reference is not allowed or names nothing.
        """
        if not definition.secrets and not self.values:
            return call
        names = referenced(call.params)
        wrong = [problem for name in names if (problem := self._why_not(name, definition)) is not None]
        if wrong:
            return invalid_params(call.tool, wrong)
        if not names:
            return call
        params = {name: with_secrets(value, self.values) for name, value in call.params.items()}
        return call.model_copy(update={"params": params})

    def environment(self, written: Mapping[str, str]) -> dict[str, str]:
        """Give the variables that a manifest names, with their secrets.

        Raises:
            SecretMissingError: some are not there.
        """
        missing = [name for name in referenced(dict(written)) if name not in self.values]
        if missing:
            raise SecretMissingError(_missing(missing))
        return {name: text_with_secrets(value, self.values) for name, value in written.items()}

    def _why_not(self, name: str, definition: ToolDefinition) -> str | None:
        if name not in definition.secrets:
            allowed = ", ".join(definition.secrets) or "none"
            return f"the tool is not allowed the secret '{name}'; the secrets that it is allowed: {allowed}"
        return None if name in self.values else _missing([name])


def _missing(names: list[str]) -> str:
    if len(names) == 1:
        return f"the secret '{names[0]}' is not there on this worker"
    listed = ", ".join(f"'{name}'" for name in names)
    return f"the secrets {listed} are not there on this worker"


NO_SECRETS = Secrets(MappingProxyType({}))

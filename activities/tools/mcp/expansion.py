"""`${VARIABLE}` and `${VARIABLE:-default}` in what a configuration says."""

import re
from collections.abc import Mapping

_REFERENCE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")


class UnsetVariableError(ValueError):
    """Names, in one phrase, the variable that is not set and has no default."""


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Put the values of variables in place of their names; an empty one counts as unset where `:-` is.

    Raises:
        UnsetVariableError: a variable has neither a value nor a default.
    """

    def value(found: re.Match[str]) -> str:
        name, default = found["name"], found["default"]
        if default is not None:
            return variables.get(name) or default
        if name not in variables:
            raise UnsetVariableError(f"the environment variable {name} is not set, and there is no default")
        return variables[name]

    return _REFERENCE.sub(value, text)

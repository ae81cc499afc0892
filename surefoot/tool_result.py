"""What became of a function tool's operation, typed, for use inside (seeds/003)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Generic, Protocol, TypeVar, cast, runtime_checkable

Value = TypeVar("Value", covariant=True)

RESULT = "result"
"""The field that holds an answer which has no fields of its own."""

_CONTRACT = ("success", "error", "error_code", "message")


@dataclass(frozen=True)
class ToolResult(Generic[Value]):
    """A success with its value, or a failure, whose value is None unless the tool has something to give.

    A function tool may return one; `message` is then the model's `error` if it is a failure.
    """

    success: bool
    value: Value | None = None
    message: str = ""
    error_code: str | None = None

    def answer(self) -> dict[str, object]:
        """Give the plain dict of the contract: `success`, `error`, and the value's own fields."""
        own = own_fields(self.value)
        if self.success:
            said: dict[str, object] = {"message": self.message} if self.message else {}
            return {"success": True, "error": None, **own, **said}
        code: dict[str, object] = {} if self.error_code is None else {"error_code": self.error_code}
        return {"success": False, "error": self.message or "the tool did not say why", **code, **own}

    @staticmethod
    def of(answer: Mapping[str, object]) -> "ToolResult[Any]":
        """Read a plain dict of the contract; the own fields of a failure that are all empty are no value."""
        success = answer.get("success", not answer.get("error")) is True
        own: dict[str, object] = {name: each for name, each in answer.items() if name not in _CONTRACT}
        value = own[RESULT] if list(own) == [RESULT] else own or None
        if not success and not any(_says_something(each) for each in own.values()):
            value = None
        code = answer.get("error_code")
        return ToolResult(
            success=success,
            value=value,
            message=str(answer.get("message" if success else "error") or ""),
            error_code=code if isinstance(code, str) else None,
        )


@runtime_checkable
class _Model(Protocol):
    def model_dump(self, *, mode: str, by_alias: bool) -> dict[str, object]: ...


def own_fields(value: object) -> dict[str, object]:
    """Give the fields that a value stands for: a dict's, a dataclass's, a model's; any other is `result`."""
    match value:
        case None:
            return {}
        case Mapping():
            return dict(cast(Mapping[str, object], value))
        case _Model() if not isinstance(value, type):
            return value.model_dump(mode="json", by_alias=True)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return {field.name: getattr(value, field.name) for field in fields(value)}
        case _:
            return {RESULT: value}


def _says_something(value: object) -> bool:
    return value is not None and value not in ("", [], {}, ())

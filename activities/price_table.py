"""A user's own prices, by model."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from surefoot.price import Price, Rate
from surefoot.strict_json import NotStrictJsonError, strict_json

MAX_TABLE_BYTES = 1024 * 1024


class ModelFacts(BaseModel):
    """What the table says of one model; without rates, its published price holds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Rate | None = None
    output: Rate | None = None
    cache_read: Rate | None = None
    cache_write: Rate | None = None
    context_window: Annotated[int, Field(ge=1, strict=True)] | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> "ModelFacts":
        rates = {self.input, self.output, self.cache_read, self.cache_write}
        if None in (self.input, self.output) and rates != {None}:
            raise ValueError("a price has both 'input' and 'output'")
        return self

    @property
    def price(self) -> Price | None:
        """The price that the table gives; None if it gives none."""
        if self.input is None or self.output is None:
            return None
        return Price(
            input=self.input,
            output=self.output,
            cache_read=self.cache_read,
            cache_write=self.cache_write,
        )


@dataclass(frozen=True)
class PriceTable:
    """What a user says of models; names are those given to `--model`, or those that providers answer with."""

    models: Mapping[str, ModelFacts] = field(default_factory=dict[str, ModelFacts])

    def find(self, *names: str) -> ModelFacts | None:
        """Give what is said of the first of these names that the table has."""
        return next((self.models[name] for name in names if name in self.models), None)


NO_PRICES = PriceTable()


class PriceTableError(ValueError):
    """Says in one sentence why a price table cannot be used: the file, the place and the reason."""


def load_price_table(path: Path) -> PriceTable:
    """Read a price table from a file in JSON or TOML, as its name says.

    Raises:
        PriceTableError: the file cannot be read, or does not fit the format.
    """
    parse = _PARSERS.get(path.suffix.lower())
    if parse is None:
        raise PriceTableError(f"the price table '{path}' must end in .json or .toml")
    try:
        with path.open("rb") as file:
            content = file.read(MAX_TABLE_BYTES + 1)
        if len(content) > MAX_TABLE_BYTES:
            raise PriceTableError(f"the price table '{path}' is larger than 1 MiB")
        return PriceTable(_MODELS.validate_python(parse(content)))
    except OSError as error:
        raise PriceTableError(f"the price table '{path}' cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise PriceTableError(f"the price table '{path}', {_first_problem(error)}") from None
    except (NotStrictJsonError, tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PriceTableError(f"the price table '{path}' cannot be read: {error}") from None


_MODELS = TypeAdapter(dict[str, ModelFacts])


def _toml(content: bytes) -> object:
    return tomllib.loads(content.decode("utf-8"), parse_float=Decimal)


_PARSERS: Mapping[str, Callable[[bytes], object]] = {".json": strict_json, ".toml": _toml}


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    model, *rest = map(str, first["loc"]) if first["loc"] else ("",)
    place = f"model '{model}'" + (f", field '{rest[0]}'" if rest else "") if model else "as a whole"
    if first["type"] == "extra_forbidden":
        return f"{place}: there is no such field; the fields are {', '.join(ModelFacts.model_fields)}"
    return f"{place}: {first['msg'].removeprefix('Value error, ')}"

"""Tells the server what a run is found by, sparingly: each time is an event of its history."""

from collections.abc import Mapping, Sequence

from temporalio import workflow
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

from surefoot.attributes import AttributeName, AttributeValue, Numbers, changed_attributes, is_worth_telling

_KEYWORDS: Mapping[AttributeName, SearchAttributeKey[str]] = {
    "SurefootAgent": SearchAttributeKey.for_keyword("SurefootAgent"),
    "SurefootStatus": SearchAttributeKey.for_keyword("SurefootStatus"),
    "SurefootLastErrorCode": SearchAttributeKey.for_keyword("SurefootLastErrorCode"),
}
_NUMBERS: Mapping[AttributeName, SearchAttributeKey[int]] = {
    "SurefootTurns": SearchAttributeKey.for_int("SurefootTurns"),
    "SurefootFailures": SearchAttributeKey.for_int("SurefootFailures"),
}
_AMOUNTS: Mapping[AttributeName, SearchAttributeKey[float]] = {
    "SurefootCost": SearchAttributeKey.for_float("SurefootCost"),
}

_LISTS: Mapping[AttributeName, SearchAttributeKey[Sequence[str]]] = {
    "SurefootErrorCodes": SearchAttributeKey.for_keyword_list("SurefootErrorCodes"),
}


def first_attributes(agent: str | None) -> TypedSearchAttributes:
    """Give what a run is to be started with, which spares it the first event."""
    return attributes_of(Numbers(agent=agent))


def attributes_of(numbers: Numbers) -> TypedSearchAttributes:
    """Give all that is known of a run, as the server takes it."""
    return _typed(changed_attributes(numbers, {}))


def tell_attributes(now: Numbers) -> None:
    """Tell what changed, if it is worth an event; the numbers go along."""
    told = _told()
    if is_worth_telling(now, told):
        changed = _typed(changed_attributes(now, told))
        # The SDK leaves the type of a value open.
        workflow.upsert_search_attributes(  # pyright: ignore[reportUnknownMemberType]
            [pair.key.value_set(pair.value) for pair in changed]  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportUnknownArgumentType]
        )


def _told() -> dict[AttributeName, AttributeValue]:
    there = workflow.info().typed_search_attributes
    told: dict[AttributeName, AttributeValue] = {}
    told.update({name: there[key] for name, key in _KEYWORDS.items() if key in there})
    told.update({name: there[key] for name, key in _NUMBERS.items() if key in there})
    told.update({name: there[key] for name, key in _AMOUNTS.items() if key in there})
    told.update({name: tuple(there[key]) for name, key in _LISTS.items() if key in there})
    return told


def _typed(values: Mapping[AttributeName, AttributeValue]) -> TypedSearchAttributes:
    pairs: list[
        SearchAttributePair[str]
        | SearchAttributePair[int]
        | SearchAttributePair[float]
        | SearchAttributePair[Sequence[str]]
    ] = []
    for name, value in values.items():
        match value:
            case str():
                pairs.append(SearchAttributePair(_KEYWORDS[name], value))
            case int():
                pairs.append(SearchAttributePair(_NUMBERS[name], value))
            case float():
                pairs.append(SearchAttributePair(_AMOUNTS[name], value))
            case tuple():
                pairs.append(SearchAttributePair(_LISTS[name], value))
    return TypedSearchAttributes(pairs)

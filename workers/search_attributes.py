"""The search attributes by which operators find runs: one definition for every server."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

KEYWORD = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
INT = IndexedValueType.INDEXED_VALUE_TYPE_INT
KEYWORD_LIST = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST
DOUBLE = IndexedValueType.INDEXED_VALUE_TYPE_DOUBLE

_PATIENCE = timedelta(seconds=3)

SEARCH_ATTRIBUTES: Mapping[str, IndexedValueType.ValueType] = MappingProxyType(
    {
        "SurefootAgent": KEYWORD,
        "SurefootStatus": KEYWORD,
        "SurefootTurns": INT,
        "SurefootFailures": INT,
        "SurefootLastErrorCode": KEYWORD,
        "SurefootErrorCodes": KEYWORD_LIST,
        "SurefootCost": DOUBLE,
    }
)
"""Their types by name; `deploy/create-namespace.sh` creates the same ones."""


async def missing_search_attributes(client: Client) -> Mapping[str, IndexedValueType.ValueType]:
    """Give those that the client's namespace does not have, or has with another type.

    Raises:
        RPCError: the server does not tell, or does not let this client ask.
    """
    listed = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    there = listed.custom_attributes
    return {name: kind for name, kind in SEARCH_ATTRIBUTES.items() if there.get(name) != kind}


async def register_search_attributes(client: Client) -> None:
    """Add to the client's namespace what is missing; whoever else does so at the same time does no harm.

    Raises:
        RPCError: the server refuses, for instance because one is there with another type.
    """
    missing = await missing_search_attributes(client)
    if not missing:
        return
    wanted = AddSearchAttributesRequest(namespace=client.namespace, search_attributes=missing)
    try:
        await client.operator_service.add_search_attributes(wanted)
    except RPCError as error:
        if error.status != RPCStatusCode.ALREADY_EXISTS:
            raise


@dataclass(frozen=True)
class Settable:
    """Which search attributes runs of a namespace may set."""

    usual: bool = False
    """All but `SurefootErrorCodes`."""
    error_codes: bool = False
    """`SurefootErrorCodes`, too: a namespace from before there was one does not have it."""

    def of_a_run(self) -> Mapping[str, bool]:
        """Give what a run's input says of them."""
        return {"search_attributes": self.usual, "error_codes_attribute": self.error_codes}


_FOUND: set[tuple[str, str]] = set()


async def settable_search_attributes(client: Client) -> Settable:
    """Tell which of them runs in the client's namespace may set; once that is all, nobody is asked again.

    A server that does not tell, or does not let this client ask, counts as one without them.
    """
    place = (client.service_client.config.target_host, client.namespace)
    if place not in _FOUND:
        try:
            missing = await asyncio.wait_for(missing_search_attributes(client), _PATIENCE.total_seconds())
        except (RPCError, TimeoutError):
            return Settable()
        if missing:
            return Settable(usual=set(missing) == {"SurefootErrorCodes"})
        _FOUND.add(place)
    return Settable(usual=True, error_codes=True)

"""Places of works on Anitabi, through its API (https://github.com/anitabi/anitabi.cn-document)."""

from typing import Annotated, TypedDict

from pydantic import BaseModel, Field, FiniteFloat, TypeAdapter, ValidationError, ValidatorFunctionWrapHandler
from pydantic import WrapValidator as Wrap

from surefoot import tool

from ._web import Service

ANITABI = Service("Anitabi", "PILGRIMAGE_ANITABI_URL", "https://api.anitabi.cn")


def _or_unknown(value: object, read: ValidatorFunctionWrapHandler) -> object:
    try:
        return read(value)
    except ValidationError:
        return None


Latitude = Annotated[float, Field(ge=-90, le=90)]
Longitude = Annotated[float, Field(ge=-180, le=180)]
Geo = Annotated[tuple[Latitude, Longitude] | None, Wrap(_or_unknown)]
"""Latitude and longitude in degrees. Volunteers enter them: what is no place on earth is unknown."""


class Point(BaseModel):
    """A place that can be visited, and the scene it is seen in."""

    id: str
    name: str
    cn: str | None = Field(None, description="Its name in Chinese")
    geo: Geo = Field(None, description="Latitude and longitude in degrees; null if unknown")
    ep: int | str | None = Field(None, description="The episode")
    s: FiniteFloat | None = Field(None, description="Seconds into the episode")
    image: str | None = Field(None, description="The scene, as a thumbnail")
    origin: str | None = Field(None, description="Who is to be named beside the image")
    origin_url: str | None = Field(None, validation_alias="originURL")


class Work(BaseModel):
    """A work, and up to ten of its places."""

    id: int
    title: str
    cn: str | None = None
    city: str | None = None
    geo: Geo = None
    points: list[Point] = Field([], validation_alias="litePoints")
    points_total: int = Field(0, validation_alias="pointsLength")


_WORK = TypeAdapter(Work)
_POINTS = TypeAdapter(list[Point])


class Points(TypedDict):
    """The places of a work."""

    bangumi_id: int
    title: str
    cn_title: str | None
    city: str | None
    points: list[Point]
    points_total: int
    map_url: str


async def work_of(bangumi_id: int) -> Work:
    """Give a work and its best known places."""
    return await ANITABI.ask(f"/bangumi/{bangumi_id}/lite", _WORK)


def map_of(bangumi_id: int) -> str:
    """Give the address of a work's map, for people."""
    return f"https://anitabi.cn/map?bangumiId={bangumi_id}"


@tool(read_only=True, open_world=True, timeout_seconds=80)
async def get_anitabi_points(
    bangumi_id: Annotated[int, Field(ge=1)], limit: Annotated[int, Field(ge=1, le=200)] = 50
) -> Points:
    """Get the real places of a work that fans visit, with their coordinates and scenes.

    Args:
        bangumi_id: The work's id on Bangumi.
        limit: How many places to give; `points_total` says how many there are.
    """
    work = await work_of(bangumi_id)
    points = await ANITABI.ask(f"/bangumi/{bangumi_id}/points/detail", _POINTS)
    return {
        "bangumi_id": bangumi_id,
        "title": work.title,
        "cn_title": work.cn,
        "city": work.city,
        "points": points[:limit],
        "points_total": len(points),
        "map_url": map_of(bangumi_id),
    }

"""Works that have places near a railway station."""

import re
import time
import unicodedata
from collections.abc import Sequence
from typing import Annotated, TypedDict

import httpx2
from pydantic import BaseModel, Field, TypeAdapter

from surefoot import ToolError, current_call, tool

from ._web import Service
from .anitabi import Latitude, Longitude, Work, map_of, work_of
from .distance import Place, haversine_km

GEOCODER = Service("The geocoder", "PILGRIMAGE_GEOCODER_URL", pause_seconds=1.0)
"""A server of Nominatim's; the public one allows a request a second. Without one, only STATIONS are known."""

STATIONS: dict[str, Place] = {
    "札幌 sapporo": (43.069, 141.351),
    "仙台 sendai": (38.260, 140.882),
    "大宮 omiya": (35.906, 139.624),
    "池袋 ikebukuro": (35.730, 139.711),
    "上野 ueno": (35.714, 139.777),
    "秋葉原 akihabara": (35.698, 139.773),
    "新宿 shinjuku": (35.690, 139.701),
    "東京 tokyo": (35.681, 139.767),
    "渋谷 shibuya": (35.658, 139.702),
    "横浜 yokohama": (35.466, 139.622),
    "鎌倉 kamakura": (35.319, 139.551),
    "沼津 numazu": (35.103, 138.860),
    "金沢 kanazawa": (36.578, 136.648),
    "名古屋 nagoya": (35.171, 136.882),
    "京都 kyoto": (34.986, 135.759),
    "宇治 uji": (34.890, 135.801),
    "奈良 nara": (34.681, 135.820),
    "大阪 osaka": (34.702, 135.496),
    "広島 hiroshima": (34.398, 132.475),
    "博多 hakata": (33.590, 130.421),
}
"""Major stations of Japan by their names, to some 100 m."""

WORKS = (1424, 27364, 115908, 160209, 207195, 240038, 328609)
"""Works that are looked at if none are named: K-On!, Hyouka, Sound! Euphonium and others with many places."""


class Station(TypedDict):
    """A station that was found."""

    name: str
    latitude: float
    longitude: float


class NearbyWork(TypedDict):
    """A work with a place near the station."""

    id: int
    title: str
    cn_title: str | None
    city: str | None
    distance_km: float
    nearest_point: str
    points_total: int
    map_url: str


class Nearby(TypedDict):
    """What is near a station."""

    station_name: str
    radius_km: float
    station: Station
    bangumi_list: list[NearbyWork]
    unchecked: Annotated[
        list[int], Field(description="Works that could not be looked at: ask again for them")
    ]


class _Match(BaseModel):
    lat: Latitude
    lon: Longitude


_MATCHES = TypeAdapter(list[_Match])


@tool(read_only=True, open_world=True, timeout_seconds=100)
async def search_anitabi_bangumi_near_station(
    station_name: Annotated[str, Field(max_length=100)],
    radius_km: Annotated[float, Field(gt=0, le=100)] = 5.0,
    works: Annotated[list[Annotated[int, Field(ge=1)]], Field(max_length=30)] | None = None,
) -> Nearby:
    """Find works with places near a railway station, the nearest first.

    Anitabi cannot be searched by place: works are looked at one by one, by their ten best known places.
    Search Bangumi for candidates first, and name them.

    Args:
        station_name: The station's name, in Japanese or English.
        radius_km: How far a place may be from the station, in kilometres.
        works: Ids on Bangumi of the works to look at; without them, a few famous ones.
    """
    station = await find_station(station_name)
    candidates = list(dict.fromkeys(WORKS if works is None else works))
    looked_at, unchecked = await _look_at(candidates)
    measured = [found for work in looked_at if (found := _nearby(work, station))]
    near = [found for found in measured if found["distance_km"] <= radius_km]
    return {
        "station_name": station_name,
        "radius_km": radius_km,
        "station": station,
        "bangumi_list": sorted(near, key=lambda work: work["distance_km"]),
        "unchecked": unchecked,
    }


async def find_station(name: str) -> Station:
    """Find where a station is: in STATIONS, or by the geocoder.

    Raises:
        ToolError: nobody knows it.
    """
    bare = _bare(name)
    if not bare:
        raise ToolError("the station's name is empty", "invalid_input")
    for names, (latitude, longitude) in STATIONS.items():
        if bare in names.split():
            return {"name": names.split()[0] + "駅", "latitude": latitude, "longitude": longitude}
    if not GEOCODER.url:
        known = ", ".join(STATIONS)
        raise ToolError(
            f"no station '{name}' is known, and no geocoder is set up; known are {known}", "not_found"
        )
    matches = await GEOCODER.ask("/search", _MATCHES, query={"q": name, "format": "jsonv2", "limit": 1})
    if not matches:
        raise ToolError(f"the geocoder knows no place '{name}'", "not_found")
    return {"name": name, "latitude": matches[0].lat, "longitude": matches[0].lon}


def _bare(name: str) -> str:
    """Give a name as it is in STATIONS: 宇治駅 and Uji Station are 宇治 and uji."""
    told = unicodedata.normalize("NFKC", name).casefold().strip()
    return re.sub(r"(駅|站|\s+station)$", "", told)


async def _look_at(candidates: Sequence[int]) -> tuple[list[Work], list[int]]:
    """Give the works that Anitabi has, and those that it could not be asked for.

    A service in trouble is not asked on; its trouble is raised if nothing at all came of it.
    """
    # A third of the time: the station has had some, and the last work may need the rest.
    until = time.monotonic() + current_call().timeout_seconds / 3
    works: list[Work] = []
    for number, candidate in enumerate(candidates):
        if time.monotonic() > until:
            return works, list(candidates[number:])
        try:
            works.append(await work_of(candidate))
        except (ToolError, httpx2.HTTPStatusError) as error:
            if isinstance(error, httpx2.HTTPStatusError) and error.response.status_code == 404:
                continue
            if not works:
                raise
            return works, list(candidates[number:])
    return works, []


def _nearby(work: Work, station: Station) -> NearbyWork | None:
    """Measure a work by the nearest of its places; None if none has coordinates."""
    here = (station["latitude"], station["longitude"])
    places = [(haversine_km(here, point.geo), point.name) for point in work.points if point.geo]
    if not places and work.geo:
        places = [(haversine_km(here, work.geo), work.city or work.title)]
    if not places:
        return None
    distance, nearest = min(places)
    return {
        "id": work.id,
        "title": work.title,
        "cn_title": work.cn,
        "city": work.city,
        "distance_km": round(distance, 2),
        "nearest_point": nearest,
        "points_total": work.points_total,
        "map_url": map_of(work.id),
    }

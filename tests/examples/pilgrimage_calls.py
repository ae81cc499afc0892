"""Calls of the five tools, and what they are answered with."""

# ruff: noqa: RUF001 - titles are written as those services write them

from collections.abc import Callable
from typing import Any

from tests.console.command import ROOT
from tests.examples.pilgrimage_services import Reply, Request

EXAMPLE = ROOT / "examples/pilgrimage"

Call = tuple[str, dict[str, Any]]

SEARCH: Call = ("search_bangumi_subjects", {"keyword": "響け！"})
SUBJECT: Call = ("get_bangumi_subject", {"subject_id": 115908})
POINTS: Call = ("get_anitabi_points", {"bangumi_id": 115908})
NEAR: Call = ("search_anitabi_bangumi_near_station", {"station_name": "宇治駅", "works": [115908, 1424]})
FAR: Call = ("search_anitabi_bangumi_near_station", {"station_name": "木幡駅", "radius_km": 3.5})
TRANSLATE: Call = ("translate_tool", {"text": "響け！", "target_language": "en"})

NO_POINTS: dict[str, Any] = {
    "title": "",
    "cn_title": None,
    "city": None,
    "points": [],
    "points_total": None,
    "map_url": "",
}
NOTHING_NEAR: dict[str, Any] = {"station": None, "bangumi_list": [], "unchecked": []}
UJI = {"name": "宇治駅", "latitude": 34.89, "longitude": 135.801}
KOHATA = {"name": "木幡駅", "latitude": 34.9263, "longitude": 135.7945}
RIVERSIDE_NEAR = {
    "id": 115908,
    "title": "響け！ユーフォニアム",
    "cn_title": "吹响吧！上低音号",
    "city": "宇治市",
    "distance_km": 0.65,
    "nearest_point": "あじろぎの道",
    "points_total": 388,
    "map_url": "https://anitabi.cn/map?bangumiId=115908",
}

Ask = Callable[..., Any]


FAILED: dict[str, tuple[Call, str, str, dict[str, Any]]] = {
    "a search": (SEARCH, "bangumi", "Bangumi", {**SEARCH[1], "results": [], "total": None}),
    "a work": (SUBJECT, "bangumi", "Bangumi", {**SUBJECT[1], "subject": None}),
    "the points of a work": (POINTS, "anitabi", "Anitabi", {**POINTS[1], **NO_POINTS}),
    "works near a station": (
        NEAR,
        "anitabi",
        "Anitabi",
        {"station_name": "宇治駅", "radius_km": 5.0, **NOTHING_NEAR},
    ),
    "a station by the geocoder": (FAR, "geocoder", "The geocoder", {**FAR[1], **NOTHING_NEAR}),
}
"""A call, the service that it asks, what it is called, and the own fields of a failure."""


def always(reply: Reply) -> Callable[[Request], Reply]:
    return lambda _: reply

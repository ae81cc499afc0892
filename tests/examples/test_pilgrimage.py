# ruff: noqa: RUF001 - titles are written as those services write them

import threading
from typing import Any

import pytest

from activities.tools.discovery import Discovery
from tests.examples.pilgrimage_calls import (
    FAR,
    KOHATA,
    NEAR,
    POINTS,
    RIVERSIDE_NEAR,
    SEARCH,
    SUBJECT,
    TRANSLATE,
    UJI,
    Ask,
    Call,
)
from tests.examples.pilgrimage_services import CONCERT_HALL, NOWHERE, Reply, Services


def test_the_directory_holds_the_five_tools_and_nothing_is_wrong_with_them(found: Discovery) -> None:
    tools = [SEARCH[0], SUBJECT[0], POINTS[0], NEAR[0], TRANSLATE[0]]

    assert (sorted(found.tools), found.problems) == (sorted(tools), ())


@pytest.mark.parametrize(
    ("call", "own"),
    [
        pytest.param(
            SEARCH,
            {
                "keyword": "響け！",
                "results": [
                    {
                        "id": 115908,
                        "name": "響け！ユーフォニアム",
                        "name_cn": "吹响吧！上低音号",
                        "date": "2015-04-07",
                        "score": 8.2,
                    }
                ],
                "total": 1,
            },
            id="a search",
        ),
        pytest.param(
            ("search_bangumi_subjects", {"keyword": "🎺 ‮?&=/../\x00"}),
            {"keyword": "🎺 ‮?&=/../\x00", "results": [], "total": 0},
            id="a search for what nobody knows",
        ),
        pytest.param(
            SUBJECT,
            {
                "subject_id": 115908,
                "subject": {
                    "id": 115908,
                    "name": "響け！ユーフォニアム",
                    "name_cn": "吹响吧！上低音号",
                    "date": "2015-04-07",
                    "score": 8.2,
                    "summary": "京都府宇治市…",
                    "platform": "TV",
                    "eps": 13,
                    "tags": [{"name": "京都动画", "count": 3000}],
                },
            },
            id="a work",
        ),
        pytest.param(
            NEAR,
            {
                "station_name": "宇治駅",
                "radius_km": 5.0,
                "station": UJI,
                "bangumi_list": [RIVERSIDE_NEAR],
                "unchecked": [],
            },
            id="works near a station that is built in",
        ),
        pytest.param(
            (
                "search_anitabi_bangumi_near_station",
                {"station_name": " Ｕｊｉ　Station", "works": [27364, 9]},
            ),
            {
                "station_name": " Ｕｊｉ　Station",
                "radius_km": 5.0,
                "station": UJI,
                "bangumi_list": [],
                "unchecked": [],
            },
            id="a work without coordinates, and one that Anitabi does not have, are near nothing",
        ),
        pytest.param(
            ("search_anitabi_bangumi_near_station", {**FAR[1], "works": [115908]}),
            {**FAR[1], "station": KOHATA, "bangumi_list": [], "unchecked": []},
            id="nothing near a station that the geocoder knows",
        ),
        pytest.param(
            TRANSLATE,
            {
                "text": "響け！",
                "target_language": "en",
                "translated": "Sound! Euphonium, by translator",
            },
            id="a translation",
        ),
    ],
)
async def test_a_tool_answers_with_its_own_fields(ask: Ask, call: Call, own: dict[str, Any]) -> None:
    assert await ask(call) == {"success": True, "error": None, **own}


def point(**told: object) -> dict[str, Any]:
    fields = ("id", "name", "cn", "geo", "ep", "s", "image", "origin", "origin_url")
    return {name: told.get(name) for name in fields}


@pytest.mark.parametrize(
    ("geo", "read"),
    [
        pytest.param({"geo": [-90, 180]}, [-90.0, 180.0], id="the edge of the earth"),
        pytest.param({"geo": [90.1, 0]}, None, id="beyond the pole"),
        pytest.param({"geo": [0, -180.5]}, None, id="beyond the date line"),
        pytest.param({"geo": [35.1]}, None, id="half of them"),
        pytest.param({"geo": ["north", "east"]}, None, id="words"),
        pytest.param({"geo": [float("nan"), 0]}, None, id="not a number"),
        pytest.param({"geo": None}, None, id="null"),
        pytest.param({}, None, id="absent"),
    ],
)
async def test_a_point_without_a_place_on_earth_is_given_without_coordinates(
    ask: Ask, services: Services, geo: dict[str, Any], read: object
) -> None:
    told = {"id": "a", "name": "here", **geo}
    services.trouble["anitabi"] = lambda request: Reply([told]) if "detail" in request.path else None

    answer = await ask(POINTS)

    assert answer["points"] == [point(id="a", name="here", geo=read)]


async def test_points_are_told_with_their_scenes_and_whom_to_name(ask: Ask) -> None:
    first = point(**CONCERT_HALL)
    last = point(id=NOWHERE["id"], name=NOWHERE["name"], origin="Google Maps", origin_url="https://g")
    told = {
        "bangumi_id": 115908,
        "title": "響け！ユーフォニアム",
        "cn_title": "吹响吧！上低音号",
        "city": "宇治市",
    }

    answer = await ask(POINTS)

    assert (answer["points"][0], answer["points"][2], len(answer["points"])) == (first, last, 3)
    del answer["points"]
    assert answer == {
        "success": True,
        "error": None,
        **told,
        "points_total": 3,
        "map_url": "https://anitabi.cn/map?bangumiId=115908",
    }


async def test_works_that_could_not_be_looked_at_are_named(ask: Ask, services: Services) -> None:
    services.trouble["anitabi"] = lambda request: Reply({}, 500) if "/1424/" in request.path else None
    works = [9, 115908, 1424, 27364, 1424]

    answer = await ask((NEAR[0], {"station_name": "Uji", "works": works}))

    assert (answer["bangumi_list"], answer["unchecked"]) == ([RIVERSIDE_NEAR], [1424, 27364])


async def test_works_that_there_was_no_time_for_are_named(ask: Ask, services: Services) -> None:
    slowly = threading.Event()
    services.trouble["anitabi"] = lambda _: Reply() if slowly.wait(0.6) else None

    answer = await ask((NEAR[0], {"station_name": "Uji", "works": [115908, 1424, 27364]}), seconds=3)

    assert answer["unchecked"][-1] == 27364


async def test_works_are_given_by_their_distance_within_the_radius(ask: Ask) -> None:
    near = [1424, 115908]

    answers = [
        await ask((NEAR[0], {"station_name": "京都駅", "radius_km": radius, "works": near}))
        for radius in (100, 7, 0.1)
    ]

    told = [[(work["id"], work["nearest_point"]) for work in answer["bangumi_list"]] for answer in answers]
    garden, hall = (1424, "けいおん！"), (115908, "京都コンサートホール")
    assert told == [[garden, hall], [garden], []]


@pytest.mark.parametrize(
    ("call", "error", "code"),
    [
        pytest.param(
            ("search_bangumi_subjects", {"keyword": " 　"}),
            "the keyword is empty",
            "invalid_input",
            id="no keyword",
        ),
        pytest.param(
            (NEAR[0], {"station_name": " 駅"}),
            "the station's name is empty",
            "invalid_input",
            id="no station",
        ),
        pytest.param(
            (NEAR[0], {"station_name": "Atlantis"}),
            "the geocoder knows no place 'Atlantis'",
            "not_found",
            id="a station that nobody knows",
        ),
        pytest.param(
            (TRANSLATE[0], {**TRANSLATE[1], "text": ""}),
            "there is nothing to translate",
            "invalid_input",
            id="no text",
        ),
    ],
)
async def test_what_cannot_be_asked_is_told(ask: Ask, call: Call, error: str, code: str) -> None:
    answer = await ask(call)

    assert (answer["success"], answer["error"], answer["error_code"]) == (False, error, code)


async def test_without_a_geocoder_the_known_stations_are_named(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PILGRIMAGE_GEOCODER_URL")

    answer = await ask(FAR)

    assert answer["error"].startswith(
        "no station '木幡駅' is known, and no geocoder is set up; known are 札幌 sapporo, "
    )
    assert answer["error_code"] == "not_found"


async def test_a_service_is_told_who_asks_and_what(ask: Ask, services: Services) -> None:
    await ask(SEARCH)
    await ask(FAR)

    search, place, *_ = services.requests
    agent = "surefoot/pilgrimage-example/0.1"
    assert (search.user_agent, place.user_agent) == (agent, agent)
    assert (search.method, search.query) == ("POST", {"limit": ["10"]})
    assert search.body == {"keyword": "響け！", "sort": "match", "filter": {"type": [2]}}
    assert place.query == {"q": ["木幡駅"], "format": ["jsonv2"], "limit": ["1"]}

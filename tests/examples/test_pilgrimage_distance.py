from math import pi

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.pilgrimage.distance import EARTH_RADIUS_KM, haversine_km

PLACES = st.tuples(
    st.floats(min_value=-90, max_value=90, allow_nan=False),
    st.floats(min_value=-180, max_value=180, allow_nan=False),
)
CLOSE = 1e-6
"""A millimetre, in kilometres."""


@given(PLACES)
def test_a_place_is_no_distance_from_itself(here: tuple[float, float]) -> None:
    assert haversine_km(here, here) == 0


@given(PLACES, PLACES)
def test_the_way_back_is_as_long(here: tuple[float, float], there: tuple[float, float]) -> None:
    assert haversine_km(here, there) == pytest.approx(haversine_km(there, here), abs=CLOSE)


@given(PLACES, PLACES)
def test_nothing_is_further_than_the_other_end_of_the_earth(
    here: tuple[float, float], there: tuple[float, float]
) -> None:
    assert 0 <= haversine_km(here, there) <= pi * EARTH_RADIUS_KM + CLOSE


@given(PLACES, PLACES, PLACES)
def test_a_detour_is_never_shorter(
    here: tuple[float, float], over: tuple[float, float], there: tuple[float, float]
) -> None:
    # Near the other end of the earth rounding costs up to a metre.
    assert haversine_km(here, there) <= haversine_km(here, over) + haversine_km(over, there) + 1e-3


@given(PLACES)
def test_a_place_and_its_opposite_are_half_the_earth_apart(here: tuple[float, float]) -> None:
    opposite = (-here[0], here[1] + 180)

    assert haversine_km(here, opposite) == pytest.approx(pi * EARTH_RADIUS_KM, abs=1e-3)


@given(PLACES)
def test_the_date_line_is_no_distance(here: tuple[float, float]) -> None:
    assert haversine_km((here[0], 180.0), (here[0], -180.0)) == pytest.approx(0, abs=CLOSE)


def test_a_degree_along_a_meridian_is_111_kilometres() -> None:
    assert haversine_km((34, 135), (35, 135)) == pytest.approx(111.195, abs=0.001)


def test_tokyo_and_kyoto_are_370_kilometres_apart() -> None:
    assert haversine_km((35.681, 139.767), (34.986, 135.759)) == pytest.approx(371, abs=2)

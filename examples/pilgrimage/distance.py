"""How far two places are apart."""

from math import asin, cos, radians, sin, sqrt

EARTH_RADIUS_KM = 6371.0088

Place = tuple[float, float]
"""Latitude and longitude in degrees."""


def haversine_km(here: Place, there: Place) -> float:
    """Give the distance as the crow flies, in kilometres; the earth is taken for a sphere (0.5 % off)."""
    latitude, other_latitude = radians(here[0]), radians(there[0])
    north = sin((other_latitude - latitude) / 2) ** 2
    east = sin(radians(there[1] - here[1]) / 2) ** 2
    # Rounding can make it a little more than 1 for opposite ends of the earth.
    return 2 * EARTH_RADIUS_KM * asin(min(1.0, sqrt(north + cos(latitude) * cos(other_latitude) * east)))

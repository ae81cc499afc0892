"""A JSON Schema as it travels."""

from pydantic import JsonValue

JsonSchema = dict[str, JsonValue]

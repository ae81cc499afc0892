"""How a model is told of its tools, and asks for their calls."""

from typing import Literal

Protocol = Literal["native", "prompted"]
"""As the provider's own tool calls, or as text in the form of seeds/004."""

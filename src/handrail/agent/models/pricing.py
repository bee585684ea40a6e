"""What one answer cost: tokens as the server counted them, dollars where the price list has the model.

The list comes with the library; nothing is downloaded.
"""

from __future__ import annotations

from pydantic_ai.messages import ModelResponse

from handrail.agent.model import Usage


def usage_of(response: ModelResponse, *, is_priced: bool) -> Usage:
    """`is_priced` is false for a server whose prices are its own."""
    used = response.usage
    return Usage(used.input_tokens, used.output_tokens, _dollars(response) if is_priced else None)


def _dollars(response: ModelResponse) -> float | None:
    if not response.model_name or not response.usage.has_values():
        return None
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError):  # no such model in the list, or an answer without its usage
        return None

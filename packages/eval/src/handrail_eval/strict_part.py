"""A part of a template's file: a misspelt key is an error, not a wish that is ignored."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class StrictPart(BaseModel):
    """Frozen and closed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

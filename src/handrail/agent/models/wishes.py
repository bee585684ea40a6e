"""What a caller decides of a hosted model; None leaves it to its maker."""

from __future__ import annotations

from dataclasses import dataclass

from handrail.agent.model import Mode


@dataclass(frozen=True, slots=True)
class Wishes:
    """`base_url` is the server's address; `stream` has the answer sent piece by piece."""

    base_url: str | None = None
    mode: Mode | None = None
    sees: bool | None = None
    stream: bool = False

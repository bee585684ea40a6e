"""What a tool call answers, before any transport dresses it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handrail.errors import HandrailError
    from handrail.protocol.envelope import Envelope

PICTURE = "screenshotBase64"


@dataclass(frozen=True, slots=True)
class Answer:
    """One text for the model, pictures beside it, and the data behind it for programs."""

    text: str
    images: tuple[str, ...] = ()
    """PNG, base64."""
    is_error: bool = False
    envelope: Envelope | None = None
    structured: dict[str, Any] | None = None
    """What `--structured` sends: the envelope, a trace, or a failure that had no envelope."""
    more: tuple[str, ...] = ()
    """Further text blocks, where a seed's tool has them."""


def data_of(envelope: Envelope) -> dict[str, Any]:
    """An envelope as data, without the picture that an image block carries."""
    written = envelope.to_dict()
    details = written.get("details")
    if details and PICTURE in details:
        written["details"] = {name: value for name, value in details.items() if name != PICTURE}
    return written


def failure_text(error: HandrailError) -> str:
    """Code, message, everything that is wrong with the input, and what to do next."""
    lines = [f"{error.code}: {error.message}"]
    problems = error.details.get("problems") or ()
    if len(problems) > 1:
        lines += [f"  {one['path']}: {one['message']}{_meant(one)}" for one in problems]
    return "\n".join([*lines, error.hint])


def _meant(problem: dict[str, Any]) -> str:
    return f"; did you mean {problem['suggestion']}?" if "suggestion" in problem else ""

"""From a maker's words to their effect and the maker's own answer, whoever does the single actions.

A door gives `do`: one action in, its envelope as data and its text out. What a reader lacks (how large the
screen is, which elements there are) is asked for in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from handrail.dialects.frame import Size
from handrail.dialects.parts import Conversation
from handrail.dialects.table import Dialect, WordsRead, WordsTold
from handrail.errors import InvalidAction
from handrail.protocol.actions import AnyAction
from handrail.protocol.observe import GetUiTree, Screenshot

Do = Callable[[AnyAction], Awaitable[tuple[Mapping[str, Any], str]]]
PICTURE = "screenshotBase64"
_LINE = re.compile(r"^\s*(?P<ref>@[a-z]\d+)\b[ \t]*(?P<text>.*?)\s*$", re.MULTILINE)
_SMALLEST = 0.05


@dataclass(frozen=True, slots=True)
class CarriedOut:
    """What was read, what came of each action, and what the caller is told."""

    reading: WordsRead
    envelopes: tuple[Mapping[str, Any], ...]
    told: WordsTold
    answer: Any

    def to_dict(self) -> dict[str, Any]:
        more = {
            "thought": self.reading.thought,
            "notes": list(self.reading.notes),
            "repairs": list(self.reading.repairs),
        }
        described = {"answer": self.answer, "envelopes": [dict(envelope) for envelope in self.envelopes]}
        return described | {name: value for name, value in more.items() if value}


async def carry_out(own: Dialect, output: Any, talk: Conversation, do: Do) -> CarriedOut:
    """All actions of one answer, in order, up to the first that fails. Raises what `read` raises."""
    reading = await _read(own, output, talk, do)
    envelopes: list[Mapping[str, Any]] = []
    texts: list[str] = []
    for action in reading.actions:
        envelope, text = await do(action)
        envelopes.append(envelope)
        texts.append(text if action.effect == "read" else text.partition("\n")[0])
        if not envelope["success"]:
            break
    outcome = await _run_actions(own, talk, do, envelopes, texts)
    return CarriedOut(reading, tuple(envelopes), outcome, own.answer(reading, outcome))


async def _read(own: Dialect, output: Any, talk: Conversation, do: Do) -> WordsRead:
    """What is missing is asked for once, and only where it is needed."""
    if own.numbers and not talk.elements:
        talk.elements = [element["ref"] for element in await elements_now(do)]
    saved = (talk.cursor, list(talk.held) if talk.held is not None else None, talk.answer)
    try:
        return own.read(output, talk)
    except InvalidAction as error:
        if error.details.get("path") != "screen" or talk.frame.screen is not None:
            raise
    talk.cursor, talk.held, talk.answer = saved
    talk.frame = replace(talk.frame, screen=await screen_now(do))
    return own.read(output, talk)


async def _run_actions(
    own: Dialect, talk: Conversation, do: Do, envelopes: list[Mapping[str, Any]], texts: list[str]
) -> WordsTold:
    last: Mapping[str, Any] = envelopes[-1] if envelopes else {"success": True}
    picture = str((last.get("details") or {}).get(PICTURE, "")) if last["success"] else ""
    if own.shows and not picture:
        shot, _ = await do(Screenshot())
        picture = str((shot.get("details") or {}).get(PICTURE, "")) if shot["success"] else ""
        if picture:
            talk.frame = _shown(talk, shot["details"])
    elif picture and "region" not in last["details"]:
        talk.frame = _shown(talk, last["details"])
    elements = await elements_now(do) if own.numbers else []
    if own.numbers:
        talk.elements = [element["ref"] for element in elements]
    return WordsTold(
        bool(last["success"]),
        "\n".join(texts) if last["success"] else str(last.get("message") or texts[-1]),
        last.get("failure_code"),
        last.get("hint"),
        picture,
        elements=elements,
    )


def _shown(talk: Conversation, details: Mapping[str, Any]) -> Any:
    """What was sent last is what the next numbers are about."""
    width, height, scale = details["width"], details["height"], details["scale"]
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return replace(talk.frame, screen=(width, height), picture=size)


async def screen_now(do: Do) -> Size:
    """In pixels. Raises `InvalidAction` where nobody can tell."""
    envelope, text = await do(Screenshot(scale=_SMALLEST))
    details = envelope.get("details") or {}
    if not envelope["success"] or "width" not in details:
        raise InvalidAction(
            f"screen: its size could not be read: {text[:300]}", path="screen", hint="Say how large it is."
        )
    return int(details["width"]), int(details["height"])


async def elements_now(do: Do) -> list[dict[str, Any]]:
    """What can be named, in the order of the screen; a number in a dialect is a place in this list."""
    envelope, _ = await do(GetUiTree(max_lines=1_000))
    text = str((envelope.get("details") or {}).get("text", ""))
    elements = {match["ref"]: {"ref": match["ref"], "text": match["text"]} for match in _LINE.finditer(text)}
    return list(elements.values())

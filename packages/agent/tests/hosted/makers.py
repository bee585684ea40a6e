"""Both makers of hosted models behind one face: the same story is told in each one's own protocol."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from packages.agent.tests.hosted import anthropic_wire, responses_wire
from packages.agent.tests.hosted.server import Answer, Got
from PIL import Image

Act = tuple[str, Mapping[str, Any]]
"""A word that both have, with a place in pixels of the picture, or a text."""


@dataclass(frozen=True)
class Maker:
    """`acts`: one answer with these actions. `call`: one of our own tools. `says`: the last words."""

    name: str
    spec: str
    base: str
    path: str
    acts: Callable[..., Answer]
    call: Callable[[str, Mapping[str, Any]], Answer]
    says: Callable[[str], Answer]
    refuses: Callable[[str], Answer]
    pictures: Callable[[Got], list[str]]
    told: Callable[[Got], list[str]]
    """What the newest request says of the last answer, a text for each call, then the words after them."""
    limit: str

    def sizes(self, got: Got) -> list[tuple[int, int]]:
        """Of all pictures, oldest first."""
        return [*map(size, self.pictures(got))]


def size(data: str) -> tuple[int, int]:
    """Of a picture in base64."""
    return Image.open(io.BytesIO(base64.b64decode(data.rpartition(",")[2]))).size


def click(x: float, y: float) -> Act:
    return "click", {"x": round(x), "y": round(y)}


def types(text: str) -> Act:
    return "type", {"text": text}


def middle(x: float, y: float) -> Act:
    """What a phone can't do."""
    return "middle", {"x": round(x), "y": round(y)}


def _anthropic_block(number: int, act: Act) -> dict[str, Any]:
    word, given = act
    names = {"click": "left_click", "middle": "middle_click", "type": "type"}
    fields = {"coordinate": [given["x"], given["y"]]} if "x" in given else dict(given)
    return {**anthropic_wire.use(names[word], fields, number), "toolset_name": "computer"}


def _anthropic_acts(*acts: Act, says: str = "") -> Answer:
    blocks = [_anthropic_block(number, act) for number, act in enumerate(acts)]
    return anthropic_wire.message(*([anthropic_wire.text(says)] if says else []), *blocks)


def _openai_action(act: Act) -> dict[str, Any]:
    word, given = act
    if word == "type":
        return {"type": "type", **given}
    return {"type": "click", "button": "left" if word == "click" else "wheel", **given}


def _openai_acts(*acts: Act, checks: Sequence[Mapping[str, Any]] = (), says: str = "") -> Answer:
    said = [responses_wire.says(says)] if says else []
    return responses_wire.response(
        responses_wire.REASONING, *said, responses_wire.computer(*map(_openai_action, acts), checks=checks)
    )


def _found(value: Any, wanted: Callable[[Mapping[str, Any]], bool]) -> list[Mapping[str, Any]]:
    """Every object below that is wanted, in order."""
    if isinstance(value, list):
        return [one for item in value for one in _found(item, wanted)]
    if not isinstance(value, dict):
        return []
    return ([value] if wanted(value) else []) + [
        one for item in value.values() for one in _found(item, wanted)
    ]


def _anthropic_pictures(got: Got) -> list[str]:
    blocks = _found(got.body["messages"], lambda one: one.get("type") == "image")
    return [block["source"]["data"] for block in blocks]


def _openai_pictures(got: Got) -> list[str]:
    blocks = _found(got.body["input"], lambda one: str(one.get("image_url", "")).startswith("data:"))
    return [block["image_url"] for block in blocks]


def _anthropic_told(got: Got) -> list[str]:
    content = got.body["messages"][-1]["content"]
    texts = [
        block["content"][0]["text"] if block["type"] == "tool_result" else block.get("text")
        for block in content
    ]
    return [text for text in texts if text is not None]


def _openai_told(got: Got) -> list[str]:
    """Of functions in their outputs, of the computer in the message after them."""
    items = got.body["input"]
    outputs = [item["output"] for item in items if item.get("type") == "function_call_output"]
    return [*outputs[-1:], *(part["text"] for part in items[-1]["content"] if part["type"] == "input_text")]


ANTHROPIC = Maker(
    "anthropic",
    "anthropic:claude-sonnet-5",
    "",
    "/v1/messages",
    _anthropic_acts,
    lambda name, given: anthropic_wire.message(anthropic_wire.use(name, dict(given))),
    lambda words: anthropic_wire.message(anthropic_wire.text(words), stop="end_turn"),
    anthropic_wire.refused,
    _anthropic_pictures,
    _anthropic_told,
    "max_tokens",
)
OPENAI = Maker(
    "openai",
    "openai:gpt-5.6",
    "/v1",
    "/v1/responses",
    _openai_acts,
    lambda name, given: responses_wire.response(responses_wire.function(name, dict(given))),
    lambda words: responses_wire.response(responses_wire.says(words)),
    lambda why: responses_wire.response(responses_wire.refuses(why)),
    _openai_pictures,
    _openai_told,
    "max_output_tokens",
)
MAKERS = (ANTHROPIC, OPENAI)

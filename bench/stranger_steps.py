"""The words of the tables of strangers' pages: a case is a page, the steps in words that both peers can
find, and the expression by which the page says that they were done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Step:
    """One thing to do, with a target by its words and its role."""

    kind: str
    words: str = ""
    role: str = ""
    nth: int = 0
    value: Any = None
    to: Any = None
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """What is done on one page, and the expression by which the page says so."""

    name: str
    path: str
    steps: tuple[Step, ...]
    holds: str

    def with_file(self, path: str) -> Case:
        steps = tuple(replace(step, value=path) if step.kind == "upload" else step for step in self.steps)
        return replace(self, steps=steps)


def tap(words: str, role: str = "", nth: int = 0, **fields: Any) -> Step:
    return Step("tap", words, role, nth, fields=fields)


def right(words: str, role: str = "", nth: int = 0) -> Step:
    return tap(words, role, nth, button="right")


def held(words: str, role: str, *modifiers: str, nth: int = 0) -> Step:
    return tap(words, role, nth, modifiers=list(modifiers))


def double(words: str, role: str = "", nth: int = 0) -> Step:
    return Step("double", words, role, nth)


def hover(words: str, role: str = "", nth: int = 0) -> Step:
    return Step("hover", words, role, nth)


def put(words: str, text: str, role: str = "textbox", nth: int = 0, **fields: Any) -> Step:
    return Step("type", words, role, nth, text, fields=fields)


def typed(text: str) -> Step:
    return Step("type", value=text)


def keys(*names: str) -> Step:
    return Step("keys", value=names)


def choose(words: str, value: Any, role: str = "combobox", nth: int = 0) -> Step:
    return Step("set", words, role, nth, value)


def drag(words: str, to: str, nth: int = 0, to_nth: int = 0, role: str = "") -> Step:
    return Step("drag", words, role, nth, to=Step("", to, role, to_nth))


def upload(words: str, role: str = "file") -> Step:
    return Step("upload", words, role)


def answer(words: str, text: str | None = None) -> Step:
    return Step("answer", words, "button", value=text)


def scroll(words: str, role: str = "") -> Step:
    return Step("scroll", words, role)


def tab(words: str, nth: int) -> Step:
    return Step("tab", words, nth=nth)


def wait(words: str) -> Step:
    return Step("wait", words)


def reads(words: str) -> Step:
    return Step("reads", words)


def one(selector: str) -> str:
    return f"document.querySelector({selector!r})"


def says(selector: str, words: str) -> str:
    return f"({one(selector)}?.textContent ?? '').includes({words!r})"


def worth(selector: str, value: str) -> str:
    return f"{one(selector)}?.value === {value!r}"


def is_set(selector: str, name: str, value: str) -> str:
    return f"{one(selector)}?.getAttribute({name!r}) === {value!r}"


def named(selector: str, words: str) -> str:
    """The first element of these with these words."""
    return f"[...document.querySelectorAll({selector!r})].find((el) => el.textContent.trim() === {words!r})"


def shown(selector: str) -> str:
    return f"!!{one(selector)}?.checkVisibility({{visibilityProperty: true, opacityProperty: true}})"

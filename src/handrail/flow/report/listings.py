"""Blocks of text that people read line by line: a step as it was written, diffs, logs, trees."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import yaml

from handrail.flow.report.markup import Html, tag
from handrail.tree.quote import cut

LOG_LINES = 200
"""The end of a log; what led to the failure stands there."""
_LINE = 600
"""Characters of one line."""
_BLOCK = 150_000
_LEVEL = re.compile(r"(?:\S+\s+){1,2}\d+\s+\d+\s+[EF]\s|[EF]/")
"""Errors: a moment of one or two words, process, thread and level; or logcat's `brief` form."""
_SECTIONS = {"Elements added:": "added", "Elements removed:": "removed", "Elements changed:": "changed"}


def listing(title: str, text: str, line_class: Callable[[str], str | None] = lambda _: None) -> Html:
    """A titled block that scrolls by itself and can be reached with the keyboard."""
    short = "\n".join(cut(line, _LINE) for line in text.splitlines())
    lines = [tag("span", line, "\n", class_=line_class(line)) for line in cut(short, _BLOCK).splitlines()]
    block = tag("pre", lines, tabindex=0, role="region", aria_label=title)
    return tag("div", tag("h3", title), block, class_="listing")


def given(step: Mapping[str, Any]) -> Html:
    """The step as a person would write it, without the steps inside it: they have rows of their own."""
    plain = json.loads(json.dumps(_outline(step), ensure_ascii=False, default=str))
    return listing("Step", yaml.safe_dump(plain, allow_unicode=True, sort_keys=False).rstrip())


def screen_diff(text: str) -> Html:
    """What changed on the screen; each line is coloured by the section it stands in."""
    section: list[str] = [""]

    def kind(line: str) -> str | None:
        section[0] = _SECTIONS.get(line, section[0])
        return "head" if line in _SECTIONS else section[0] or None

    return listing("What changed on the screen", text, kind)


def file_diff(title: str, text: str) -> Html:
    """An edit of a file."""
    signs = {"+": "added", "-": "removed", "@": "head"}
    return listing(title, text, lambda line: signs.get(line[:1]))


def log(lines: Sequence[str]) -> Html:
    """The device's log, its errors marked."""
    shown = lines[-LOG_LINES:]
    title = f"Device log ({len(shown)} of {len(lines)} lines)" if len(shown) < len(lines) else "Device log"
    return listing(title, "\n".join(shown), lambda line: "removed" if _LEVEL.match(line) else None)


def _outline(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _outline(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple) and value and all(isinstance(one, Mapping) for one in value):
        return "1 step" if len(value) == 1 else f"{len(value)} steps"
    return value

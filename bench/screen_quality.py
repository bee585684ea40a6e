"""How much of a screen its compact text keeps, judged from the dump's own bytes and the printed text.

Nothing of `handrail` is used here, so that it can't mark its own work: the dump is read by `raw_dump`, what
is seen is found by brute force, and a ref is known by class, id and bounds.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from bench.raw_dump import Box, Raw, area, common, covers

_ACTS = ("clickable", "long-clickable", "checkable", "scrollable")
_FIELDS = re.compile(r"(EditText|TextField|AutoCompleteTextView|SearchAutoComplete)$")
_SLIDERS = re.compile(r"(SeekBar|RatingBar|Slider)$")
_KEYBOARD = re.compile(r"inputmethod|keyboard|honeyboard|swiftkey|\.ime$|\.input$", re.IGNORECASE)
_SYSTEM = "com.android.systemui"
_LINE = re.compile(r"^ *@([a-z])([\d,-]+)(?: (.*))?$")
_ID = re.compile(r"#[\w.$:/-]+|\d+× (?!keyboard\b)[A-Za-z_]\S*")
_PLACE = re.compile(
    r"\((?:(?:right|left) of|above|below) \"(?:[^\"\\]|\\.)*\"(?:, \d+\w\w)?\)"
    r"|\((?:top|middle|bottom|left|right|whole)[a-z ]*(?:, \d+\w\w)?\)|\d+×"
)
_STATES = {"on", "off", "selected", "focused", "disabled", "password", "long-press", "empty"}
_ROOMY = 0.5  # of a box: what is smaller is another target
_WHOLE = 0.8  # for what does something else than the box

Refs = Mapping[str, tuple[str, str, Box]]
"""Class, id and bounds of each ref's node."""


@dataclass
class Quality:
    """Counts of one screen; they add up over a folder."""

    wanted: int = 0
    reached: int = 0
    pieces: int = 0
    kept: int = 0
    refs: int = 0
    unlabelled: int = 0
    """Without a label; an id may stand for it."""
    nameless: int = 0
    """With neither a label nor an id: a position is none."""
    missed: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    def __add__(self, other: Quality) -> Quality:
        return Quality(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))


def judge(nodes: list[Raw], text: str, refs: Refs) -> Quality:
    """Strict recall, text kept and nameless refs of one rendering."""
    seen = seen_nodes(nodes)
    printed = {refs[ref] for ref in printed_refs(text)}
    wanted = [node for node in seen if node.has("enabled") and acts(node)]
    missed = [node for node in wanted if node.key not in printed and not _wraps_one(node, printed, seen)]
    said = visible_text(re.sub(r"\\([\"\\<`])", r"\1", text))
    pieces = text_pieces(seen)
    lost = sorted(piece for piece in pieces if piece[:60].strip() not in said)
    count, unlabelled, nameless = name_counts(text)
    return Quality(
        wanted=len(wanted),
        reached=len(wanted) - len(missed),
        pieces=len(pieces),
        kept=len(pieces) - len(lost),
        refs=count,
        unlabelled=unlabelled,
        nameless=nameless,
        missed=tuple(f"{node.cls} {node.text or node.desc!r} {node.box}" for node in missed),
        lost=tuple(lost),
    )


def known_by(ref_map: Mapping[str, Any]) -> Refs:
    """What the judge is told of each ref: no more than the dump says of its node."""
    return {ref: (node.class_name, node.resource_id, tuple(node.bounds)) for ref, node in ref_map.items()}


def acts(node: Raw) -> bool:
    return node.has(*_ACTS) or bool(_FIELDS.search(node.cls) or _SLIDERS.search(node.cls))


def printed_refs(text: str) -> list[str]:
    """Every ref that stands on a line of its own or in a range."""
    refs: list[str] = []
    for line in text.splitlines()[1:]:
        if match := _LINE.match(line):
            for span in match[2].split(","):
                low, _, high = span.partition("-")
                refs.extend(f"@{match[1]}{number}" for number in range(int(low), int(high or low) + 1))
    return refs


def seen_nodes(nodes: list[Raw]) -> list[Raw]:
    """What a person sees, by brute force."""
    roots = [node for node in nodes if node.parent is None]
    display = (0, 0, max(root.box[2] for root in roots), max(root.box[3] for root in roots))
    inside = [node for node in nodes if _is_on_screen(node, display)]
    nodes = [node for node in inside if node.package != _SYSTEM] or inside
    tops = {id(node): _top(node) for node in nodes}
    veils = [
        node
        for node in nodes
        if node.has("clickable") and not node.has("scrollable") and not _is_web_veil(node)
    ]

    def is_hidden(node: Raw) -> bool:
        mine = _painted(node)
        return any(
            tops[id(over)] is tops[id(node)]
            and covers(over.box, node.box)
            and not node.at < over.at < node.end
            and _painted(over) > mine
            for over in veils
        )

    return [node for node in nodes if not is_hidden(node)]


def _top(node: Raw) -> Raw:
    """The window. Without layers a dump does not tell which of two is above, so none hides another."""
    return ([node, *node.up()])[-1]


def _is_web_veil(node: Raw) -> bool:
    if not any(up.cls.endswith("WebView") for up in node.up()):
        return False
    stack = [node]
    while stack:
        one = stack.pop()
        if one.text or one.desc:
            return False
        stack.extend(one.children)
    return True


def _is_on_screen(node: Raw, display: Box) -> bool:
    """With a size, and a part of it inside the display and inside every scroll container around it."""
    if node.hidden or not area(node.box) or (not node.cls and node.children):
        return False
    part = display
    for up in node.up():
        if up.has("scrollable") and area(up.box):
            part = common(part, up.box)
    return area(common(node.box, part)) > 0


def _painted(node: Raw) -> list[tuple[int, int]]:
    path = [node, *node.up()]
    return [(one.drawn, one.at) for one in reversed(path)]


def _wraps_one(node: Raw, printed: Collection[tuple[str, str, Box]], seen: list[Raw]) -> bool:
    """A tappable box around exactly one ref that does the same, with nothing else to tap between them."""
    if node.has("scrollable", "checkable"):
        return False
    found = [one for one in seen if node.at < one.at < node.end and one.key in printed]
    outermost = [one for one in found if not any(up in found for up in one.up())]
    if len(outermost) != 1:
        return False
    inner = outermost[0]
    if inner.has("scrollable") and not _FIELDS.search(inner.cls):
        return False
    zone = next((one for one in (inner, *inner.up()) if one is node or one.has("clickable")), node)
    if zone is node:
        return True
    share = _WHOLE if inner.has("checkable") or _SLIDERS.search(inner.cls) else _ROOMY
    return area(common(zone.box, node.box)) >= share * area(node.box)


def text_pieces(seen: list[Raw]) -> set[str]:
    """The distinct texts and descriptions on the screen, without passwords and screen-reader aggregates."""
    pieces: set[str] = set()
    speaking = {id(up) for node in seen if node.text or node.desc for up in node.up()}
    for node in seen:
        if node.text and not node.has("password") and not _KEYBOARD.search(node.package):
            pieces.add(visible_text(node.text))
        said = visible_text(node.desc)
        if not (len(said) > 80 and id(node) in speaking) and not _KEYBOARD.search(node.package):
            pieces.add(said)
    return pieces - {""}


def visible_text(text: str) -> str:
    return " ".join(
        "".join(char if char.isprintable() else " " if char.isspace() else "" for char in text).split()
    )


def name_counts(text: str) -> tuple[int, int, int]:
    """(non-scroll refs, those without a label, those with neither a label nor an id)."""
    refs = unlabelled = nameless = 0
    for line in text.splitlines()[1:]:
        match = _LINE.match(line)
        if not match or match[1] == "s":
            continue
        rest = match[3] or ""
        count = len(printed_refs("\n" + line))
        refs += count
        if not _has_label(match[1], _ID.sub("", rest)):
            unlabelled += count
            nameless += 0 if _ID.match(rest) else count
    return refs, unlabelled, nameless


def _has_label(letter: str, rest: str) -> bool:
    amount = r"|-?[\d.,]+%?" if letter == "v" else ""
    empty = re.compile(r"\d+x\d+|=|\"••••\"|[←→↑↓↔↕]+" + amount)
    return any(word not in _STATES and not empty.fullmatch(word) for word in _PLACE.sub("", rest).split())

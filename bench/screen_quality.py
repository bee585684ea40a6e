"""How much of a screen its compact text keeps, judged from the parsed screen and the printed text alone.

Nothing of the renderer is used here, so that it can't mark its own work.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from handrail.tree.compact import CompactResult
from handrail.tree.node import CHECKABLE, CLICKABLE, HIDDEN, LONG_CLICKABLE, SCROLLABLE, Node, Screen

_ACTIONABLE = CLICKABLE | LONG_CLICKABLE | CHECKABLE | SCROLLABLE
_LINE = re.compile(r"^ *@([a-z])([\d,-]+)(?: (.*))?$")
_STAND_IN = re.compile(
    r"#[\w.$:/-]+"
    r"|\((?:(?:right|left) of|above|below) \"(?:[^\"\\]|\\.)*\"(?:, \d+\w\w)?\)"
    r"|\([a-z ]+(?:, \d+\w\w)?\)"
    r"|\d+× \S+"
)
_STATES = {"on", "off", "selected", "focused", "disabled", "password", "long-press", "empty"}


@dataclass
class Quality:
    """Counts of one screen; they add up over a folder."""

    wanted: int = 0
    reached: int = 0
    pieces: int = 0
    kept: int = 0
    refs: int = 0
    unlabelled: int = 0
    nameless: int = 0
    missed: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    def __add__(self, other: Quality) -> Quality:
        return Quality(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))


def judge(screen: Screen, result: CompactResult) -> Quality:
    """Strict recall, text kept and nameless refs of one rendering."""
    seen = seen_nodes(screen)
    printed = {result.ref_map[ref].order for ref in printed_refs(result.text)}
    wanted = [node for node in seen if node.enabled and _is_actionable(node)]
    missed = [node for node in wanted if node.order not in printed and not _wraps_one(node, printed, screen)]
    said = _visible_text(re.sub(r"\\([\"\\<`])", r"\1", result.text))
    pieces = text_pieces(seen)
    lost = sorted(piece for piece in pieces if piece[:60].strip() not in said)
    refs, unlabelled, nameless = name_counts(result.text)
    return Quality(
        wanted=len(wanted),
        reached=len(wanted) - len(missed),
        pieces=len(pieces),
        kept=len(pieces) - len(lost),
        refs=refs,
        unlabelled=unlabelled,
        nameless=nameless,
        missed=tuple(repr(node) for node in missed),
        lost=tuple(lost),
    )


def printed_refs(text: str) -> list[str]:
    """Every ref that stands on a line of its own or in a range."""
    refs: list[str] = []
    for line in text.splitlines()[1:]:
        if match := _LINE.match(line):
            for span in match[2].split(","):
                low, _, high = span.partition("-")
                refs.extend(f"@{match[1]}{number}" for number in range(int(low), int(high or low) + 1))
    return refs


def seen_nodes(screen: Screen) -> list[Node]:
    """What a person sees, by brute force."""
    inside = [node for node in screen.nodes if _is_on_screen(node, screen)]
    apps = [node for node in inside if node.package_name != "com.android.systemui"]
    nodes = apps or inside
    painted = {node.order: _paint_key(node) for node in nodes}
    covers = [node for node in nodes if node.flags & CLICKABLE and not node.flags & SCROLLABLE]
    return [
        node
        for node in nodes
        if not any(
            painted[over.order] > painted[node.order]
            and not over.is_inside(node)
            and over.bounds.covers(node.bounds)
            for over in covers
        )
    ]


def _is_on_screen(node: Node, screen: Screen) -> bool:
    """With a size, and a part of it inside the display and inside every scroll container around it."""
    if (not node.class_name and node.children) or node.flags & HIDDEN or not node.bounds.area:
        return False
    part = screen.bounds
    for up in node.ancestors():
        if up.scrollable and up.bounds.area:
            part = part.intersect(up.bounds)
    return node.bounds.intersect(part).area > 0


def _paint_key(node: Node) -> tuple[tuple[int, int], ...]:
    path = [node, *node.ancestors()]
    return tuple((one.drawing_order, one.position) for one in reversed(path))


def _is_actionable(node: Node) -> bool:
    return bool(node.flags & _ACTIONABLE) or node.role in ("text_field", "slider")


def _wraps_one(node: Node, printed: set[int], screen: Screen) -> bool:
    """A tappable box around exactly one outermost ref, which fills it or can't be tapped itself."""
    if node.flags & (SCROLLABLE | CHECKABLE):
        return False
    outermost = [
        one
        for one in screen.inside(node)
        if one.order in printed
        and not any(up.order in printed for up in one.ancestors() if up.is_inside(node))
    ]
    if len(outermost) != 1 or (outermost[0].scrollable and outermost[0].role != "text_field"):
        return False
    return not outermost[0].clickable or outermost[0].bounds.area * 2 >= node.bounds.area


def text_pieces(seen: list[Node]) -> set[str]:
    """The distinct texts and descriptions on the screen, without passwords and screen-reader aggregates."""
    pieces: set[str] = set()
    speaking = {id(up) for node in seen if node.text or node.description for up in node.ancestors()}
    for node in seen:
        if node.text and not node.password:
            pieces.add(_visible_text(node.text))
        description = _visible_text(node.description)
        if not (len(description) > 80 and id(node) in speaking):
            pieces.add(description)
    return pieces - {""}


def _visible_text(text: str) -> str:
    return " ".join(
        "".join(char if char.isprintable() else " " if char.isspace() else "" for char in text).split()
    )


def name_counts(text: str) -> tuple[int, int, int]:
    """(non-scroll refs, those without a label, those without even an id or a labelled row around them)."""
    refs = unlabelled = nameless = 0
    labelled_above: dict[int, bool] = {}
    for line in text.splitlines()[1:]:
        match = _LINE.match(line)
        if not match:
            continue
        level, rest = len(line) - len(line.lstrip()), match[3] or ""
        labelled_above[level] = has_label = _has_label(match[1], rest)
        if match[1] == "s":
            continue
        count = len(printed_refs("\n" + line))
        refs += count
        if not has_label:
            unlabelled += count
            in_row = re.match(r"\((?:left|middle|right)[,)]", rest) and labelled_above.get(level - 1)
            nameless += 0 if in_row or rest.startswith("#") or re.match(r"\d+× \w", rest) else count
    return refs, unlabelled, nameless


def _has_label(letter: str, rest: str) -> bool:
    amount = r"|-?[\d.,]+%?" if letter == "v" else ""
    empty = re.compile(r"\d+x\d+|=|\"••••\"|[←→↑↓↔↕]+" + amount)
    return any(word not in _STATES and not empty.fullmatch(word) for word in _STAND_IN.sub("", rest).split())

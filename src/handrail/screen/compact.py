"""A screen as the text an agent reads, in about 150 tokens: header with its flags, lines, footer for cuts.

Takes elements and refs as given; it finds and numbers nothing itself.
The flag `secure` is not among these: only the device knows it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import cast

from handrail.screen.fingerprint import screen_fingerprint
from handrail.screen.node import FOLD_SLACK_PX, JOIN, LABEL, Bounds, Element, Elements, Node, Screen, Text
from handrail.screen.text import GUESSED, can_stand_unquoted, contains_words, cut, id_name, quoted, safe_name
from handrail.screen.windows import has_keyboard, is_backdrop, loading_indicators, system_dialogs

PIECE, PLAIN = 80, 240  # characters of one part of a label, and of a plain line
ECHO = 16  # characters of a label that the line above says whole
_ECHO_SLACK = 8
_NUMERIC = re.compile(r"-?\d+(?:[.,]\d+)?%?")


def element_line(ref: str, element: Element, *, uncut: bool = False) -> str:
    """Such as `@f1 "First name" = "Ada" focused`; `uncut` lifts the caps."""
    after = _words_after_name(element, uncut)
    name = _label_words(element, uncut)
    mark = GUESSED if element.node.drawn is not None and element.source != "guess" else ""
    if name and name == element.value:
        name = ""
    elif name:
        name = name if not after and can_stand_unquoted(name) else quoted(name)
    else:
        name = element.stand_in
    words = [ref, mark + name, *after] if mark + name else [ref, *after]
    return " ".join(words)


def _label_words(element: Element, uncut: bool) -> str:
    pieces = element.pieces
    if uncut or not pieces:
        return JOIN.join(pieces)
    if element.source == "echo":
        label = pieces[0]
        return label if len(label) <= ECHO + _ECHO_SLACK else f"{label[:ECHO].rstrip()}…"
    if len(pieces) == 1:
        return cut(pieces[0], LABEL if len(pieces[0]) <= LABEL else PIECE)
    return cut(JOIN.join([cut(piece, PIECE) for piece in pieces]), LABEL)


def _words_after_name(element: Element, uncut: bool) -> list[str]:
    words: list[str] = []
    limit = 0 if uncut else LABEL
    if element.kind == "f":
        words.append(f"= {quoted(cut(element.value, limit))}" if element.value else "empty")
        if element.hint:
            words.append(f"hint {quoted(cut(element.hint, limit and PIECE))}")
    elif element.value:
        bare = _NUMERIC.fullmatch(element.value)
        words.append(element.value if bare else f"= {quoted(cut(element.value, limit))}")
    words.extend(element.states)
    if element.state:
        words.append(f"state {quoted(cut(element.state, limit and PIECE))}")
    if element.arrows:
        words.append(element.arrows)
    return words


SHORTEST = 3


def can_fold(element: Element) -> bool:
    """Keyboard keys fold, and elements without a label, content, value or state."""
    if element.is_key:
        return True
    return bool(element.stand_in) and not (element.inner or element.texts or element.value or element.state)


def can_fold_together(first: Element, other: Element) -> bool:
    """Alike, with the same id and states, in the same box; or both keys."""
    if first.is_key or other.is_key:
        return first.is_key and other.is_key and first.kind == other.kind
    same = first.parent is other.parent and first.states == other.states and first.is_like(other)
    return same and first.node.resource_id == other.node.resource_id


def folded_line(run: Sequence[Element], refs: Sequence[str]) -> str:
    """`@g3-44 42× month_view_background 7x6`, or `@b7-40 34× keyboard`."""
    first = run[0]
    words = [ref_range(refs), f"{len(run)}×"]
    if first.is_key:
        return " ".join([*words, "keyboard"])
    name = id_name(first.node) or first.stand_in
    if first.source == "guess":  # without its number
        name = re.sub(r" \d+(?=\"?$)", "", first.stand_in)
    return " ".join([*words, name, grid_size([element.node.bounds for element in run]), *first.states])


def ref_range(refs: Sequence[str]) -> str:
    """`@g3-9`, or `@g3-5,8-9` where numbers are missing; all refs share a letter."""
    spans: list[list[int]] = []
    for ref in refs:
        number = int(ref[2:])
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return refs[0][:2] + ",".join(f"{low}-{high}" if high > low else f"{low}" for low, high in spans)


def grid_size(places: Sequence[Bounds]) -> str:
    columns, rows = ([place[side] for place in places] for side in (0, 1))
    return f"{_count_distinct(columns)}x{_count_distinct(rows)}"


def _count_distinct(edges: list[int]) -> int:
    edges.sort()
    return 1 + sum(later - earlier > FOLD_SLACK_PX for earlier, later in pairwise(edges))


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactOptions:
    """AgenTest's CompactSerializeOptions, and what the header needs from the session."""

    max_lines: int = 200
    """Hard cap on lines, header and footer included."""
    max_depth: int = 0
    """Levels shown; 0 is no limit."""
    only_interactive: bool = False
    """Drop plain text lines."""
    external_labels: Mapping[str, str] = field(default_factory=dict)
    """Framework names by node id; for `elements`, before rendering."""
    within: Node | None = None
    """Only this node and what is inside it, with labels uncut."""
    fingerprint: str | None = None
    """Of the screen, when the caller has it already."""
    revision: int | None = None
    flags: Sequence[str] = ()
    """Words for the header: keyboard, dialog, secure, loading."""


@dataclass(frozen=True, slots=True)
class CompactResult:
    """AgenTest's CompactSerializeResult has these fields."""

    text: str
    fingerprint: str
    ref_map: dict[str, Node]
    """Every ref, also of what was cut from the text."""
    ref_count: int
    line_count: int
    truncated: bool


DEFAULTS = CompactOptions()


def render(
    screen: Screen, elements: Elements, refs: Sequence[str], options: CompactOptions = DEFAULTS
) -> CompactResult:
    """The compact text of a screen. `refs` runs parallel to `elements`."""
    fingerprint = screen_fingerprint(screen) if options.fingerprint is None else options.fingerprint
    layout_lines = lay_out_lines(
        elements, refs, within=options.within, only_interactive=options.only_interactive
    )
    lines, footer = _fit_lines(layout_lines, options)
    body = [" " * level + text for level, text in lines]
    words = ["screen", f"{screen.width}x{screen.height}"]
    if package := safe_name(screen.package, 120):
        words.append(package)
    words.append(f"#{fingerprint}")
    if options.revision is not None:
        words.append(f"r{options.revision}")
    text = "\n".join([" ".join([*words, *options.flags]), *body, *footer])
    return CompactResult(
        text=text,
        fingerprint=fingerprint,
        ref_map={ref: element.node for ref, element in zip(refs, elements, strict=True)},
        ref_count=len(refs),
        line_count=1 + len(body) + len(footer),
        truncated=bool(footer),
    )


def _fit_lines(lines: list[Line], options: CompactOptions) -> tuple[list[Line], list[str]]:
    deep = options.max_depth
    shallow = [line for line in lines if line[0] < deep] if deep else lines
    too_deep = len(lines) - len(shallow)
    room = max(1, options.max_lines - 1)
    if len(shallow) <= room - bool(too_deep):
        return shallow, [f"... +{too_deep} more (deeper than {deep}; depth=0, or within)"] if too_deep else []
    shown = shallow[: max(0, room - 1)]
    return shown, [f"... +{len(lines) - len(shown)} more ({_name_helpful_options(lines, room - 1, options)})"]


def _name_helpful_options(lines: list[Line], room: int, options: CompactOptions) -> str:
    """Names the options that would show the lines left out."""
    ways = []
    fitting = sorted(level for level, _ in lines)[room] if room < len(lines) else 0
    if fitting:  # the first level that no longer fits whole is the number of levels that do
        ways.append(f"depth={fitting}")
    if not options.only_interactive:
        ways.append("only_interactive")
    return ", or ".join(ways) or "within"


_DIALOG_IDS = {"alertTitle", "parentPanel", "design_bottom_sheet"}
_INSET = 8  # px on both sides; what is narrower than the screen floats over something


def flags_of(screen: Screen) -> tuple[str, ...]:
    words = {
        "keyboard": has_keyboard(screen),
        "dialog": bool(system_dialogs(screen)) or _has_dialog(screen),
        "loading": bool(loading_indicators(screen)),
    }
    return tuple(word for word, holds in words.items() if holds)


def _has_dialog(screen: Screen) -> bool:
    apps = [
        window for window in screen.windows if not is_backdrop(window.package_name) and window.bounds.area
    ]
    if apps:
        left, top, right, bottom = apps[-1].bounds
        if min(left, top, screen.width - right, screen.height - bottom) >= _INSET:
            return True
    return any(node.resource_id and node.id_tail in _DIALOG_IDS and node.bounds.area for node in screen.nodes)


_TIGHT = 0.8  # of a line's height
_SLACK = 4  # px
_LOOSE = 2.5  # of a line's height, between short texts
_WORD = 32  # characters of a short text; a longer one is a paragraph
_ORNAMENT = 4  # characters of a line of stars or dashes
_LOOK_BACK = 8  # pieces of a row that a new one is compared with
Line = tuple[int, str]
"""Level and text."""


def lay_out_lines(
    elements: Elements, refs: Sequence[str], *, within: Node | None = None, only_interactive: bool = False
) -> list[Line]:
    """All lines of a screen; with `within`, those inside that node, with uncut labels."""
    # Elements and texts in document order; an element comes before a text of its own node.
    parts: list[Part] = []
    texts = iter(() if only_interactive else elements.texts)
    text = next(texts, None)
    for ref, element in zip(refs, elements, strict=True):
        order = element.node.order
        while text is not None and text.node.order < order:
            parts.append((text.node.order, "", text))
            text = next(texts, None)
        parts.append((order, ref, element))
    while text is not None:
        parts.append((text.node.order, "", text))
        text = next(texts, None)
    if within is not None:
        return _write_lines([part for part in parts if within.order <= part[0] < within.end], uncut=True)
    layers = elements.behind
    if not layers:
        return _write_lines(parts, uncut=False)
    hidden = [part for part in parts if any(layer.order <= part[0] < layer.end for layer in layers)]
    if len(hidden) == len(parts):
        return _write_lines(parts, uncut=False)
    taken = {part[0] for part in hidden}
    below = [(level + 1, text) for level, text in _write_lines(hidden, uncut=False)]
    return [*_write_lines([part for part in parts if part[0] not in taken], uncut=False), (0, BEHIND), *below]


BEHIND = "behind:"
"""The line before what another layer is drawn over."""
Part = tuple[int, str, Element | Text]
"""Where it stands in the screen, its ref, and what it is."""


def _write_lines(parts: list[Part], *, uncut: bool) -> list[Line]:
    page = _LineWriter(uncut=uncut)
    for _, ref, part in parts:
        if ref:
            page.add_element(ref, cast("Element", part))
        else:
            page.add_text(cast("Text", part))
    page.flush()
    return page.lines


class _LineWriter:
    """Collects lines. A row of texts and a run of similar elements stay open until something else comes."""

    def __init__(self, *, uncut: bool) -> None:
        self.lines: list[Line] = []
        self._uncut = uncut
        self._around: list[int] = []  # where the boxes end that indent what comes
        self._row: list[str] = []
        self._row_at: list[Bounds] = []
        self._row_length = 0
        self._row_bounds = Bounds(0, 0, 0, 0)
        self._row_item: Node | None = None
        self._row_chosen: Node | None = None
        self._marked_chosen: Node | None = None  # what was said to be selected last
        self._run: list[tuple[str, Element]] = []
        self._level = 0
        self._last_label = ""  # the label of the last element, which a text after it need not repeat

    def add_element(self, ref: str, element: Element) -> None:
        level = self._level_at(element.node.order)
        run = self._run
        if self._row or (run and (level != self._level or not can_fold_together(run[-1][1], element))):
            self.flush()
        self._level = level
        self._last_label = element.pieces[0] if len(element.pieces) == 1 else ""
        if can_fold(element):
            run.append((ref, element))
        else:
            self.flush()
            self.lines.append((level, element_line(ref, element, uncut=self._uncut)))
        if element.inner or element.texts or element.kind == "s":
            self._around.append(element.outer.end)

    def add_text(self, text: Text) -> None:
        level = self._level_at(text.node.order)
        if text.is_pane:
            self.flush()
            self.lines.append((level, f"pane {quoted(self._cut(text.text))}"))
            self._around.append(text.node.end)
            return
        if text.text == self._last_label and not self._row:
            return
        bounds = text.node.bounds
        row = self._row
        if self._run or (row and (level != self._level or self._starts_new_row(text))):
            self.flush()
        self._level = level
        self._row_bounds, self._row_item, self._row_chosen = bounds, text.item, text.chosen
        # What was said at the same place is not said again; beside or below it, it is other content.
        if any(
            (
                contains_words(self._row[at], text.text)
                and bool(self._row_at[at].intersect(text.node.bounds).area)
            )
            for at in range(len(row))[-_LOOK_BACK:]
        ):
            return
        row.append(
            text.text
            if (text.text.isalnum() or any(char.isalnum() for char in text.text))
            else self._cut(text.text, _ORNAMENT)
        )
        self._row_at.append(bounds)
        self._row_length += len(text.text) + len(JOIN)
        self._last_label = ""

    def _starts_new_row(self, text: Text) -> bool:
        if self._row_length + len(text.text) > PLAIN or text.item is not self._row_item:
            return True
        if text.chosen is not self._row_chosen:
            return True
        if text.item is not None:
            return False
        are_words = len(text.text) <= _WORD and len(self._row[-1]) <= _WORD
        return not _continues_row(self._row_bounds, text.node.bounds, are_words)

    def _level_at(self, order: int) -> int:
        around = self._around
        while around and around[-1] <= order:
            around.pop()
        return len(around)

    def flush(self) -> None:
        if self._row:
            after = " selected" if self._row_chosen is not self._marked_chosen and self._row_chosen else ""
            self._marked_chosen = self._row_chosen
            self.lines.append((self._level, quoted(self._cut(JOIN.join(self._row))) + after))
            self._row.clear()
            self._row_at.clear()
            self._row_length = 0
        if self._run:
            lines = [element_line(ref, element, uncut=self._uncut) for ref, element in self._run]
            if len(lines) >= SHORTEST:
                lines = [folded_line([each for _, each in self._run], [ref for ref, _ in self._run])]
            self.lines.extend((self._level, line) for line in lines)
            self._run.clear()

    def _cut(self, text: str, limit: int = PLAIN) -> str:
        return text if self._uncut else cut(text, limit)


def _continues_row(first: Bounds, other: Bounds, are_words: bool) -> bool:
    """On one line, or the next line of the same block: tight below it, with the same left edge or middle.

    Words of a few letters need not be so tight: a number and what it counts.
    """
    lower_edge = min(first.bottom - first.top, other.bottom - other.top)
    overlap = min(first.bottom, other.bottom) - max(first.top, other.top)
    if overlap * 2 > lower_edge:
        return True
    lower = min(first.bottom - first.top, other.bottom - other.top)
    aligned = (
        abs(first.left - other.left) <= _SLACK
        or abs(first.left + first.right - other.left - other.right) <= 2 * _SLACK
    )
    return aligned and -lower <= other.top - first.bottom <= lower * (_LOOSE if are_words else _TIGHT)

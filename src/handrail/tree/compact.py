"""A screen as the text an agent reads, in about 150 tokens: header with its flags, lines, footer for cuts.

Takes elements and refs as given; it finds and numbers nothing itself. The lines come from `layout`.
The flag `secure` is not among these: only the device knows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from handrail.tree.element.labels import says
from handrail.tree.element.parts import JOIN, Element, Elements, Text
from handrail.tree.fingerprint import screen_fingerprint
from handrail.tree.lines import PLAIN, SHORTEST, are_alike, can_fold, element_line, folded
from handrail.tree.node import Bounds, Node, Screen
from handrail.tree.quote import cut, quoted, safe_name
from handrail.tree.signs import loading_indicators, system_dialogs
from handrail.tree.windows import has_keyboard, is_backdrop


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
    """AgenTest's CompactSerializeResult."""

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
    found = layout(elements, refs, within=options.within, only_interactive=options.only_interactive)
    lines, footer = _fit(found, options)
    body = [" " * level + text for level, text in lines]
    text = "\n".join([_header(screen, fingerprint, options), *body, *footer])
    return CompactResult(
        text=text,
        fingerprint=fingerprint,
        ref_map={ref: element.node for ref, element in zip(refs, elements, strict=True)},
        ref_count=len(refs),
        line_count=1 + len(body) + len(footer),
        truncated=bool(footer),
    )


def _header(screen: Screen, fingerprint: str, options: CompactOptions) -> str:
    words = ["screen", f"{screen.width}x{screen.height}"]
    if package := safe_name(screen.package, 120):
        words.append(package)
    words.append(f"#{fingerprint}")
    if options.revision is not None:
        words.append(f"r{options.revision}")
    return " ".join([*words, *options.flags])


def _fit(lines: list[Line], options: CompactOptions) -> tuple[list[Line], list[str]]:
    """The lines that are shown, and a footer that counts the others."""
    deep = options.max_depth
    kept = [line for line in lines if line[0] < deep] if deep else lines
    too_deep = len(lines) - len(kept)
    room = max(1, options.max_lines - 1)
    if len(kept) <= room - bool(too_deep):
        return kept, [f"... +{too_deep} more (deeper than {deep}; depth=0, or within)"] if too_deep else []
    shown = kept[: max(0, room - 1)]
    return shown, [f"... +{len(lines) - len(shown)} more ({_advice(lines, room - 1, options)})"]


def _advice(lines: list[Line], room: int, options: CompactOptions) -> str:
    """What would make the rest visible: fewer levels, fewer texts, or a part of the screen."""
    ways = []
    fitting = sorted(level for level, _ in lines)[room] if room < len(lines) else 0
    if fitting:  # the first level that no longer fits whole is the number of levels that do
        ways.append(f"depth={fitting}")
    if not options.only_interactive:
        ways.append("only_interactive")
    return ", or ".join(ways) or "within"


_DIALOG_IDS = {"alertTitle", "parentPanel", "design_bottom_sheet"}
_INSET = 8  # px on both sides; what is narrower than the screen floats over something


def flags_of(screen: Screen, *, secure: bool = False) -> tuple[str, ...]:
    """The words that hold, in the header's order."""
    words = {
        "keyboard": has_keyboard(screen),
        "dialog": bool(system_dialogs(screen)) or _has_dialog(screen),
        "secure": secure,
        "loading": bool(loading_indicators(screen)),
    }
    return tuple(word for word, holds in words.items() if holds)


def _has_dialog(screen: Screen) -> bool:
    apps = [
        window for window in screen.windows if not is_backdrop(window.package_name) and window.bounds.area
    ]
    if apps and _floats(apps[-1], screen):
        return True
    return any(node.resource_id and node.id_tail in _DIALOG_IDS and node.bounds.area for node in screen.nodes)


def _floats(window: Node, screen: Screen) -> bool:
    left, top, right, bottom = window.bounds
    return (
        left >= _INSET
        and top >= _INSET
        and screen.width - right >= _INSET
        and screen.height - bottom >= _INSET
    )


_TIGHT = 0.8  # of a line's height
_SLACK = 4  # px
_LOOSE = 2.5  # of a line's height, between short texts
_WORD = 32  # characters of a short text; a longer one is a paragraph
_ORNAMENT = 4  # characters of a line of stars or dashes
_LOOK_BACK = 8  # pieces of a row that a new one is compared with
Line = tuple[int, str]
"""Level and text."""


def layout(
    elements: Elements, refs: Sequence[str], *, within: Node | None = None, only_interactive: bool = False
) -> list[Line]:
    """All lines of a screen, or of one node's inside with its labels uncut."""
    parts = _parts(elements, refs, only_interactive=only_interactive)
    if within is not None:
        return _lines([part for part in parts if within.order <= part[0] < within.end], whole=True)
    layers = elements.behind
    if not layers:
        return _lines(parts, whole=False)
    hidden = [part for part in parts if any(one.order <= part[0] < one.end for one in layers)]
    if len(hidden) == len(parts):
        return _lines(parts, whole=False)
    taken = {part[0] for part in hidden}
    below = [(level + 1, text) for level, text in _lines(hidden, whole=False)]
    return [*_lines([part for part in parts if part[0] not in taken], whole=False), (0, BEHIND), *below]


BEHIND = "behind:"
"""The line before what another layer is drawn over."""
Part = tuple[int, str, Element | Text]
"""Where it stands in the screen, its ref, and what it is."""


def _parts(elements: Elements, refs: Sequence[str], *, only_interactive: bool) -> list[Part]:
    """Elements and texts in document order; an element comes before a text of its own node."""
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
    return parts


def _lines(parts: list[Part], *, whole: bool) -> list[Line]:
    page = _Page(whole=whole)
    for _, ref, one in parts:
        if ref:
            page.element(ref, cast("Element", one))
        else:
            page.text(cast("Text", one))
    page.flush()
    return page.lines


class _Page:
    """Collects lines; a row of texts and a run of like elements stay open until something else comes."""

    def __init__(self, *, whole: bool) -> None:
        self.lines: list[Line] = []
        self._whole = whole
        self._around: list[int] = []  # where the boxes end that indent what comes
        self._row: list[str] = []
        self._row_at: list[Bounds] = []
        self._row_length = 0
        self._row_bounds = Bounds(0, 0, 0, 0)
        self._row_item: Node | None = None
        self._row_chosen: Node | None = None
        self._told_chosen: Node | None = None  # what was said to be selected last
        self._run: list[tuple[str, Element]] = []
        self._level = 0
        self._said = ""  # the label of the last element, which a text after it need not repeat

    def element(self, ref: str, element: Element) -> None:
        level = self._level_at(element.node.order)
        run = self._run
        if self._row or (run and (level != self._level or not are_alike(run[-1][1], element))):
            self.flush()
        self._level = level
        self._said = element.pieces[0] if len(element.pieces) == 1 else ""
        if can_fold(element):
            run.append((ref, element))
        else:
            self.flush()
            self.lines.append((level, element_line(ref, element, whole=self._whole)))
        if element.inner or element.texts or element.kind == "s":
            self._around.append(element.outer.end)

    def text(self, text: Text) -> None:
        level = self._level_at(text.node.order)
        if text.is_pane:
            self.flush()
            self.lines.append((level, f"pane {quoted(self._cut(text.text))}"))
            self._around.append(text.node.end)
            return
        if text.text == self._said and not self._row:
            return
        bounds = text.node.bounds
        row = self._row
        if self._run or (row and (level != self._level or self._is_new_row(text))):
            self.flush()
        self._level = level
        self._row_bounds, self._row_item, self._row_chosen = bounds, text.item, text.chosen
        if any(self._is_repeated(text, at) for at in range(len(row))[-_LOOK_BACK:]):
            return
        row.append(text.text if _has_words(text.text) else self._cut(text.text, _ORNAMENT))
        self._row_at.append(bounds)
        self._row_length += len(text.text) + len(JOIN)
        self._said = ""

    def _is_repeated(self, text: Text, at: int) -> bool:
        """What was said at the same place is not said again; beside or below it, it is other content."""
        return says(self._row[at], text.text) and bool(self._row_at[at].intersect(text.node.bounds).area)

    def _is_new_row(self, text: Text) -> bool:
        if self._row_length + len(text.text) > PLAIN or text.item is not self._row_item:
            return True
        if text.chosen is not self._row_chosen:
            return True
        if text.item is not None:
            return False
        are_words = len(text.text) <= _WORD and len(self._row[-1]) <= _WORD
        return not _joined(self._row_bounds, text.node.bounds, are_words)

    def _level_at(self, order: int) -> int:
        around = self._around
        while around and around[-1] <= order:
            around.pop()
        return len(around)

    def flush(self) -> None:
        if self._row:
            after = " selected" if self._row_chosen is not self._told_chosen and self._row_chosen else ""
            self._told_chosen = self._row_chosen
            self.lines.append((self._level, quoted(self._cut(JOIN.join(self._row))) + after))
            self._row.clear()
            self._row_at.clear()
            self._row_length = 0
        if self._run:
            self.lines.extend((self._level, line) for line in self._run_lines())
            self._run.clear()

    def _run_lines(self) -> list[str]:
        refs = [ref for ref, _ in self._run]
        run = [element for _, element in self._run]
        if len(run) >= SHORTEST:
            return [folded(run, refs)]
        return [element_line(ref, element, whole=self._whole) for ref, element in self._run]

    def _cut(self, text: str, limit: int = PLAIN) -> str:
        return text if self._whole else cut(text, limit)


def _has_words(text: str) -> bool:
    return text.isalnum() or any(char.isalnum() for char in text)


def _on_one_line(one: Bounds, other: Bounds) -> bool:
    lower = min(one.bottom - one.top, other.bottom - other.top)
    overlap = min(one.bottom, other.bottom) - max(one.top, other.top)
    return overlap * 2 > lower


def _joined(one: Bounds, other: Bounds, are_words: bool) -> bool:
    """On one line, or the next line of the same block: tight below it, with the same left edge or middle.

    Words of a few letters need not be so tight: a number and what it counts.
    """
    if _on_one_line(one, other):
        return True
    lower = min(one.bottom - one.top, other.bottom - other.top)
    aligned = (
        abs(one.left - other.left) <= _SLACK
        or abs(one.left + one.right - other.left - other.right) <= 2 * _SLACK
    )
    return aligned and -lower <= other.top - one.bottom <= lower * (_LOOSE if are_words else _TIGHT)

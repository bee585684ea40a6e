"""A screen as the text an agent reads, in about 150 tokens: header with its flags, lines, footer for cuts.

Takes elements and refs as given; it finds and numbers nothing itself. The lines come from `layout`.
The flag `secure` is not among these: only the device knows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from handrail.tree.dialogs import system_dialogs
from handrail.tree.element.parts import Elements
from handrail.tree.fingerprint import screen_fingerprint
from handrail.tree.layout import Line, layout
from handrail.tree.loading import loading_indicators
from handrail.tree.node import Node, Screen
from handrail.tree.quote import safe_name
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

"""A screen as seed 003's own serializer writes it, for comparison: its rules, on nodes read by `raw_dump`.

Two spaces per level, type words, no values or hints apart from labels, no sliders. Unlabelled clickables
around others get no line, and a labelled plain node hides what is in it.
"""

from __future__ import annotations

from bench.raw_dump import Raw, area

_CHECKS = ("CheckBox", "Switch", "RadioButton", "ToggleButton")
_LINES = 200
_AGGREGATE = 80
_SHORT = 30


def seed_outline(nodes: list[Raw]) -> str:
    """The whole text, header included."""
    roots = [node for node in nodes if node.parent is None]
    width = max((root.box[2] for root in roots), default=0)
    height = max((root.box[3] for root in roots), default=0)
    lines: list[str] = []
    counts: dict[str, int] = {}
    for root in roots:
        for child in root.children or [root]:
            _walk(child, 1, "", lines, counts)
    package = next((root.package for root in roots if root.package), "")
    return "\n".join([f"screen {width}x{height} {package} #abc123", *lines[:_LINES]])


def _walk(node: Raw, level: int, above: str, lines: list[str], counts: dict[str, int]) -> None:
    if _is_pruned(node):
        return
    inside = level
    if _is_interactive(node):
        if not _is_transparent(node):
            label = _label(node) or _hoisted(node)
            lines.append(_line(node, label, level, counts))
            above, inside = label, level + 1
    elif said := _label(node):
        if not node.cls.endswith("ProgressBar") and said != above:
            lines.append("  " * level + _quoted(said))
        return
    for child in node.children:
        _walk(child, inside, above, lines, counts)


def _is_pruned(node: Raw) -> bool:
    _, _, right, bottom = node.box
    return node.package == "com.android.systemui" or not area(node.box) or right <= 0 or bottom <= 0


def _is_field(node: Raw) -> bool:
    return "EditText" in node.cls or "TextInput" in node.cls


def _is_interactive(node: Raw) -> bool:
    return node.has("clickable", "scrollable", "checkable", "long-clickable") or _is_field(node)


def _is_transparent(node: Raw) -> bool:
    """An unlabelled clickable that wraps another one."""
    if not node.has("clickable") or node.has("scrollable", "checkable") or _is_field(node) or _label(node):
        return False
    stack = list(node.children)
    while stack:
        one = stack.pop()
        if not _is_pruned(one):
            if _is_interactive(one):
                return True
            stack.extend(one.children)
    return False


def _label(node: Raw) -> str:
    desc = node.desc.strip()
    return node.text.strip() or (desc if len(desc) <= _AGGREGATE else "") or node.hint.strip()


def _hoisted(node: Raw) -> str:
    level = node.children
    while level:
        below: list[Raw] = []
        for one in level:
            if _is_pruned(one) or _is_interactive(one):
                continue
            if said := _label(one):
                return said
            below.extend(one.children)
        level = below
    return ""


def _line(node: Raw, label: str, level: int, counts: dict[str, int]) -> str:
    letter, word = _kind(node, label)
    counts[letter] = counts.get(letter, 0) + 1
    words = [f"{'  ' * level}@{letter}{counts[letter]}", word]
    if label:
        words.append(_quoted(label))
    words += [] if node.has("enabled") else ["disabled"]
    words += [name for name in ("password", "checked", "focused", "selected") if node.has(name)]
    return " ".join(words)


def _kind(node: Raw, label: str) -> tuple[str, str]:
    cls = node.cls
    if node.has("scrollable"):
        return "s", "scroll"
    if _is_field(node):
        return "f", "input"
    if node.has("checkable") or any(part in cls for part in _CHECKS):
        return "c", "switch" if "Switch" in cls or "Toggle" in cls else "radio" if "Radio" in cls else "check"
    if cls.endswith("Button"):
        return "b", "btn"
    if node.has("clickable") and cls.rpartition(".")[2] == "TextView":
        return "l", "link"
    if node.has("clickable") and 0 < len(label) <= _SHORT and not _holds_control(node):
        return "b", "btn"
    return "g", "tap"


def _holds_control(node: Raw) -> bool:
    stack = list(node.children)
    while stack:
        one = stack.pop()
        if one.has("scrollable", "checkable") or _is_field(one):
            return True
        stack.extend(one.children)
    return False


def _quoted(text: str) -> str:
    plain = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'

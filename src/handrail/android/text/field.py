"""The field that has the focus, as a screen shows it. Knows screens, no way to type."""

from __future__ import annotations

from dataclasses import dataclass

from handrail.tree.node import Node, Screen

DOTS = frozenset("•●⬤∙·*＊")
"""What password fields show for a character."""

Identity = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True)
class Field:
    """One field at one moment."""

    text: str
    """What it says; dots for a password; "" for a placeholder that is known to be one."""
    password: bool
    hint: str
    identity: Identity
    multiline: bool | None = None
    """None: not asked, or the phone does not tell."""
    enter_acts: bool | None = None
    """The Enter key sends, searches or goes on instead of making a new line."""

    @property
    def vacant(self) -> bool:
        """Certainly empty. A dump without hints shows a placeholder as text, so False proves nothing."""
        return not self.text


def focused_field(screen: Screen) -> Field | None:
    """The innermost focused field of the topmost window that has one."""
    fields = [node for node in screen.nodes if node.focused and node.role == "text_field"]
    return _field(fields[-1]) if fields else None


def same_field(screen: Screen, field: Field) -> Field | None:
    """The same field in a later screen: the focused one first, since a list may have several of a kind."""
    focused = focused_field(screen)
    if focused is not None and focused.identity == field.identity:
        return focused
    like = (node for node in screen.nodes if node.role == "text_field" and _identity(node) == field.identity)
    found = next(like, None)
    return None if found is None else _field(found)


def units(text: str) -> int:
    """Length as Android counts: UTF-16 code units. A password field shows a dot for each."""
    return len(text) + sum(character > "\uffff" for character in text)


def _field(node: Node) -> Field:
    shown = "" if node.text == node.hint_text else node.text
    if node.password:
        shown = "•" * units(shown) if _is_masked(shown) else ""
    return Field(shown, node.password, node.hint_text, _identity(node))


def _identity(node: Node) -> Identity:
    """Where a field stands vertically changes with the keyboard and with what is typed into it."""
    return (node.package_name, node.class_name, node.resource_id, node.bounds.left)


def _is_masked(text: str) -> bool:
    """Dots, of which Android shows the last one in clear for a moment; anything else is a placeholder."""
    hidden = text[:-1] or text
    return all(character in DOTS for character in hidden)

"""What on a screen can be acted on, and what each of it is called."""

from handrail.tree.element.find import elements, fresh_refs
from handrail.tree.element.parts import Element, Elements, Text

__all__ = ["Element", "Elements", "Text", "elements", "fresh_refs"]

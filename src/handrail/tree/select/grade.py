"""How well one node fits the fields of a selector that describe the node itself; relations are elsewhere.

A grade says how far a reading was stretched, 0 for not at all; the worst field decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from handrail.protocol.target import Selector
from handrail.tree.node import PASSWORD, Node
from handrail.tree.quote import clean

LabelOf = Callable[[Node], str]

EXACT, BY_LABEL, PARTLY, LOOSE = range(4)
NOTES = {
    BY_LABEL: "matched the label (description, hint or text inside), not the element's own text",
    PARTLY: "matched a part of the field, nothing equals it",
    LOOSE: "matched ignoring case, nothing matches exactly",
}
_FIELDS = ("id", "id_contains", "text", "text_contains", "class_name", "description", "hint", "state", "role")


@dataclass(frozen=True, slots=True)
class Wish:
    """A selector's own fields, with the spelling variants that are compared."""

    fields: Mapping[str, str]
    clean: Mapping[str, str]
    loose: Mapping[str, str]

    @classmethod
    def of(cls, selector: Selector) -> Wish:
        fields = {name: value for name in _FIELDS if (value := getattr(selector, name)) is not None}
        cleaned = {name: clean(value) or value for name, value in fields.items()}
        return cls(fields, cleaned, {name: value.casefold() for name, value in cleaned.items()})

    def grade(self, node: Node, label_of: LabelOf) -> int | None:
        """The grade of the worst field; None if one does not fit at all."""
        worst = EXACT
        for name in self.fields:
            grade = self._grade_field(name, node, label_of)
            if grade is None:
                return None
            worst = max(worst, grade)
        return worst

    def _grade_field(self, name: str, node: Node, label_of: LabelOf) -> int | None:
        wanted = self.fields[name]
        match name:
            case "id":
                return EXACT if wanted in (node.resource_id, node.id_tail) else None
            case "id_contains":
                return EXACT if wanted in node.resource_id else None
            case "role":
                return EXACT if wanted == node.role else None
            case "class_name":
                return self._grade_class(node)
            case "text" | "text_contains":
                return self._grade_text(name, node, label_of)
            case _:
                return self._grade_other(name, node)

    def _grade_class(self, node: Node) -> int | None:
        if self.fields["class_name"] in (node.class_name, node.short_class):
            return EXACT
        loose = self.loose["class_name"]
        return LOOSE if loose in (node.class_name.casefold(), node.short_class.casefold()) else None

    def _grade_text(self, name: str, node: Node, label_of: LabelOf) -> int | None:
        text = "" if node.flags & PASSWORD else clean(node.text)
        labels = [clean(node.description), clean(node.hint_text), label_of(node)]
        fits = _equals if name == "text" else _contains
        wanted, loose = self.clean[name], self.loose[name]
        if fits(text, wanted):
            return EXACT
        if any(fits(label, wanted) for label in labels):
            return BY_LABEL
        return LOOSE if any(fits(said.casefold(), loose) for said in (text, *labels)) else None

    def _grade_other(self, name: str, node: Node) -> int | None:
        said = clean(_OTHER[name](node))
        if not said:
            return None
        wanted, loose = self.clean[name], self.loose[name]
        if said == wanted:
            return EXACT
        if wanted in said:
            return PARTLY
        return LOOSE if loose in said.casefold() else None


_OTHER: Mapping[str, Callable[[Node], str]] = {
    "description": lambda node: node.description,
    "hint": lambda node: node.hint_text,
    "state": lambda node: node.state_description,
}


def _equals(said: str, wanted: str) -> bool:
    return said == wanted


def _contains(said: str, wanted: str) -> bool:
    return wanted in said

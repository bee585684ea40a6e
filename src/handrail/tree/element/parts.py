"""The parts of a screen as an agent knows them: `Element`, which gets a ref, and `Text`, which does not.

Values only; `element` finds them, `compact` writes them down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from handrail.tree.node import Node

JOIN = " · "
LABEL = 160  # characters of a label made of several texts, and of one that is shown whole


@dataclass(slots=True, eq=False)
class Text:
    """A visible text that is not an element itself. `taken` when an element's label says it."""

    node: Node
    text: str
    is_pane: bool = False
    """The title of a pane: a heading for what is inside its node."""
    chosen: Node | None = None
    """The box around it that is the selected one of several."""
    item: Node | None = None
    """The list item that holds it."""
    taken: bool = False


@dataclass(slots=True, eq=False)
class Element:
    """Something that can be acted on, as a person would call it."""

    node: Node
    kind: str = ""
    """b button, f field, c check, l link, v slider, s scroll, i item or row, g other tappable."""
    parent: Element | None = None
    """The element around it."""
    wrapper: Node | None = None
    """The outermost tappable node that is this element to a person, too."""
    pieces: list[str] = field(default_factory=list)
    """The parts of the label: the own one, then what was hoisted or adopted."""
    source: str = ""
    """text, description, hint, tooltip, external, pane, inside or row; echo of its row's name; for a stand-in
    id, near or place."""
    value: str = ""
    """What a field or a slider holds."""
    hint: str = ""
    states: tuple[str, ...] = ()
    """Words such as "off", "disabled", "focused"."""
    state: str = ""
    """The state description, where the states do not say it already."""
    stand_in: str = ""
    """What identifies a nameless element: `#top_right_arrow (right of "August")`."""
    arrows: str = ""
    """Directions in which a scroll container has more."""
    is_key: bool = False
    """A key of the on-screen keyboard."""
    inner: list[Element] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The whole name, never cut; '' for a nameless element."""
        return JOIN.join(self.pieces)

    @property
    def outer(self) -> Node:
        return self.wrapper or self.node


class Elements(list[Element]):
    """The elements of one screen in document order; `texts` are the visible texts that none of them says.

    `behind` are the parts of the screen over which another layer is drawn.
    """

    __slots__ = ("behind", "texts")

    def __init__(
        self, found: Sequence[Element] = (), texts: Sequence[Text] = (), behind: Sequence[Node] = ()
    ) -> None:
        super().__init__(found)
        self.texts = list(texts)
        self.behind = list(behind)

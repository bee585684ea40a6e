"""The base of every action: what each may carry besides its own fields."""

from typing import Any, ClassVar

from handrail.protocol.details import DeskDetails, Details
from handrail.protocol.model import CamelModel, Model, Name
from handrail.protocol.target import Condition, Expectation, Selector
from handrail.protocol.traits import ALLOW, Capability, Effect, Pressed, Semantic, Traits


class Act(Model):
    """One typed act. Its traits say everything about its kind; the properties, about this one."""

    traits: ClassVar[Traits]
    example: ClassVar[dict[str, Any]]
    details: ClassVar[type] = Details
    """What its envelope's `details` hold when it succeeded."""

    type: str
    reason: Name | None = None
    """First person: what you do and why. It goes into the journal."""
    device: Name | None = None
    """Serial or name of the device; the session's own when absent."""
    expect: Expectation | None = None
    """What should hold afterwards; the action fails when it does not."""

    @classmethod
    def model_rebuild(cls, **options: Any) -> bool | None:
        """Builds the parts that every action has first, so that they are built once and not in each class."""
        for part in (Selector, Condition):
            part.model_rebuild()  # nothing is done for one that is complete
        return super().model_rebuild(**options)

    @property
    def effect(self) -> Effect:
        return self.traits.effect

    @property
    def semantic(self) -> Semantic:
        return self.traits.semantic

    @property
    def presses(self) -> Pressed:
        return self.traits.presses

    @property
    def only_types(self) -> bool:
        """Whether it only gives fields the focus or changes their text, and presses nothing."""
        return False

    @property
    def leaves_app(self) -> bool:
        return self.traits.leaves_app


SHARED_FIELDS = tuple(name for name in Act.model_fields if name != "type")
"""What every action may carry: `reason`, `device`, `expect`."""


class DeskAct(CamelModel, Act):
    """An OS action of the desk; it writes seed 004's camelCase."""

    model_config = CamelModel.model_config
    traits: ClassVar[Traits] = Traits(
        effect="desk", semantic="control", needs=Capability.WINDOWS, presses=Pressed.NOTHING, verdict=ALLOW,
    )  # fmt: skip

    details: ClassVar[type] = DeskDetails

    monitor_id: Name | None = None
    """The desk's monitor; the active one when absent."""

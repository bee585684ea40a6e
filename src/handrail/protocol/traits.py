"""What a kind of action is, whatever its fields say: all that doors, policy and engine know of it.

Imports nothing of Handrail and builds nothing at import: every command reads this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

Effect = Literal["read", "input", "system", "sensitive", "desk"]
Semantic = Literal["selection", "input", "navigation", "system", "observation", "control"]
Settle = Literal["full", "light", "none"]
VerdictKind = Literal["allow", "ask", "deny"]
Span = Literal["never", "time", "session", "always"]
"""How long an answer to `ask` may count: this once; for the like of it, for a time and a number of times that
the person names; until the session ends; until it is revoked. Each lets a person choose what is shorter."""
Profile = Literal["core", "web", "flow", "debug", "agent"]
"""Lists of tools that a model may be given: MCP's profiles, and what an agent's own loop offers."""


class Capability(Enum):
    """What a surface must be able to do; `surface/` has one Protocol for each."""

    LOOK = "look"
    VIDEO = "video"
    TOUCH = "touch"
    MOUSE = "mouse"
    KEYS = "keys"
    TEXT = "text"
    VALUES = "values"
    CLIPBOARD = "clipboard"
    APPS = "apps"
    SETTINGS = "settings"
    DATA = "data"
    LOGS = "logs"
    HEALTH = "health"
    REST = "rest"
    SHELL = "shell"
    WINDOWS = "windows"


class Pressed(Enum):
    """What a finger or key of an action comes down on. Policy judges that, never the action's name."""

    NOTHING = "nothing"
    TARGET = "target"
    """The elements that it names."""
    PATH = "path"
    """What lies where its fingers come down, lift, or pass a control."""
    FOCUS = "focus"
    """What it names, and whatever has the focus."""
    UNKNOWN = "unknown"
    """Nobody can tell, so a person is asked."""


@dataclass(frozen=True, slots=True)
class BaseVerdict:
    """What policy says where no rule of the owner does: to a caller on this machine, and to one elsewhere."""

    local: VerdictKind
    remote: VerdictKind
    why: str = ""
    remember: Span = "session"


ALLOW = BaseVerdict("allow", "allow")
ASK = BaseVerdict("ask", "ask", "nothing was decided about this action")


@dataclass(frozen=True, slots=True)
class ModelView:
    """How a model sees an action, where its docstring and its fields are more than a model needs."""

    words: str = ""
    """Instead of the docstring's first line."""
    shown: str | None = None
    """The fields that are advertised, with spaces between them. All are accepted."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Words for single fields."""
    texts: tuple[str, ...] = ()
    """Fields that are advertised as plain text, in the short form that a reader understands."""
    expects: bool = False
    """Advertises `expect`: the check that saves a second call."""
    web: str = ""
    """Fields that are advertised as well where the tools are for a browser."""
    gives_reason: bool = True
    """False where the action's own fields say why: they are required instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """Everything about a kind of action that is not one of its fields.

    What is pressed and which capability is needed have no default: whoever adds an action decides.
    """

    effect: Effect
    semantic: Semantic
    needs: Capability | None
    """None: no surface plays a part, as for a script on this machine."""
    presses: Pressed
    aims: tuple[str, ...] = ()
    """Fields whose elements must be on the screen before anything is dispatched."""
    verdict: BaseVerdict = ASK
    says: str = ""
    """The sentence afterwards. `{field}` is filled in; a part in brackets goes where its field is empty."""
    asks: str = ""
    """What a question to a person quotes; where it is empty, the element or the app is named."""
    shorthand: str | None = None
    """The field that a bare value fills: `- tap: Save`."""
    settle: Settle | None = None
    """None: full for what touches the device, none for the rest."""
    leaves_app: bool = False
    """The app in front is left or ended on purpose: that its process is gone is no crash."""
    gives_picture: bool = False
    """Its answer holds a picture, which a command writes to a file."""
    tools: tuple[Profile, ...] = ()
    model: ModelView = ModelView()

    @property
    def waits(self) -> Settle:
        """How long the engine watches the screen afterwards."""
        touches = self.effect in ("input", "system", "sensitive")
        return self.settle or ("full" if touches else "none")

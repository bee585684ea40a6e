"""The frames of the desk's WebSocket, both ways. `FRAME`, the phone's picture, is binary and not here."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from handrail.protocol import observe
from handrail.protocol.actions import DeviceAction, OSAction
from handrail.protocol.desk import Extent
from handrail.protocol.envelope import Envelope
from handrail.protocol.model import CamelModel, Count, Flag, Key, Name, Text

_WindowAction = Annotated[OSAction, Field(discriminator="type")]
_TouchAction = Annotated[
    DeviceAction | observe.ExpectVisible | observe.ExpectAbsent | observe.ExpectText | observe.ExpectState,
    Field(discriminator="type"),
]
"""What a person does by hand, and what they expect to see while it is recorded."""


class ServerFrame(CamelModel):
    """What every server frame carries: a gap-free number per session, and the time."""

    seq: Annotated[int, Field(strict=True, ge=0)]
    ts: Name


class Snapshot(ServerFrame):
    """The whole state, on joining."""

    type: Literal["SNAPSHOT"] = "SNAPSHOT"
    state: dict[str, Any]


class Actions(ServerFrame):
    """A batch that the reducer applied in one transaction, and what it changed: browsers need no reducer."""

    type: Literal["ACTIONS"] = "ACTIONS"
    actions: tuple[_WindowAction, ...]
    monitor_id: Name | None = None
    agent_id: Name | None = None
    changes: dict[str, Any]
    """A part of the state: windows by key with the fields that changed (null: gone), the rest whole."""


class ApprovalRequest(ServerFrame):
    """A person is asked."""

    type: Literal["APPROVAL_REQUEST"] = "APPROVAL_REQUEST"
    approval_id: Name
    dialog_id: Name
    title: Text
    message: Text
    reason: Text | None = None
    capability: Name | None = None
    expires_at: Name
    image_data: str | None = None
    """Cropped and marked screenshot, base64 PNG."""
    why: Text | None = None
    """What the rule says that asks."""
    device: Name | None = None
    phone: Name | None = None
    """What people call the device."""
    asked_by: Name | None = None
    can_remember: Literal["never", "time", "session", "always"]
    can_allow: Text | None = None
    """What a person may allow for a time, as they would say it."""
    wants_data: Flag
    """Something can be provided with a yes, such as a code."""
    is_secret: Flag | None = None
    """The switch "The agent may read this" starts off. What the agent may not read it can only type."""


class ApprovalResolved(ServerFrame):
    """The question is answered or gone; withdraw it everywhere."""

    type: Literal["APPROVAL_RESOLVED"] = "APPROVAL_RESOLVED"
    approval_id: Name
    dialog_id: Name
    decision: Literal["approved", "denied", "expired", "withdrawn", "void"]


class AgentStatus(ServerFrame):
    """What an agent is doing."""

    type: Literal["AGENT_STATUS"] = "AGENT_STATUS"
    agent_id: Name
    status: Literal["idle", "thinking", "acting", "waiting", "stopped", "failed", "finished"]
    message: Text | None = None
    code: Name | None = None
    """Of a failure: people get words for it, and read the message only if they want to."""


class Actor(CamelModel):
    """Who acts."""

    kind: Name
    id: Text


class EnvelopeFrame(ServerFrame):
    """An action's state changed; the envelope comes with its end, without pictures."""

    type: Literal["ENVELOPE"] = "ENVELOPE"
    action_id: Name
    lifecycle_state: Name
    action_type: Name | None = None
    device: Name | None = None
    actor: Actor | None = None
    said: Text | None = None
    """What it waits for."""
    bounds: tuple[int, int, int, int] | None = None
    """Where it comes down on the screen: left, top, right, bottom."""
    envelope: Envelope | None = None


class ErrorFrame(ServerFrame):
    """A frame of yours was refused; the connection lives on. For one client: it repeats the last number."""

    type: Literal["ERROR"] = "ERROR"
    code: Name
    path: str
    message: Text
    hint: Text


class Hello(CamelModel):
    """The first frame of a browser, where it wants to say who it is."""

    type: Literal["HELLO"] = "HELLO"
    client_id: Name
    since: Annotated[int, Field(strict=True, ge=0)] | None = None
    """The last number that it saw; counts where the address named none."""
    token: Annotated[str | None, Field(max_length=200, repr=False)] = None
    """A page's own token: without it, a socket whose upgrade brought no bearer is told nothing."""


class UserMessage(CamelModel):
    """The person says something to the agent."""

    type: Literal["USER_MESSAGE"] = "USER_MESSAGE"
    message_id: Name
    content: Text
    monitor_id: Name | None = None


class WindowMessage(CamelModel):
    """The person says something about a window."""

    type: Literal["WINDOW_MESSAGE"] = "WINDOW_MESSAGE"
    message_id: Name
    window_id: Name
    content: Text
    monitor_id: Name | None = None


class ComponentAction(CamelModel):
    """A component was used."""

    type: Literal["COMPONENT_ACTION"] = "COMPONENT_ACTION"
    window_id: Name
    action: Text
    form_id: Name | None = None
    form_data: dict[Key, Text] | None = None
    parallel: Flag = True
    monitor_id: Name | None = None


class UserInteraction(CamelModel):
    """What the person did with windows; it becomes the same window actions."""

    type: Literal["USER_INTERACTION"] = "USER_INTERACTION"
    interactions: Annotated[tuple[_WindowAction, ...], Field(min_length=1, max_length=100)]


class DialogFeedback(CamelModel):
    """The answer to a dialog."""

    type: Literal["DIALOG_FEEDBACK"] = "DIALOG_FEEDBACK"
    dialog_id: Name
    confirmed: Flag
    remember: Flag | None = None
    minutes: Count | None = None
    """With an approval of an engine's question: allow similar actions for so long, `times` often."""
    times: Count | None = None
    data: dict[Key, Text] | None = None
    """What the person provides with it: a code, a text, a choice."""
    readable: Flag | None = None
    """Whether the agent may read `data`; by default not if question or data looks like a secret."""


class ToastAction(CamelModel):
    """A toast's button was clicked."""

    type: Literal["TOAST_ACTION"] = "TOAST_ACTION"
    toast_id: Name
    event_id: Name


class ShortcutAction(CamelModel):
    """A shortcut of the type `action` was opened."""

    type: Literal["SHORTCUT_ACTION"] = "SHORTCUT_ACTION"
    shortcut_id: Name


class RenderingFeedback(CamelModel):
    """An iframe loaded or a window was captured, or not."""

    type: Literal["RENDERING_FEEDBACK"] = "RENDERING_FEEDBACK"
    request_id: Name
    window_id: Name
    kind: Literal["iframe", "capture"]
    success: Flag
    error: Text | None = None
    image_data: Annotated[str, Field(max_length=20_000_000)] | None = None
    made_from: Literal["the page's own picture", "a copy of the window", "the window's frame"] | None = None
    """How a picture was made."""
    missing: Annotated[tuple[Text, ...], Field(max_length=50)] | None = None
    """What is not on it."""
    waits_for_person: Flag | None = None
    """The page is not loaded before a person says yes, so another outcome follows."""


class Viewport(CamelModel):
    """A browser's logical size."""

    w: Extent
    h: Extent


class SubscribeMonitor(CamelModel):
    """Show me this monitor."""

    type: Literal["SUBSCRIBE_MONITOR"] = "SUBSCRIBE_MONITOR"
    monitor_id: Name
    viewport: Viewport | None = None


class PhoneInput(CamelModel):
    """The person acts on the phone: take-over."""

    type: Literal["PHONE_INPUT"] = "PHONE_INPUT"
    device: Name
    action: _TouchAction | None = None
    control: Literal["take", "hand_back", "watch", "unwatch", "watch_video", "unwatch_video"] | None = None
    """Take the phone or give it back; have its pictures or its video sent, or no longer."""


class Interrupt(CamelModel):
    """Stop what the agent is doing."""

    type: Literal["INTERRUPT"] = "INTERRUPT"
    agent_id: Name | None = None


ServerMessage = Annotated[
    Snapshot | Actions | ApprovalRequest | ApprovalResolved | AgentStatus | EnvelopeFrame | ErrorFrame,
    Field(discriminator="type"),
]
ClientMessage = Annotated[
    Hello | UserMessage | WindowMessage | ComponentAction | UserInteraction | DialogFeedback | ToastAction
    | ShortcutAction | RenderingFeedback | SubscribeMonitor | PhoneInput | Interrupt,
    Field(discriminator="type"),
]  # fmt: skip

SERVER_MESSAGE: TypeAdapter[Any] = TypeAdapter(ServerMessage)
CLIENT_MESSAGE: TypeAdapter[Any] = TypeAdapter(ClientMessage)

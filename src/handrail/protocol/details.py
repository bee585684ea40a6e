"""What `Envelope.details` holds after each action: typed dictionaries, so that the wire stays the JSON it is.

An action's class names its own. After a failure `details` holds what the error tells instead.
"""

# `typing_extensions`: pydantic reads no other TypedDict on Python 3.11.
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict


class Details(TypedDict):
    """What every action may tell of itself."""

    by_hand: NotRequired[bool]
    """A person who has the device in hand did it, so nobody was asked."""


class TouchDetails(Details):
    """The action moved fingers over the screen."""

    strokes: NotRequired[list[list[list[int]]]]
    """The way of each finger that moved: points in the screen's pixels."""


class ScrollDetails(TouchDetails):
    """The action searched by scrolling."""

    scrolls: int
    taken_back: NotRequired[int]
    """Swipes back after one that went too far."""


class TypingDetails(TouchDetails):
    """The action typed or cleared a text."""

    way: NotRequired[str]
    """How the text got into the field."""
    password: NotRequired[bool]
    former_text: NotRequired[str]
    """What the field held before, where it could not be put back."""


class ValueDetails(TypingDetails):
    """The action set a control, or filled a field in its place."""

    moves: NotRequired[int]
    placed_at_percent: NotRequired[float]
    """Where a slider was touched that does not say what it stands at."""


class KeyDetails(Details):
    """The action pressed one key."""

    key: NotRequired[str]
    """Its name, where it was given by another one."""


class StartDetails(Details):
    """The action started an app by its name."""

    name: NotRequired[str]
    package: NotRequired[str]


class App(TypedDict):
    """A person could start this app."""

    name: str
    package: str


class AppsDetails(Details):
    """`list_apps` returns these."""

    apps: list[App]
    text: str


class FileDetails(Details):
    """The action brought a file onto the device."""

    file: str


class UrlDetails(Details):
    """The action opened an address."""

    component: NotRequired[str]
    """Which app took it, where the device says so."""


class NetworkDetails(Details):
    """The action changed the network."""

    applied: NotRequired[dict[str, Any]]
    message: NotRequired[str]


class OutputDetails(Details):
    """A command ran on the device."""

    exit_code: int | None
    stdout: str
    stderr: str


class ScriptDetails(OutputDetails):
    """A script ran on this machine."""

    ok: bool
    run_id: str
    run_dir: str
    timed_out: bool
    cancelled: bool
    duration_ms: int
    refused: str | None
    hint: str | None
    network_cut: bool
    confined: bool


class ChangeDetails(Details):
    """`text` says what changed since a revision."""

    since: str
    revision: str
    fingerprint: str
    text: str
    note: NotRequired[str]
    """Why this is the whole screen."""


class TreeDetails(Details):
    """The action read the screen: its text, or with `format="outline"` its tree."""

    revision: str
    fingerprint: str
    text: NotRequired[str]
    format: NotRequired[Literal["compact", "outline", "full"]]
    refs: NotRequired[int]
    lines: NotRequired[int]
    truncated: NotRequired[bool]
    tree: NotRequired[dict[str, Any]]
    since: NotRequired[str]
    note: NotRequired[str]


class TextDetails(Details):
    """The action read a text."""

    text: str


class Tab(TypedDict):
    """A browser has this page open."""

    title: str
    url: str
    front: bool


class DeviceStateFacts(TypedDict, total=False):
    """What a device says of itself; what it does not tell is left out."""

    package: str
    activity: str
    app_name: str
    form: Literal["phone", "tablet"]
    orientation: Literal["portrait", "landscape"]
    width: int
    height: int
    density: int
    keyboard_shown: bool
    screen_on: bool
    locked: bool
    battery_percent: int
    charging: bool
    wifi: bool
    bluetooth: bool
    location: bool
    airplane_mode: bool
    auto_rotate: bool
    volume: int
    volume_max: int
    ringer: Literal["normal", "vibrate", "silent"]
    clipboard: str
    call: Literal["idle", "ringing", "active"]
    shade_open: bool
    dark_mode: bool
    animation_scale: float
    font_scale: float
    tabs: list[Tab]
    """Of a browser."""


class StateDetails(Details):
    """`get_state` returns these."""

    state: DeviceStateFacts
    text: str


class PictureDetails(Details):
    """Of a screenshot: a PNG as base64. Width and height are the screen's, the picture is `scale` of them."""

    deviceId: str
    currentApp: str
    width: int
    height: int
    screenshotBase64: str
    capturedAt: str
    scale: float
    region: NotRequired[list[int]]


class LogDetails(Details):
    """The action read the device's log."""

    lines: int
    logs: str


class Preference(TypedDict):
    """One value of a preferences file."""

    type: str
    value: Any


class PreferencesDetails(Details):
    """The action read a preferences file."""

    package: str
    file: str
    values: dict[str, Preference]
    xml: str


class RowsDetails(Details):
    """An SQL statement returned these rows; bytes are `{"base64": …}`."""

    package: str
    database: str
    columns: list[str]
    rows: list[list[Any]]
    count: int
    truncated: bool
    changed: NotRequired[int]


class HumanDetails(Details):
    """A person answered this."""

    approved: bool
    data: Any


class AnswerDetails(Details):
    """The person was told this."""

    answer: str


class FinishDetails(Details):
    """`message` and `status` say how the task ended."""

    message: str
    status: Literal["done", "infeasible", "failed"]


class DeskDetails(Details):
    """The desk carried the action out."""

    no_op: NotRequired[bool]
    """It was so already."""
    error: NotRequired[dict[str, Any]]
    """Of one among several whose change was made and whose follower failed."""


class FrameState(TypedDict):
    """Whether the page that a window shows has loaded."""

    loaded: bool
    error: NotRequired[str]


class NotShown(TypedDict):
    """A part of a window's content that nobody will see."""

    path: str
    why: str


class ContentDetails(DeskDetails):
    """The action read what a window shows."""

    dropped_html: NotRequired[list[str]]
    dropped_sandbox: NotRequired[list[str]]
    not_shown: NotRequired[list[NotShown]]


class WindowDetails(ContentDetails):
    """The action opened a window."""

    key: str
    dropped_style: NotRequired[list[str]]
    iframe: NotRequired[FrameState]
    requestId: NotRequired[str]


class CaptureDetails(DeskDetails):
    """The action took a window's picture: a PNG as base64."""

    screenshotBase64: str
    requestId: str
    madeFrom: NotRequired[str]
    missing: NotRequired[list[str]]


class DialogDetails(DeskDetails):
    """A person answered a dialog."""

    confirmed: bool
    remembered: bool
    expired: NotRequired[bool]

"""What a way into the phone besides adb may offer: a channel overrides what it can do, `can` lists it.

Routing asks `can` before it calls. Input methods raise with `delivery` among the error's details.
"""

from __future__ import annotations

from typing import ClassVar, NoReturn

from handrail.android.driver import IdleResult
from handrail.errors import Unsupported
from handrail.tree.node import Screen


class Channel:
    """A door that is open. Errors are `DeviceError` or `Timeout`; `name` is the word of `driver.Channel`."""

    name: ClassVar[str] = ""
    can: ClassVar[frozenset[str]] = frozenset()
    """The names of the methods that this kind of channel has of its own."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.can = frozenset(one for one in OFFERS if getattr(cls, one) is not getattr(Channel, one))

    # reads

    async def look(self) -> Screen:
        self._refuse("look")

    async def screenshot(self) -> bytes:
        """PNG, upright. What FLAG_SECURE hides is black here, or even visible: ask before."""
        self._refuse("screenshot")

    async def wait_idle(self, timeout_ms: float) -> IdleResult:
        """Needs an event stream: a channel that would have to poll has no such method."""
        self._refuse("wait_idle", timeout_ms)

    async def get_clipboard(self) -> str:
        self._refuse("get_clipboard")

    # fingers and keys

    async def tap(self, x: int, y: int) -> None:
        self._refuse("tap", x, y)

    async def double_tap(self, x: int, y: int) -> None:
        self._refuse("double_tap", x, y)

    async def long_press(self, x: int, y: int, duration_ms: int) -> None:
        self._refuse("long_press", x, y, duration_ms)

    async def swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        self._refuse("swipe", x1, y1, x2, y2, duration_ms)

    async def drag(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int) -> None:
        self._refuse("drag", x1, y1, x2, y2, duration_ms)

    async def pinch(self, cx: int, cy: int, start_radius: int, end_radius: int, duration_ms: int) -> None:
        self._refuse("pinch", cx, cy, start_radius, end_radius, duration_ms)

    async def rotate(
        self, cx: int, cy: int, radius: int, start_angle_deg: float, end_angle_deg: float, duration_ms: int
    ) -> None:
        self._refuse("rotate", cx, cy, radius, start_angle_deg, end_angle_deg, duration_ms)

    async def key(self, code: int) -> None:
        """One of Android's key codes; `Unsupported` for a key that this channel has no name for."""
        self._refuse("key", code)

    # text

    async def type_ascii(self, text: str) -> None:
        """Key events for printable ASCII, at the cursor. `Unsupported`, before anything is sent, for more."""
        self._refuse("type_ascii", text)

    async def set_text(self, text: str) -> None:
        """Any Unicode, in place of all that the focused field has; no keyboard is needed."""
        self._refuse("set_text", text)

    async def clear_field(self) -> None:
        """Empty the focused field."""
        self._refuse("clear_field")

    async def set_clipboard(self, text: str) -> None:
        self._refuse("set_clipboard", text)

    async def paste(self) -> None:
        """The clipboard, at the cursor of the focused field."""
        self._refuse("paste")

    async def close(self) -> None:
        """Ends what was started for it on the phone; as often as one likes."""

    def _need_keys(self, text: str) -> None:
        """Only characters that every keyboard has: what has no key is lost without a word on the phone."""
        lost = sum(not " " <= one <= "~" for one in text)
        if lost:
            reason = f"the {self.name} channel types by keys, and {lost} of {len(text)} characters have none"
            raise Unsupported(reason, channel=self.name, delivery="not_delivered")

    def _refuse(self, primitive: str, *_: object) -> NoReturn:
        reason = f"the {self.name} channel has no {primitive}"
        raise Unsupported(reason, channel=self.name, delivery="not_delivered")


OFFERS = frozenset(name for name in vars(Channel) if not name.startswith("_")) - {"name", "can", "close"}

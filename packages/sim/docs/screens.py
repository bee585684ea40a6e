"""Writes screens of the phone to `sim/docs/img` (`make docs`): short stories that end in a picture."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from PIL import Image

from handrail_sim.clock import ManualClock
from handrail_sim.phone import Phone
from handrail_sim.view.view import View

IMAGES = Path(__file__).parent / "img"
WIDTH = 540
STEP_MS = 50
RECENTS = 187  # KEYCODE_APP_SWITCH


class Visitor:
    """Somebody with a phone whose clock stands still: opens, taps, types, waits."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.phone = Phone(clock=self.clock)

    async def wait(self, duration_ms: int) -> None:
        for _ in range(0, duration_ms, STEP_MS):
            await self.clock.advance(STEP_MS)
            self.phone.catch_up()

    async def open(self, package: str) -> None:
        self.phone.start_activity(package=package)
        await self.wait(1500)

    async def tap(self, words: str) -> None:
        view = self._find(words)
        await self.phone.tap(view.x + view.w / 2, view.y + view.h / 2)
        await self.wait(800)

    async def type(self, words: str, into: str) -> None:
        await self.tap(into)
        self.phone.commit_text(words)
        await self.wait(200)

    def _find(self, words: str) -> View:
        """The topmost view that says this, or is called this; a field rather than the icon beside it."""
        for window in reversed(self.phone.windows()):
            said = [view for view in window.views() if words in (view.text, view.hint, view.desc, view.id)]
            seen = sorted((view for view in said if view.on_screen), key=lambda view: not view.editable)
            if seen:
                return seen[0]
        raise LookupError(f"nothing on the screen says {words!r}")


Story = Callable[[Visitor], Awaitable[None]]


async def home(_visitor: Visitor) -> None:
    """The launcher as it comes."""


async def contacts(visitor: Visitor) -> None:
    await visitor.open("com.google.android.contacts")


async def new_contact(visitor: Visitor) -> None:
    await visitor.open("com.google.android.contacts")
    await visitor.tap("Create new contact")
    await visitor.type("Marigold", "First name")
    await visitor.type("Tern", "Last name")


async def conversation(visitor: Visitor) -> None:
    await visitor.open("com.google.android.apps.messaging")
    await visitor.tap("Tabitha Harrowgate")
    await visitor.type("Thank you! I will wait by the gate.", "Send message")
    await visitor.tap("Send SMS")
    await visitor.type("Which side of the road?", "Send message")


async def shop(visitor: Visitor) -> None:
    await visitor.open("com.handrail.shop")


async def permission(visitor: Visitor) -> None:
    await visitor.open("com.handrail.gallery")


async def gallery(visitor: Visitor) -> None:
    await visitor.open("com.handrail.gallery")
    await visitor.tap("Allow")


async def display_dark(visitor: Visitor) -> None:
    visitor.phone.set_dark(True)
    await visitor.open("com.android.settings")
    await visitor.tap("Display")


async def shade(visitor: Visitor) -> None:
    visitor.phone.receive_sms("Harbour Bank", "482913 is your code. Tell it to nobody.")
    visitor.phone.receive_sms("+44 20 7946 0101", "Your parcel is waiting at the counter.")
    visitor.phone.systemui.open_shade()
    await visitor.wait(500)


async def recents(visitor: Visitor) -> None:
    for package in ("com.google.android.contacts", "com.handrail.shop", "com.google.android.deskclock"):
        await visitor.open(package)
    visitor.phone.key(RECENTS)
    await visitor.wait(800)


STORIES: dict[str, Story] = {
    "home": home,
    "contacts": contacts,
    "new-contact": new_contact,
    "conversation": conversation,
    "shop": shop,
    "permission": permission,
    "gallery": gallery,
    "display-dark": display_dark,
    "shade": shade,
    "recents": recents,
}


async def screen(story: Story) -> Image.Image:
    """The last picture of a story, half as wide as the phone's."""
    visitor = Visitor()
    await visitor.wait(1000)
    await story(visitor)
    image: Image.Image = visitor.phone.frame().image()
    return image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.Resampling.LANCZOS)


def docs_screens(folder: Path = IMAGES) -> list[Path]:
    """Tell every story; returns the files written."""
    folder.mkdir(exist_ok=True)
    written = []
    for name, story in STORIES.items():
        path = folder / f"{name}.png"
        asyncio.run(screen(story)).quantize(256).save(path, optimize=True)
        written.append(path)
    return written


def main() -> None:
    docs_screens()


if __name__ == "__main__":
    main()

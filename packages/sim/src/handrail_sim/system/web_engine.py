"""What a phone asks of a real browser engine that draws its web pages, where it has one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from handrail_sim.view.view import View
from handrail_sim.view.windows import Window


class Owner(Protocol):
    """A screen with WebViews on it."""

    token: int
    window: Window


class WebEngine(Protocol):
    """One phone's. The pages live elsewhere; views, pixels and keys are what the phone has of them."""

    pages: Callable[[str], str | None]
    """Pages of the phone itself, as HTML by address: no network has them."""

    def view(self, owner: Owner, name: str, url: str, *, is_debuggable: bool = True) -> View:
        """The WebView of this name on a screen; another url than last time is opened."""

    def address(self, owner: Owner, name: str) -> str:
        """Where the page is by now; "" before it was opened."""

    def back(self, owner: Owner, name: str) -> bool:
        """Goes one page back; false on the first page."""

    def reload(self, owner: Owner, name: str) -> None: ...

    async def refresh(self, *, pictures: bool = False) -> None:
        """Fetch what the pages in sight show by now. Somebody is about to look."""

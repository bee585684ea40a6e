"""What the pages about one package share: which one it is, its picture, what it asks for."""

from __future__ import annotations

from typing import Any

from handrail_sim.apps.settings.page import Page
from handrail_sim.system.packages import DANGEROUS, Package
from handrail_sim.view import Style, View, column, icon, text


class AppPage(Page):
    """A page about one package: the extra `package`, or the intent's `package:` URI."""

    @property
    def package(self) -> str:
        return str(self.extras.get("package") or self.intent.data.partition(":")[2])

    @property
    def known(self) -> Package | None:
        return self.phone.packages.installed.get(self.package)

    def go(self, page: str, **extras: Any) -> None:
        self.start(page, package=self.package, **extras)

    def header(self, known: Package) -> View:
        return column(
            icon("", id="entity_header_icon", size=64.0, style=picture_of(self, known.name)),
            text(known.label or known.name, "headline", id="entity_header_title"),
            gravity="center_h",
            gap=8.0,
            padding=16.0,
            id="entity_header",
            key="header",
        )

    def dangerous(self) -> list[str]:
        """What the app asks for and a person decides."""
        known = self.known
        return [name for name in known.requested if name in DANGEROUS] if known else []


def picture_of(page: Page, package: str) -> Style:
    """An app's icon; packages that came as a file have none."""
    app = page.phone.packages.classes.get(package)
    return Style(kind="app_icon", icon=app.icon if app else "", background=app.color if app else "")

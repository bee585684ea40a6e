"""A screen that can be searched: the state and the handlers behind a search field in its toolbar."""

from __future__ import annotations

from typing import ClassVar

from handrail_sim.system.activities import Activity


class Searching(Activity):
    """Keeps `searching` and `query` in its state; back leaves the search first."""

    search_field: ClassVar[str]
    """Id of the field that gets the focus."""

    def search(self) -> None:
        self.state["searching"] = True
        self.focus(self.search_field)

    def look_for(self, words: str) -> None:
        self.state["query"] = words

    def clear(self) -> None:
        self.state["query"] = ""

    def stop_searching(self) -> None:
        self.state.update(searching=False, query="")

    def back(self) -> bool:
        if not self.state["searching"]:
            return False
        self.stop_searching()
        return True

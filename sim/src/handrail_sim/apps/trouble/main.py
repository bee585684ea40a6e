"""The list of troubles; crash, freeze and silent death happen right here."""

from __future__ import annotations

from functools import partial

from handrail_sim.apps.trouble.notebook import told
from handrail_sim.system.activities import Activity
from handrail_sim.view import View, column, item, lazy_list, toolbar

FREEZE_MS = 30_000
_ROWS = (
    ("Spinner that ends", "Loaded after three seconds", "LoadingActivity"),
    ("Spinner that never ends", "Nothing will come", "EndlessActivity"),
    ("Never still", "Ten frames a second, for ever", "RestlessActivity"),
    ("Crash", "An exception nobody catches", "crash"),
    ("Freeze", "The main thread is busy for half a minute", "freeze"),
    ("Silent death", "The process is gone without a word", "die"),
    ("Shifting list", "A new row on top every 700 ms", "ShiftingActivity"),
    ("Late button", "It appears after four seconds", "LateActivity"),
    ("Covered button", "Something lies above it", "CoveredActivity"),
    ("Interrupting dialog", "It pops up in the middle of a form", "InterruptedActivity"),
)
CRASH = "java.lang.IllegalStateException: The lantern is not lit"


class Main(Activity):
    """One row, one trouble."""

    title = "Trouble"

    def build(self) -> View:
        rows = lazy_list(_ROWS, self.row, item_key=_key, id="troubles", height="wrap", weight=1.0)
        return column(toolbar("Trouble"), rows, height="fill")

    def row(self, trouble: tuple[str, str, str]) -> View:
        usual, summary, what = trouble
        title = told(self, "rows", {}).get(usual, usual)
        return item(title, summary, id="trouble", on_click=partial(self.make, what))

    def make(self, what: str) -> None:
        match what:
            case "crash":
                self.phone.kill_process(self.app.package, crash=CRASH)
            case "freeze":
                self.phone.hang(self.app.package, FREEZE_MS)
            case "die":
                self.phone.kill_process(self.app.package)
            case _:
                self.start(what)


def _key(trouble: tuple[str, str, str]) -> str:
    return trouble[0]

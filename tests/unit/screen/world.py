"""An invented phone for identity tests: it changes as apps do, and every view has a token that no dump shows.

Titles of list rows are unique: two rows that look alike in every way nobody could tell apart. All else
repeats freely: notes, nameless icons, equal switches, equal buttons of different dialogs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from handrail.screen.node import Screen
from handrail.screen.parse import parse
from tests.unit.screen.drawn import Box, node, windows

ROW, BAR, NAV = 150, 200, 150
NOTES = ("Folder", "File", "2 items", "Yesterday", "Shared with you")
WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "jetty")
KEYBOARD = "com.example.inputmethod"


@dataclass(frozen=True)
class View:
    """A drawn view: its XML, and the tokens of it and what is inside it, in document order."""

    xml: str
    tokens: tuple[str, ...]


def view(token: str, kind: str, *children: View | None, box: Box, flags: str = "", **said: str) -> View:
    drawn = [child for child in children if child is not None]
    xml = node(kind, *[child.xml for child in drawn], box=box, flags=flags, **said)
    return View(xml, (token, *[one for child in drawn for one in child.tokens]))


@dataclass
class Row:
    token: str
    title: str
    note: str
    extra: str  # switch, menu or nothing
    on: bool = False


@dataclass
class Page:
    title: str
    rows: list[Row]
    offset: int = 0
    height: int = ROW


@dataclass
class World:
    """The state of the phone; `edit` changes it, `draw` shows it."""

    rng: Random
    serial: int = 0
    width: int = 1080
    height: int = 2400
    with_ids: bool = False
    pages: list[Page] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    following: bool = False
    icons: int = 2
    dialog: str = ""
    dialog_alone: bool = False
    keyboard: bool = False
    banner: str = ""

    def __post_init__(self) -> None:
        self.with_ids = self.rng.random() < 0.3
        self.fields = {f"field{number}": "" for number in range(self.rng.randrange(3))}
        self.open_page()

    @property
    def page(self) -> Page:
        return self.pages[-1]

    def fresh(self, kind: str) -> str:
        self.serial += 1
        return f"{kind}{self.serial}"

    def new_row(self) -> Row:
        token = self.fresh("row")
        title = f"{self.rng.choice(WORDS)} {self.serial}"
        return Row(token, title, self.rng.choice(NOTES), self.rng.choice(("switch", "menu", "")))

    def open_page(self) -> None:
        rows = [self.new_row() for _ in range(self.rng.randrange(4, 30))]
        self.pages.append(Page(f"Page {self.fresh('')}", rows, height=self.rng.choice((120, 150, 210))))

    # Drawing

    def draw(self) -> tuple[Screen, list[str]]:
        """The screen, and the token of each of its nodes by order."""
        roots = [] if self.dialog and self.dialog_alone else [self._app()]
        if self.dialog:
            roots.append(self._dialog())
        if self.keyboard and not self.dialog:
            roots.append(self._keyboard())
        screen = parse(windows(*[root.xml for root in roots]))
        tokens = [token for root in roots for token in root.tokens]
        if len(tokens) < len(screen.nodes):
            tokens.insert(0, "virtual root")
        assert len(tokens) == len(screen.nodes)
        return screen, tokens

    def _id(self, name: str) -> dict[str, str]:
        return {"resource_id": f"com.example.app:id/{name}"} if self.with_ids else {}

    def _app(self) -> View:
        full = (0, 0, self.width, self.height)
        return view("root", "FrameLayout", self._bar(), self._fields(), self._list(), self._nav(), box=full)

    def _bar(self) -> View:
        def place(number: int) -> Box:
            return (number * 120, 60, number * 120 + 110, 180)

        title = view(f"title of {self.page.title}", "TextView", box=(130, 60, 500, 180), text=self.page.title)
        words = "Following" if self.following else "Follow"
        token = f"follow on {self.page.title}"
        box = (510, 60, 700, 180)
        follow = view(token, "Button", box=box, flags="clickable", text=words, **self._id("follow"))
        up = view(
            f"up from {self.page.title}",
            "ImageButton",
            box=place(0),
            flags="clickable",
            content_desc="Navigate up",
        )
        icons = [
            view(
                f"icon{number} of {self.icons} on {self.page.title}",
                "ImageView",
                box=place(6 + number),
                flags="clickable",
            )
            for number in range(self.icons)
        ]
        return view("bar", "LinearLayout", up, title, follow, *icons, box=(0, 0, self.width, BAR))

    def _fields(self) -> View | None:
        if not self.fields:
            return None
        views = []
        for number, (token, typed) in enumerate(self.fields.items()):
            box = (0, BAR + 100 * number, self.width, BAR + 100 * number + 100)
            views.append(view(token, "EditText", box=box, flags="clickable focusable", text=typed))
        return view("form", "LinearLayout", *views, box=(0, BAR, self.width, self._list_top()))

    def _list_top(self) -> int:
        return BAR + 100 * len(self.fields) + (ROW if self.banner else 0)

    def _list_box(self) -> Box:
        bottom = self.height - 900 if self.keyboard else self.height - NAV
        return (0, self._list_top(), self.width, max(bottom, self._list_top() + ROW))

    def _list(self) -> View:
        box = self._list_box()
        rows = [self._row(row, number, box) for number, row in enumerate(self.page.rows)]
        token = f"list of {self.page.title}"
        return view(token, "ListView", *rows, box=box, flags="scrollable", **self._id("list"))

    def _row(self, row: Row, number: int, frame: Box) -> View | None:
        top = frame[1] + number * self.page.height - self.page.offset
        bottom = top + self.page.height
        if bottom <= frame[1] or top >= frame[3]:
            return None

        def part(token: str, kind: str, left: int, right: int, middle: bool, **said: str) -> View | None:
            high, low = (
                (top + self.page.height // 2, bottom) if middle else (top, top + self.page.height // 2)
            )
            high, low = max(high, frame[1]), min(low, frame[3])
            return view(token, kind, box=(left, high, right, low), **said) if high < low else None

        end = self.width - 200
        parts = [
            part(f"{row.token} image", "ImageView", 0, 100, False),
            part(f"{row.token} title", "TextView", 110, end, False, text=row.title, **self._id("title")),
            part(f"{row.token} note", "TextView", 110, end, True, text=row.note, **self._id("summary")),
        ]
        if row.extra == "switch":
            flags = "clickable checkable" + (" checked" if row.on else "")
            words = "ON" if row.on else "OFF"
            parts.append(
                part(f"{row.token} switch", "Switch", end, end + 180, False, flags=flags, text=words)
            )
        if row.extra == "menu":
            parts.append(part(f"{row.token} menu", "ImageButton", end, end + 180, False, flags="clickable"))
        box = (0, max(top, frame[1]), self.width, min(bottom, frame[3]))
        return view(row.token, "LinearLayout", *parts, box=box, flags="clickable")

    def _nav(self) -> View:
        top = self.height - NAV
        names = ("Home", "Search", "Library")
        third = self.width // 3
        tabs = []
        for number, name in enumerate(names):
            left = third * number
            label = (left + 50, top + 90, left + 200, top + 140)
            text = view(f"name of {name}", "TextView", box=label, text=name)
            box = (left, top, left + third, self.height)
            tabs.append(view(f"tab {name}", "android.view.View", text, box=box, flags="clickable"))
        return view("nav", "LinearLayout", *tabs, box=(0, top, self.width, self.height))

    def _dialog(self) -> View:
        def button(word: str, left: int) -> View:
            token = f"{self.dialog} {word}"
            return view(token, "Button", box=(left, 1400, left + 200, 1500), flags="clickable", text=word)

        title = view(
            f"{self.dialog} title", "TextView", box=(120, 1000, 900, 1100), text=f"About {self.dialog}"
        )
        words = f"Do you want to go on with {self.dialog}?"
        message = view(f"{self.dialog} text", "TextView", box=(120, 1110, 900, 1300), text=words)
        children = (title, message, button("Cancel", 200), button("OK", 600))
        return view(f"{self.dialog} root", "FrameLayout", *children, box=(100, 980, 980, 1520))

    def _keyboard(self) -> View:
        top = self.height - 700
        keys = []
        for number, letter in enumerate("qwertz"):
            box = (90 * number, top, 90 * number + 80, top + 100)
            keys.append(view(f"key {letter}", "android.view.View", box=box, text=letter, package=KEYBOARD))
        box = (0, self.height - 800, self.width, self.height)
        return view("keyboard", "FrameLayout", *keys, box=box, package=KEYBOARD)

    # Edits

    def edit(self) -> str:
        """Changes one thing; says which."""
        name = self.rng.choice(EDITS)
        getattr(self, name)()
        return name

    def scroll(self) -> None:
        _, top, _, bottom = self._list_box()
        most = max(0, len(self.page.rows) * self.page.height - (bottom - top))
        step = self.rng.randrange(30, max(31, int(0.7 * (bottom - top))))
        way = self.rng.choice((-step, step, self.page.height, -self.page.height))
        self.page.offset = min(most, max(0, self.page.offset + way))

    def insert_row(self) -> None:
        self.page.rows.insert(self.rng.randrange(len(self.page.rows) + 1), self.new_row())

    def insert_above(self) -> None:
        self.page.rows.insert(0, self.new_row())

    def remove_row(self) -> None:
        if len(self.page.rows) > 1:
            del self.page.rows[self.rng.randrange(len(self.page.rows))]

    def replace_row(self) -> None:
        """Another row in the same place, as a search or a recycled view shows it.

        Not under an edge that hides its title: that would be no change that anybody could see.
        """
        hidden = -(-self.page.offset // self.page.height)
        if hidden >= len(self.page.rows):
            return
        number = self.rng.randrange(hidden, len(self.page.rows))
        old = self.page.rows[number]
        self.page.rows[number] = replace(self.new_row(), note=old.note, extra=old.extra)

    def replace_all(self) -> None:
        self.page.rows = [replace(self.new_row(), note=row.note, extra=row.extra) for row in self.page.rows]
        self.page.title = f"Page {self.fresh('')}"

    def reorder(self) -> None:
        row = self.page.rows.pop(self.rng.randrange(len(self.page.rows)))
        self.page.rows.insert(self.rng.randrange(len(self.page.rows) + 1), row)

    def toggle(self) -> None:
        row = self.rng.choice(self.page.rows)
        row.on = not row.on

    def relabel(self) -> None:
        row = self.rng.choice(self.page.rows)
        row.note = self.rng.choice(NOTES)

    def follow(self) -> None:
        self.following = not self.following

    def type_text(self) -> None:
        for token in self.fields:
            if self.rng.random() < 0.5:
                self.fields[token] += self.rng.choice("abc")

    def add_icon(self) -> None:
        self.icons = 3 if self.icons == 2 else 2

    def toggle_keyboard(self) -> None:
        self.keyboard = not self.keyboard

    def toggle_banner(self) -> None:
        self.banner = "" if self.banner else self.fresh("banner")

    def rotate(self) -> None:
        self.width, self.height = self.height, self.width

    def toggle_dialog(self) -> None:
        self.dialog = "" if self.dialog else self.fresh("dialog")
        self.dialog_alone = self.rng.random() < 0.5

    def next_dialog(self) -> None:
        if self.dialog:
            self.dialog = self.fresh("dialog")

    def go(self) -> None:
        if len(self.pages) > 1 and self.rng.random() < 0.6:
            self.pages.pop()
        else:
            self.open_page()


EDITS = (
    "scroll", "scroll", "scroll", "insert_row", "insert_above", "remove_row", "replace_row", "replace_all",
    "reorder", "toggle", "relabel", "follow", "type_text", "add_icon", "toggle_keyboard", "toggle_banner",
    "rotate", "toggle_dialog", "next_dialog", "go",
)  # fmt: skip

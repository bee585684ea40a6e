"""Files: shared storage as a person sees it: folders, opening, renaming, copying, moving, deleting."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from functools import partial
from typing import Any

from handrail_sim import view as ui
from handrail_sim.apps.manifests import declared
from handrail_sim.disk.lookup import Stat
from handrail_sim.errors import BadSetting
from handrail_sim.system.activities import Activity, App
from handrail_sim.system.intents import VIEW, Handles, Intent
from handrail_sim.system.media import ROOT, mime_of
from handrail_sim.view import View

_TEXT = "com.android.documentsui.files.TextActivity"
_ICONS = {"image": "image", "video": "video", "audio": "music", "text": "note"}


class Browser(Activity):
    """One folder. The bar acts on what is `chosen`; while something is `carried`, a place is looked for."""

    title = "Files"

    def on_create(self) -> None:
        self.state.update(path=ROOT, chosen=[], carried=[], copying=False)

    # screen

    def build(self) -> View:
        names = self.names()
        listed = ui.lazy_list(names, self._row, str, id="dir_list", weight=1.0)
        nothing = ui.column(ui.text("No items", "subtitle", id="message"), weight=1.0, gravity="center")
        return ui.screen(self._bar(), listed if names else nothing, self._foot())

    def _bar(self) -> View:
        if self.state["chosen"]:
            return ui.toolbar(
                f"{len(self.state['chosen'])} selected",
                ui.icon_button("delete", "Delete", self.ask_to_delete, id="action_menu_delete"),
                ui.icon_button("more", "More options", self.more, id="more_options"),
                on_up=self.clear,
                up="Clear selection",
            )
        path = self.state["path"]
        model = self.phone.props.get("ro.product.model", "Internal storage")
        title = model if path == ROOT else posixpath.basename(path)
        new = ui.icon_button("add", "New folder", self.ask_for_folder, id="option_menu_create_dir")
        return ui.toolbar(title, new, on_up=self.go_up if path != ROOT else None, up="Navigate up")

    def _row(self, name: str) -> View:
        stat = self.phone.files.stat(f"{self.state['path']}/{name}")
        chosen = name in self.state["chosen"]
        return ui.item(
            name,
            "" if stat.is_dir else _size(stat),
            ui.icon(
                "check_circle"
                if chosen
                else ("folder" if stat.is_dir else _ICONS.get(mime_of(name).partition("/")[0], "file"))
            ),
            id="item_root",
            selected=chosen,
            on_click=partial(self.tap, name),
            on_long_click=partial(self.choose_entry, name),
        )

    def _foot(self) -> View | None:
        if not self.state["carried"]:
            return None
        return ui.row(
            ui.button("Cancel", self.put_down, "text", id="android:id/button2"),
            ui.button("Copy" if self.state["copying"] else "Move", self.drop, id="android:id/button1"),
            padding=8.0,
            gap=8.0,
            gravity="end",
        )

    def names(self) -> list[str]:
        """Folders first, then by name; what begins with a dot is hidden."""
        files, path = self.phone.files, self.state["path"]
        if not files.is_dir(path):  # somebody else deleted it
            self.state["path"] = path = ROOT
        shown = [name for name in files.list(path) if not name.startswith(".")]
        return sorted(shown, key=lambda name: (not files.is_dir(f"{path}/{name}"), name.casefold()))

    # moving about

    def tap(self, name: str) -> None:
        path = f"{self.state['path']}/{name}"
        if self.state["chosen"]:
            self.choose_entry(name)
        elif self.phone.files.is_dir(path):
            self.state["path"] = path
        elif not self.state["carried"]:
            self.open_file(path)

    def open_file(self, path: str) -> None:
        intent = Intent(action=VIEW, data=f"content://media{path}", mime=mime_of(path))
        if self.phone.packages.resolve(intent):
            self.start_intent(intent)
        else:
            self.toast("No app can open this file")

    def go_up(self) -> None:
        self.state["path"] = posixpath.dirname(self.state["path"])

    def back(self) -> bool:
        if self.state["chosen"]:
            self.clear()
        elif self.state["path"] != ROOT:
            self.go_up()
        elif self.state["carried"]:
            self.put_down()
        else:
            return False
        return True

    # choosing and acting

    def choose_entry(self, name: str) -> None:
        chosen: list[str] = self.state["chosen"]
        if name in chosen:
            chosen.remove(name)
        elif not self.state["carried"]:
            chosen.append(name)

    def clear(self) -> None:
        self.state["chosen"] = []

    def more(self) -> None:
        entries: dict[str, Any] = {
            "Select all": self.choose_all,
            "Copy to…": partial(self.carry, True),
            "Move to…": partial(self.carry, False),
        }
        if len(self.state["chosen"]) == 1:
            entries["Rename"] = self.ask_for_name
        self.menu("more_options", entries)

    def choose_all(self) -> None:
        self.state["chosen"] = self.names()

    def carry(self, copying: bool) -> None:
        here = self.state["path"]
        self.state.update(carried=[f"{here}/{name}" for name in self.state["chosen"]], copying=copying)
        self.clear()

    def put_down(self) -> None:
        self.state["carried"] = []

    def drop(self) -> None:
        """Into the folder that is open; a name that is taken there gets a number."""
        for path in self.state["carried"]:
            target = self._free(posixpath.basename(path))
            if self.state["copying"]:
                _copy(self.phone.files, path, target)
            elif posixpath.dirname(path) != self.state["path"]:
                self._try(partial(self.phone.files.rename, path, target))
        self.put_down()

    def _free(self, name: str) -> str:
        stem, ending = posixpath.splitext(name)
        names = [name, *(f"{stem} ({number}){ending}" for number in range(1, 1000))]
        paths = (f"{self.state['path']}/{word}" for word in names)
        return next(path for path in paths if not self.phone.files.exists(path))

    def ask_to_delete(self) -> None:
        count = len(self.state["chosen"])
        words = f'"{self.state["chosen"][0]}"' if count == 1 else f"{count} items"
        self.dialog("", f"Delete {words}?", {"Cancel": None, "OK": self.delete})

    def delete(self) -> None:
        for name in self.state["chosen"]:
            self._try(partial(self.phone.files.remove_tree, f"{self.state['path']}/{name}"))
        self.clear()

    def ask_for_name(self) -> None:
        self.dialog("Rename", "", {"Cancel": None, "OK": self.rename}, self._name_field)

    def ask_for_folder(self) -> None:
        self.dialog("New folder", "", {"Cancel": None, "OK": self.make_folder}, self._name_field)

    def _name_field(self) -> View:
        chosen = self.state["chosen"]
        return ui.field("android:id/text1", chosen[0] if chosen else "", hint="Name", width="fill")

    def rename(self) -> None:
        name, here = self._typed(), self.state["path"]
        if name and self.state["chosen"]:
            if self.phone.files.exists(f"{here}/{name}"):
                self.toast("Failed to rename document")
            else:
                self._try(
                    partial(self.phone.files.rename, f"{here}/{self.state['chosen'][0]}", f"{here}/{name}")
                )
        self.clear()

    def make_folder(self) -> None:
        name = self._typed()
        if name:
            self._try(partial(self.phone.files.mkdir, f"{self.state['path']}/{name}"))

    def _typed(self) -> str:
        return self.field("android:id/text1").strip().replace("/", "_").strip(".")

    def _try(self, act: Any) -> None:
        try:
            act()
        except OSError as error:
            self.toast(f"Failed: {error.strerror}")


def _copy(files: Any, source: str, target: str) -> None:
    if not files.is_dir(source):
        files.place(target, files.content(source))
        return
    files.mkdir(target)
    for name in files.list(source):
        if not f"{target}/".startswith(f"{source}/{name}/"):
            _copy(files, f"{source}/{name}", f"{target}/{name}")


def _size(stat: Stat) -> str:
    amount, unit = float(stat.size), "B"
    for unit in ("B", "kB", "MB", "GB"):  # noqa: B007 - the unit at which it stops
        if amount < 1000:
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.2f} {unit}"


class TextPage(Activity):
    """A text file as it is; nothing can be changed here."""

    title = "Text"

    def build(self) -> View:
        path = self.intent.data.removeprefix("content://media")
        files = self.phone.files
        words = files.read(path).decode(errors="replace") if files.exists(path) else "File not found"
        return ui.screen(
            ui.toolbar(posixpath.basename(path), on_up=self.finish, up="Navigate up"),
            ui.scroll(ui.text(words, "body", id="text", padding=16.0), weight=1.0),
        )


@declared
class Files(App):
    """DocumentsUI, by its name on Pixels; it shows texts itself, as there is no other app for them."""

    activities = {"com.android.documentsui.files.FilesActivity": Browser, _TEXT: TextPage}
    handles = (
        Handles(_TEXT, VIEW, mime="text/*"),
        Handles("com.android.documentsui.files.FilesActivity", VIEW, mime="vnd.android.document/directory"),
    )

    def fill(self, content: Any) -> None:
        """Texts by their paths in shared storage, `Download/list.txt`; one that ends with / is a folder."""
        if not isinstance(content, dict):
            raise BadSetting("world.files: should be texts by their paths", path="world.files")
        for path, body in content.items():
            place = f"{ROOT}/{str(path).strip('/')}"
            folder = place if str(path).endswith("/") else posixpath.dirname(place)
            if not self.phone.files.exists(folder):
                self.phone.files.mkdir(folder, parents=True)
            if not str(path).endswith("/"):
                self.phone.files.write(place, str(body).encode())

    def state(self) -> dict[str, Any]:
        return {"files": dict(self._below(ROOT))}

    def _below(self, folder: str) -> Iterator[tuple[str, int]]:
        for name in sorted(self.phone.files.list(folder)):
            path = f"{folder}/{name}"
            if self.phone.files.is_dir(path):
                if name not in ("Android", "DCIM") and not name.startswith("."):
                    yield f"{path.removeprefix(ROOT + '/')}/", -1
                    yield from self._below(path)
            else:
                yield path.removeprefix(f"{ROOT}/"), self.phone.files.stat(path).size


APP = Files

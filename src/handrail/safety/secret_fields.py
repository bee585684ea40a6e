"""Fields of a device that hold secrets, recognised after their ref, their screen and this process are gone.

Screens leave here without what those fields hold; policy alone sees the raw screen.
"""

from __future__ import annotations

import dataclasses
import os
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, is_dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from typing import Any

from handrail.errors import HandrailError
from handrail.journal.redaction import RUN, SecretRuns, placeholder, redact_data, redact_outside_placeholders
from handrail.safety.secrets import Filled, Secrets
from handrail.screen.node import Bounds, Node, Screen
from handrail.store import Store
from handrail.surface.capabilities import TextInput
from handrail.surface.values import (
    CommandOutput,
    DeviceReport,
    Foreground,
    LastWords,
    SetControl,
    Synced,
    Typed,
)

LONGEST = 200
"""Characters of two contents that are compared."""
SURVIVES = 0.5
"""Share of a text that must remain for the new text to count as derived from it."""
WHOLE_RUN = 4
"""Characters in a row that two texts hardly share by chance."""
SPREAD = 2
"""How many times as long a text gets by a separator between any two characters."""


@dataclass(frozen=True, slots=True)
class FieldLocation:
    """Identifies a field by its resource id, else by its class and its position in the window."""

    package: str
    field: str
    path: str
    title: str
    """Title of the pane or web page around it, if any."""
    hint: str


@dataclass(frozen=True, slots=True)
class SecretField:
    """A field of a device that received a secret. The object does not contain the value."""

    spot: FieldLocation
    activity: str
    name: str
    """Name of the secret whose placeholder replaces its text."""
    vacant: str = ""
    """Its text while it is empty, if dumps show the hint as text."""
    is_shared: bool = False
    """Several fields of a screen have its id, so an empty one says nothing of the others."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        return (self.spot.package, self.spot.field, self.activity, self.spot.title)

    def hides(self, spot: FieldLocation) -> bool:
        """Whether this may be the field, in any window: rather too much is hidden than too little."""
        own = self.spot
        if own.package != spot.package:
            return False
        if own.field == spot.field:
            return True
        return bool(own.hint) and own.hint == spot.hint and _kind(own) == _kind(spot) != ""

    def is_proved_empty(self, spot: FieldLocation, activity: str) -> bool:
        """Whether the empty field is this one: the same app, window, page, position and hint."""
        return not self.is_shared and self.spot == spot and self.activity == activity

    def is_empty(self, node: Node) -> bool:
        return not node.text or node.text == node.hint_text or (node.text == self.vacant != "")


def location_of(node: Node) -> FieldLocation:
    """Contains texts of the screen, which must be redacted before they are stored."""
    path, title, at = [], node.pane_title, node
    while at.parent is not None and at.parent.class_name:  # up to the window, not the root above all windows
        path.append(str(at.position))
        at = at.parent
        title = title or at.pane_title or (at.text if at.role == "web_view" else "")
    place = ".".join(reversed(path))
    field = node.resource_id or f"{node.class_name}@{place}"
    return FieldLocation(node.package_name, field, place, title, node.hint_text)


def _kind(spot: FieldLocation) -> str:
    """The class of a field without an id; '' for one with an id."""
    return spot.field.partition("@")[0] if spot.field.endswith(f"@{spot.path}") else ""


def focused_field(screen: Screen | None) -> Node | None:
    """The innermost focused field of the topmost window, where input goes."""
    if screen is None:
        return None
    return next((n for n in reversed(screen.nodes) if n.focused and n.role == "text_field"), None)


def is_derived_from(old: str, new: str) -> bool:
    """Whether enough of the old text is in the new one, in the same order."""
    before, after = old[:LONGEST], new[:LONGEST]
    if not before or not after:
        return False
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    if sum(block.size for block in blocks) < SURVIVES * min(len(before), len(after)):
        return False
    # A long text has the letters of a short one somewhere, in any order that is asked for.
    return len(after) <= SPREAD * len(before) or max(block.size for block in blocks) >= WHOLE_RUN


def is_subsequence(rest: str, text: str) -> bool:
    """Whether deleting characters of `text` can give `rest`."""
    letters = iter(text)
    return all(letter in letters for letter in rest)


WORDS = ("text", "description", "hint_text", "state_description", "tooltip_text", "pane_title")
"""Attributes of a node that hold texts."""
RedactNode = Callable[[Node, str], str]
"""Redacts one text of a node."""


@dataclass(slots=True, eq=False)
class RedactedScreen(Screen):
    """A screen without secrets. `raw` is for policy alone, whose rules are about the real screen."""

    raw: Screen | None = dataclasses.field(default=None, init=False)
    boxes: tuple[Bounds, ...] = dataclasses.field(default=(), init=False)
    """Boxes that must be painted over in a screenshot."""


def raw_screen(screen: Screen) -> Screen:
    """The screen that policy decides on. Nothing of it may leave the engine."""
    return screen.raw if isinstance(screen, RedactedScreen) and screen.raw is not None else screen


def hidden_boxes(screen: Screen) -> tuple[Bounds, ...]:
    """Boxes with redacted texts."""
    return screen.boxes if isinstance(screen, RedactedScreen) else ()


def redacted(raw: Screen, hidden: Mapping[int, str], redact: RedactNode) -> Screen:
    """`hidden` has, by node order, what replaces the full text. Returns `raw` if nothing is to hide."""
    changes: dict[int, dict[str, Any]] = {}
    for node in raw.nodes:
        if changed := _changed(node, hidden.get(node.order), redact):
            changes[node.order] = changed
    if not changes:
        return raw
    shown = RedactedScreen(
        raw.root,
        [],
        raw.width,
        raw.height,
        raw.package,
        raw.rotation,
        list(raw.warnings),
        is_exact=raw.is_exact,
    )
    shown.nodes = [
        replace(node, children=[], parent=None, **changes.get(node.order, {})) for node in raw.nodes
    ]
    for old, new in zip(raw.nodes, shown.nodes, strict=True):
        if old.parent is not None:
            new.parent = shown.nodes[old.parent.order]
            new.parent.children.append(new)
    shown.root = shown.nodes[raw.root.order]
    shown.active = shown.nodes[raw.active.order] if raw.active is not None else None
    shown.raw = raw
    boxes = dict.fromkeys(raw.nodes[order].bounds for order in changes)
    foot = raw.bounds._replace(top=raw.bounds.bottom - 1)  # a toast is put there: nobody tells its place
    shown.boxes = tuple(raw.bounds if box == foot else box for box in boxes)
    return shown


def _changed(node: Node, replacement: str | None, redact: RedactNode) -> dict[str, str]:
    texts = {name: text for name in WORDS if (text := getattr(node, name))}
    changed = {name: new for name, text in texts.items() if (new := redact(node, text)) != text}
    if replacement is not None and node.text:
        changed["text"] = replacement
    return changed


def spelled_out(raw: Screen, name_in: Callable[[str], str | None]) -> dict[int, str]:
    """Finds a secret that is spread over elements of one to three characters. Returns them by node order."""
    hidden: dict[int, str] = {}
    chain: list[Node] = []
    # A key of a keypad shows its letter, which is not a copy of a secret.
    shown = [node for node in raw.nodes if node.text and (not node.clickable or node.role == "text_field")]
    for node in [*shown, None]:
        if node is not None and len(node.text) < RUN:
            chain.append(node)
            continue
        hidden |= _spelled_chain(chain, name_in)
        chain = []
    return hidden


def _spelled_chain(chain: list[Node], name_in: Callable[[str], str | None]) -> dict[int, str]:
    hidden: dict[int, str] = {}
    for start, first in enumerate(chain):
        text, piece = "", [first]
        for node in chain[start:]:
            text, piece = text + node.text, [*piece, node]
            if len(text) >= RUN:
                break
        if len(text) >= RUN and (name := name_in(text)):
            hidden |= {node.order: name for node in piece}
    return hidden


TABLES = (
    """
    CREATE TABLE used_secrets (
        device TEXT NOT NULL, boot_id TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (device, name)
    ) STRICT;
    CREATE TABLE tainted_fields (
        device TEXT NOT NULL, boot_id TEXT NOT NULL, package TEXT NOT NULL, field TEXT NOT NULL,
        path TEXT NOT NULL, title TEXT NOT NULL, hint TEXT NOT NULL, activity TEXT NOT NULL,
        name TEXT NOT NULL, vacant TEXT NOT NULL, is_shared INTEGER NOT NULL,
        PRIMARY KEY (device, package, field, activity, title)
    ) STRICT
    """,
)
CHANGES = "taints"
"""The file that grows with every change, so that a `stat` shows changes."""
_HERE = "(device = :device OR (boot_id != '' AND boot_id = :boot_id))"
_UUID = 32
"""Minimum length of a boot id that is unique; a mere counter of boots is not."""


@dataclass(frozen=True, slots=True)
class DeviceKey:
    """A device by its name, and by its boot id, which stays when the name changes."""

    device: str
    boot_id: str = ""

    def columns(self) -> dict[str, str]:
        return {"device": self.device, "boot_id": self.boot_id if len(self.boot_id) >= _UUID else ""}


class SecretFieldStore:
    """Secrets that were used on devices and fields that hold them, in the store of a home."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._changes = store.path.with_name(CHANGES)
        store.create_tables("taints", TABLES)

    def changes(self) -> int:
        """Changes after every write by any process."""
        try:
            return os.stat(self._changes).st_size
        except FileNotFoundError:
            return 0

    async def load(self, key: DeviceKey) -> tuple[set[str], list[SecretField]]:
        """Names of the secrets that were used there, and the fields that received them."""
        return await self._store.read(lambda db: _load(db, key))

    async def record_use(self, key: DeviceKey, names: Iterable[str]) -> None:
        """Must end before the secrets are sent."""
        rows = [{**key.columns(), "name": name} for name in names]
        await self._write(
            "INSERT OR REPLACE INTO used_secrets VALUES (:device, :boot_id, :name)",
            rows,
        )

    async def save_field(self, key: DeviceKey, field: SecretField) -> None:
        spot = dict(zip(("package", "field", "path", "title", "hint"), astuple(field.spot), strict=True))
        row = {**key.columns(), **spot, "activity": field.activity, "name": field.name}
        row |= {"vacant": field.vacant, "is_shared": int(field.is_shared)}
        await self._write(
            "INSERT OR REPLACE INTO tainted_fields VALUES (:device, :boot_id, :package, :field, :path,"
            " :title, :hint, :activity, :name, :vacant, :is_shared)",
            [row],
        )

    async def delete_field(self, key: DeviceKey, field: SecretField) -> None:
        """The field is empty."""
        names = dict(zip(("package", "field", "activity", "title"), field.key, strict=True))
        await self._write(
            f"DELETE FROM tainted_fields WHERE {_HERE} AND package = :package AND field = :field"  # noqa: S608
            " AND activity = :activity AND title = :title",
            [{**key.columns(), **names}],
        )

    async def end_app(self, key: DeviceKey, package: str) -> None:
        """Called when the app's data was deleted."""
        await self._write(
            f"DELETE FROM tainted_fields WHERE {_HERE} AND package = :package",  # noqa: S608
            [{**key.columns(), "package": package}],
        )

    async def _write(self, statement: str, rows: list[dict[str, str | int]] | list[dict[str, str]]) -> None:
        await self._store.write(lambda db: db.executemany(statement, rows))
        with open(self._changes, "ab", opener=partial(os.open, mode=0o600)) as file:
            file.write(b".")


def _load(db: sqlite3.Connection, key: DeviceKey) -> tuple[set[str], list[SecretField]]:
    columns = key.columns()
    used = db.execute(f"SELECT name FROM used_secrets WHERE {_HERE}", columns)  # noqa: S608
    names = {row["name"] for row in used}
    rows = db.execute(f"SELECT * FROM tainted_fields WHERE {_HERE}", columns)  # noqa: S608
    fields = []
    for row in rows:
        spot = FieldLocation(row["package"], row["field"], row["path"], row["title"], row["hint"])
        fields.append(SecretField(spot, row["activity"], row["name"], row["vacant"], bool(row["is_shared"])))
    return names, fields


MOST_TEXTS = 20_000
"""Size of the cache of redacted texts, since screens repeat themselves."""
_WORDS: dict[type, tuple[str, ...]] = {
    DeviceReport: ("text", "details"),
    CommandOutput: ("stdout", "stderr"),
    LastWords: ("summary", "lines"),
    Synced: ("waited_for",),
    SetControl: ("value", "offers"),
}
"""Attributes of a surface's replies that hold texts of the device."""
_OURS = frozenset({"delivery", "answered"})
"""Details of an error that the engine uses, and that are not texts of the device."""
AskFront = Callable[[], Awaitable[Foreground]]
FieldOnScreen = tuple[Node, SecretField]


class DeviceSecrets:
    """Which secrets were used on one device, and which of its texts must not be shown."""

    def __init__(self, taints: SecretFieldStore, secrets: Secrets, key: DeviceKey) -> None:
        self._taints = taints
        self._secrets = secrets
        self._device = key
        self._loaded = 0
        self._used: set[str] = set()
        self._fields: dict[tuple[str, str, str, str], SecretField] = {}
        self._runs = SecretRuns()
        self._contents: dict[tuple[str, str, str, str], str] = {}
        """Last content of secret fields. A text derived from it is as secret."""
        self._own: dict[tuple[str, str], str] = {}
        """Plain texts that callers typed, by app and field. Showing these reveals nothing."""
        self._filled = Filled("")
        self._clipboard = ("", "")
        self._texts: dict[str, str] = {}
        self._shown: tuple[Screen, Screen] | None = None
        self.last: Screen | None = None
        """The last raw screen."""
        self.version = 0
        """Increases whenever something else may have to be hidden."""

    @property
    def has_secrets(self) -> bool:
        """As far as this process knows. `is_untouched` checks the home as well, by a `stat`."""
        return bool(self._used)

    @property
    def is_untouched(self) -> bool:
        """No secret was ever used on this device, so nothing has to be hidden."""
        return not self._used and self._taints.changes() == self._loaded

    async def refresh(self) -> None:
        """Loads what other processes have changed."""
        changes = self._taints.changes()
        if changes == self._loaded:
            return
        names, fields = await self._taints.load(self._device)
        self._loaded = changes
        self._fields = {field.key: field for field in fields}
        self._know(names)
        self._forget_shown()

    def _know(self, names: Iterable[str]) -> None:
        for name in set(names) - self._used:
            self._used.add(name)
            self._secrets.placeholder_names.add(name)
            for value in self._secrets.values_of(name):
                self._runs.add(name, value)
        self._forget_shown()

    def _forget_shown(self) -> None:
        self._texts.clear()
        self._shown = None
        self.version += 1

    # using

    async def fill(self, text: str) -> Filled:
        """Fills in secrets, which count as used on this device from now on."""
        self._filled = self._secrets.fill(text)
        await self._use(self._filled.names)
        return self._filled

    async def _use(self, names: Iterable[str]) -> None:
        new = [name for name in names if name not in self._used]
        if new:
            await self._taints.record_use(self._device, new)
            self._know(new)

    def _names_in(self, text: str) -> tuple[str, ...]:
        """Secrets in a text that is about to be sent, whether filled in here or typed by the caller."""
        if self._filled.names and self._filled.text == text:
            return self._filled.names
        return tuple(self._secrets.names_in(text))

    # texts

    def redact(self, text: str) -> str:
        """Removes secrets, and any four consecutive characters of a secret that was used here."""
        redacted_text = self._texts.get(text)
        if redacted_text is None:
            if len(self._texts) >= MOST_TEXTS:
                self._texts.clear()
            redacted_text = redact_outside_placeholders(
                self._secrets.redact(text), self._secrets.placeholder_names, self._runs
            )
            self._texts[text] = redacted_text
        return redacted_text

    def redact_data(self, value: Any) -> Any:
        """A redacted copy of JSON data for the journal, keys included."""
        return value if self.is_untouched else redact_data(value, self.redact)

    def clean(self, value: Any, *, numbers: bool = False) -> Any:
        """Redacts a surface's reply. `numbers`: numbers too, since a PIN may be stored as one."""
        if isinstance(value, str):
            return self._clipboard[1] if value and value == self._clipboard[0] else self.redact(value)
        if isinstance(value, int | float) and numbers and not isinstance(value, bool):
            return value if self.redact(str(value)) == str(value) else self.redact(str(value))
        if isinstance(value, Mapping):
            return {self.clean(key): self.clean(inner, numbers=numbers) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return type(value)([self.clean(inner, numbers=numbers) for inner in value])
        copied, shown = self._clipboard
        if isinstance(value, DeviceReport) and copied and copied in value.details.values():
            pieces = map(self.redact, value.text.split(copied))
            return DeviceReport(shown.join(pieces), self.clean(value.details))
        parts = _WORDS.get(type(value), ())
        if not parts or not is_dataclass(value) or isinstance(value, type):
            return value
        return replace(value, **{name: self.clean(getattr(value, name)) for name in parts})

    def clean_error(self, error: HandrailError) -> None:
        """Redacts an error, which may quote the device."""
        error.message = self.redact(error.message)
        error.args = (error.message, *error.args[1:])
        error.hint = self.redact(error.hint) if error.hint else error.hint
        error.details = {
            name: value if name in _OURS else self.clean(value) for name, value in error.details.items()
        }

    async def set_clipboard(self, text: str) -> None:
        """A clipboard with exactly this text is shown as the caller wrote it, with placeholders."""
        await self._use(self._names_in(text))
        shown = self._filled.template if self._filled.text == text else self._secrets.redact(text)
        self._clipboard = (text, shown)

    # screens

    def shows_secret(self, screen: Screen) -> bool:
        """Whether a secret is on a screen that was read before it was known as one."""
        if not self._secrets.used:
            return False
        texts = (getattr(node, name) for node in screen.nodes for name in WORDS)
        return any(text and self._secrets.redact(text) != text for text in texts)

    async def see(self, raw: Screen, ask_front: AskFront) -> Screen:
        """The redacted screen. Fields that are empty now stop being secret, others may become secret."""
        self.last = raw
        if self._shown is not None and self._shown[0] is raw:
            return self._shown[1]
        await self._review(raw, ask_front)
        hidden = spelled_out(raw, self._runs.name_in)
        for node, field in self._tainted_on(raw):
            if not field.is_empty(node):
                name = placeholder(field.name)
                hidden |= {inner.order: name for inner in (node, *raw.inside(node))}
        shown = redacted(raw, hidden, self._redact_node)
        self._shown = (raw, shown)
        return shown

    def _redact_node(self, node: Node, text: str) -> str:
        return self._secrets.redact(text) if self._is_own(node, text) else self.redact(text)

    def _is_own(self, node: Node, text: str) -> bool:
        """Whether a field holds what a caller typed. Hiding a part of that would confirm a guess."""
        if node.role != "text_field" or not self._own:
            return False
        return self._own.get((node.package_name, location_of(node).field)) == text

    def _tainted_on(self, raw: Screen) -> list[FieldOnScreen]:
        if not self._fields:
            return []
        fields = [(node, location_of(node)) for node in raw.nodes if node.role == "text_field"]
        return [
            (node, field)
            for node, spot in fields
            for field in self._fields.values()
            if field.hides(self._clean_spot(spot))
        ]

    async def _review(self, raw: Screen, ask_front: AskFront) -> None:
        """Updates what is known of the fields on this screen."""
        tainted = self._tainted_on(raw)
        for node, field in tainted:
            if not field.is_empty(node):
                self._note_content(field, node.text)
        for field in {field for _, field in tainted if not field.is_shared}:
            if sum(other is field for _, other in tainted) > 1:
                await self._keep(replace(field, is_shared=True))
        emptied = [pair for pair in tainted if pair[1].is_empty(pair[0])]
        tainted_nodes = {node for node, _ in tainted}
        received = [
            (node, name)
            for node in raw.nodes
            if node.role == "text_field"
            and node.text
            and node not in tainted_nodes
            and (name := self._received(node))
        ]
        if not emptied and not received:
            return
        activity = await _activity(ask_front)
        for node, field in emptied:
            if field.is_proved_empty(self._clean_spot(location_of(node)), activity):
                await self._end(field)
        for node, name in received:
            await self._taint(node, name, activity)

    def _received(self, node: Node) -> str | None:
        """The secret that a field holds a part of although it was not typed there."""
        if node.text == node.hint_text or self._is_own(node, node.text):
            return None
        names = self._secrets.names_in(node.text)
        run = self._runs.name_in(node.text)
        return names[0] if names else run.removeprefix("${secret:").removesuffix("}") if run else None

    def _note_content(self, field: SecretField, text: str) -> None:
        old = self._contents.get(field.key)
        made_from = [old] if old is not None else self._secrets.values_of(field.name)
        if text == old or not any(is_derived_from(source, text) for source in made_from):
            return
        self._contents[field.key] = text
        if self._runs.add(field.name, text):
            self._forget_shown()

    async def _taint(self, node: Node, name: str, activity: str, vacant: str = "") -> SecretField:
        await self._use([name])
        spot = self._clean_spot(location_of(node))
        field = SecretField(spot, activity, name, vacant)
        old = self._fields.get(field.key)
        if old is not None:
            field = replace(field, vacant=vacant or old.vacant, is_shared=old.is_shared)
        await self._keep(field)
        return field

    async def _keep(self, field: SecretField) -> None:
        if self._fields.get(field.key) != field:
            self._fields[field.key] = field
            await self._taints.save_field(self._device, field)
            self._forget_shown()

    def _clean_spot(self, spot: FieldLocation) -> FieldLocation:
        """Redacts title and hint: a window's title may contain what was typed."""
        return replace(spot, title=self.redact(spot.title), hint=self.redact(spot.hint))

    async def _end(self, field: SecretField) -> None:
        self._fields.pop(field.key, None)
        self._contents.pop(field.key, None)
        await self._taints.delete_field(self._device, field)
        self._forget_shown()

    async def end_app(self, package: str) -> None:
        """Called when the app's data was deleted."""
        for field in [field for field in self._fields.values() if field.spot.package == package]:
            self._fields.pop(field.key)
            self._contents.pop(field.key, None)
        await self._taints.end_app(self._device, package)
        self._forget_shown()

    # typing

    def must_watch(self, text: str) -> bool:
        """Whether this text or this device has to do with secrets."""
        return not self.is_untouched or bool(self._names_in(text))

    async def type_text(self, typist: TextInput, text: str, ask_front: AskFront) -> Typed:
        """Types a text. A field is marked as secret before a secret is sent to it."""
        names, node = self._names_in(text), focused_field(self.last)
        blind = node is not None and self._is_hidden(node)
        field = None
        if names:
            await self._use(names)
            if node is not None:
                field = await self._taint(node, names[0], await _activity(ask_front))
                self._contents[field.key] = text if not blind else self._contents.get(field.key, text)
        into = node.place or node.package_name or None if names and node is not None else None
        typed = await typist.type_text(text, blind=blind, into=into)
        if blind:
            return Typed(typed.way, None, None, None, is_hidden=True)
        if names:
            return await self._after_secret(typed, field, typist.reads_back_as(text), ask_front, names[0])
        self._note_own(node, typed, text)
        shown = await self.see(typed.screen, ask_front) if typed.screen is not None else None
        return replace(
            typed,
            before=self._redact_content(node, typed.before),
            after=self._redact_content(node, typed.after),
            screen=shown,
        )

    async def _after_secret(
        self, typed: Typed, field: SecretField | None, text: str, ask_front: AskFront, name: str
    ) -> Typed:
        """If typing replaced the full text of a field, that text was its hint."""
        hint = typed.before or ""
        if (
            field is not None
            and typed.after == text
            and not is_subsequence(hint, text)
            and self.redact(hint) == hint
        ):
            await self._keep(replace(field, vacant=hint))
        last = focused_field(typed.screen)
        if field is None and last is not None:
            await self._taint(last, name, await _activity(ask_front))
        shown = await self.see(typed.screen, ask_front) if typed.screen is not None else None
        after = None if typed.after is None else placeholder(name)
        before = None if typed.before is None else self.redact(typed.before)
        return Typed(typed.way, before, after, typed.arrived, shown, is_hidden=True)

    def _is_hidden(self, node: Node) -> bool:
        spot = self._clean_spot(location_of(node))
        return any(field.hides(spot) and not field.is_empty(node) for field in self._fields.values())

    def _note_own(self, node: Node | None, typed: Typed, text: str) -> None:
        """Content counts as the callers' own only if it consists entirely of what they typed."""
        if node is None:
            return
        key = (node.package_name, location_of(node).field)
        earlier = self._own.pop(key, "")
        if typed.after is not None and typed.after in (text, earlier + text):
            self._own[key] = typed.after

    def _redact_content(self, node: Node | None, text: str | None) -> str | None:
        if text is None or node is None:
            return None if text is None else self.redact(text)
        return self._redact_node(node, text)

    async def clear_text(self, typist: TextInput, ask_front: AskFront) -> Typed:
        """A field that reads back as empty is no longer secret."""
        node = focused_field(self.last)
        was_hidden = node is not None and self._is_hidden(node)
        typed = await typist.clear_text()
        if node is not None and typed.arrived:
            self._own.pop((node.package_name, location_of(node).field), None)
            spot = self._clean_spot(location_of(node))
            fields = [field for field in self._fields.values() if field.spot == spot and not field.is_shared]
            for field in fields:
                await self._end(field)
        shown = await self.see(typed.screen, ask_front) if typed.screen is not None else None
        if not was_hidden:
            return replace(
                typed,
                before=self._redact_content(node, typed.before),
                after=self._redact_content(node, typed.after),
                screen=shown,
            )
        left = "" if typed.arrived else None
        return Typed(typed.way, None, left, typed.arrived, shown, is_hidden=True)


async def _activity(ask_front: AskFront) -> str:
    """The activity in front; '' if it is unknown."""
    try:
        return (await ask_front()).activity
    except HandrailError:
        return ""

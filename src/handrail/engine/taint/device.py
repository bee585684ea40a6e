"""What may not be told of one device: secrets used there, fields that received them, texts made from them.

The one place that decides. What a field holds is known here and nowhere above.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import is_dataclass, replace
from typing import Any

from handrail.engine.redaction import SecretRuns, outside, placeholder, redact_data
from handrail.engine.secrets import Filled, Secrets
from handrail.engine.taint.field import Spot, TaintedField, focused_field, is_made_from, is_rest, spot_of
from handrail.engine.taint.screen import WORDS, redacted, spelled_out
from handrail.engine.taint.store import DeviceKey, Taints
from handrail.errors import HandrailError
from handrail.surface.capabilities import TextCapability
from handrail.surface.values import CommandOutput, Foreground, LastWords, SetControl, Synced, Told, Typed
from handrail.tree.node import Node, Screen

MOST_TEXTS = 20_000
"""Texts whose redaction is remembered: screens say the same again and again."""
_WORDS: dict[type, tuple[str, ...]] = {
    Told: ("text", "details"),
    CommandOutput: ("stdout", "stderr"),
    LastWords: ("summary", "lines"),
    Synced: ("waited_for",),
    SetControl: ("value", "offers"),
}
"""The parts of a surface's answers that hold a device's own words."""

_OURS = frozenset({"delivery", "answered"})
"""Details of a failure that the engine decides by."""

AskFront = Callable[[], Awaitable[Foreground]]
Seen = tuple[Node, TaintedField]


class DeviceSecrets:
    """Of one device. Nothing is known before a secret was used there, by this process or another one."""

    def __init__(self, taints: Taints, secrets: Secrets, key: DeviceKey) -> None:
        self._taints = taints
        self._secrets = secrets
        self._device = key
        self._loaded = 0
        self._used: set[str] = set()
        self._fields: dict[tuple[str, str, str, str], TaintedField] = {}
        self._runs = SecretRuns()
        self._contents: dict[tuple[str, str, str, str], str] = {}
        """What tainted fields held last: a text made from it is as secret as the secret."""
        self._own: dict[tuple[str, str], str] = {}
        """What callers typed in plain text themselves, by app and field: saying it again tells nothing."""
        self._filled = Filled("")
        self._clipboard = ("", "")
        self._texts: dict[str, str] = {}
        self._shown: tuple[Screen, Screen] | None = None
        self.last: Screen | None = None
        """The last raw screen."""
        self.version = 0
        """Another one whenever something else may have to be hidden."""

    @property
    def is_untouched(self) -> bool:
        """No secret was ever used on this device: nothing has to be looked for."""
        return not self._used and self._taints.changes() == self._loaded

    async def refresh(self) -> None:
        """Take over what another process has done."""
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
            self._secrets.told_names.add(name)
            for value in self._secrets.values_of(name):
                self._runs.add(name, value)
        self._forget_shown()

    def _forget_shown(self) -> None:
        self._texts.clear()
        self._shown = None
        self.version += 1

    # using

    async def fill(self, text: str) -> Filled:
        """The text with its secrets, which from now on count as used on this device."""
        self._filled = self._secrets.fill(text)
        await self._use(self._filled.names)
        return self._filled

    async def _use(self, names: Iterable[str]) -> None:
        new = [name for name in names if name not in self._used]
        if new:
            await self._taints.use(self._device, new)
            self._know(new)

    def _names_in(self, text: str) -> tuple[str, ...]:
        """Of a text that is about to be sent: filled in here, or written out by whoever knows the value."""
        if self._filled.names and self._filled.text == text:
            return self._filled.names
        return tuple(self._secrets.names_in(text))

    # texts

    def redact(self, text: str) -> str:
        """Without secrets and without four characters in a row of any that was used here."""
        known = self._texts.get(text)
        if known is None:
            if len(self._texts) >= MOST_TEXTS:
                self._texts.clear()
            known = outside(self._secrets.redact(text), self._secrets.told_names, self._runs)
            self._texts[text] = known
        return known

    def redact_data(self, value: Any) -> Any:
        """A copy of JSON data for the journal, keys included."""
        return value if self.is_untouched else redact_data(value, self.redact)

    def clean(self, value: Any, *, numbers: bool = False) -> Any:
        """A surface's answer without what may not be told. `numbers`: a PIN may be stored as one."""
        if isinstance(value, str):
            return self._clipboard[1] if value and value == self._clipboard[0] else self.redact(value)
        if isinstance(value, int | float) and numbers and not isinstance(value, bool):
            return value if self.redact(str(value)) == str(value) else self.redact(str(value))
        if isinstance(value, Mapping):
            return {self.clean(key): self.clean(inner, numbers=numbers) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return type(value)([self.clean(inner, numbers=numbers) for inner in value])
        if isinstance(value, Told) and self._clipboard[0] and self._clipboard[0] in value.details.values():
            pieces = map(self.redact, value.text.split(self._clipboard[0]))
            return Told(self._clipboard[1].join(pieces), self.clean(value.details))
        parts = _WORDS.get(type(value), ())
        if not parts or not is_dataclass(value) or isinstance(value, type):
            return value
        return replace(value, **{name: self.clean(getattr(value, name)) for name in parts})

    def clean_error(self, error: HandrailError) -> None:
        """A failure may quote the device."""
        error.message = self.redact(error.message)
        error.args = (error.message, *error.args[1:])
        error.hint = self.redact(error.hint) if error.hint else error.hint
        error.details = {
            name: value if name in _OURS else self.clean(value) for name, value in error.details.items()
        }

    async def set_clipboard(self, text: str) -> None:
        """Of a clipboard that holds just this is told what its caller said."""
        await self._use(self._names_in(text))
        said = self._filled.template if self._filled.text == text else self._secrets.redact(text)
        self._clipboard = (text, said)

    # screens

    def is_on(self, screen: Screen) -> bool:
        """Whether a secret stands on a screen that was read before anybody knew it for one."""
        if not self._secrets.used:
            return False
        said = (getattr(node, name) for node in screen.nodes for name in WORDS)
        return any(text and self._secrets.redact(text) != text for text in said)

    async def see(self, raw: Screen, ask_front: AskFront) -> Screen:
        """What may be seen of it. Fields that are empty now end their taint, others may begin one."""
        self.last = raw
        if self._shown is not None and self._shown[0] is raw:
            return self._shown[1]
        await self._review(raw, ask_front)
        hidden = spelled_out(raw, self._runs.name_in)
        for node, field in self._tainted_on(raw):
            if not field.is_empty(node):
                name = placeholder(field.name)
                hidden |= {one.order: name for one in (node, *raw.inside(node))}
        shown = redacted(raw, hidden, self._redact_node)
        self._shown = (raw, shown)
        return shown

    def _redact_node(self, node: Node, text: str) -> str:
        return self._secrets.redact(text) if self._is_own(node, text) else self.redact(text)

    def _is_own(self, node: Node, text: str) -> bool:
        """A field says just what a caller typed into it: hiding a part of that would tell a right guess."""
        if node.role != "text_field" or not self._own:
            return False
        return self._own.get((node.package_name, spot_of(node).field)) == text

    def _tainted_on(self, raw: Screen) -> list[Seen]:
        if not self._fields:
            return []
        fields = [(node, spot_of(node)) for node in raw.nodes if node.role == "text_field"]
        return [
            (node, field)
            for node, spot in fields
            for field in self._fields.values()
            if field.hides(self._clean_spot(spot))
        ]

    async def _review(self, raw: Screen, ask_front: AskFront) -> None:
        """What this screen tells of the fields on it."""
        tainted = self._tainted_on(raw)
        for node, field in tainted:
            if not field.is_empty(node):
                self._note_content(field, node.text)
        await self._note_shared(tainted)
        emptied = [one for one in tainted if one[1].is_empty(one[0])]
        known = {node for node, _ in tainted}
        received = [
            (node, name)
            for node in raw.nodes
            if node.role == "text_field"
            and node.text
            and node not in known
            and (name := self._received(node))
        ]
        if not emptied and not received:
            return
        activity = await _activity(ask_front)
        for node, field in emptied:
            if field.is_proved_empty(self._clean_spot(spot_of(node)), activity):
                await self._end(field)
        for node, name in received:
            await self._taint(node, name, activity)

    def _received(self, node: Node) -> str | None:
        """The name of a secret that a field holds a part of, although it was not typed there."""
        if node.text == node.hint_text or self._is_own(node, node.text):
            return None
        whole = self._secrets.names_in(node.text)
        run = self._runs.name_in(node.text)
        return whole[0] if whole else run.removeprefix("${secret:").removesuffix("}") if run else None

    def _note_content(self, field: TaintedField, text: str) -> None:
        old = self._contents.get(field.key)
        made_from = [old] if old is not None else self._secrets.values_of(field.name)
        if text == old or not any(is_made_from(one, text) for one in made_from):
            return
        self._contents[field.key] = text
        if self._runs.add(field.name, text):
            self._forget_shown()

    async def _note_shared(self, tainted: list[Seen]) -> None:
        for field in {field for _, field in tainted if not field.is_shared}:
            if sum(other is field for _, other in tainted) > 1:
                await self._keep(replace(field, is_shared=True))

    async def _taint(self, node: Node, name: str, activity: str, vacant: str = "") -> TaintedField:
        await self._use([name])
        spot = self._clean_spot(spot_of(node))
        field = TaintedField(spot, activity, name, vacant)
        old = self._fields.get(field.key)
        if old is not None:
            field = replace(field, vacant=vacant or old.vacant, is_shared=old.is_shared)
        await self._keep(field)
        return field

    async def _keep(self, field: TaintedField) -> None:
        if self._fields.get(field.key) != field:
            self._fields[field.key] = field
            await self._taints.taint(self._device, field)
            self._forget_shown()

    def _clean_spot(self, spot: Spot) -> Spot:
        """A window's title may say what was typed into it."""
        return replace(spot, title=self.redact(spot.title), hint=self.redact(spot.hint))

    async def _end(self, field: TaintedField) -> None:
        self._fields.pop(field.key, None)
        self._contents.pop(field.key, None)
        await self._taints.end(self._device, field)
        self._forget_shown()

    async def end_app(self, package: str) -> None:
        """Its data was deleted, and with it what its fields held."""
        for field in [one for one in self._fields.values() if one.spot.package == package]:
            self._fields.pop(field.key)
            self._contents.pop(field.key, None)
        await self._taints.end_app(self._device, package)
        self._forget_shown()

    # typing

    def must_watch(self, text: str) -> bool:
        """Whether this text or this device has anything to do with secrets."""
        return not self.is_untouched or bool(self._names_in(text))

    async def type_text(self, typist: TextCapability, text: str, ask_front: AskFront) -> Typed:
        """Typed, with the field tainted first if the text holds a secret; what comes back tells nothing."""
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
            typed, before=self._told(node, typed.before), after=self._told(node, typed.after), screen=shown
        )

    async def _after_secret(
        self, typed: Typed, field: TaintedField | None, text: str, ask_front: AskFront, name: str
    ) -> Typed:
        """Where typing replaced all that a field said, that was its hint: it is known again when empty."""
        hint = typed.before or ""
        if (
            field is not None
            and typed.after == text
            and not is_rest(hint, text)
            and self.redact(hint) == hint
        ):
            await self._keep(replace(field, vacant=hint))
        last = focused_field(typed.screen)
        if field is None and last is not None:
            await self._taint(last, name, await _activity(ask_front))
        shown = await self.see(typed.screen, ask_front) if typed.screen is not None else None
        said = None if typed.after is None else placeholder(name)
        before = None if typed.before is None else self.redact(typed.before)
        return Typed(typed.way, before, said, typed.arrived, shown, is_hidden=True)

    def _is_hidden(self, node: Node) -> bool:
        spot = self._clean_spot(spot_of(node))
        return any(field.hides(spot) and not field.is_empty(node) for field in self._fields.values())

    def _note_own(self, node: Node | None, typed: Typed, text: str) -> None:
        """Only a content that is all explained by what callers said counts as their own words."""
        if node is None:
            return
        key = (node.package_name, spot_of(node).field)
        known = self._own.pop(key, "")
        if typed.after is not None and typed.after in (text, known + text):
            self._own[key] = typed.after

    def _told(self, node: Node | None, text: str | None) -> str | None:
        if text is None or node is None:
            return None if text is None else self.redact(text)
        return self._redact_node(node, text)

    async def clear_text(self, typist: TextCapability, ask_front: AskFront) -> Typed:
        """Emptied; a field that reads back as empty has lost its secret."""
        node = focused_field(self.last)
        was_hidden = node is not None and self._is_hidden(node)
        typed = await typist.clear_text()
        if node is not None and typed.arrived:
            self._own.pop((node.package_name, spot_of(node).field), None)
            spot = self._clean_spot(spot_of(node))
            for field in [one for one in self._fields.values() if one.spot == spot and not one.is_shared]:
                await self._end(field)
        shown = await self.see(typed.screen, ask_front) if typed.screen is not None else None
        if not was_hidden:
            return replace(
                typed,
                before=self._told(node, typed.before),
                after=self._told(node, typed.after),
                screen=shown,
            )
        left = "" if typed.arrived else None
        return Typed(typed.way, None, left, typed.arrived, shown, is_hidden=True)


async def _activity(ask_front: AskFront) -> str:
    """What is in front; "" where nobody can tell."""
    try:
        return (await ask_front()).activity
    except HandrailError:
        return ""

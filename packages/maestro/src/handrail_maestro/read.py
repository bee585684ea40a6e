"""A Maestro file into commands with their places; every problem is kept, none is raised.

A file has two documents: the header and the list of commands. What Maestro refuses although its meaning is
plain (no header, no app) is read with a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from handrail.flow.parse import (
    MANY,
    MAX_BYTES,
    FieldEntry,
    Fields,
    Items,
    Mark,
    Node,
    Problem,
    Scalar,
    Unreadable,
    plain_data,
    read_documents,
)
from handrail.protocol.actions import ACTIONS
from handrail.protocol.read import nearest
from handrail_maestro.values import check_header_value, check_value
from handrail_maestro.words import (
    AI,
    CONDITION,
    HEADER,
    OLD_ACTIONS,
    SELECTING,
    SELECTOR,
    WORDS,
    options_of,
    short_of,
)

NOWHERE = Mark(1, 1, 0)
_AS_WELL = "Maestro refuses this as well."


@dataclass(frozen=True, slots=True)
class MaestroCommand:
    """One command: its options by name, and the commands inside it."""

    name: str
    options: Fields
    """The bare value of a short form stands under the option that it fills."""
    source: Node
    inner: tuple[MaestroCommand, ...] = ()

    @property
    def mark(self) -> Mark:
        return self.source.start

    def option(self, name: str) -> Node | None:
        return self.options.get(name)

    def text(self, name: str) -> str | None:
        """A value as it is written, not filled."""
        found = self.options.get(name)
        return found.text if isinstance(found, Scalar) else None

    def is_on(self, name: str, default: bool = False) -> bool:
        """A switch."""
        text = self.text(name)
        return default if text is None else text.lower() in ("true", "1")

    @property
    def is_optional(self) -> bool:
        return self.is_on("optional", default=self.name in AI)


@dataclass(frozen=True, slots=True)
class MaestroFile:
    """One file, read."""

    path: Path | None
    text: str
    header: Fields = field(default_factory=Fields)
    commands: tuple[MaestroCommand, ...] = ()
    on_start: tuple[MaestroCommand, ...] = ()
    on_complete: tuple[MaestroCommand, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def name(self) -> str:
        found = self.header.get("name")
        return found.text[:200] if isinstance(found, Scalar) and found.text else self.stem

    @property
    def stem(self) -> str:
        return self.path.stem[:200] if self.path and self.path.stem else "flow"

    @property
    def tags(self) -> tuple[str, ...]:
        tags = self.header.get("tags")
        return (
            tuple(one.text for one in tags.items if isinstance(one, Scalar))
            if isinstance(tags, Items)
            else ()
        )

    @property
    def app(self) -> str | None:
        found = self.header.get("appId")
        return found.text if isinstance(found, Scalar) else None

    @property
    def every(self) -> tuple[MaestroCommand, ...]:
        """The commands of hooks and body."""
        return (*self.on_start, *self.commands, *self.on_complete)


def texts_in(node: Node | None) -> dict[str, str]:
    """A mapping of names and values, as they are written."""
    entries = node.entries if isinstance(node, Fields) else {}
    return {name: one.value.text for name, one in entries.items() if isinstance(one.value, Scalar)}


def walk(commands: Iterable[MaestroCommand]) -> Iterator[MaestroCommand]:
    """All of them, outer ones first."""
    for command in commands:
        yield command
        yield from walk(command.inner)


def is_maestro(text: str) -> bool:
    """Whether this text is Maestro's: two documents, an `appId`, or a list of words that only Maestro has."""
    if "---" not in text and "appId" not in text and not any(word in text for word in _ITS_OWN):
        return False
    try:
        roots = read_documents(text, [])
    except Unreadable:
        return "\n---" in text and ("appId:" in text or "url:" in text)
    if not roots:
        return False
    first = roots[0]
    if isinstance(first, Fields):
        is_header = "appId" in first.entries or (len(roots) > 1 and "steps" not in first.entries)
        return is_header and "steps" not in first.entries
    return isinstance(first, Items) and _has_own_words(first)


_ITS_OWN = frozenset(WORDS) - ACTIONS.keys() - {"repeat"}
"""Commands that no step of ours begins with."""


def _has_own_words(items: Items) -> bool:
    names = [
        next(iter(one.entries), "") if isinstance(one, Fields) else plain_data(one) for one in items.items
    ]
    return bool(names) and any(name in _ITS_OWN for name in names) and all(name in WORDS for name in names)


def read(text: str, path: Path | None = None) -> MaestroFile:
    """The file and what is wrong with it."""
    reader = _Reader()
    if len(text) > MAX_BYTES:
        reader.wrong(NOWHERE, f"{len(text):,} characters are too many", "Split the flow.", rule="syntax")
        return MaestroFile(path, text, problems=tuple(reader.problems))
    try:
        roots = read_documents(text, reader.problems)
    except Unreadable as error:
        return MaestroFile(path, text, problems=(*reader.problems, error.problem))
    header, body = reader.documents(roots)
    made = MaestroFile(
        path,
        text,
        header,
        reader.commands(body),
        reader.commands(header.get("onFlowStart"), "onFlowStart"),
        reader.commands(header.get("onFlowComplete"), "onFlowComplete"),
    )
    problems = sorted(map(_same_command_twice, reader.problems), key=lambda one: one.mark.offset)
    return replace(made, problems=tuple(problems))


def _same_command_twice(one: Problem) -> Problem:
    """Of an option that is given twice the last counts; a command twice in one item is a missing dash."""
    if one.rule != "duplicate-key" or not any(one.message.startswith(repr(name)) for name in _COMMANDS):
        return one
    hint = "Begin the second command with `- `."
    return replace(one, level="error", suggestion=hint, rule="invalid")


_COMMANDS = frozenset(WORDS) - {"repeat"}
"""Words that are no options, too."""


class _Reader:
    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def wrong(
        self, mark: Mark, message: str, hint: str | None = None, path: str = "", rule: str = "invalid"
    ) -> None:
        if len(self.problems) < MANY:
            self.problems.append(Problem(path, message, mark, hint, rule=rule))

    def warn(self, mark: Mark, message: str, hint: str | None = None, rule: str = "invalid") -> None:
        if len(self.problems) < MANY:
            self.problems.append(Problem("", message, mark, hint, "warning", rule))

    def documents(self, roots: list[Node]) -> tuple[Fields, Node | None]:
        """The header and the list."""
        if not roots:
            self.wrong(NOWHERE, "the file is empty", rule="syntax")
            return Fields(), None
        if len(roots) == 1 and isinstance(roots[0], Items):
            self.warn(
                roots[0].start, "there is no header", "Maestro wants `appId: …` and `---` above.", "no-header"
            )
            return Fields(), roots[0]
        header = roots[0]
        if not isinstance(header, Fields):
            self.wrong(header.start, "the header should be a mapping", "Write `appId: …`.", rule="syntax")
            header = Fields()
        else:
            header = self._without_empty(header, {})
            self._header(header)
        if len(roots) < 2:
            hint = "After the header come `---` and a list of commands."
            self.wrong(header.start, "there are no commands", hint, rule="syntax")
            return header, None
        if len(roots) > 2:
            self.warn(roots[2].start, "a third document starts here", "Maestro reads two.", "third-document")
        return header, roots[1]

    def _header(self, header: Fields) -> None:
        for key, entry in header.entries.items():
            if key not in HEADER:
                close = nearest(key, HEADER, least=0.6)
                meant = f"Did you mean {close[0]}?" if close else "Maestro passes over it."
                self.warn(entry.key.start, f"{key[:60]!r} is not a key of a header", meant, "unknown-header")
                continue
            self.problems += check_header_value(key, HEADER[key], entry)
        if "url" in header.entries:
            entry = header.entries["url"]
            self.wrong(entry.key.start, "this is a web flow; Handrail runs Android apps", rule="unsupported")
        elif "appId" not in header.entries:
            self.warn(header.start, "the header has no appId", "launchApp needs one then.", "no-header")
        engine = header.get("jsEngine")
        if isinstance(engine, Scalar) and engine.text.lower() == "rhino":
            self.warn(engine.start, "Rhino is gone from Maestro too; this runs as modern JavaScript",
                      "Remove the line.")  # fmt: skip
        if "androidWebViewHierarchy" in header.entries:
            mark = header.entries["androidWebViewHierarchy"].key.start
            self.warn(mark, "the inside of WebViews is read by accessibility only", rule="web-view")

    def commands(self, node: Node | None, where: str = "") -> tuple[MaestroCommand, ...]:
        if node is None:
            return ()
        if not isinstance(node, Items):
            message = f"{where or 'after the header'} should be a list of commands"
            rule = "invalid" if where else "syntax"
            self.wrong(node.start, message, "Begin each command with `- `.", where, rule)
            return ()
        made = (self._command(one, f"{where or 'commands'}[{index}]") for index, one in enumerate(node.items))
        return tuple(one for one in made if one)

    def _command(self, node: Node, path: str) -> MaestroCommand | None:
        if isinstance(node, Scalar):
            return self._bare(node, path)
        if not isinstance(node, Fields) or not node.entries:
            self.wrong(node.start, "should be a command", "Write `- tapOn: Save` or `- back`.", path)
            return None
        if len(node.entries) > 1:
            self._several(node, path)
            return None
        [(name, entry)] = node.entries.items()
        if name == "action":
            return self._old(entry, node, path)
        if name not in WORDS:
            self._unknown(name, entry.key.start, path)
            return None
        if isinstance(entry.value, Scalar) and entry.value.value is None and entry.value.plain:
            hint = (
                f"Write `- {name}` without the colon." if WORDS[name].bare else f"Write what {name} is for."
            )
            self.wrong(entry.key.start, f"{name} wants options after the colon", f"{hint} {_AS_WELL}", path)
            return None
        return self._made(name, entry, node, path)

    def _bare(self, node: Scalar, path: str) -> MaestroCommand | None:
        name = "hideKeyboard" if node.text == "hide keyboard" else node.text
        if name not in WORDS:
            self._unknown(name, node.start, path)
            return None
        if not WORDS[name].bare:
            short = short_of(name) or next(iter(WORDS[name].needs), "")
            self.wrong(
                node.start, f"{name} needs {short or 'options'}", f"Write `- {name}: …`. {_AS_WELL}", path
            )
            return None
        return self._checked(MaestroCommand(name, Fields({}, node.start, node.end), node), path)

    def _several(self, node: Fields, path: str) -> None:
        names = list(node.entries)
        second = list(node.entries.values())[1].key.start
        hint = f"Indent what belongs to {names[0]}, or begin the next command with `- `. {_AS_WELL}"
        self.wrong(second, f"{', '.join(names)[:80]}: one item holds one command", hint, path)

    def _old(self, entry: FieldEntry, node: Fields, path: str) -> MaestroCommand | None:
        word = entry.value.text if isinstance(entry.value, Scalar) else ""
        if word not in OLD_ACTIONS:
            hint = f"It takes {', '.join(OLD_ACTIONS)}. {_AS_WELL}"
            self.wrong(entry.value.start, f"action has no {word[:60]!r}", hint, path)
            return None
        return MaestroCommand(word, Fields({}, node.start, node.end), node)

    def _unknown(self, name: str, mark: Mark, path: str) -> None:
        close = nearest(name, WORDS)
        meant = f"Did you mean {' or '.join(close)}? " if close else ""
        message = f"{name[:60]!r} is not a command of Maestro"
        self.wrong(mark, message, f"{meant}{_AS_WELL}", path, "unknown-command")

    def _made(self, name: str, entry: FieldEntry, node: Fields, path: str) -> MaestroCommand | None:
        value = entry.value
        word = WORDS[name]
        if isinstance(value, Fields):
            options = value
        else:
            short = short_of(name)
            if not short or (isinstance(value, Items) and options_of(name).get(short) != "files"):
                self.wrong(value.start, f"{name} wants options by name", self._wants(name), path)
                return None
            options = Fields({short: FieldEntry(entry.key, value)}, value.start, value.end)
        known = options_of(name)
        options = self._without_empty(options, known)
        for key, one in options.entries.items():
            if key in known:
                self.problems += check_value(known[key], one, f"{path}.{name}.{key}")
            elif word.loose:
                self.warn(
                    one.key.start, f"{name} has no option {key[:60]!r}; Maestro passes over it", "Remove it."
                )
            else:
                self._option(name, key, one, known, path)
        inner = self.commands(options.get("commands"), f"{path}.{name}.commands")
        return self._checked(MaestroCommand(name, options, node, inner), path)

    def _without_empty(self, fields: Fields, known: Mapping[str, str]) -> Fields:
        """What has a name and no value counts as left out, as it does for Maestro."""
        kept: dict[str, FieldEntry] = {}
        for key, entry in fields.entries.items():
            value, kind = entry.value, known.get(key)
            if isinstance(value, Scalar) and value.value is None and value.plain:
                self.warn(entry.key.start, f"{key[:60]!r} has no value and counts as left out", "Remove it.")
                continue
            if isinstance(value, Fields) and kind in ("selector", "condition"):
                value = self._without_empty(value, SELECTOR if kind == "selector" else CONDITION)
            elif isinstance(value, Items) and kind == "selectors":
                value = replace(value, items=tuple(map(self._without_empty_selector, value.items)))
            kept[key] = FieldEntry(entry.key, value)
        return Fields(kept, fields.start, fields.end)

    def _without_empty_selector(self, value: Node) -> Node:
        return self._without_empty(value, SELECTOR) if isinstance(value, Fields) else value

    def _option(self, name: str, key: str, one: FieldEntry, known: Iterable[str], path: str) -> None:
        if (name, key) in _PLAIN_MEANING:
            self.warn(one.key.start, f"Maestro's {name} has no option {key!r}", _AS_WELL)
            return
        close = nearest(key, known, least=0.6)
        meant = f"Did you mean {' or '.join(close)}? " if close else f"{self._wants(name)} "
        message = f"{name} has no option {key[:60]!r}"
        self.wrong(one.key.start, message, meant + _AS_WELL, path, "unknown-option")

    def _wants(self, name: str) -> str:
        return f"{name} takes {', '.join(options_of(name))}."

    def _checked(self, one: MaestroCommand, path: str) -> MaestroCommand | None:
        """Options that must be there, and those that exclude each other."""
        word = WORDS[one.name]
        given = set(one.options.entries)
        if word.needs and not given & set(word.needs):
            self.wrong(one.mark, f"{one.name} needs {' or '.join(word.needs)}", f"Add it. {_AS_WELL}", path)
            return None
        if word.element and not given & SELECTING:
            self.warn(
                one.mark, f"{one.name} names no element: the first there is will do", "Give text or id."
            )
        if one.name == "swipe" and {"from", "start"} <= given:
            self.warn(one.mark, "swipe with start and end passes over from", "Remove from.")
        if message := _clash(one, given):
            self.wrong(one.mark, message, _AS_WELL, path)
            return None
        if "css" in given:
            mark = one.options.entries["css"].key.start
            self.wrong(mark, "css selects elements of web pages only", "Use text or id.", path, "unsupported")
        if word.why_not:
            self._not_done(one, path)
        return one

    def _not_done(self, one: MaestroCommand, path: str) -> None:
        word = WORDS[one.name]
        message = f"{one.name} {word.why_not}"
        if one.is_optional:
            self.warn(one.mark, f"{message}; it is optional, so the flow goes on", word.hint, "unsupported")
        else:
            self.wrong(one.mark, message, word.hint, path, "unsupported")


_PLAIN_MEANING = {("scroll", "direction"), ("assertVisible", "timeout"), ("assertNotVisible", "timeout")}


def _clash(one: MaestroCommand, given: set[str]) -> str:
    """Two forms at once, or half of one."""
    if one.name in ("runFlow", "retry") and {"file", "commands"} <= given:
        return f"{one.name} takes file or commands, not both"
    if one.name == "swipe" and ("start" in given) != ("end" in given):
        return "swipe needs start and end together"
    if one.name == "swipe" and "from" in given and not given & {"direction", "start"}:
        return "swipe with from needs a direction"
    if one.name == "setLocation" and not {"latitude", "longitude"} <= given:
        return "setLocation needs latitude and longitude"
    return ""

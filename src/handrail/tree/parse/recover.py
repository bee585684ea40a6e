"""Reads dumps that a strict parser refuses: cut short, lost quotes, raw `<` and `&`, control characters.

XML: looks for tags and known attribute names instead of grammar, and counts what was mended.
JSON: drops the unfinished value and closes what is open.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import NamedTuple

from handrail.tree.parse.build import MAX_NODES, ScreenDraft
from handrail.tree.parse.stock import XmlReader

_KNOWN = frozenset(
    """
    NAF index text resource-id class package content-desc checkable checked clickable enabled focusable
    focused scrollable long-clickable password selected bounds visible-to-user drawing-order hint display-id
    displayed
    rotation width height editable tooltip-text state-description pane-title showing-hint important instance
    text-selection-start text-selection-end a11y-important a11y-focused screen-reader-focusable text-entry-key
    dismissable heading live-region context-clickable content-invalid id title type layer active
    """.split()  # noqa: SIM905 (a table, not a list)
)
_TAG = re.compile(
    r"<(/?)(node|hierarchy|displays?|window|[A-Za-z_][\w$]{0,99}(?:\.[\w$]{1,99}){1,20})(?=[\s/>]|$)"
)
_NAME = re.compile(r"""(?<![\w:-])([A-Za-z][\w-]{0,40})\s{0,9}=\s{0,9}(["'])""")
_TAG_END = re.compile(r"""["']\s{0,99}(/?)>""")
_REFERENCE = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#(\d{1,9})|#[xX]([0-9a-fA-F]{1,8}));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MAX_TAGS = 2 * MAX_NODES  # opening and closing
_MAX_ATTRIBUTES = 200  # candidates in one tag
_SPACE = str.maketrans("\n\r\t", "   ")

_SAID = {
    "control": "control characters removed: {n}",
    "quote": "attribute values without a closing quote: {n}",
    "twin": "attributes given twice, the first one counts: {n}",
    "cut": "the dump ends in the middle of a tag",
    "open": "nodes left open by a cut dump: {n}",
    "stray": "closing tags without an open node: {n}",
    "many": "there are too many tags: the rest is left out",
    "bare": "tags skipped, without any attribute: {n}",
}


def recover_xml(text: str) -> ScreenDraft:
    """Whatever nodes can be found in the text, with warnings; a draft without windows if there are none."""
    return _Recovery(text).read()


class _Recovery:
    def __init__(self, text: str) -> None:
        self._mended: Counter[str] = Counter()
        self._text, self._mended["control"] = _CONTROL.subn("", text)
        self._reader = XmlReader()

    def read(self) -> ScreenDraft:
        tags = list(islice(_TAG.finditer(self._text), _MAX_TAGS))
        self._mended["many"] = len(tags) == _MAX_TAGS
        for tag, following in zip(tags, [*tags[1:], None], strict=False):
            end = following.start() if following else len(self._text)
            if tag[1]:
                self._close(tag[2])
            else:
                self._open(tag[2], self._text[tag.end() : end])
        self._mended["open"] = self._reader.depth
        draft = self._reader.finish()
        for what, count in self._mended.items():
            if count:
                draft.warn(_SAID[what].format(n=count))
        return draft

    def _open(self, tag: str, body: str) -> None:
        attrs, rest = self._attributes(body)
        end = _TAG_END.search(rest) or re.search(r"(/?)>", rest)
        if end is None:
            self._mended["cut"] += 1
        is_frame = tag in ("hierarchy", "displays", "display", "window")
        if not attrs and not is_frame:
            self._mended["bare"] += 1
            return
        if end is None and "bounds" not in attrs and not is_frame:
            return
        self._reader.start(tag, attrs)
        if end and end[1] and not is_frame:
            self._reader.end(tag)

    def _close(self, tag: str) -> None:
        if tag in ("hierarchy", "displays", "display", "window"):
            while self._reader.depth:
                self._mended["open"] += 1
                self._reader.end("node")
        elif self._reader.depth:
            self._reader.end(tag)
        else:
            self._mended["stray"] += 1

    def _attributes(self, body: str) -> tuple[dict[str, str], str]:
        """The attributes of a tag, and the text from the last value on, where the tag's end must be."""
        attrs: dict[str, str] = {}
        names = islice(_NAME.finditer(body), _MAX_ATTRIBUTES)
        starts = [name for name in names if self._starts_attribute(name, body)]
        for name, following in zip(starts, [*starts[1:], None], strict=False):
            value = body[name.end() : following.start() if following else len(body)]
            if following is None:
                value = self._last_value(value, name[2])
            else:
                value = self._whole_value(value.rstrip(), name[2])
            if name[1] in attrs:
                self._mended["twin"] += 1
            else:
                attrs[name[1]] = _plain(value)
        return attrs, body[starts[-1].end() :] if starts else body

    @staticmethod
    def _starts_attribute(name: re.Match[str], body: str) -> bool:
        """A known name always does; another one only where the value before it was closed."""
        if name[1] in _KNOWN:
            return True
        at = name.start()
        while at and body[at - 1].isspace():
            at -= 1
        return at == 0 or body[at - 1] in "\"'"

    def _whole_value(self, value: str, quote: str) -> str:
        if value.endswith(quote):
            return value[:-1]
        self._mended["quote"] += 1
        return value

    def _last_value(self, value: str, quote: str) -> str:
        closed, found, _ = value.partition(quote)
        if found:
            return closed
        self._mended["quote"] += 1
        return value.partition(">")[0].rstrip("/ ")


def _plain(value: str) -> str:
    if not value.isprintable():
        value = value.translate(_SPACE)
    if "&" in value:
        value = _REFERENCE.sub(_resolve, value)
    if not value.isascii() and _SURROGATE.search(value):
        # Emoji written as two numeric references, one per UTF-16 half.
        value = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value


def _resolve(reference: re.Match[str]) -> str:
    name, decimal, hexadecimal = reference.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return _CONTROL.sub("", chr(code)) if code < 0x110000 else ""


# Everything up to the next bracket or comma. An unfinished string counts as a string, and nothing is given
# back (`++`), so that no character is looked at twice.
_NEXT_MARK = re.compile(r'(?:[^\[\]{},"]++|"(?:[^"\\]++|\\.)*+(?:"|\\?\Z))*+([\[\]{},])', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}


class _Open(NamedTuple):
    """An open bracket and those around it: a stack that can be kept as it was."""

    closing: str
    around: _Open | None


def mend_json(text: str) -> str | None:
    """The longest beginning of the text that is JSON once closed, or None if there is none."""
    now: _Open | None = None
    at_cut: _Open | None = None
    cut = at = 0
    # `match`, not `finditer`: where no mark follows, a search would try again from every character.
    while found := _NEXT_MARK.match(text, at):
        at = found.end()
        mark = found[1]
        if mark == ",":  # what stands before it is complete
            cut, at_cut = at - 1, now
        elif mark in "{[":
            now = _Open(_CLOSING[mark], now)
        elif now is None or now.closing != mark:
            break
        else:
            now = now.around
            if now is None:
                return text[:at]
    return text[:cut] + _closers(at_cut) if cut else None


def _closers(open_mark: _Open | None) -> str:
    closers = []
    while open_mark is not None:
        closers.append(open_mark.closing)
        open_mark = open_mark.around
    return "".join(closers)

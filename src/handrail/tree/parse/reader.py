"""Any dump to a `Screen`: decodes the bytes, finds the format, tries the strict reader and then recovery.

Never raises anything but `TreeParseError`. Knows which reader comes when, and nothing about nodes.
"""

from __future__ import annotations

import codecs
import json
import re
from xml.parsers import expat

from handrail.errors import TreeParseError
from handrail.tree.node import Screen
from handrail.tree.parse.build import MAX_BYTES, ScreenDraft, complete
from handrail.tree.parse.json_trees import read_json
from handrail.tree.parse.recover import mend_json, recover_xml
from handrail.tree.parse.stock import read_stock, read_xml

_XML_START = re.compile(r"<\?xml|<(?:hierarchy|displays|node|[A-Za-z_]\w{0,99}(?:\.[\w$]{1,99}){1,20})[\s/>]")
_DOCTYPE = re.compile(r"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_JSON = json.JSONDecoder(strict=False)


def parse(data: bytes | str) -> Screen:
    """Reads a UI dump of any known format. Raises `TreeParseError` and nothing else, on any input."""
    raw = data.encode("utf-8", "replace") if isinstance(data, str) else data
    if len(raw) > MAX_BYTES:
        raise TreeParseError(f"The dump has {len(raw)} bytes; the limit is {MAX_BYTES}", offset=MAX_BYTES)
    return complete(read_stock(raw) or _read_any(raw))


def _read_any(raw: bytes) -> ScreenDraft:
    text, warnings = decode(raw)
    text = text.lstrip("\ufeff \t\r\n")
    if text.startswith(("{", "[")):
        draft = _read_json_text(text, 0) or _read_xml_text(text, warnings)
    elif _XML_START.search(text):
        draft = _read_xml_text(text, warnings)
    elif (start := text.find("{")) >= 0:
        draft = _read_json_text(text, start) or _read_xml_text(text, warnings)
    else:
        raise TreeParseError(f"No UI dump: {_excerpt(text)}", offset=0)
    draft.warnings[:0] = warnings
    return draft


def _read_xml_text(text: str, warnings: list[str]) -> ScreenDraft:
    if doctype := _DOCTYPE.search(text):
        raise TreeParseError("The dump has a DTD, which no UI dump needs", offset=doctype.start())
    body = _without_noise(text, warnings)
    try:
        return read_xml(body.encode("utf-8", "replace"))
    except expat.ExpatError as error:
        draft = recover_xml(body)
        if draft.windows:
            if not draft.warnings:
                draft.warn(f"the XML is damaged: {error}")
            return draft
        reason = f"The dump is not readable as XML ({error}): {_excerpt(text)}"
        raise TreeParseError(reason, line=error.lineno, column=error.offset) from None


def _without_noise(text: str, warnings: list[str]) -> str:
    """The XML without the shell's words around it."""
    found = _XML_START.search(text)
    start = found.start() if found else 0
    if before := text[:start].strip():
        warnings.append(f"text before the XML was skipped: {_excerpt(before)}")
    mark = "</displays>" if text.find("<displays", start, start + 400) >= 0 else "</hierarchy>"
    at = text.find(mark, start)
    if at < 0:
        return text[start:]  # cut short, or not framed at all
    end = at + len(mark)
    if after := text[end:].strip():
        warnings.append(f"text after the XML was skipped: {_excerpt(after)}")
    return text[start:end]


def _read_json_text(text: str, start: int) -> ScreenDraft | None:
    """The draft of the JSON at `start`; None if it is none, and XML may follow behind a line of noise."""
    try:
        value, _ = _JSON.raw_decode(text, start)
        return read_json(value)
    except RecursionError:
        raise TreeParseError("The JSON is nested too deeply", offset=start) from None
    except json.JSONDecodeError as error:
        draft = _read_mended(text[start : error.pos])
        if draft or _XML_START.search(text):
            return draft
        reason = f"The JSON is not readable ({error.msg}): {_excerpt(text)}"
        raise TreeParseError(reason, line=error.lineno, column=error.colno, offset=error.pos) from None
    except ValueError as error:  # a number of thousands of digits
        raise TreeParseError(f"The JSON is not readable: {error}", offset=start) from None


def _read_mended(text: str) -> ScreenDraft | None:
    """What stands before the damage, if that is a tree."""
    mended = mend_json(text)
    if mended is None:
        return None
    try:
        draft = read_json(_JSON.raw_decode(mended)[0])
    except (ValueError, RecursionError, TreeParseError):
        return None
    draft.warn(f"the JSON is damaged or cut short at character {len(text)}: the rest is left out")
    return draft


def _excerpt(text: str) -> str:
    line = " ".join(text[:200].split())
    return repr(line[:79] + "…" if len(line) > 80 else line)


_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(rb"""<\?xml[^>]{0,100}?encoding=["']([\w.-]{1,20})["']""")
# Python knows more codecs than dumps use, some of them slow on hostile input.
_ALLOWED = re.compile(
    r"gbk|gb2312|gb18030|big5|shift_jis|euc-(?:jp|kr)|(?:iso-8859-|windows-125|cp125)\d{1,2}|koi8-r"
)
_HAN_PART = 0.8


def decode(data: bytes) -> tuple[str, list[str]]:
    """The text, and a warning for everything that had to be guessed or replaced."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode_as(data[len(mark) :], encoding)
    if encoding := _unmarked_wide(data[:64]):
        return _decode_as(data, encoding)
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError:
        return _decode_as(data, _declared(data) or _guess(data))


def _decode_as(data: bytes, encoding: str) -> tuple[str, list[str]]:
    warnings = [] if encoding == "utf-8" else [f"the dump is encoded in {encoding.upper()}"]
    try:
        return data.decode(encoding), warnings
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
        return text, [*warnings, f"bytes that are no {encoding.upper()} were replaced"]


def _unmarked_wide(head: bytes) -> str:
    """UTF-16 without a mark: every other byte of ASCII markup is zero."""
    even, odd = head[0::2], head[1::2]
    if len(odd) >= 8 and odd.count(0) > len(odd) * 0.8:
        return "utf-16-le"
    if len(odd) >= 8 and even.count(0) > len(even) * 0.8:
        return "utf-16-be"
    return ""


def _declared(data: bytes) -> str:
    found = _DECLARED.search(data[:400])
    name = found[1].decode("ascii", "replace").lower() if found else ""
    return name if _ALLOWED.fullmatch(name) and _can_decode(data, name) else ""


def _guess(data: bytes) -> str:
    """GB18030 if that reads as Chinese, else UTF-8 with holes."""
    if not _can_decode(data, "gb18030"):
        return "utf-8"
    foreign = [character for character in data.decode("gb18030") if character > "\x7f"]
    han = sum("\u4e00" <= character <= "\u9fa5" or "\u3000" <= character <= "\u303f" for character in foreign)
    return "gb18030" if han >= _HAN_PART * len(foreign) else "utf-8"


def _can_decode(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return False
    return True

"""Any dump to a `Screen`: finds the format, takes the strict reader first and recovery after it.

Never raises anything but `TreeParseError`. Knows which reader comes when, and nothing about nodes.
"""

from __future__ import annotations

import json
import re
from xml.parsers import expat

from handrail.errors import TreeParseError
from handrail.tree.node import Screen
from handrail.tree.parse.build import MAX_BYTES, Draft, complete
from handrail.tree.parse.decode import decode
from handrail.tree.parse.json_trees import read_json
from handrail.tree.parse.recover import recover_xml
from handrail.tree.parse.recover_json import mend_json
from handrail.tree.parse.stock import read_stock
from handrail.tree.parse.xml import read_xml

_XML_START = re.compile(r"<\?xml|<(?:hierarchy|displays|node|[A-Za-z_]\w{0,99}(?:\.[\w$]{1,99}){1,20})[\s/>]")
_DOCTYPE = re.compile(r"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_JSON = json.JSONDecoder(strict=False)


def parse(data: bytes | str) -> Screen:
    """Reads a UI dump of any known format. Raises `TreeParseError` and nothing else, on any input."""
    raw = data.encode("utf-8", "replace") if isinstance(data, str) else data
    if len(raw) > MAX_BYTES:
        raise TreeParseError(f"The dump has {len(raw)} bytes; the limit is {MAX_BYTES}", offset=MAX_BYTES)
    return complete(read_stock(raw) or _read_any(raw))


def _read_any(raw: bytes) -> Draft:
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


def _read_xml_text(text: str, warnings: list[str]) -> Draft:
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


def _read_json_text(text: str, start: int) -> Draft | None:
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


def _read_mended(text: str) -> Draft | None:
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

"""Bytes to text: byte order marks, UTF-16 under a UTF-8 label, other encodings. Never fails."""

from __future__ import annotations

import codecs
import re

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

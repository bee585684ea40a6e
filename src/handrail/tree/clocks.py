"""Texts that change by themselves: times, durations, "5 min ago", battery levels. Knows strings only."""

from __future__ import annotations

import re

_MARKS = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")  # zero-width and bidi
_HALF = r"(?:[ap]\.?\s?m\.?|上午|下午|午前|午後|오전|오후|ص|م)"
_TIME = rf"(?:{_HALF}\s*)?-?\d{{1,3}}[:：∶]\d\d(?:[:：∶]\d\d)?(?:[.,]\d{{1,3}})?(?:\s*{_HALF})?"
_UNIT = r"(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?|mo|months?|y|yrs?|years?)\.?"
_AGO = rf"(?:an?|\d{{1,3}})\s*{_UNIT}(?:\s*(?:,|and)?\s*\d{{1,2}}\s*{_UNIT})?\s+(?:ago|left|remaining)"
_AGO_HAN = (
    r"\d{1,3}\s*(?:秒|分|分钟|分鐘|小时|小時|時間|天|日|초|분|시간|일)\s*(?:之?前|전)"
    r"|刚刚|剛剛|たった今|방금(?:\s전)?"
)
_BATTERY = r"battery(?:\s+level)?[:,]?\s*\d{1,3}\s*(?:%|percent)\.?|\d{1,3}\s*(?:%|percent)\s+battery"
_CLOCK = re.compile(
    rf"\s*(?:{_TIME}(?:\s*[/–—-]\s*{_TIME})?|{_AGO}|{_AGO_HAN}|(?:just\s+)?now|{_BATTERY})\s*", re.IGNORECASE
)
_LONGEST = 40  # characters; longer texts are sentences


def is_clock_like(text: str) -> bool:
    """True if the whole text is a time of day, a running or relative time, or a battery level; no dates."""
    if not text or len(text) > _LONGEST:
        return False
    if not text.isascii():
        text = _MARKS.sub("", text)
    return _CLOCK.fullmatch(text) is not None

"""What the index says is right, as values, and the verdict. Shares nothing with the code that reads."""

from __future__ import annotations

import re
from typing import Any, Literal

Verdict = Literal["right", "unknown", "wrong"]
UNTOLD = object()
"""The file does not tell it: only an answer of None is right."""
_WORDS: list[tuple[str, str]] = [
    (r"(?:foreground|resumed/last|app behind|visible app)=([\w.]+/[\w.$]+)", "foreground"),
    (r"\bsize=(\d+x\d+)", "size"), (r"display 0 (\d+x\d+)", "size"), (r"\bdensity=(\d+)", "density"),
    (r"\b(?:rotation|orientation)[= ](\d)\b", "rotation"), (r"\bnatural (\d+x\d+)", "natural"),
    (r"\blocked=(true|false)", "locked"), (r"\bvolume=(\d+)", "volume"), (r"\bmax=(\d+)", "volume_max"),
    (r"\bringer=(\w+)", "ringer"), (r"\bpercent=(\d+)", "percent"),
    (r"\bcharging=(true|false)", "charging"), (r"\bscreen_on=(true|false)", "screen_on"),
    (r"\bshade open = (true|false)", "shade_open"), (r"\bcode ([A-Z_]{8,})", "code"),
    (r"\bcomponent ([\w.]+/[\w.]+)", "component"), (r"\bfont (\d\.\d+)", "font_scale"),
    (r"\bsw\d+dp (phone|tablet)", "form"), (r"\bof (\S+) pid \d+", "process"), (r"\bpid (\d+)", "pid"),
    (r"^(anr|exception|native) ", "crash"), (r"\b(\d+) devices?\b", "devices"),
    (r"\bmodel (\w+), over", "model"), (r"\bmanufacturer=(\w+)", "manufacturer"),
    (r"\bmodel=(.+?) release", "model"), (r"\brelease=(\w+)", "release"), (r"\bsdk=(\d+)", "sdk"),
    (r"^(\d+) settings", "settings"), (r"; (\w+) is empty", "empty_setting"),
    (r"^(\d+) packages", "packages"),
]  # fmt: skip
_FIXED: list[tuple[str, str, Any]] = [
    (r"^no foreground", "foreground", UNTOLD),
    (r"^not told: null", "locked", UNTOLD),
    (r"^no (?:music volume|volume told)", "volume", UNTOLD),
    (r"^no secure window|^no window with FLAG_SECURE", "secure", ()),
    (r"light(?: theme)?;", "dark", "false"),
    (r"refused: private activity", "refused", "private"),
    (r"refused: nothing resolves", "refused", "missing"),
    (r"USB debugging \(Security settings\)|reason and hint as above|hint about Security", "hint", "security"),
    (r"^refused, not delivered, hint", "hint", "security"),
    (r"^refused, not delivered", "delivery", "not_delivered"),
    (r"^must not fail: ask with --user 0", "installed", "true"),
    (r"^unauthorized|, unauthorized", "state", "unauthorized"),
    (r"no permissions", "state", "no permissions"),
    (r"^closed", "run_as", "UNSUPPORTED"),
    (r"^unknown package", "run_as", "APP_NOT_INSTALLED"),
    (r"^usage error", "run_as", "ADB_COMMAND_ERROR"),
    (r"^no tree", "trees", "0"),
    (r"^one tree", "trees", "1"),
    (r"the screen moves", "dump_hint", "never stops moving"),
    (r"no window has the focus", "dump_hint", "No window has the focus"),
    (r"^no launcher activity", "launched", "false"),
    (r"^started$", "launched", "true"),
    (r"the PNG after the text", "picture", "shown panel"),
]


def expected(kind: str, answer: str) -> dict[str, Any]:
    """The named values of an answer."""
    found: dict[str, Any] = {name: value for pattern, name, value in _FIXED if re.search(pattern, answer)}
    for pattern, name in _WORDS:
        if (one := re.search(pattern, answer)) and name not in found:
            found[name] = one[1]
    if one := re.match(r"package=([\w.]+) \(no activity\)", answer):
        found["foreground"] = f"{one[1]}/"
    if kind == "getprop" and (parts := answer.split(" / "))[3:]:
        found = dict(zip(("manufacturer", "model", "release", "sdk"), parts, strict=True))
    if one := re.match(r"see the asserts.*?displayInfo 0, .*?getDisplayId\(\) (\d)", answer):
        found = {"rotation": one[1]}
    if one := re.search(r"has uid (\d+) \(user 0\) and (\d+) \(user 10\)", answer):
        found = {"uid_0": one[1], "uid_10": one[2]}
    return found


def verdict(right: dict[str, Any], told: dict[str, Any]) -> tuple[Verdict, str]:
    """The worst of all values, and which one it was."""
    worst: tuple[Verdict, str] = ("right", "")
    for name, value in right.items():
        answer = told.get(name)
        if _same(name, value, answer):
            continue
        line = f"{name}: {answer!r}, right is {'nothing' if value is UNTOLD else repr(value)}"
        if answer is not None:
            return "wrong", line
        worst = ("unknown", line)
    return worst


def _same(name: str, value: Any, answer: Any) -> bool:
    if value is UNTOLD:
        return answer is None
    if name == "foreground" and answer is not None:
        package, _, activity = value.partition("/")
        whole = package + activity if activity.startswith(".") else activity
        return bool(answer == f"{package}/{whole}")
    if name == "dump_hint":
        return value in str(answer)
    if name == "font_scale" and answer is not None:
        return float(value) == float(answer)
    if isinstance(value, str):
        return value == (str(answer).lower() if isinstance(answer, bool) else str(answer))
    return bool(value == answer)

"""Command lines that end with 0 and say nothing on Android too, when there is nothing to do or to tell.

Each with the place in Android's sources (or toybox's, mksh's, POSIX's text) where that is decided.
"""

from __future__ import annotations

_AM = "ActivityManagerShellCommand"
_FILTER = "POSIX: a filter of nothing writes nothing"
SILENT = {
    "am force-stop com.example.notes": f"{_AM}.runForceStop prints nothing",
    "am stop-app com.example.notes": f"{_AM}.runStopApp prints nothing",
    "am kill com.example.notes": f"{_AM}.runKill prints nothing",
    "am kill-all": f"{_AM}.runKillAll prints nothing",
    "am crash com.example.notes": f"{_AM}.runCrash prints nothing",
    "am switch-user 0": f"{_AM}.runSwitchUser prints failures only",
    "am clear-debug-app": f"{_AM}.runClearDebugApp prints nothing",
    "pm trim-caches DESIRED_FREE_SPACE": "PackageManagerShellCommand.runTrimCaches prints failures only",
    "wm dismiss-keyguard": "WindowManagerShellCommand.runDismissKeyguard prints nothing",
    "cmd display power-on": "DisplayManagerShellCommand.requestDisplayPower prints nothing",
    "cmd location set-location-enabled true": "LocationShellCommand.handleSetLocationEnabled prints nothing",
    "cmd notification list": "NotificationShellCmd: one line per notification, and there is none",
    "cmd statusbar collapse": "StatusBarShellCommand.runCollapse prints nothing",
    "cmd wifi set-wifi-enabled enabled": "WifiShellCommand: the switch prints nothing",
    "base64": _FILTER,
    "cat": _FILTER,
    "head": _FILTER,
    "nl": _FILTER,
    "rev": _FILTER,
    "sort": _FILTER,
    "tac": _FILTER,
    "tail": _FILTER,
    "tee": _FILTER,
    "uniq": _FILTER,
    "xxd": _FILTER,
    "tr no-such-argument": "toybox tr with one set and no input: nothing to translate",
    "sh": "mksh with an empty script",
    "sqlite3": "sqlite3's shell with an empty script",
    "sqlite3 no-such-argument": "sqlite3's shell with an empty script",
    "sync": "toybox sync prints nothing",
    "true": "toybox true",
    "true --no-such-option": "toybox true takes no options and reads none",
    "true no-such-argument": "toybox true takes no options and reads none",
    "true -@": "toybox true takes no options and reads none",
    "test no-such-argument": "POSIX: a word alone is true when it is not empty",
    "test --no-such-option": "POSIX: a word alone is true when it is not empty",
    "test -@": "POSIX: a word alone is true when it is not empty",
}
"""Of `am` and `cmd activity`, `pm` and `cmd package`, `wm` and `cmd window` only the first is written."""

ALIASES = {"cmd activity ": "am ", "cmd package ": "pm ", "cmd window ": "wm ", "cmd settings ": "settings "}


def is_silent_on_android(line: str) -> bool:
    """Whether Android gives this empty success too."""
    line = " ".join(line.split())
    for long, short in ALIASES.items():
        line = short + line[len(long) :] if line.startswith(long) else line
    return line in SILENT

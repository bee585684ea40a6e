"""What a person is asked about an action: one line that says what exactly would be done. Pure."""

from __future__ import annotations

import shlex

from handrail.engine.policy import Subject
from handrail.protocol.actions import AnyAction
from handrail.protocol.observe import QueryDb
from handrail.protocol.system import GrantPermission, InstallApp, OpenUrl, RevokePermission, RunScript, Shell
from handrail.tree.quote import clean, cut

LONGEST = 240
"""Characters of a command, an address or a script; whoever wants more looks at the action itself."""


def question(subject: Subject) -> str:
    """`Allow tap 'Pay now' in com.handrail.shop?`, `Allow shell: rm -rf /sdcard/x?`"""
    kind = subject.action.type
    if said := cut(clean(_says(subject.action)), LONGEST):
        return f"Allow {kind}: {said}?"
    what = f"{kind} {subject.label!r}" if subject.label else kind
    return f"Allow {what} in {subject.package or 'this device'}?"


def _says(action: AnyAction) -> str:
    """What it is about, where its own fields tell; '' where an element or an app does."""
    match action:
        case Shell():
            return action.command if isinstance(action.command, str) else shlex.join(action.command)
        case RunScript():
            return " ⏎ ".join(line for line in action.script.splitlines() if line.strip())
        case OpenUrl():
            return action.url
        case InstallApp():
            return action.path
        case GrantPermission() | RevokePermission():
            return f"{action.permission} for {action.package}"
        case QueryDb():
            return f"{action.query} in {action.package}/{action.database}"
    return ""

"""`am start` and what it says about itself. Knows neither packages nor addresses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from handrail.adb.shell import Shell
from handrail.errors import AdbCommandError

MAIN = "android.intent.action.MAIN"
VIEW = "android.intent.action.VIEW"
LAUNCHER = "android.intent.category.LAUNCHER"
AS_LAUNCHER = "0x10200000"
"""FLAG_ACTIVITY_NEW_TASK and RESET_TASK_IF_NEEDED: what a launcher's icon sends."""

_FIELD = re.compile(r"^(Status|LaunchState|Activity|TotalTime|ThisTime): *(.*)$", re.MULTILINE)
_PROBLEM = re.compile(r"^(?:Error: |Exception occurred |java\.lang\.|Security exception: ).*", re.MULTILINE)


class Started(NamedTuple):
    """An activity that was started or came to the front."""

    component: str
    """package/.Activity as the device names it; empty where it does not."""
    launch: str
    """COLD, WARM, HOT; empty before Android 10 and where nothing had to be launched."""
    took_ms: int | None
    note: str
    """The device's own warning, such as that the task was only brought to the front."""


class NotStarted(Exception):
    """The device said why; the caller knows what was meant."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    @property
    def missing(self) -> bool:
        """No such activity, or nothing that handles the intent."""
        return "does not exist" in self.text or "unable to resolve" in self.text

    @property
    def private(self) -> bool:
        return "Permission Denial" in self.text or "not exported" in self.text


def read_started(text: str) -> Started:
    """The report of `am start -W`; old versions give an exit code of 0 whatever happened."""
    problem = _PROBLEM.search(text)
    if problem:
        raise NotStarted(" ".join(text[problem.start() :].split()))
    fields = dict(_FIELD.findall(text))
    took = fields.get("TotalTime") or fields.get("ThisTime") or ""
    launch = fields.get("LaunchState", "")
    note = re.search(r"^Warning: *(.+)$", text, re.MULTILINE)
    return Started(
        fields.get("Activity", "").strip(),
        "" if launch.startswith("UNKNOWN") else launch.strip(),
        int(took) if took.strip().isdigit() else None,
        note[1].strip() if note else "",
    )


async def start_intent(shell: Shell, intent: Sequence[str]) -> Started:
    """Raises `NotStarted` with the device's words."""
    command = ["am", "start", "-W", *intent]
    answer = await shell.run(command, check=False)
    text = answer.text + "\n" + answer.stderr.decode("utf-8", "replace")
    started = read_started(text)
    if not answer.ok:
        raise AdbCommandError(f"am start ended with {answer.exit_code}: {text.strip()}", command=command)
    return started

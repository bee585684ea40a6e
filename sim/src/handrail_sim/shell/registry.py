"""Which command is which: every family's names in one table."""

from __future__ import annotations

from handrail_sim.shell import builtins, conditions
from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.dumpsys import run as dumpsys
from handrail_sim.shell.interpret import Interpreter
from handrail_sim.shell.system import (
    am,
    app_process,
    appops,
    cmd,
    content,
    evdev,
    ime,
    inputs,
    logcat,
    monkey,
    pm,
    props,
    radio,
    reports,
    screen,
    screenrecord,
)
from handrail_sim.shell.table import BUILTINS, COMMANDS, TOOLS, Builtin
from handrail_sim.shell.tools import (
    archives,
    change_files,
    dates,
    file_facts,
    filters,
    find,
    grep,
    ls,
    machine,
    network,
    processes,
    ps,
    read_files,
    say,
    sqlite,
    starting,
    terminal,
    usage,
)

FAMILIES = (
    say,
    dates,
    conditions,
    read_files,
    ls,
    file_facts,
    find,
    change_files,
    grep,
    filters,
    starting,
    processes,
    ps,
    machine,
    network,
    archives,
    terminal,
    sqlite,
    inputs,
    screen,
    screenrecord,
    props,
    am,
    pm,
    cmd,
    radio,
    appops,
    ime,
    content,
    logcat,
    monkey,
    app_process,
    reports,
    evdev,
    dumpsys,
)
ALSO_BUILT_IN = ("echo", "true", "false", "test", "[", "kill")


def _as_builtin(command: Command) -> Builtin:
    """The same command without a process of its own: it dies with its shell when its output is gone."""

    async def run(_: Interpreter, call: Call) -> int:
        return await command(call)

    return run


TOOLS.update(usage.TOOLS)
for family in FAMILIES:
    COMMANDS.update(family.FAMILY)
BUILTINS.update(builtins.FAMILY)
BUILTINS.update({name: _as_builtin(COMMANDS[name]) for name in ALSO_BUILT_IN})

__all__ = ["COMMANDS"]

"""Which command is which: every family's names in one table."""

from __future__ import annotations

from handrail_sim.shell import builtins, conditions, sim_command
from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.dumpsys import run as dumpsys
from handrail_sim.shell.interpret import Interpreter
from handrail_sim.shell.system import (
    am,
    appops,
    capture,
    cmd,
    content,
    ime,
    inputs,
    logcat,
    monkey,
    pm,
    props,
    radio,
)
from handrail_sim.shell.table import BUILTINS, COMMANDS, TOOLS, Builtin
from handrail_sim.shell.tools import (
    dates,
    files,
    find,
    machine,
    processes,
    read_files,
    starting,
    storage,
    text,
    usage,
)

FAMILIES = (
    conditions,
    dates,
    text,
    read_files,
    files,
    find,
    starting,
    processes,
    machine,
    storage,
    inputs,
    capture,
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
    sim_command,
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

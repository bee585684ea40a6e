"""The phone's shell: `run` takes a command line as adbd gets it and answers with an exit code."""

from __future__ import annotations

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.io import ShellIO, Sink, Source
from handrail_sim.shell.registry import COMMANDS
from handrail_sim.shell.run import capture, run

__all__ = ["COMMANDS", "Call", "Command", "ShellIO", "Sink", "Source", "capture", "run"]

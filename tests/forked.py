"""`handrail …` in a process of its own that does not import the program again: a fork of one that has.

Importing is most of what a short command costs, and a test runs many. What is tested about a start itself
(imports, signals, a terminal) starts the program as a shell does.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired

PATIENCE_S = 120
_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["handrail.cli.main", "handrail.cli.perform", "handrail.runtime"])


def handrail(*words: str | Path, env: Mapping[str, str], alone: bool = False) -> CompletedProcess[str]:
    """Runs one command to its end; `alone`: in a login session of its own, as from another terminal."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = _forks.Process(target=_child, args=([*map(str, words)], dict(env), out, err, alone))
        process.start()
        process.join(PATIENCE_S)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise TimeoutExpired([*map(str, words)], PATIENCE_S, out.read_bytes(), err.read_bytes())
        return CompletedProcess(words, process.exitcode, out.read_text(), err.read_text())


def _child(words: list[str], env: dict[str, str], out: Path, err: Path, alone: bool) -> None:
    from handrail.cli.main import main  # noqa: PLC0415  (in the fork, which has it)

    if alone:
        os.setsid()
    for number, file in ((1, out), (2, err)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["handrail", *words]
    try:
        main()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()

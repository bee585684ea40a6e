"""Runs the sessions that pages show: in a `console` block `$` is before what is typed, the rest is answers.

`make docs` writes what the README's session says now; a test compares all of them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
SESSION = re.compile(r"(?<!-->\n)```console\n(.*?)```", re.S)
"""One without a comment before it, which would say why it is not run."""
CHANGING = [
    (r"127\.0\.0\.1:\d+", "127.0.0.1:6555"),
    (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "2026-11-17T20:00:00.000Z"),
    (r"(agent)-\d{8}-\d{6}-[0-9a-f]+", r"\1-20261117-200000-3f9a1c"),
    (r"(head \d+:[0-9a-f]{8})[0-9a-f]+", r"\1…"),
    (r"\b[0-9a-f]{8}…", "3f9a1c27…"),
    (r"\b\d+(\.\d+)? (ms|s)\b", r"1 \2"),
]
"""What is another one each time, and what stands for it."""


@contextmanager
def reader() -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder with the examples, a home of its own, and a phone that is the device of every command."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "examples").symlink_to(ROOT / "examples")
        env = {
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "HOME": made,
            "HANDRAIL_NO_DAEMON": "1",
            "COLUMNS": "120",
        }
        env |= {"HANDRAIL_ADB": f"{made}/no-adb", "ANDROID_ADB_SERVER_PORT": "1", "PYTHONUTF8": "1"}
        command = [BIN / "handrail", "sim", "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as phone:
            assert phone.stdout  # noqa: S101
            try:
                yield folder, env | {"HANDRAIL_DEVICE": json.loads(phone.stdout.readline())["connect"]}
            finally:
                phone.terminate()


def answer(command: str, folder: Path, env: dict[str, str]) -> str:
    """What is seen in the terminal, with `~` for the home."""
    bash = ["/bin/bash", "-c", command]
    done = subprocess.run(
        bash, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.stdout.replace(str(folder), "~")


def played(shown: str, folder: Path, env: dict[str, str]) -> str:
    """The session again, with the answers of today."""
    typed = [line.removeprefix("$ ") for line in shown.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {line}\n{steady(answer(line, folder, env))}" for line in typed)


def steady(text: str) -> str:
    """Equal for two runs that did the same."""
    for pattern, instead in CHANGING:
        text = re.sub(pattern, instead, text)
    return text


def main() -> None:
    page = ROOT / "README.md"
    text = page.read_text()
    with reader() as (folder, env):
        page.write_text(SESSION.sub(lambda found: f"```console\n{played(found[1], folder, env)}```", text))


if __name__ == "__main__":
    main()

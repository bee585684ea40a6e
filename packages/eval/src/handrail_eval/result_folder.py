"""The folder of an evaluation: manifest.json, results.jsonl, templates, a folder for every run, summary.

A line is on the disk before its episode counts as run, so that a killed evaluation goes on where it was.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from handrail.errors import InvalidAction
from handrail_eval.manifest import first_link
from handrail_eval.result import EpisodeName, TaskResult, folder_name, key_of

MANIFEST, LINES, HEAD, SUMMARY, PAGE, TEMPLATES = (
    "manifest.json",
    "results.jsonl",
    "results.head",
    "summary.json",
    "index.html",
    "templates",
)


class ResultFolder:
    """One evaluation on the disk, written by one process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._chain = ""
        self._count = 0

    def begin(self, manifest: Mapping[str, Any], sources: Mapping[str, Path]) -> None:
        """A new one. Templates are kept beside the results: without them nobody could check what was run."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            is_new = not any(self.path.iterdir())
        except OSError as error:
            raise InvalidAction(
                f"--out {self.path}: {error.strerror or error}",
                path="out",
                hint="Give a folder that can be written.",
            ) from None
        if not is_new:
            raise InvalidAction(
                f"--out {self.path} is not empty",
                path="out",
                hint="Give a folder that is new, or go on with --resume.",
            )
        (self.path / TEMPLATES).mkdir()
        for name, file in sources.items():
            shutil.copyfile(file, self.path / TEMPLATES / f"{name}{file.suffix}")
        self.write(MANIFEST, manifest)
        self._chain = first_link(manifest)
        self.write(HEAD, {"lines": 0, "chain": self._chain})

    def resume(self, tasks: Sequence[EpisodeName], at: str) -> list[TaskResult]:
        """What was done; a torn last line is cut off, and what no line tells of is removed and counted.

        Raises `InvalidAction` where lines are missing that were on the disk before.
        """
        file = self.path / LINES
        data = file.read_bytes() if file.exists() else b""
        whole = data[: data.rfind(b"\n") + 1]
        if whole != data:
            with file.open("r+b") as opened:
                opened.truncate(len(whole))
                os.fsync(opened.fileno())
        try:
            lines = [json.loads(line) for line in whole.splitlines()]
            done = [TaskResult.read(line) for line in lines]
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidAction(
                f"{file} can't be read: {error}", path="resume", hint="`handrail eval check` says more."
            ) from None
        self._refuse_lost_lines([str(line["chain"]) for line in lines])
        manifest = self.manifest()
        self._chain, self._count = lines[-1]["chain"] if lines else first_link(manifest), len(lines)
        known = {key_of(one) for one in done}
        begun_again = [
            name
            for task in tasks
            if key_of(task) not in known and (self.path / (name := folder_name(task))).exists()
        ]
        for name in begun_again:
            shutil.rmtree(self.path / name, ignore_errors=True)
        resume = {"at": at, "lines": len(lines), "begun_again": begun_again}
        self.write(MANIFEST, {**manifest, "resumes": [*manifest.get("resumes", []), resume]})
        return done

    def _refuse_lost_lines(self, chains: Sequence[str]) -> None:
        """Results that were emptied, cut or replaced are no evaluation to go on with."""
        try:
            head = json.loads((self.path / HEAD).read_text(encoding="utf-8"))
            count, chain = int(head["lines"]), str(head["chain"])
        except (OSError, ValueError, KeyError, TypeError):
            count, chain = len(chains) + 1, ""  # without it nobody knows how many there were
        if len(chains) < count or (count and chains[count - 1] != chain):
            raise InvalidAction(
                f"{self.path / LINES} does not have the lines that {HEAD} counts",
                path="resume",
                hint="Start a new evaluation with --out: finished runs can't be run again here.",
            )

    def add(self, one: TaskResult) -> None:
        """Durable when this returns. Every line vouches for the one before it and for what its run kept."""
        told = {**one.to_dict(), "kept": self._kept(one)}
        body = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
        self._chain = hashlib.sha256(f"{self._chain}\n{body}".encode("utf-8", "replace")).hexdigest()
        line = json.dumps({**told, "chain": self._chain}, ensure_ascii=False, separators=(",", ":"))
        with (self.path / LINES).open("ab") as file:
            file.write(f"{line}\n".encode("utf-8", "replace"))
            file.flush()
            os.fsync(file.fileno())
        self._count += 1
        self.write(HEAD, {"lines": self._count, "chain": self._chain})

    def _kept(self, one: TaskResult) -> dict[str, str]:
        """The hashes of its task and steps, and where its journal ends."""
        folder = self.path / folder_name(one)
        names = {"task": "task.json", "steps": "steps.jsonl", "journal_head": "home/journal.head"}
        files = {what: folder / name for what, name in names.items()}
        return {
            name: hashlib.sha256(file.read_bytes()).hexdigest()
            for name, file in files.items()
            if file.exists()
        }

    def manifest(self) -> dict[str, Any]:
        try:
            read = json.loads((self.path / MANIFEST).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise InvalidAction(
                f"{self.path} is not the folder of an evaluation",
                path="resume",
                hint=f"Give a folder that --out made: it has a {MANIFEST}.",
            ) from None
        return dict(read)

    def write(self, name: str, value: Mapping[str, Any] | str) -> None:
        """Readers see the old file or the new one, never half of one."""
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1) + "\n"
        draft = self.path / f".{name}.{os.getpid()}"
        with draft.open("w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path / name)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Two processes that write one evaluation would tear it apart."""
        with (self.path / ".lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InvalidAction(
                    f"{self.path}: another process is at work on it", path="resume", hint="Wait for its end."
                ) from None
            yield

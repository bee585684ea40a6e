"""Many templates at once in several processes, and what is known of them from before.

The phones of one process share a core.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from typing import Any

from handrail_eval.crew import signals_for_this_process
from handrail_eval.lint import lint_template
from handrail_eval.load import load_templates
from handrail_eval.manifest import code_hash, hash_of
from handrail_eval.template import TaskTemplate
from handrail_eval.virtual_time import run_virtually


class ProvedTemplates:
    """A file with a line for every proof; one that was killed while it wrote leaves a half line, unread."""

    def __init__(self, file: Path | None, seeds: Sequence[int]) -> None:
        self._file = file
        self._seeds = hash_of(json.dumps(list(seeds)).encode())
        self._known: dict[str, dict[str, Any]] = {}
        if file is not None and file.exists():
            data = file.read_bytes()
            if not data.endswith(b"\n"):
                file.write_bytes(data[: data.rfind(b"\n") + 1])
            for line in data.splitlines():
                with suppress(ValueError, KeyError, TypeError):
                    read = json.loads(line)
                    self._known[read["key"]] = read["report"]

    def known(self, template: TaskTemplate) -> dict[str, Any] | None:
        """Only where template, code and seeds are the same."""
        return self._known.get(self._key(template)) if self._file is not None else None

    def add(self, template: TaskTemplate, report: Mapping[str, Any]) -> None:
        """Durable when this returns."""
        if self._file is None:
            return
        line = json.dumps({"key": self._key(template), "report": report}, ensure_ascii=False)
        with self._file.open("a", encoding="utf-8", errors="replace") as file:
            file.write(f"{line}\n")
            file.flush()
            os.fsync(file.fileno())

    def _key(self, template: TaskTemplate) -> str:
        source = template.file.read_bytes() if template.file else repr(template.raw).encode()
        return f"{template.id} {hash_of(source)} {code_hash()} {self._seeds}"


def lint_many(
    files: Sequence[str], names: Sequence[str], seeds: Sequence[int], jobs: int
) -> Generator[dict[str, Any]]:
    """A report for each, as they are ready."""
    if jobs == 1 or len(names) < 2:
        for name in names:
            yield lint_one(files, name, seeds)
        return
    others = set(active_children())
    context = get_context("spawn")
    pool = ProcessPoolExecutor(min(jobs, len(names)), mp_context=context, initializer=_end_with_the_first)
    try:
        with signals_for_this_process():
            running = [pool.submit(lint_one, files, name, seeds) for name in names]
        for one in as_completed(running):
            yield one.result()
    finally:
        for child in set(active_children()) - others:  # after a stop nobody waits for what they do
            child.kill()
        pool.shutdown(cancel_futures=True)


def _end_with_the_first() -> None:
    """Whatever ends the process that started this one."""
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
    os._exit(1)


def lint_one(files: Sequence[str], name: str, seeds: Sequence[int]) -> dict[str, Any]:
    """By its name among those of the files: templates do not travel between processes."""
    began = time.process_time()
    template = next(one for one in load_templates(files or [name]) if one.id == name)
    report = run_virtually(lint_template(template, seeds))
    return {**report.to_dict(), "cpu_s": round(time.process_time() - began, 1)}

"""Many templates at once in several processes: the phones of one process share a core."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any

from handrail.evaluation.lint import lint_template
from handrail.evaluation.load import load_templates
from handrail.virtual_time import run_virtually


def lint_many(
    files: Sequence[str], names: Sequence[str], seeds: Sequence[int], jobs: int
) -> Iterator[dict[str, Any]]:
    """A report for each, as they are ready."""
    if jobs == 1 or len(names) == 1:
        for name in names:
            yield lint_one(files, name, seeds)
        return
    with ProcessPoolExecutor(min(jobs, len(names)), mp_context=get_context("spawn")) as pool:
        running = [pool.submit(lint_one, files, name, seeds) for name in names]
        try:
            for one in as_completed(running):
                yield one.result()
        finally:
            for one in running:
                one.cancel()


def lint_one(files: Sequence[str], name: str, seeds: Sequence[int]) -> dict[str, Any]:
    """By its name among those of the files: templates do not travel between processes."""
    began = time.process_time()
    template = next(one for one in load_templates(files) if one.id == name)
    report = run_virtually(lint_template(template, seeds))
    return {**report.to_dict(), "cpu_s": round(time.process_time() - began, 1)}

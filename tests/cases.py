"""Many cases in one test, for cases that run the same lines: a test of its own costs more than they do.

`@each` takes what `pytest.mark.parametrize` takes. All cases are run, and all that failed are named.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

MOST_SHOWN = 10


def each(
    names: str | Sequence[str], cases: Iterable[Any], ids: Callable[[Any], Any] | Iterable[Any] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Runs a test function once for each of `cases`, within one test."""
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = [_row(case, len(columns)) for case in cases]
    labels = [str(label) for label in ids] if ids is not None and not callable(ids) else None

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            assert rows, "there is no case"
            failed: list[tuple[str, BaseException]] = []
            for number, row in enumerate(rows):
                try:
                    test(**fixtures, **dict(zip(columns, row, strict=True)))
                except (Exception, pytest.fail.Exception) as error:
                    name = labels[number] if labels else ", ".join(_short(value) for value in row)
                    failed.append((name, error))
            if failed:
                lines = [f"{name}: {type(error).__name__}: {error}" for name, error in failed[:MOST_SHOWN]]
                summary = f"{len(failed)} of {len(rows)} cases failed:\n" + "\n".join(lines)
                raise AssertionError(summary) from failed[0][1]

        signature = inspect.signature(test)
        kept = [value for name, value in signature.parameters.items() if name not in columns]
        run.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        del run.__wrapped__
        return run

    return decorate


def _row(case: Any, width: int) -> tuple[Any, ...]:
    values = getattr(case, "values", None)
    if type(case).__name__ == "ParameterSet" and values is not None:
        assert not case.marks, "a case with marks is a test of its own"
        return tuple(values)
    return (case,) if width == 1 else tuple(case)


def _short(value: Any) -> str:
    text = getattr(value, "__name__", None) or repr(value)
    return text if len(text) <= 60 else text[:57] + "..."

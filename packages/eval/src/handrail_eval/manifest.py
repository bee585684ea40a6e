"""What an evaluation was run with, so that anybody can tell whether two are the same. No key is in it."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import handrail
from handrail.clock import Clock, iso_time
from handrail.errors import InvalidAction
from handrail.safety.policy import rulings

FORMAT = 2
"""Since 2 the chain of lines begins at the manifest."""
_CODE = ("handrail", "handrail_sim", "handrail_agent", "handrail_eval")
"""What runs an episode and what judges it."""
FREE = ("started", "commit")
"""What may differ when an evaluation goes on: the code's own hash tells whether the commit matters."""
_SECONDS = 10


def made(
    suite: str,
    sources: Mapping[str, Path],
    model: Mapping[str, Any],
    seeds: Sequence[int],
    repeats: int,
    max_steps: int | None,
    clock: Clock,
) -> dict[str, Any]:
    """`sources` are the files of the tasks, `model` its name and settings."""
    templates = {name: hash_of(file.read_bytes()) for name, file in sorted(sources.items())}
    address = model.get("base_url")
    return {
        "format": FORMAT,
        "started": iso_time(clock.now_ms()),
        "handrail": handrail.__version__,
        "simulator": _version("handrail-sim"),
        "python": platform.python_version(),
        "pillow": _version("pillow"),
        "code": code_hash(),
        "commit": _commit(),
        "suite": {"name": suite, "hash": suite_hash(templates), "templates": templates},
        "policy": hash_of(json.dumps([_ruling(ruling) for ruling in rulings()]).encode()),
        "model": {**model, "base_url": _without_keys(address) if address else None},
        "seeds": list(seeds),
        "repeats": repeats,
        "max_steps": max_steps,
    }


def first_link(manifest: Mapping[str, Any]) -> str:
    """Where the chain of lines begins, so that no line belongs to another manifest."""
    fixed = {name: value for name, value in manifest.items() if name != "resumes"}
    return hash_of(json.dumps(fixed, sort_keys=True).encode())


def must_agree(kept: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Results of two different evaluations are never mixed. Raises `InvalidAction`, saying what differs."""
    for name in now:
        if name in FREE or kept.get(name) == now[name]:
            continue
        what = f"{name} was {_shown(kept.get(name))} and is {_shown(now[name])}"
        if name == "suite":
            what = _differing(kept.get("suite") or {}, now["suite"])
        raise InvalidAction(
            f"this evaluation can't be resumed: {what}",
            path="resume",
            hint="Start a new one with --out, and compare the two with `handrail eval compare --anyway`.",
        )


def _differing(kept: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    old, new = kept.get("templates") or {}, now["templates"]
    names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    told = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return f"the suite's templates are not the same: {told or 'other names of the suite'}"


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:80]}…"


def hash_of(data: bytes) -> str:
    """SHA-256, as everywhere in a manifest."""
    return hashlib.sha256(data).hexdigest()


def suite_hash(templates: Mapping[str, str]) -> str:
    """Over the names and the bytes of all."""
    return hash_of("\n".join(f"{name} {one}" for name, one in sorted(templates.items())).encode())


@cache
def code_hash() -> str:
    """Over what runs and judges, without the tasks: those have hashes of their own."""
    specs = [spec for spec in map(find_spec, _CODE) if spec and spec.origin]
    total = hashlib.sha256()
    for place in [Path(str(spec.origin)).parent for spec in specs]:
        for file in _sources(place):
            total.update(f"{file.relative_to(place)}\n{hash_of(file.read_bytes())}\n".encode())
    return total.hexdigest()


def _sources(place: Path) -> Iterable[Path]:
    tasks = place / "tasks"
    return sorted(file for file in place.rglob("*.py") if tasks not in file.parents)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """Of the checkout that the code comes from, marked where files were changed; None for an installation."""
    here = Path(handrail.__file__)
    try:
        _git(here.parent, "ls-files", "--error-unmatch", here.name)
        commit = _git(here.parent, "rev-parse", "HEAD")
        return commit + ("+changes" if _git(here.parent, "status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(place: Path, *words: str) -> str:
    command = ["git", "-C", str(place), *words]
    said = subprocess.run(command, capture_output=True, check=True, timeout=_SECONDS, text=True)  # noqa: S603
    return said.stdout.strip()


def _without_keys(address: str) -> str:
    """A server's address may hold a name and a password, or a key in its query."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"


def _ruling(one: tuple[Any, ...]) -> list[str]:
    return [str(part) for part in one]

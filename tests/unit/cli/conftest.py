"""The command line's fixtures, for every test beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from handrail.clock import SystemClock
from handrail.sync.openers import OpenBlock
from handrail_sim.adbd.server import Served, serve
from handrail_sim.phone import Phone
from tests.unit.android.private_adb import private_env
from tests.unit.cli.command import handrail

__all__ = ["handrail"]


def wear(monkeypatch: pytest.MonkeyPatch, env: Mapping[str, str]) -> None:
    """This environment, and no variable of the person's own."""
    for name in os.environ:
        if name.startswith(("HANDRAIL_", "ANDROID_", "ADB_", "AGENTEST_")):
            monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A machine without adb."""
    bare = {**private_env(tmp_path), "HANDRAIL_ADB": str(tmp_path / "no-adb")}
    wear(monkeypatch, bare)
    return bare


@pytest.fixture
def phone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """In a loop of its own, because the command runs one itself."""
    with closing(OpenBlock(serve([Phone(clock=SystemClock(), apps=("notes",))], port=0))) as block:
        [served] = block.value
        monkeypatch.setenv("HANDRAIL_DEVICES", served.address)
        yield served

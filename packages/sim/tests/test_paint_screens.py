"""The screens that the documentation shows can be painted from the phone as it is, the same every time."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from PIL import Image


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


screens = load(Path(__file__).parents[1] / "docs" / "screens.py")


@pytest.mark.parametrize("name", screens.STORIES)
def test_a_screen_of_the_documentation_is_the_same_twice_and_not_empty(name: str) -> None:
    first, second = (asyncio.run(screens.screen(screens.STORIES[name])) for _ in range(2))
    assert isinstance(first, Image.Image)
    assert first.size == (540, 1200)
    assert len(first.getcolors(540 * 1200) or ()) > 100
    assert first.tobytes() == second.tobytes()


def test_every_screen_is_written_as_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screens, "STORIES", {"home": screens.STORIES["home"]})
    (path,) = screens.docs_screens(tmp_path / "img")
    with Image.open(path) as image:
        assert image.format == "PNG"

"""docs/flows.md fails the build when one of its examples does not check, or a rule is not on it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from handrail.flow import check, document, parse

PAGE = (Path(__file__).parents[3] / "docs" / "flows.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.S)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The page's examples as files, under the names that they give themselves."""
    for number, text in enumerate(blocks("yaml")):
        named = re.match(r"# file: (\S+)", text)
        (tmp_path / (named[1] if named else f"example_{number}.yaml")).write_text(text)
    return tmp_path


def test_every_example_checks_without_an_error(folder: Path) -> None:
    checked = check.check(check.find_flow_files([folder]))
    assert len(checked) == len(blocks("yaml")) >= 8
    assert {
        str(one.path.name): [found.sentence for found in one.problems if found.level == "error"]
        for one in checked
    } == {one.path.name: [] for one in checked}


def test_every_rule_stands_in_the_table() -> None:
    modules = (check, document, parse)
    source = "".join(Path(str(module.__file__)).read_text() for module in modules)
    rules = set(re.findall(r'rule="([a-z-]+)"|, "([a-z]+-[a-z]+|unreachable)"\)', source))
    named = {name for pair in rules for name in pair if name}
    assert named >= {"stale-ref", "circle", "duplicate-key"}
    assert not [name for name in named if f"`{name}`" not in PAGE]


def test_the_settings_for_an_editor_are_json() -> None:
    assert [json.loads(text) for text in blocks("json") if "yaml.schemas" in text]

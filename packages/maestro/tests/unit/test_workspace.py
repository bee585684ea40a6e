"""A workspace: which of its files are flows, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.errors import InvalidAction
from handrail_maestro.files import Workspace
from handrail_maestro.workspace import choose, is_workspace

FLOW = "appId: a.b\nname: {name}\ntags: [{tags}]\n---\n- back\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / ".maestro"
    for name, tags in (("one", "smoke"), ("two", "slow"), ("three", "smoke, wip"), ("sub/four", "smoke")):
        path = made / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FLOW.format(name=path.stem.title(), tags=tags))
    return made


def names(
    folder: Path, config: str = "", tags: tuple[str, ...] = (), without: tuple[str, ...] = ()
) -> list[str]:
    if config:
        (folder / "config.yaml").write_text(config)
    return [path.stem for path in choose(folder, None, tags, without).files]


def test_a_folder_without_a_config_runs_its_own_files_and_none_of_its_folders(folder: Path) -> None:
    assert is_workspace(folder)
    assert names(folder) == ["one", "three", "two"]


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ("flows: ['**']\n", ["one", "four", "three", "two"]),
        ("flows: 'sub/*'\n", ["four"]),
        ("flows: ['*', '!t*']\n", ["one"]),
        ("includeTags: [smoke]\n", ["one", "three"]),
        ("excludeTags: [wip]\n", ["one", "two"]),
        ("executionOrder:\n  flowsOrder: [Two, One]\n", ["two", "one", "three"]),
        ("executionOrder:\n  flowsOrder: [Two, Nobody, One]\n", ["two", "one", "three"]),
        ("executionOrder:\n  flowsOrder: [Nobody]\n", ["one", "three", "two"]),
    ],
)
def test_a_config_chooses_and_orders(folder: Path, config: str, found: list[str]) -> None:
    assert names(folder, config) == found


def test_the_tags_of_the_command_line_are_added_to_those_of_the_config(folder: Path) -> None:
    assert names(folder, "includeTags: [slow]\n", tags=("smoke",), without=("wip",)) == ["one", "two"]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("flows: ['!one.yaml']\n", "only excludes"),
        ("flows: ['nothing/*']\n", "no flow"),
        ("executionOrder:\n  flowsOrder: [Nobody, One]\n", "Nobody"),
        ("flows: {a: 1}\n", "list of texts"),
        ("flows: [\n", "config.yaml:"),
    ],
)
def test_a_config_that_cannot_be_meant_is_refused(folder: Path, config: str, said: str) -> None:
    with pytest.raises(InvalidAction, match=said):
        names(folder, config)


def test_a_link_out_of_the_folder_is_no_flow_of_it(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_text(FLOW.format(name="Outside", tags="smoke"))
    (folder / "zzz.yaml").symlink_to(outside)
    assert "zzz" not in names(folder)


def test_a_folder_of_our_own_flows_is_no_workspace(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("steps:\n  - tap: Save\n")
    assert not is_workspace(tmp_path)


def test_a_workspace_reaches_up_to_its_repository_and_no_further(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    (repo / ".git").mkdir(parents=True)
    (repo / "e2e" / "flows").mkdir(parents=True)
    (repo / "e2e" / "flows" / "a.yaml").write_text("x")
    assert Workspace.of(repo / "e2e" / "flows" / "a.yaml").root == repo
    assert Workspace.of(tmp_path).root == tmp_path

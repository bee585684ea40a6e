from __future__ import annotations

from pathlib import Path

import pytest

from handrail.errors import InvalidAction
from handrail.flow.plan import Shard, find_flows, has_wanted_tags
from tests.cases import each

STEPS = '[{"action": "wait", "timeoutMs": 1}]'


def tree(root: Path, *names: str, text: str = STEPS) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def found(root: Path, *paths: str) -> list[str]:
    return [str(path.relative_to(root)) for path in find_flows([root / path for path in paths or ("",)])]


def test_folders_are_searched_and_sorted(tmp_path: Path) -> None:
    tree(tmp_path, "b.yaml", "a/z.yml", "a/deep/er.json", "c.YAML", "notes.txt")
    assert found(tmp_path) == ["a/deep/er.json", "a/z.yml", "b.yaml", "c.YAML"]


def test_hidden_files_and_parts_of_flows_are_left_out(tmp_path: Path) -> None:
    tree(tmp_path, "_part.yaml", ".hidden.yaml", "_parts/a.yaml", ".git/a.yaml", "real.yaml")
    assert found(tmp_path) == ["real.yaml"]


def test_a_file_that_is_named_is_taken_whatever_it_is_called(tmp_path: Path) -> None:
    tree(tmp_path, "_part.yaml")
    assert found(tmp_path, "_part.yaml") == ["_part.yaml"]


def test_a_flow_that_is_named_twice_runs_once(tmp_path: Path) -> None:
    tree(tmp_path, "a.yaml")
    assert found(tmp_path, "a.yaml", "", "a.yaml") == ["a.yaml"]


@pytest.mark.parametrize("text", ["{}", "[]", '{"steps": []}', "[1, 2]", "{nonsense", '{"steps": "none"}'])
def test_json_without_steps_is_no_flow(tmp_path: Path, text: str) -> None:
    tree(tmp_path, "data.json", text=text)
    assert found(tmp_path) == []


def test_what_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidAction, match="nowhere"):
        find_flows([tmp_path / "nowhere"])


@each(
    ("only", "without", "runs"),
    [("", "", True), ("smoke", "", True), ("slow", "", False), ("", "shop", False), ("smoke", "shop", False)],
)
def test_tags_choose_and_exclude(only: str, without: str, runs: bool) -> None:
    assert has_wanted_tags(("smoke", "shop"), only.split(), without.split()) is runs


@each("count", [1, 2, 3, 7, 20])
def test_shards_are_even_and_complete(count: int) -> None:
    flows = list(range(17))
    shares = [Shard(index, count).of(flows) for index in range(1, count + 1)]
    assert sorted(flow for share in shares for flow in share) == flows
    sizes = [len(share) for share in shares]
    assert max(sizes) - min(sizes) <= 1


@each("text", ["", "0/2", "3/2", "1", "a/b", "-1/2", "1/0", "1/2/3"])
def test_a_shard_that_makes_no_sense_is_an_error(text: str) -> None:
    with pytest.raises(InvalidAction, match="not a shard"):
        Shard.parse(text)

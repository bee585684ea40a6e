"""`flow check` of Maestro files: good ones are never refused, and what is wrong is named with its line."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from packages.maestro.tests.unit.faults import Fault, drawn

from handrail_maestro.check import Checker, MaestroCheck, check_files
from handrail_maestro.files import Workspace
from handrail_maestro.read import is_maestro
from handrail_maestro.scripts import Scripts
from tests.corpus import CORPUS, needs_corpus

FLOWS = Path(__file__).parents[1] / "data"
GOOD = sorted(path for path in FLOWS.rglob("*.yaml") if path.stem != "config")
HEADER = "appId: com.example.app\n---\n"


def checked(*texts: tuple[Path, str], alone: bool = False) -> list[MaestroCheck]:
    async def work() -> list[MaestroCheck]:
        scripts = Scripts()
        try:
            return [await Checker(scripts, Workspace(FLOWS), alone).check(path, text) for path, text in texts]
        finally:
            await scripts.close()

    return asyncio.run(work())


def one(text: str) -> MaestroCheck:
    return checked((FLOWS / "made.yaml", text))[0]


def told(text: str) -> list[tuple[int, str, str]]:
    return [(one.mark.line, one.level, one.rule) for one in one(text).problems]


def test_the_flows_for_the_simulated_phone_reach_level_five() -> None:
    found = checked(*((path, path.read_text()) for path in GOOD))
    assert len(found) >= 16
    assert [(one.file.path, one.problems) for one in found if one.level != 5] == []


@needs_corpus
@pytest.mark.skipif(not CORPUS or not (CORPUS / "maestro").is_dir(), reason="no Maestro flows in the corpus")
def test_of_the_public_flows_at_least_62_reach_level_five_alone() -> None:
    assert CORPUS is not None
    files = sorted(path for path in (CORPUS / "maestro").glob("*.y*ml"))
    found = checked(*((path, path.read_text()) for path in files), alone=True)
    short = {
        str(one.file.path): [p.sentence for p in one.problems if p.level == "error"]
        for one in found
        if one.level < 5
    }
    assert len(found) == 65
    assert sum(one.level >= 3 for one in found) >= 62
    assert len(found) - len(short) >= 62, short
    assert all(short.values()), "each failure is explained"


def is_named(found: MaestroCheck, fault: Fault) -> bool:
    """An error on the line; a bad pattern is taken literally, so a warning is all that it can be."""
    wanted = ("error", "warning") if fault.kind == "bad pattern" else ("error",)
    return any(one.mark.line == fault.line and one.level in wanted for one in found.problems)


def missed(count: int) -> tuple[int, Counter[str], list[str]]:
    faults = drawn(GOOD, count)
    found = checked(*((path, fault.text) for path, fault in faults))
    wrong = [
        (path, fault) for (path, fault), got in zip(faults, found, strict=True) if not is_named(got, fault)
    ]
    shown = [
        f"{fault.kind} {path.name}:{fault.line}: {fault.text.splitlines()[fault.line - 1]}"
        for path, fault in wrong
    ]
    return len(faults), Counter(fault.kind for _, fault in faults), shown


def test_a_hundred_single_faults_are_named_with_their_lines() -> None:
    count, kinds, wrong = missed(110)
    assert count == 110
    assert len(kinds) >= 9
    assert len(wrong) <= 2, wrong


@pytest.mark.slow
def test_of_a_thousand_single_faults_98_per_cent_are_named_with_their_lines() -> None:
    count, kinds, wrong = missed(1_000)
    assert count == 1_000, kinds
    assert len(wrong) <= 20, wrong


def test_every_problem_is_told_at_once() -> None:
    text = HEADER + "- tapOnn: Save\n- tapOn:\n    idd: x\n- back:\n- swipe: {direction: SIDEWAYS}\n- wait\n"
    assert [line for line, level, _ in told(text) if level == "error"] == [3, 5, 6, 7, 8]


@pytest.mark.parametrize(
    ("text", "line", "level", "rule"),
    [
        ("url: https://x.org\n---\n- back\n", 1, "error", "unsupported"),
        ("- tapOn: Save\n- back\n", 1, "warning", "no-header"),
        ("name: x\n---\n- back\n", 1, "warning", "no-header"),
        ("appId: a.b\n", 1, "error", "syntax"),
        ("appId: a.b\n---\ntapOn: x\n", 3, "error", "syntax"),
        ("appId: a.b\nonFlowEnd: []\n---\n- back\n", 2, "warning", "unknown-header"),
        ("appId: a.b\njsEngine: rhino\n---\n- back\n", 2, "warning", "invalid"),
        ("appId: a.b\nenv:\n  X:\n---\n- back\n", 3, "error", "invalid"),
        (HEADER + "- tapOn:\n    text: a\n    id:\n", 5, "warning", "invalid"),
        (HEADER + "- swipe: {direction: UP, speed: 4}\n", 3, "warning", "invalid"),
        (HEADER + "- swipe: {from: a, start: '1%,2%', end: '3%,4%'}\n", 3, "warning", "invalid"),
        (HEADER + "- back\n---\n- back\n", 5, "warning", "third-document"),
        ("appId: a.b\nname:\n---\n- back\n", 2, "warning", "invalid"),
        (HEADER + "- openBrowser: https://x.org\n", 3, "error", "unsupported"),
        (HEADER + "- assertWithAI: is it nice?\n", 3, "warning", "unsupported"),
        (HEADER + "- assertWithAI: {assertion: x, optional: false}\n", 3, "error", "unsupported"),
        (HEADER + "- tapOn: {css: .x}\n", 3, "error", "unsupported"),
        (HEADER + "- evalScript: ${faker.name()}\n", 3, "error", "unsupported"),
        (HEADER + "- evalScript: ${secret:PIN}\n", 3, "error", "bad-script"),
        (HEADER + "- tapOn: ${secret:PIN}\n", 3, "error", "bad-script"),
        (HEADER + "- scroll: {direction: UP}\n", 3, "warning", "invalid"),
        (HEADER + "- inputText: {id: x, text: y}\n", 3, "warning", "invalid"),
        (HEADER + "- tapOn: a\n  label: b\n", 4, "error", "invalid"),
        (HEADER + "- action: jump\n", 3, "error", "invalid"),
    ],
)  # fmt: skip
def test_what_is_not_for_handrail_says_so_at_its_line(text: str, line: int, level: str, rule: str) -> None:
    assert (line, level, rule) in told(text)


@pytest.mark.parametrize(
    ("step", "level"),
    [
        ("back", 5),
        ("assertWithAI: {assertion: x}", 4),
        ("tapOn: {css: x}", 4),
        ("tapOn: (", 5),
        ("runFlow: nowhere.yaml", 3),
        ("evalScript: ${1+}", 2),
        ("jump", 1),
        ("tapOn: [", 0),
    ],
)
def test_a_file_reaches_the_level_that_the_page_says(tmp_path: Path, step: str, level: int) -> None:
    file = tmp_path / "flow.yaml"
    file.write_text(HEADER + f"- {step}\n")
    [checked] = asyncio.run(check_files([file]))
    assert checked.level == level, checked.problems


def test_names_that_nobody_gives_are_warnings(tmp_path: Path) -> None:
    file = tmp_path / "flow.yaml"
    file.write_text(HEADER + "- inputText: ${USER} ${WHO || 'me'}\n- inputText: ${USER}\n")
    [found] = asyncio.run(check_files([file]))
    assert [(one.rule, one.level, one.mark.line) for one in found.problems] == [
        ("unknown-variable", "warning", 3)
    ]
    assert found.level == 5
    [given] = asyncio.run(check_files([file], ["USER"]))
    assert given.problems == ()


def test_files_outside_the_workspace_are_refused_also_through_a_link(tmp_path: Path) -> None:
    inside, outside = tmp_path / "flows", tmp_path / "outside.yaml"
    inside.mkdir()
    outside.write_text(HEADER + "- back\n")
    (inside / "link.yaml").symlink_to(outside)
    (inside / "a.yaml").write_text(
        HEADER + "- runFlow: link.yaml\n- runFlow: ../outside.yaml\n- runScript: /etc/passwd\n"
    )
    [found] = asyncio.run(check_files([inside / "a.yaml"]))
    assert [(one.mark.line, one.rule) for one in found.problems] == [
        (3, "outside"),
        (4, "outside"),
        (5, "outside"),
    ]


def test_a_circle_of_three_files_is_named_in_each_of_them(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "c"), ("c", "a")):
        (tmp_path / f"{name}.yaml").write_text(HEADER + f"- back\n- runFlow: {other}.yaml\n")
    found = asyncio.run(check_files(sorted(tmp_path.glob("*.yaml"))))
    assert [[(one.mark.line, one.rule) for one in file.problems] for file in found] == [[(4, "circle")]] * 3
    assert [file.level for file in found] == [3, 3, 3]


@pytest.mark.parametrize(
    ("text", "is_theirs"),
    [
        ("- repeat:\n    times: 2\n    steps: [back]\n", False), ("- swipe: up\n", False),
        ("- tap: Save\n", False),
        ("---\nname: x\nsteps:\n  - tap: appId\n", False), ("steps:\n  - tap: a\n---\n- back\n", False),
        ("- tapOn: Save\n- repeat:\n    times: 2\n    commands: [back]\n", True), ("appId: a.b\n---\n", True),
        ("appId: a.b\n", True), ("name: x\n---\n- back\n", True), ("- back\n- unknown: x\n", False),
        ("", False),
    ],
)  # fmt: skip
def test_whose_language_a_file_is_written_in(text: str, is_theirs: bool) -> None:
    assert is_maestro(text) is is_theirs

"""Docs that fail the build: generated pages are fresh, links lead somewhere."""

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from handrail.errors import ERRORS

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def load_generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "name", ["actions.md", "errors.md", "safety.md", "dialects.md", "telemetry.md", "troubleshooting.md"]
)
def test_a_generated_page_is_what_the_code_says(name: str) -> None:
    assert (ROOT / "docs" / name).read_text() == load_generator().pages()[name], "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        if not link.startswith(("http:", "https:")):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_decisions_are_numbered_without_a_gap_and_each_has_its_four_parts() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
    index = (ROOT / "docs" / "decisions" / "README.md").read_text()
    assert [page.name for page in pages if f"]({page.name})" not in index] == []
    assert [page.name[:4] for page in pages] == [f"{number:04}" for number in range(1, len(pages) + 1)]
    for page in pages:
        for part in ("**Context.**", "**Decision.**", "**Alternatives.**", "**Consequence.**"):
            assert part in page.read_text(), f"{page.name} has no {part}"


def test_every_layer_and_protocol_file_stands_in_the_architecture() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    for path in (ROOT / "src" / "handrail" / "protocol").glob("[a-z]*.py"):
        assert path.name in page, f"{path.name} is missing from docs/architecture.md"


FROM_ELSEWHERE = ("handrail: command not found", "uiautomator dump", "make demo", "handrail ", "delivery: ")
"""Words of a shell, of adb and of fields that are told apart."""


def test_what_people_see_by_the_troubleshooting_page_is_what_the_code_says() -> None:
    page = (ROOT / "docs" / "troubleshooting.md").read_text().partition("## By code")[0]
    seen = [
        text
        for row in re.findall(r"^\| (.*?) \|", page, flags=re.M)
        for text in re.findall(r"`([^`]+ [^`]+)`", row)
    ]
    source = "\n".join(path.read_text() for path in (ROOT / "src" / "handrail").rglob("*.py"))
    assert len(seen) >= 5
    assert [text for text in seen if text not in source and not text.startswith(FROM_ELSEWHERE)] == []


def test_codes_of_the_troubleshooting_page_exist() -> None:
    page = (ROOT / "docs" / "troubleshooting.md").read_text().partition("## By code")[0]
    named = set(re.findall(r"`([A-Z]+_[A-Z_]+)`", page)) - {"HANDRAIL_HOME", "HANDRAIL_HELPER", "CHROME_BIN"}
    assert named - {name for name in named if name.endswith("_KEY")} <= set(ERRORS)


def test_the_install_page_says_what_each_extra_is_for() -> None:
    page = (ROOT / "docs" / "install.md").read_text().partition("| extra |")[2].partition("\n\n")[0]
    listed = set(re.findall(r"^\| `([a-z]+)`", page, flags=re.M))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert listed == extras.keys() - {"dev", "site"}


def test_every_file_that_the_architecture_names_exists() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    named = set(re.findall(r"`((?:[a-z_0-9]+/)+[a-z_0-9]*(?:\.py)?|[a-z_0-9]+\.py)`", page))
    places = [ROOT, ROOT / "src" / "handrail", ROOT / "packages" / "sim" / "src" / "handrail_sim"]
    places += [path for path in (ROOT / "src" / "handrail").iterdir() if path.is_dir()]
    places += [path for path in ROOT.glob("packages/*/src/*") if path.is_dir()]
    assert len(named) > 40

    def exists(name: str) -> bool:
        return any((place / name).exists() or (place / f"{name}.py").exists() for place in places)

    assert sorted(name for name in named if not exists(name)) == []

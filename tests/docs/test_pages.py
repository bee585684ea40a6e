"""Docs that fail the build: generated pages are fresh, links lead somewhere."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

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
    "name", ["actions.md", "errors.md", "safety.md", "dialects.md", "troubleshooting.md"]
)
def test_a_generated_page_is_what_the_code_says(name: str) -> None:
    assert (ROOT / "docs" / name).read_text() == load_generator().pages()[name], "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        if not link.startswith(("http:", "https:")):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_no_number_of_a_decision_is_used_twice_and_each_has_its_four_parts() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert len({page.name[:4] for page in pages}) == len(pages)
    for page in pages:
        for part in ("**Context.**", "**Decision.**", "**Alternatives.**", "**Consequence.**"):
            assert part in page.read_text(), f"{page.name} has no {part}"


def test_every_layer_and_protocol_file_stands_in_the_architecture() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    for path in (ROOT / "src" / "handrail" / "protocol").glob("[a-z]*.py"):
        assert path.name in page, f"{path.name} is missing from docs/architecture.md"

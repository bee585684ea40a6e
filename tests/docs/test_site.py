"""The site as it is built: complete, without a wrong link, spelled right, and alone with its reader.

What it is judged by shares nothing with what builds it: the built HTML, a browser that counts its requests, a
dictionary.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
WORDS = ROOT / "docs" / "site" / "words.txt"
HAS_TOOLS = all(importlib.util.find_spec(name) for name in ("zensical", "spellchecker"))
pytestmark = [
    pytest.mark.skipif(
        not HAS_TOOLS and "HANDRAIL_REQUIRE_SITE" not in os.environ,
        reason="`make site` installs what builds the site",
    )
]
MARKDOWN = sorted(
    path
    for path in [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("packages/sim/*.md"),
        *ROOT.glob("packages/sim/docs/*.md"),
    ]
)
NOT_PAGES = {"README.md", "SECURITY.md", "packages/sim/README.md"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("site").resolve() / "site"
    command = [sys.executable, "docs/build_site.py", built]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return built


class Parts(HTMLParser):
    """What a page refers to, and what in it can be referred to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.ids: set[str] = set()
        self.menu: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
            if "md-nav__link" in given.get("class", ""):
                self.menu.add(given["href"])
        elif tag in ("img", "script") and "src" in given:
            self.fetched.append(given["src"])
        elif tag == "link" and given.get("rel") not in ("next", "prev", "canonical"):
            self.fetched.append(given.get("href", ""))


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Parts]:
    return {path.resolve(): Parts(path) for path in site.rglob("*.html")}


def led_to(page: Path, link: str) -> Path:
    return (page.parent / unquote(urlsplit(link).path)).resolve() if urlsplit(link).path else page


def test_every_page_of_the_repository_is_on_the_site_and_in_its_menu(
    site: Path, pages: dict[Path, Parts]
) -> None:
    listed = {led_to(page, link) for page, parts in pages.items() for link in parts.menu}
    listed.add((site / "index.html").resolve())
    drawn = {page for page in pages if page.name != "404.html"}
    assert {str(page.relative_to(site)) for page in drawn - listed} == set()
    assert len(drawn) == len([path for path in MARKDOWN if str(path.relative_to(ROOT)) not in NOT_PAGES])


def test_every_link_and_anchor_within_the_site_leads_somewhere(pages: dict[Path, Parts]) -> None:
    lost = []
    for page, parts in pages.items():
        for link in parts.links:
            if urlsplit(link).scheme or page.name == "404.html":
                continue
            target, anchor = led_to(page, link), unquote(urlsplit(link).fragment)
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].ids):
                lost.append(f"{page.name}: {link}")
    assert lost == []


def test_a_link_to_elsewhere_is_an_address(pages: dict[Path, Parts]) -> None:
    abroad = {link for parts in pages.values() for link in parts.links if urlsplit(link).scheme}
    assert abroad
    wrong = {
        link
        for link in abroad
        if urlsplit(link).scheme not in ("http", "https") or not urlsplit(link).hostname
    }
    assert wrong == set()


def test_every_picture_and_script_lies_on_the_site(pages: dict[Path, Parts]) -> None:
    missing = [
        f"{page.name}: {address}"
        for page, parts in pages.items()
        for address in parts.fetched
        if page.name != "404.html" and (urlsplit(address).scheme or not led_to(page, address).is_file())
    ]
    assert missing == []


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    program = os.environ.get("CHROME_BIN", "/usr/bin/chromium")
    if not Path(program).exists() and "HANDRAIL_REQUIRE_BROWSER" not in os.environ:
        pytest.skip("no Chromium here")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=program, args=flags)
        yield started
        started.close()


def test_opened_as_a_file_it_finds_words_and_asks_no_other_host(site: Path, browser: object) -> None:
    page = browser.new_page()  # type: ignore[attr-defined]
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "quickstart" / "researcher.html").as_uri())
    page.get_by_role("button", name="Search").click()
    page.keyboard.type("stale reference")
    page.get_by_role("option", name="STALE_REFERENCE").first.click()
    page.wait_for_url("**/troubleshooting.html*")
    assert page.get_by_role("heading", name="STALE_REFERENCE").is_visible()
    assert asked
    assert [address for address in asked if not address.startswith(("file:", "data:", "blob:"))] == []


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    "name", ["index", "quickstart/qa-engineer", "actions", "troubleshooting", "comparison"]
)
def test_no_page_is_wider_than_the_screen(site: Path, browser: object, name: str, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 844})  # type: ignore[attr-defined]
    page.goto((site / f"{name}.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def prose(text: str) -> Iterator[str]:
    """The words of a page that are neither code nor addresses."""
    for noise in (
        r"(?ms)^ *```.*?^ *```",
        r"(?s)<!--.*?-->",
        r"``?[^`]+``?",
        r"\]\([^)]*\)",
        r"<[^>]+>",
        r"https?://\S+",
    ):
        text = re.sub(noise, " ", text)
    for word in re.findall(r"[A-Za-z][A-Za-z'’]*[A-Za-z]", text):
        yield word.replace("’", "'").removesuffix("'s")


def test_the_pages_are_spelled_right() -> None:
    """Words in capitals and in camelCase are names; what else no dictionary has is in docs/site/words.txt."""
    from spellchecker import SpellChecker  # noqa: PLC0415

    known, own = SpellChecker(distance=1), set(WORDS.read_text().split())
    wrong = {
        f"{page.relative_to(ROOT)}: {word}"
        for page in MARKDOWN
        for word in prose(page.read_text())
        if not (
            word.isupper()
            or re.search("[a-z][A-Z]", word)
            or {word, word.lower()} & own
            or word.lower() in known
        )
    }
    assert not wrong, "mend it, or add it to docs/site/words.txt:\n" + "\n".join(sorted(wrong))

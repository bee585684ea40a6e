"""Pages are plain English: no word that docs/writing.md lists, no sentence of more than 40 words."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
STYLE = ROOT / "docs" / "writing.md"
LONGEST = 40  # words
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *(path for path in sorted(ROOT.glob("docs/**/*.md")) if path.parent.name != "decisions"),
    *sorted([*ROOT.glob("packages/*/README.md"), *ROOT.glob("packages/*/docs/*.md")]),
]
ITEM = re.compile(r"([-*+]|\d+\.)\s+|>\s?")


def blocks(page: str) -> Iterator[str]:
    """Paragraphs, entries of lists and cells of tables; fenced code, headings and comments are left out."""
    page = re.sub(r"<!--.*?-->|^\s*(`{3,}).*?^\s*\1\s*$", "", page, flags=re.S | re.M)
    block: list[str] = []
    for line in [*map(str.strip, page.split("\n")), ""]:
        if not line or line[0] in "#|" or (ITEM.match(line) and not line.startswith(">")):
            yield " ".join(block)
            block = []
        if line.startswith("|"):
            yield from re.split(r"(?<!\\)\|", line)
        elif line and line[0] != "#":
            block.append(ITEM.sub("", line, count=1) if ITEM.match(line) else line)


def sentences(page: str) -> Iterator[str]:
    """What a reader reads as text: code counts as one word, as does a list such as `a / b / c`."""
    for block in blocks(page):
        text = re.sub(r"(`+).+?\1", "X", block)
        text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)|<[^>]+>", r"\1", text)
        text = re.sub(r"\s[/·→]\s|\bX(?:,? X)+", "/", text)
        yield from re.split(r"(?<=[.!?])[\"”')*_]*\s+", text)


def words_to_avoid() -> list[str]:
    table = STYLE.read_text().partition("| instead of | write |\n")[2]
    return [row.split("|")[1].strip() for row in table.splitlines()[1:]]


def faults(page: str) -> list[str]:
    listed = re.compile(rf"(?<![\w-])(?:{'|'.join(words_to_avoid())})(?![\w-])", re.IGNORECASE)
    text = page.partition("| before | after |")[0]
    return [
        f"{len(one.split())} words: {one}" if len(one.split()) > LONGEST else f"{found[0]!r}: {one}"
        for one in sentences(text)
        for found in [listed.search(one)]
        if found or len(one.split()) > LONGEST
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_has_plain_words_and_short_sentences(page: Path) -> None:
    assert not (wrong := faults(page.read_text())), f"{page.relative_to(ROOT)}:\n" + "\n".join(wrong)


def test_listed_words_and_long_sentences_are_found_and_code_is_not_read() -> None:
    long = " ".join(["word"] * LONGEST)
    page = (
        f"Nobody is told.\n\n```\nnobody\n```\n# Nobody\n\n- `nobody`. More {long}.\n- {long}.\n\n| a yes |\n"
    )
    found = [fault.partition(":")[0] for fault in faults(page)]
    assert found == ["'Nobody'", f"{LONGEST + 1} words", "'a yes'"]

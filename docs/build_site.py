"""Builds the site (`make site`): gathers the pages, mends their links, has Zensical draw them.

The pages are the files that are read in a clone; nothing is written for the site alone. What a page links to
and is no page is put beside it, so that the site needs no network and no repository.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ELSEWHERE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",
    "packages/sim/CHANGELOG.md": "simulator/changelog.md",
    "packages/sim/README.md": "simulator/simulator.md",
}
"""Pages whose place on the site can't be told from their place here, or that another page stands for."""
NOT_GATHERED = {"README.md", "packages/sim/README.md"}

_FENCE = re.compile(r"^\s*(```+|~~~+)")
_LINK = re.compile(r"(?P<before>!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()(?P<link>[^)\s]+)(?P<after>\))")
_SOURCE = re.compile(r'(?P<before><img src=")(?P<link>[^"]+)(?P<after>")')
_BLOCK = re.compile(r"^(?:[-*] |\d+\. |\|)")


def main() -> None:
    """Into `site/`, or into the folder that is named. Exit code 1 for a wrong page, link or anchor."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site"
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        gather(work)
        zensical = [Path(sys.executable).with_name("zensical"), "build", "--clean", "--strict"]
        done = subprocess.run([*zensical, "--config-file", work / "zensical.toml"], cwd=work, check=False)
        if done.returncode:
            sys.exit(1)
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(work / "built", out)
    sys.stdout.write(f"{len(list(out.rglob('*.html')))} pages: {out / 'index.html'}\n")


def gather(work: Path) -> None:
    """All that Zensical reads, into an empty folder."""
    pages = work / "pages"
    (pages / "assets").mkdir(parents=True)
    for asset in ("docs/site/style.css", "docs/site/iframe-worker.js", "src/handrail/web/icon.svg"):
        shutil.copy(ROOT / asset, pages / "assets")
    for source, place in places().items():
        target = pages / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(as_on_the_site((ROOT / source).read_text(), source, pages))
    settings = (ROOT / "docs" / "site" / "zensical.toml").read_text()
    before, _, rest = settings.partition("nav = [\n")
    after = rest.partition("\n]\n")[2]
    (work / "zensical.toml").write_text(f"{before}nav = {_toml(navigation())}\n{after}")


def places() -> dict[str, str]:
    """Every page of the repository that belongs to the site, and its place there."""
    found = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("packages/sim/docs/*.md"), *map(ROOT.joinpath, ELSEWHERE)]
    names = (path.relative_to(ROOT).as_posix() for path in found)
    return {name: _place(name) for name in names if name not in NOT_GATHERED}


def _place(name: str) -> str:
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    return (
        name.replace("packages/sim/docs/", "simulator/", 1)
        if name.startswith("packages/sim/")
        else name.removeprefix("docs/")
    )


def navigation() -> list[Any]:
    """As docs/site/zensical.toml has it, with its patterns filled and without what is not there."""
    told = tomllib.loads((ROOT / "docs" / "site" / "zensical.toml").read_text())["project"]["nav"]
    return _there(told, sorted(places().values()))


def _there(entries: list[Any], pages: list[str]) -> list[Any]:
    kept: list[Any] = []
    for entry in entries:
        if isinstance(entry, dict):
            [(title, inside)] = entry.items()
            found = _there(inside if isinstance(inside, list) else [inside], pages)
            kept += [{title: found if isinstance(inside, list) else found[0]}] if found else []
        else:
            kept += fnmatch.filter(pages, entry)
    return kept


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}" = {_toml(one)}' for key, one in value.items()) + "}"
    return f'"{value}"'


def as_on_the_site(text: str, source: str, pages: Path) -> str:
    """A page with its links as they are on the site."""

    def mended(found: re.Match[str]) -> str:
        link = on_the_site(found["link"], source, pages)
        return f"{found['before']}{link}{found['after']}"

    return "\n".join(_outside_fences(text, lambda line: _SOURCE.sub(mended, _LINK.sub(mended, line))))


def _outside_fences(text: str, change: Callable[[str], str]) -> Iterator[str]:
    """Lists and tables get the blank line before them that this Markdown wants and GitHub's does not."""
    fence, before = "", ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
            yield line
        elif mark:
            fence = mark[1]
            yield line
        else:
            if _BLOCK.match(line) and before.strip() and not _BLOCK.match(before) and before[0] not in " \t>":
                yield ""
            yield change(line)
        before = line


def on_the_site(link: str, source: str, pages: Path) -> str:
    """Where a link of a page in the repository leads on the site: a page, or a copy of a file."""
    address, mark, anchor = link.partition("#")
    if not address or re.match(r"[a-z][a-z0-9+.-]*:", address):
        return link
    target = (ROOT / source).parent.joinpath(address).resolve().relative_to(ROOT).as_posix()
    place = places().get(target) or ELSEWHERE.get(target) or _kept(target, pages)
    here = PurePosixPath(_place(source)).parent
    return os.path.relpath(place, here) + mark + anchor


def _kept(target: str, pages: Path) -> str:
    """A file that is no page is copied; a folder is the list of its files."""
    path, place = ROOT / target, f"files/{target}"
    copy = pages / place
    if path.is_dir():
        copy, place = copy / "files.txt", f"{place}/files.txt"
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text("".join(f"{target}/{one.name}\n" for one in sorted(path.iterdir())))
        return place
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, copy)
    return place


if __name__ == "__main__":
    main()

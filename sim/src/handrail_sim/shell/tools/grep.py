"""`grep`, `egrep`, `fgrep`: lines that match, in files or on stdin."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from handrail_sim.shell.call import Call, Command, encode
from handrail_sim.shell.io import CHUNK, Nothing, Source
from handrail_sim.shell.options import BadUsage, Options
from handrail_sim.shell.tools.expressions import compile_pattern, to_python
from handrail_sim.shell.tools.read_files import open_all


@dataclass(slots=True)
class _Search:
    """One run of grep."""

    call: Call
    options: Options
    pattern: re.Pattern[str]
    named: bool
    matched: bool = False

    async def source(self, name: str, source: Source) -> None:
        """Search line by line as they come: `logcat | grep` shows a line when it is there."""
        count, number, limit = 0, 0, self.options.number("m", -1)
        before: deque[tuple[int, str]] = deque(maxlen=self._context("B"))
        follow = 0
        async for line in _lines(source):
            number += 1
            if count != limit and self._matches(line):
                count += 1
                for old in before:
                    await self._show(name, *old, mark="-")
                before.clear()
                await self._show(name, number, line, mark=":")
                follow = self._context("A")
            elif follow:
                follow -= 1
                await self._show(name, number, line, mark="-")
            else:
                before.append((number, line))
            if (count == limit and not follow) or (count and "q" in self.options):
                break
        await self._summary(name, count)

    def _context(self, side: str) -> int:
        """Lines to show around a match: -A after, -B before, -C both."""
        return self.options.number(side, self.options.number("C", 0))

    def _matches(self, line: str) -> bool:
        hit = (self.pattern.search(line) is None) == ("v" in self.options)
        self.matched |= hit
        return hit

    async def _show(self, name: str, number: int, line: str, *, mark: str) -> None:
        if self.options.flags & {"q", "c", "l", "L"}:
            return
        label = f"{name}{mark}" if self.named else ""
        label += f"{number}{mark}" if "n" in self.options else ""
        shown = [line]
        if "o" in self.options:
            shown = [one.group() for one in self.pattern.finditer(line) if one.group()] if mark == ":" else []
        for text in shown:
            await self.call.stdout.write(encode(f"{label}{text}\n"))

    async def _summary(self, name: str, count: int) -> None:
        if "c" in self.options:
            await self.call.line(f"{name}:{count}" if self.named else str(count))
        if ("l" in self.options and count) or ("L" in self.options and not count):
            await self.call.line(name)


async def _lines(source: Source) -> AsyncIterator[str]:
    held = b""
    while part := await source.read(CHUNK):
        *lines, held = (held + part).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "surrogateescape")
    if held:
        yield held.decode("utf-8", "surrogateescape")


async def grep(call: Call) -> int:
    """`grep [-EFivcnoqlLwxrHh] [-e PATTERN] [-m N] [-A N] [-B N] [-C N] PATTERN [FILE…]`."""
    options = call.options
    program = call.argv[0].rpartition("/")[2]
    patterns = list(options.many.get("e", []))
    for name in options.many.get("f", []):
        patterns += call.session.files.read(call.path(name)).decode("utf-8", "replace").splitlines()
    given = bool(options.flags & {"e", "f"})
    patterns = patterns if given else options.rest[:1]
    if not patterns:
        raise BadUsage("no REGEX", 2)
    if options.values.get("--color", "never") not in {"never", "auto", ""}:
        raise BadUsage(f"bad --color '{options.values['--color']}'", 2)
    names = options.rest if given else options.rest[1:]
    fixed, extended = (
        "F" in options or program == "fgrep",
        "E" in options or program == "egrep",
    )
    joined = [re.escape(one) if fixed else to_python(one, extended=extended) for text in patterns
              for one in text.split("\n")]  # fmt: skip
    pattern = _whole("|".join(f"(?:{one})" for one in joined), options)
    if options.flags & {"r", "R"}:
        names = [name for name in _below(call, names or ["."]) if _included(name, options)]
        if not names:
            return 1
    search = _Search(call, options, pattern, named=(len(names) > 1 or "H" in options) and "h" not in options)
    failed: list[str] = []
    quiet = replace(call, stderr=Nothing()) if "s" in options else call
    async for name, source in open_all(quiet, names, failed):
        await search.source("(standard input)" if name == "-" else name, source)
        if search.matched and "q" in options:
            return 0
    return 2 if failed and not search.matched else int(not search.matched)


def _whole(pattern: str, options: Options) -> re.Pattern[str]:
    if "w" in options:
        pattern = rf"\b(?:{pattern})\b"
    if "x" in options:
        pattern = rf"\A(?:{pattern})\Z"
    return compile_pattern(pattern, extended=True, ignore_case="i" in options)


def _included(name: str, options: Options) -> bool:
    """`--include` and `--exclude` look at a file's own name."""
    own = name.rpartition("/")[2]
    wanted, unwanted = options.many.get("--include", []), options.many.get("--exclude", [])
    return (not wanted or any(fnmatchcase(own, one) for one in wanted)) and not any(
        fnmatchcase(own, one) for one in unwanted
    )


def _below(call: Call, names: list[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        base = call.path(name)
        walk = call.session.files.walk(base)
        found += [name + path[len(base) :] for path, fact in walk if fact.is_file]
    return found


FAMILY: dict[str, Command] = {"grep": grep, "egrep": grep, "fgrep": grep}

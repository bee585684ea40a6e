"""`find`: an expression over every file below some places, with `-o`, `!`, brackets and actions."""

from __future__ import annotations

import posixpath
import stat as modes
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from handrail_sim.disk.lookup import Stat
from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.io import Streams
from handrail_sim.shell.options import BadUsage
from handrail_sim.shell.start import start
from handrail_sim.shell.tools.names import user_name

_TYPES = {"f": modes.S_IFREG, "d": modes.S_IFDIR, "l": modes.S_IFLNK, "c": modes.S_IFCHR}
_UNITS = {"c": 1, "k": 1024, "M": 1 << 20, "G": 1 << 30}
DAY_MS, MINUTE_MS = 86_400_000, 60_000


@dataclass(frozen=True, slots=True)
class File:
    """One file as an expression sees it."""

    path: str
    depth: int
    fact: Stat

    @property
    def name(self) -> str:
        return posixpath.basename(self.path)


Test = Callable[[File], Awaitable[bool]]


def _compared(text: str, value: float) -> bool:
    """`+N` more, `-N` less, `N` just that."""
    try:
        number = int(text.lstrip("+-"))
    except ValueError:
        raise BadUsage(f"bad number '{text}'") from None
    return value > number if text[0] == "+" else value < number if text[0] == "-" else value == number


@dataclass(slots=True)
class Expression:
    """Reads the words once, and is asked for every file."""

    call: Call
    words: list[str]
    acts: bool = False
    """An action stands in it, so that no `-print` is added."""
    deepest: int = 1 << 30
    shallowest: int = 0
    later: list[tuple[list[str], list[str]]] = field(default_factory=list)
    """Commands of `-exec … +` with the files they get at the end."""

    def either(self) -> Test:
        first = self.both()
        while self.words[:1] in (["-o"], ["-or"]):
            self.words.pop(0)
            first = self._or(first, self.both())
        return first

    def both(self) -> Test:
        first = self.primary()
        while self.words and self.words[0] not in {"-o", "-or", ")"}:
            if self.words[0] in {"-a", "-and"}:
                self.words.pop(0)
            first = self._and(first, self.primary())
        return first

    @staticmethod
    def _or(left: Test, right: Test) -> Test:
        async def test(file: File) -> bool:
            return await left(file) or await right(file)

        return test

    @staticmethod
    def _and(left: Test, right: Test) -> Test:
        async def test(file: File) -> bool:
            return await left(file) and await right(file)

        return test

    def primary(self) -> Test:
        word = self._next("expression")
        if word in {"!", "-not"}:
            inner = self.primary()

            async def test(file: File) -> bool:
                return not await inner(file)

            return test
        if word == "(":
            inner = self.either()
            if self.words[:1] != [")"]:
                raise BadUsage("need )")
            self.words.pop(0)
            return inner
        return self._primary(word)

    def _next(self, after: str) -> str:
        if not self.words:
            raise BadUsage(f"missing argument to '{after}'")
        return self.words.pop(0)

    def _primary(self, word: str) -> Test:
        if word in {"-print", "-print0", "-delete", "-exec", "-execdir", "-quit"}:
            self.acts = True
        if word in {"-exec", "-execdir"}:
            return self._exec()
        if word in _PLAIN:
            plain = _PLAIN[word]
            return lambda file: plain(self.call, file)
        if word not in _VALUED and word not in {"-maxdepth", "-mindepth"}:
            raise BadUsage(f"bad arg '{word}'")
        value = self._next(word)
        if word == "-maxdepth":
            self.deepest = _depth(value)
        elif word == "-mindepth":
            self.shallowest = _depth(value)
        holds = _VALUED.get(word, _always)

        async def test(file: File) -> bool:
            return holds(self.call, file, value)

        return test

    def _exec(self) -> Test:
        end = next((at for at, word in enumerate(self.words) if word in {";", "+"}), None)
        if end is None:
            raise BadUsage("-exec needs ;")
        argv, joined = self.words[:end], self.words[end] == "+"
        del self.words[: end + 1]
        saved: list[str] = []
        if joined:
            self.later.append((argv, saved))

        async def test(file: File) -> bool:
            if joined:
                saved.append(file.path)
                return True
            return await run(self.call, [word.replace("{}", file.path) for word in argv]) == 0

        return test


def _depth(text: str) -> int:
    if not text.isdigit():
        raise BadUsage(f"bad number '{text}'")
    return int(text)


async def run(call: Call, argv: list[str]) -> int:
    inner = Call(call.phone, argv, call.session, call.stdin, call.stdout, call.stderr)
    return await start(inner, Streams(call.stdin, call.stdout, call.stderr))


async def _print(call: Call, file: File) -> bool:
    await call.line(file.path)
    return True


async def _print0(call: Call, file: File) -> bool:
    await call.out(f"{file.path}\0")
    return True


async def _delete(call: Call, file: File) -> bool:
    files = call.session.files
    (files.rmdir if file.fact.is_dir else files.remove)(call.path(file.path))
    return True


async def _empty(call: Call, file: File) -> bool:
    if file.fact.is_dir:
        return not call.session.files.list(call.path(file.path))
    return file.fact.is_file and file.fact.size == 0


async def _true(_: Call, __: File) -> bool:
    return True


async def _false(_: Call, __: File) -> bool:
    return False


_PLAIN: dict[str, Callable[[Call, File], Awaitable[bool]]] = {
    "-print": _print,
    "-print0": _print0,
    "-delete": _delete,
    "-empty": _empty,
    "-true": _true,
    "-false": _false,
    "-depth": _true,
}


def _always(_: Call, __: File, ___: str) -> bool:
    return True


def _type(_: Call, file: File, value: str) -> bool:
    if any(letter not in _TYPES for letter in value.split(",")):
        raise BadUsage(f"bad -type '{value}'")
    return modes.S_IFMT(file.fact.mode) in {_TYPES[letter] for letter in value.split(",")}


def _size(_: Call, file: File, value: str) -> bool:
    unit = _UNITS.get(value[-1])
    blocks = -(-file.fact.size // (unit or 512))
    return _compared(value[:-1] if unit else value, blocks)


def _perm(_: Call, file: File, value: str) -> bool:
    mode, bits = file.fact.mode & 0o7777, value.lstrip("-/")
    if not bits.isdigit():
        raise BadUsage(f"bad mode '{value}'")
    wanted = int(bits, 8)
    return (
        mode & wanted == wanted
        if value[0] == "-"
        else bool(mode & wanted)
        if value[0] == "/"
        else mode == wanted
    )


def _aged(unit_ms: int) -> Callable[[Call, File, str], bool]:
    def holds(call: Call, file: File, value: str) -> bool:
        return _compared(value, (call.phone.clock.now_ms() - file.fact.mtime * 1000) // unit_ms)

    return holds


_VALUED: dict[str, Callable[[Call, File, str], bool]] = {
    "-name": lambda _, file, value: fnmatchcase(file.name, value),
    "-iname": lambda _, file, value: fnmatchcase(file.name.lower(), value.lower()),
    "-path": lambda _, file, value: fnmatchcase(file.path, value),
    "-ipath": lambda _, file, value: fnmatchcase(file.path.lower(), value.lower()),
    "-type": _type,
    "-size": _size,
    "-perm": _perm,
    "-user": lambda _, file, value: value in {user_name(file.fact.uid), str(file.fact.uid)},
    "-newer": lambda call, file, value: file.fact.mtime > call.session.files.stat(call.path(value)).mtime,
    "-mtime": _aged(DAY_MS),
    "-mmin": _aged(MINUTE_MS),
}


async def find(call: Call) -> int:
    args = call.args
    places: list[str] = []
    while args and not args[0].startswith(("-", "!", "(")):
        places.append(args.pop(0))
    deep_first = "-depth" in args or "-delete" in args
    expression, explicit = Expression(call, args), bool(args)
    test = expression.either() if explicit else (lambda file: _print(call, file))
    if expression.words:
        raise BadUsage(f"bad arg '{expression.words[0]}'")
    status = 0
    for place in places or ["."]:
        try:
            for file in _below(call, place, deep_first=deep_first):
                if not expression.shallowest <= file.depth <= expression.deepest:
                    continue
                if await test(file) and explicit and not expression.acts:
                    await call.line(file.path)
        except OSError as problem:
            status = await call.fail(f"'{problem.filename}': {problem.strerror}")
    for argv, paths in expression.later:
        words = [path for word in argv for path in (paths if word == "{}" else [word])]
        status |= int(bool(paths) and await run(call, words) != 0)
    return status


def _below(call: Call, place: str, *, deep_first: bool) -> list[File]:
    base = call.path(place)
    if place.endswith("/") and call.session.files.exists(base):
        base = call.session.files.canonical(base)
    files = []
    for path, fact in call.session.files.walk(base):
        shown = place.rstrip("/") + path[len(base.rstrip("/")) :] if path != base else place
        files.append(File(shown or "/", path.count("/") - base.count("/"), fact))
    return files[::-1] if deep_first else files


FAMILY: dict[str, Command] = {"find": find}

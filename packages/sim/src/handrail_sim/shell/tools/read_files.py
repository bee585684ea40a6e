"""Commands that read files: cat, head, tail, wc, hashes, base64, xxd."""

from __future__ import annotations

import base64 as b64
import hashlib
from collections.abc import AsyncIterator

from handrail_sim.shell.call import Call, by_name
from handrail_sim.shell.io import CHUNK, Source, Streams
from handrail_sim.shell.options import BadUsage, Options
from handrail_sim.shell.redirect import RedirectFailed, open_source

FOLLOW_MS = 1000.0


async def open_all(call: Call, names: list[str], failed: list[str]) -> AsyncIterator[tuple[str, Source]]:
    """Each named file, stdin for `-` or none; a missing one is reported, remembered and skipped."""
    for name in names or ["-"]:
        if name == "-":
            yield name, call.stdin
            continue
        try:
            yield name, _open(call, name)
        except OSError as problem:
            failed.append(name)
            await call.fail(f"{name}: {problem.strerror}")


def _open(call: Call, name: str) -> Source:
    path = call.path(name)
    call.session.files.stat(path)
    if call.session.files.is_dir(path):
        raise IsADirectoryError(21, "Is a directory", name)
    try:
        return open_source(call.session, path, Streams(call.stdin, call.stdout, call.stderr))
    except RedirectFailed:
        raise PermissionError(13, "Permission denied", name) from None


async def content(source: Source) -> bytes:
    parts: list[bytes] = []
    while part := await source.read(CHUNK):
        parts.append(part)
    return b"".join(parts)


async def cat(call: Call) -> int:
    options, failed = call.options, list[str]()
    async for _, source in open_all(call, options.rest, failed):
        while part := await source.read(CHUNK):
            await call.stdout.write(_visible(part, options))
    return int(bool(failed))


def _visible(data: bytes, options: Options) -> bytes:
    if not options.flags & {"v", "e", "t"}:
        return data
    shown = bytearray()
    for byte in data:
        if byte == 10:
            shown += b"$\n" if "e" in options else b"\n"
        elif byte == 9 and "t" not in options:
            shown.append(byte)
        else:
            low = byte & 0x7F
            text = bytes([low]) if 32 <= low < 127 else b"^" + bytes([low ^ 0x40])
            shown += (b"M-" if byte >= 128 else b"") + text
    return bytes(shown)


async def head(call: Call) -> int:
    options, failed = call.options, list[str]()
    async for name, source in open_all(call, options.rest, failed):
        if (len(options.rest) > 1 and "q" not in options) or "v" in options:
            await call.line(f"==> {name} <==")
        if "c" in options:
            left = options.number("c", 0)
            while left > 0 and (part := await source.read(min(left, CHUNK))):
                left -= len(part)
                await call.stdout.write(part)
        else:
            await _first_lines(call, source, options.number("n", 10))
    return int(bool(failed))


async def _first_lines(call: Call, source: Source, left: int) -> None:
    if left < 0:
        lines = (await content(source)).splitlines(keepends=True)
        await call.stdout.write(b"".join(lines[:left]))
        return
    while left > 0 and (part := await source.read(CHUNK)):
        lines = part.splitlines(keepends=True)
        await call.stdout.write(b"".join(lines[:left]))
        left -= sum(line.endswith(b"\n") for line in lines[:left])


async def tail(call: Call) -> int:
    options, failed = call.options, list[str]()
    async for name, source in open_all(call, options.rest, failed):
        if len(options.rest) > 1 and "q" not in options:
            await call.line(f"==> {name} <==")
        data = await content(source)
        if "c" in options:
            await call.stdout.write(_last(data, options.values["c"], complete=True))
        else:
            await call.stdout.write(_last(data, options.values.get("n", "10"), complete=False))
        if options.flags & {"f", "F"} and name != "-":
            await _follow(call, name, len(data))
    return int(bool(failed))


async def _follow(call: Call, name: str, at: int) -> None:
    """What is added to a file, until the command is stopped."""
    while True:
        await call.phone.clock.sleep_ms(FOLLOW_MS)
        files, path = call.session.files, call.path(name)
        data = files.read(path) if files.exists(path) else b""
        at = 0 if len(data) < at else at
        if data[at:]:
            await call.stdout.write(data[at:])
        at = len(data)


def _last(data: bytes, count: str, *, complete: bool) -> bytes:
    """The last N, or with `+N` everything from the Nth on."""
    pieces = [data[at : at + 1] for at in range(len(data))] if complete else data.splitlines(keepends=True)
    try:
        number = int(count)
    except ValueError:
        raise BadUsage(f"not integer: {count}") from None
    if count.startswith("+"):
        return b"".join(pieces[max(0, number - 1) :])
    return b"".join(pieces[-abs(number) :] if number else [])


async def wc(call: Call) -> int:
    options, failed = call.options, list[str]()
    shown = [letter for letter in "lwmcL" if letter in options] or list("lwc")
    totals: list[list[int]] = []
    async for name, source in open_all(call, options.rest, failed):
        data = await content(source)
        text = data.decode("utf-8", "replace")
        counts = {"l": data.count(b"\n"), "w": len(data.split()), "c": len(data), "m": len(text)}
        counts["L"] = max(map(len, text.splitlines()), default=0)
        totals.append([counts[letter] for letter in shown])
        await call.line(_counted(totals[-1], "" if name == "-" else name))
    if len(totals) > 1:
        await call.line(_counted([sum(column) for column in zip(*totals, strict=True)], "total"))
    return int(bool(failed))


def _counted(numbers: list[int], name: str) -> str:
    text = str(numbers[0]) if len(numbers) == 1 else " ".join(f"{number:>7}" for number in numbers)
    return f"{text} {name}".rstrip()


async def checksum(call: Call) -> int:
    """md5sum and its kin; -b prints the bare sum."""
    options, failed = call.options, list[str]()
    if "c" in options:
        return await _check(call, options.rest)
    kind = call.argv[0].rpartition("/")[2].removesuffix("sum")
    async for name, source in open_all(call, options.rest, failed):
        digest = hashlib.new(kind, await content(source), usedforsecurity=False).hexdigest()
        await call.line(digest if "b" in options else f"{digest}  {name}")
    return int(bool(failed))


async def _check(call: Call, names: list[str]) -> int:
    kind, status, failed = call.argv[0].rpartition("/")[2].removesuffix("sum"), 0, list[str]()
    async for _, source in open_all(call, names, failed):
        for line in (await content(source)).decode("utf-8", "replace").splitlines():
            expected, _, name = line.partition("  ")
            data = call.session.files.read(call.path(name))
            good = hashlib.new(kind, data, usedforsecurity=False).hexdigest() == expected
            status |= int(not good)
            await call.line(f"{name}: {'OK' if good else 'FAILED'}")
    return status or int(bool(failed))


async def base64(call: Call) -> int:
    options, failed = call.options, list[str]()
    async for _, source in open_all(call, options.rest, failed):
        data = await content(source)
        if "d" in options:
            await call.out(b64.b64decode(b"".join(data.split()) + b"=="))
            continue
        width, text = options.number("w", 76), b64.b64encode(data).decode()
        lines = [text[at : at + width] for at in range(0, len(text), width)] if width else [text]
        await call.out("".join(line + "\n" for line in lines))
    return int(bool(failed))


async def xxd(call: Call) -> int:
    options, failed = call.options, list[str]()
    async for _, source in open_all(call, options.rest, failed):
        data = await content(source)
        if "r" in options:
            await call.out(_from_hex(data.decode("utf-8", "replace"), plain="p" in options))
            continue
        start = options.number("s", 0)
        data = data[start : start + options.number("l", len(data))]
        width = max(1, options.number("c", 30 if "p" in options else 16))
        for at in range(0, len(data), width):
            part = data[at : at + width]
            if "p" in options:
                await call.line(part.hex())
                continue
            pairs = " ".join(part[n : n + 2].hex() for n in range(0, len(part), 2))
            shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
            await call.line(f"{at + start:08x}: {pairs:<{(width + 1) // 2 * 5 - 1}}  {shown}")
    return int(bool(failed))


def _from_hex(text: str, *, plain: bool) -> bytes:
    digits = text if plain else "".join(line.partition(":")[2].split("  ")[0] for line in text.splitlines())
    try:
        return bytes.fromhex("".join(digits.split()))
    except ValueError:
        raise BadUsage("bad hex") from None


FAMILY = by_name(cat, head, tail, wc, base64, xxd) | {
    "md5sum": checksum,
    "sha1sum": checksum,
    "sha224sum": checksum,
    "sha256sum": checksum,
    "sha512sum": checksum,
}

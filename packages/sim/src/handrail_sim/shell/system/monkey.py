"""`monkey`: launches an app and really taps about in it, from its seed; with --port it takes a script."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from handrail_sim import resources
from handrail_sim.input.keys import NoKeyFor
from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.system.inputs import key_code
from handrail_sim.shell.system.verbs import JavaError
from handrail_sim.stream import Stream
from handrail_sim.system.intents import short_component

_BUILD = ("board", "brand", "device", "fingerprint", "model", "product", "manufacturer")


def _variables(call: Call) -> dict[str, str]:
    phone = call.phone
    top = phone.tasks.top
    existing = {f"build.{name}": phone.props.get(f"ro.product.{name}", "") for name in _BUILD}
    existing |= {"build.version.sdk": phone.props.get("ro.build.version.sdk", "")}
    existing |= {"build.version.release": phone.props.get("ro.build.version.release", "")}
    existing |= {"display.width": str(phone.display.width), "display.height": str(phone.display.height)}
    existing |= {"display.density": str(phone.display.density / 160)}
    existing |= {"am.current.package": top.app.package if top else ""}
    existing |= {"am.current.comp.class": top.component.partition("/")[2] if top else ""}
    existing |= {
        "clock.uptime": str(int(phone.clock.monotonic_ms())),
        "clock.millis": str(phone.clock.now_ms()),
    }
    return existing


async def _touch(call: Call, words: list[str]) -> str:
    action, x, y = words
    if action not in {"down", "up", "move"}:
        raise ValueError
    kind: Any = action
    call.phone.pointer(kind, float(x), float(y))
    return ""


async def _tap(call: Call, words: list[str]) -> str:
    x, y = words
    await call.phone.tap(float(x), float(y))
    return ""


async def _key(call: Call, words: list[str]) -> str:
    if words[:1] == ["up"]:
        return ""  # the key went down and up with `down`
    call.phone.key(key_code(words[-1].removeprefix("KEYCODE_")))
    return ""


async def _type(call: Call, words: list[str]) -> str:
    call.phone.type_ascii(" ".join(words))
    return ""


async def _sleep(call: Call, words: list[str]) -> str:
    await call.phone.clock.sleep_ms(float(words[0]))
    return ""


async def _wake(call: Call, _: list[str]) -> str:
    call.phone.set_awake(True)
    return ""


async def _getvar(call: Call, words: list[str]) -> str:
    return _variables(call)[words[0]]


async def _listvar(call: Call, _: list[str]) -> str:
    return " ".join(_variables(call))


COMMANDS: dict[str, Callable[[Call, list[str]], Awaitable[str]]] = {
    "touch": _touch,
    "tap": _tap,
    "key": _key,
    "press": _key,
    "type": _type,
    "sleep": _sleep,
    "wake": _wake,
    "getvar": _getvar,
    "listvar": _listvar,
}


async def _answer(call: Call, line: str) -> str:
    try:
        words = shlex.split(line)
    except ValueError:
        return "ERROR:bad quotes"
    if not words or words[0] not in COMMANDS:
        return f"ERROR:{words[0] if words else ''} not found" if words else "ERROR:"
    call.phone.catch_up()
    try:
        text = await COMMANDS[words[0]](call, words[1:])
    except (ValueError, IndexError, KeyError, NoKeyFor, JavaError):
        return "ERROR:bad arguments"
    return f"OK:{text}" if text else "OK"


async def listen(call: Call, port: int) -> int:
    """Serve the port until a client says `quit`; `done` and a hang-up end that client only."""
    name, over = f"tcp:{port}", asyncio.Event()
    if name in call.phone.ports:
        return await call.err("Error binding to network socket.", 251)

    async def serve(stream: Stream) -> None:
        held = b""
        while data := await stream.read():
            held += data
            while b"\n" in held:
                raw, _, held = held.partition(b"\n")
                line = raw.decode("utf-8", "replace").strip()
                if line in {"quit", "done"}:
                    await stream.write(b"OK\n")
                    stream.close()
                    if line == "quit":
                        over.set()
                    return
                await stream.write((await _answer(call, line)).encode() + b"\n")

    call.phone.ports[name] = serve
    try:
        await over.wait()
    finally:
        call.phone.ports.pop(name, None)
    return 0


ABORTED, WRONG = 252, 255  # -4 and -1 as exit codes
MAX_EVENTS = 20_000
DEFAULT_WEIGHTS = {"touch": 15.0, "motion": 10.0, "pinchzoom": 2.0, "trackball": 15.0, "rotation": 0.0}
DEFAULT_WEIGHTS |= {"permission": 0.0, "nav": 25.0, "majornav": 15.0, "syskeys": 2.0, "appswitch": 2.0}
DEFAULT_WEIGHTS |= {"flip": 1.0, "anyevent": 13.0}
"""Kinds of events in monkey's order, in per cent."""
_FLAGS = """
--ignore-crashes --ignore-timeouts --ignore-security-exceptions --monitor-native-crashes
--ignore-native-crashes --kill-process-after-error --hprof --dbg-no-events --pkg-whitelist-file
--periodic-bugreport --permission-target-system --randomize-throttle
"""
FLAGS = frozenset(_FLAGS.split())
LAUNCHER = "android.intent.category.LAUNCHER"
USAGE = resources.text("shell/usage/monkey.txt").rstrip("\n")


class Wrong(Exception):
    """What monkey can't read; the message follows `** Error: `."""


@dataclass(slots=True)
class Args:
    """Packages, seed, weights and count."""

    packages: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    weights: dict[str, float] = field(default_factory=dict)
    seed: int = 0
    throttle_ms: int = 0
    verbose: int = 0
    port: int = 0
    count: int = 0

    @classmethod
    def read(cls, words: list[str]) -> Args:
        args, todo = cls(), list(words)
        while todo:
            args._take(todo.pop(0), todo)
        if not args.count and not args.port:
            raise Wrong("Count not specified")
        return args

    def _take(self, word: str, todo: list[str]) -> None:
        if word == "-p":
            self.packages.append(_value(word, todo))
        elif word == "-c":
            self.categories.append(_value(word, todo))
        elif word in {"-s", "--throttle", "--port"}:
            name = {"-s": "seed", "--throttle": "throttle_ms", "--port": "port"}[word]
            setattr(self, name, _integer(_value(word, todo)))
        elif word.startswith("--pct-") and word[6:] in DEFAULT_WEIGHTS:
            self.weights[word[6:]] = float(_integer(_value(word, todo)))
        elif word.startswith("-v") and set(word[1:]) == {"v"}:
            self.verbose += len(word) - 1
        elif word.lstrip("-").isdigit():
            self.count = int(word)
        elif word not in FLAGS:
            raise Wrong(
                f"Unknown option: {word}" if word.startswith("-") else f"Count is not a number: {word}"
            )

    def shares(self) -> dict[str, float]:
        """Given weights, and the rest of 100 among the others as they stand by default."""
        total = sum(self.weights.values())
        if total > 100:
            raise Wrong("Event weights > 100%")
        others = {name: share for name, share in DEFAULT_WEIGHTS.items() if name not in self.weights}
        scale = (100 - total) / (sum(others.values()) or 1)
        return {name: self.weights.get(name, share * scale) for name, share in DEFAULT_WEIGHTS.items()}


def _value(word: str, todo: list[str]) -> str:
    if not todo:
        raise Wrong(f"No argument for option {word}")
    return todo.pop(0)


def _integer(text: str) -> int:
    if not text.lstrip("-").isdigit():
        raise Wrong(f"Invalid number: {text}")
    return int(text)


async def run(call: Call) -> int:
    await call.out("".join(f"  bash arg: {arg}\n" for arg in call.args))
    try:
        args = Args.read(call.args)
        shares = args.shares()
    except Wrong as problem:
        await call.err(f"** Error: {problem}\n{USAGE}")
        return WRONG
    listed = "".join(f' arg: "{arg}"\n' for arg in call.args)
    data = "".join(f'data="{value}"\n' for value in [*args.packages, *args.categories])
    await call.err(f"args: [{', '.join(call.args)}]\n{listed}{data}".rstrip("\n"))
    if args.port:
        return await listen(call, args.port)
    packages = args.packages or list(call.phone.packages.installed)
    startable = [name for name in packages if call.phone.packages.component(name)]
    if args.verbose:
        await _announce(call, args, shares)
    if not startable:
        await call.line("** No activities found to run, monkey aborted.")
        return ABORTED
    with _only(call, set(args.packages)):
        await _switch(call, startable[0], args)
        await _play(call, args, startable, shares)
    await _summary(call, args)
    return 0


async def _announce(call: Call, args: Args, shares: dict[str, float]) -> None:
    lines = [f":Monkey: seed={args.seed} count={args.count}"]
    lines += [f":AllowPackage: {name}" for name in args.packages]
    lines += [f":IncludeCategory: {name}" for name in args.categories or [LAUNCHER, LAUNCHER[:-8] + "MONKEY"]]
    lines += ["// Event percentages:"]
    lines += [f"//   {number}: {share:.1f}%" for number, share in enumerate(shares.values())]
    await call.line("\n".join(lines))


async def _summary(call: Call, args: Args) -> None:
    await call.line(f"Events injected: {args.count}")
    if args.verbose:
        await call.line(":Sending rotation degree=0, persist=false")
        await call.line(":Dropped: keys=0 pointers=0 trackballs=0 flips=0 rotations=0")
    await call.line("## Network stats: elapsed time=20ms (0ms mobile, 0ms wifi, 20ms not connected)")
    if args.verbose:
        await call.line("// Monkey finished")


@contextmanager
def _only(call: Call, packages: set[str]) -> Iterator[None]:
    tasks = call.phone.tasks
    before, tasks.allowed = tasks.allowed, (packages.__contains__ if packages else None)
    try:
        yield
    finally:
        tasks.allowed = before


async def _switch(call: Call, package: str, args: Args) -> None:
    component = call.phone.packages.component(package)
    call.phone.start_activity(component, action="android.intent.action.MAIN", categories=(LAUNCHER,))
    if args.verbose:
        name = short_component(component)
        await call.line(
            f":Switch: #Intent;action=android.intent.action.MAIN;category={LAUNCHER};"
            f"launchFlags=0x10200000;component={name};end\n    // Allowing start of Intent {{ "
            f"act=android.intent.action.MAIN cat=[{LAUNCHER}] cmp={name} }} in package {package}"
        )


async def _play(call: Call, args: Args, startable: list[str], shares: dict[str, float]) -> None:
    chance = Random(args.seed)  # noqa: S311 - repeatable on purpose
    names, weights = list(shares), list(shares.values())
    for _ in range(min(args.count, MAX_EVENTS) - 1):
        kind = chance.choices(names, weights)[0]
        await _event(call, kind, chance, startable, args)
        top = call.phone.tasks.top
        if args.packages and (top is None or top.app.package not in args.packages):
            await _switch(call, startable[0], args)
        if args.throttle_ms:
            await call.phone.clock.sleep_ms(args.throttle_ms)
        else:
            await asyncio.sleep(0)


_KEYS = {
    "trackball": ("DPAD_UP", "DPAD_DOWN", "DPAD_LEFT", "DPAD_RIGHT"),
    "nav": ("DPAD_UP", "DPAD_DOWN", "DPAD_LEFT", "DPAD_RIGHT"),
    "majornav": ("MENU", "DPAD_CENTER"),
    "syskeys": ("BACK", "VOLUME_UP", "VOLUME_DOWN"),
    "anyevent": ("DPAD_DOWN", "A", "B", "1", "SPACE", "ENTER", "DEL", "BACK"),
}


async def _event(call: Call, kind: str, chance: Random, startable: list[str], args: Args) -> None:
    phone, screen = call.phone, call.phone.display
    x, y = chance.randrange(screen.width), chance.randrange(screen.height)
    if kind in _KEYS:
        name = chance.choice(_KEYS[kind])
        phone.key(key_code(name))
        await _tell(call, args, f":Sending Key (ACTION_DOWN): {key_code(name)}    // KEYCODE_{name}")
    elif kind == "appswitch":
        await _switch(call, chance.choice(startable), args)
    elif kind in {"motion", "pinchzoom"}:
        x2, y2 = chance.randrange(screen.width), chance.randrange(screen.height)
        await phone.swipe(x, y, x2, y2, 0)
        await _tell(call, args, f":Sending Touch (ACTION_MOVE): 0:({x2:.1f},{y2:.1f})")
    else:
        await phone.tap(x, y)
        await _tell(call, args, f":Sending Touch (ACTION_DOWN): 0:({x:.1f},{y:.1f})")


async def _tell(call: Call, args: Args, text: str) -> None:
    if args.verbose > 1:
        await call.line(text)


FAMILY: dict[str, Command] = {"monkey": run}

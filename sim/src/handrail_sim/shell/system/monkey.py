"""`monkey`: mostly used to launch an app; with a larger count it really taps about, from its seed."""

from __future__ import annotations

import asyncio
from random import Random

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.system.keycodes import key_code

ABORTED = 252  # -4 as a process's exit code
MAX_EVENTS = 20_000
_VALUED = frozenset(
    [
        "-p",
        "-c",
        "-s",
        "--throttle",
        "-f",
        "--port",
        "--setup",
        "--pkg-whitelist-file",
        "--pkg-blacklist-file",
        "--bugreport",
    ]
)


class _Args:
    """Packages, seed and count."""

    def __init__(self, args: list[str]) -> None:
        self.packages: list[str] = []
        self.categories: list[str] = []
        self.seed, self.throttle_ms, self.count, self.verbose = 0, 0, 0, 0
        todo = list(args)
        while todo:
            arg = todo.pop(0)
            value = todo.pop(0) if (arg in _VALUED or arg.startswith("--pct-")) and todo else ""
            self._set(arg, value)

    def _set(self, arg: str, value: str) -> None:
        number = int(value) if value.lstrip("-").isdigit() else 0
        match arg:
            case "-p":
                self.packages.append(value)
            case "-c":
                self.categories.append(value)
            case "-s":
                self.seed = number
            case "--throttle":
                self.throttle_ms = number
            case _ if arg.isdigit():
                self.count = int(arg)
            case _ if arg.startswith("-v"):
                self.verbose += len(arg) - 1


async def run(call: Call) -> int:
    """`monkey [-p PACKAGE] [-c CATEGORY] [-s SEED] COUNT`."""
    args = _Args(call.args)
    echoed = "".join(f"  bash arg: {arg}\n" for arg in call.args)
    await call.out(echoed)
    if not call.args or not args.count:
        await call.err(
            "** Error: Count not specified\nusage: monkey [-p ALLOWED_PACKAGE [-p ALLOWED_PACKAGE] ...] COUNT"
        )
        return 1
    listed = "".join(f' arg: "{arg}"\n' for arg in call.args)
    data = "".join(f'data="{value}"\n' for value in [*args.packages, *args.categories])
    await call.err(f"args: [{', '.join(call.args)}]\n{listed}{data}".rstrip("\n"))
    packages = args.packages or list(call.phone.packages.installed)
    started = next((name for name in packages if call.phone.packages.component(name)), None)
    if started is None:
        await call.line("** No activities found to run, monkey aborted.")
        return ABORTED
    call.phone.start_activity(
        call.phone.packages.component(started),
        action="android.intent.action.MAIN",
        categories=("android.intent.category.LAUNCHER",),
    )
    await _play(call, args)
    await call.line(f"Events injected: {args.count}")
    await call.line("## Network stats: elapsed time=20ms (0ms mobile, 0ms wifi, 20ms not connected)")
    return 0


async def _play(call: Call, args: _Args) -> None:
    """The first event was the launch."""
    chance, screen = Random(args.seed), call.phone.display  # noqa: S311 - repeatable on purpose
    for _ in range(min(args.count, MAX_EVENTS) - 1):
        if chance.random() < 0.1:
            call.phone.key(
                key_code(chance.choice(("BACK", "DPAD_DOWN", "DPAD_UP", "VOLUME_UP", "VOLUME_DOWN")))
            )
        else:
            await call.phone.tap(chance.randrange(screen.width), chance.randrange(screen.height))
        if args.throttle_ms:
            await call.phone.clock.sleep_ms(args.throttle_ms)
        else:
            await asyncio.sleep(0)


FAMILY: dict[str, Command] = {"monkey": run}

"""`am instrument`: runs the test packages that this phone serves, and fails as Android does for the others.

Instrumentation runs in the process of the package that it tests: what stops that package ends it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from handrail_sim.handset import Handset
from handrail_sim.shell.call import Call
from handrail_sim.shell.processes import processes_of
from handrail_sim.system.intents import short_component, split_component
from handrail_sim.waiting import first

_VALUED = frozenset({"--user", "--abi", "-p", "-P"})
_CRASHED = "INSTRUMENTATION_RESULT: shortMsg=Process crashed.\nINSTRUMENTATION_CODE: 0"


def component_of(args: list[str]) -> str:
    """The `package/runner` among the arguments."""
    at = 0
    while at < len(args):
        if args[at] == "-e":
            at += 3
        elif args[at] in _VALUED:
            at += 2
        elif args[at].startswith("-"):
            at += 1
        else:
            return args[at]
    return ""


def declared(phone: Handset) -> dict[str, str]:
    packages = phone.packages.installed
    matches = {
        component: package.removesuffix(".test")
        for component in phone.instrumentations
        if (package := component.partition("/")[0]) in packages
    }
    for package, existing in packages.items():
        matches |= {f"{package}/{runner}": target for runner, target in existing.instrumentations.items()}
    return {short_component(component): matches[component] for component in sorted(matches)}


@dataclass(frozen=True, slots=True)
class InstrumentationTarget:
    """What is to run: the component as it was given and in full, and the package whose process it needs."""

    component_text: str
    full: str
    target: str
    problem: str = ""


def _wanted(call: Call, component: str) -> InstrumentationTarget:
    package, runner = split_component(component)
    full, packages = f"{package}/{runner}", call.phone.packages.installed
    info = f"ComponentInfo{{{component}}}"
    existing = packages.get(package)
    served = full in call.phone.instrumentations
    if existing is None or not (served or runner in existing.instrumentations):
        return InstrumentationTarget(component, full, "", f"Unable to find instrumentation info for: {info}")
    target = existing.instrumentations.get(runner, package)
    if target not in packages:
        return InstrumentationTarget(
            component, full, target, f"Unable to find instrumentation target package: {info}"
        )
    return InstrumentationTarget(component, full, target)


async def instrument(call: Call, args: list[str]) -> int:
    """`am instrument [-w] [-r] [-e NAME VALUE] COMPONENT`; without -w it goes on by itself."""
    wanted = _wanted(call, component_of(args))
    if wanted.problem:
        return await _refuse(call, args, wanted)
    if "-w" in args:
        return await _run(call, args, wanted)
    job = asyncio.get_running_loop().create_task(_run(call, args, wanted))
    processes_of(call.phone).keep(job, 0)
    return 0


async def _refuse(call: Call, args: list[str], wanted: InstrumentationTarget) -> int:
    if "-w" in args or "-r" in args:
        await call.out(
            f"INSTRUMENTATION_STATUS: Error={wanted.problem}\n"
            "INSTRUMENTATION_STATUS: id=ActivityManagerService\nINSTRUMENTATION_STATUS_CODE: -1\n"
        )
    await call.err(f"android.util.AndroidException: INSTRUMENTATION_FAILED: {wanted.component_text}")
    return await call.err("\tat com.android.commands.am.Instrument.run(Instrument.java:543)")


async def _run(call: Call, args: list[str], wanted: InstrumentationTarget) -> int:
    phone, ended = call.phone, asyncio.Event()
    phone.force_stop(wanted.target)
    runner = phone.instrumentations.get(wanted.full)
    phone.packages.start_process(wanted.target, phone.now_ms())
    if runner is None:
        _class_missing(call, wanted)
        phone.packages.end_process(wanted.target)
        return await call.line(_CRASHED)
    phone.packages.exits.setdefault(wanted.target, []).append(ended.set)
    inner = Call(phone, ["am", "instrument", *args], call.session, call.stdin, call.stdout, call.stderr)
    try:
        served, _ = await first(runner(inner), ended.wait())
    finally:
        phone.packages.end_process(wanted.target)
    if served.cancelled():
        return await call.line(_CRASHED)
    return int(served.result())


def _class_missing(call: Call, wanted: InstrumentationTarget) -> None:
    """What the log has of a runner whose code is not in the APK."""
    phone = call.phone
    name, path = wanted.full.partition("/")[2], phone.packages.installed[wanted.target].path
    info = f"ComponentInfo{{{wanted.full}}}"
    for line in (
        "FATAL EXCEPTION: main",
        f"Process: {wanted.target}, PID: {phone.packages.pid_of(wanted.target)}",
        f"java.lang.RuntimeException: Unable to instantiate instrumentation {info}: "
        f'java.lang.ClassNotFoundException: Didn\'t find class "{name}" on path: '
        f'DexPathList[[zip file "{path}"],nativeLibraryDirectories=[/system/lib64, /system_ext/lib64]]',
        "\tat android.app.ActivityThread.initInstrumentation(ActivityThread.java:7155)",
    ):
        phone.logcat("E", "AndroidRuntime", line, wanted.target, "crash")

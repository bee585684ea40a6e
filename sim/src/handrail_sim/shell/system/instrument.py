"""`am instrument`: runs the test packages that this phone serves, refuses the others as Android does."""

from __future__ import annotations

from handrail_sim.shell.call import Call

_VALUED = frozenset({"--user", "--abi", "-p", "-P"})


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


async def instrument(call: Call, args: list[str]) -> int:
    """`am instrument [-w] [-r] [-e NAME VALUE] COMPONENT`."""
    component = component_of(args)
    package = component.partition("/")[0]
    runner = call.phone.instrumentations.get(component)
    if runner is not None and package in call.phone.packages.installed:
        inner = Call(
            call.phone, ["am", "instrument", *args], call.session, call.stdin, call.stdout, call.stderr
        )
        status: int = await runner(inner)
        return status
    why = f"Unable to find instrumentation info for: ComponentInfo{{{component}}}"
    if "-r" in args:
        await call.out(
            f"INSTRUMENTATION_STATUS: Error={why}\nINSTRUMENTATION_STATUS: id=ActivityManagerService\n"
            "INSTRUMENTATION_STATUS_CODE: -1\n"
        )
    await call.err(f"android.util.AndroidException: INSTRUMENTATION_FAILED: {component}")
    await call.err("\tat com.android.commands.am.Instrument.run(Instrument.java:543)")
    return 1

"""Which activity handles an intent: `resolve-activity` and `query-activities`."""

from __future__ import annotations

from handrail_sim.shell.call import Call
from handrail_sim.shell.system.intent_args import LAUNCHER, MAIN, IntentArgs
from handrail_sim.shell.system.system_packages import all_packages
from handrail_sim.system.intents import short_component, split_component

_VALUED = frozenset({"--user", "--query-flags"})
_FLAGS = frozenset({"--brief", "--components", "--query"})
MATCH = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault={}"


def _found(call: Call, given: IntentArgs) -> list[str]:
    intent, packages = given.intent, call.phone.packages
    if intent.component:
        package, name = split_component(intent.component)
        known = packages.component(package, name)
        return [known] if known else []
    if intent.package and not intent.action:
        intent.action, intent.categories = MAIN, (LAUNCHER,)
    if LAUNCHER in intent.categories and not intent.action:
        intent.action = MAIN
    return packages.resolve(intent)


def _details(call: Call, component: str, indent: str) -> str:
    package, name = split_component(component)
    known = all_packages(call.phone)[package]
    lines = [
        "ActivityInfo:",
        f"  name={name}",
        f"  packageName={package}",
        f"  labelRes=0x0 nonLocalizedLabel={known.label} icon=0x0 banner=0x0",
    ]
    lines += [
        "  enabled=true exported=true directBootAware=false",
        f"  taskAffinity={package} targetActivity=null persistableMode=PERSIST_ROOT_ONLY",
    ]
    lines += [
        "  launchMode=0 flags=0x0 privateFlags=0x0 theme=0x0",
        "  ApplicationInfo:",
        f"    name={package}.App",
        f"    packageName={package}",
    ]
    lines += [
        f"    processName={package}",
        f"    taskAffinity={package}",
        f"    uid={known.uid} flags=0x0 privateFlags=0x0 theme=0x0",
    ]
    lines += [
        f"    sourceDir={known.path}",
        f"    dataDir=/data/user/0/{package}",
        "    enabled=true minSdkVersion=24 targetSdkVersion=34",
    ]
    return "".join(f"{indent}{line}\n" for line in lines)


async def resolve(call: Call, args: list[str]) -> int:
    """`resolve-activity [--brief] INTENT`."""
    given = IntentArgs(args, valued=_VALUED, flags=_FLAGS)
    found = _found(call, given)
    if not found:
        await call.line("No activity found")
        return 0
    component = found[0] if len(found) == 1 else "android/com.android.internal.app.ResolverActivity"
    match = MATCH.format("true" if len(found) == 1 else "false")
    if "--components" in given.options:
        await call.line(short_component(component))
    elif "--brief" in given.options or component.startswith("android/"):
        await call.line(f"{match}\n{short_component(component)}")
    else:
        await call.out(f"{match}\n{_details(call, component, '')}")
    return 0


async def query(call: Call, args: list[str]) -> int:
    """`query-activities [--brief|--components] INTENT`."""
    given = IntentArgs(args, valued=_VALUED, flags=_FLAGS)
    found = _found(call, given)
    if not found:
        await call.line("No activities found")
        return 0
    if "--components" in given.options:
        await call.out("".join(f"{short_component(one)}\n" for one in found))
        return 0
    await call.line(f"{len(found)} activities found:")
    for number, component in enumerate(found):
        await call.line(f"  Activity #{number}:\n    {MATCH.format('false')}")
        if "--brief" in given.options:
            await call.line(f"    {short_component(component)}")
        else:
            await call.out(_details(call, component, "    "))
    return 0

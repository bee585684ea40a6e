"""`cmd notification`: posting from the shell and listing what is posted."""

from __future__ import annotations

from handrail_sim.shell.call import Call
from handrail_sim.shell.system.screen_services import does
from handrail_sim.shell.system.verbs import Handler, Verbs

_VALUED = {
    "-t": "title",
    "--title": "title",
    "-i": "icon",
    "--icon": "icon",
    "-I": "large",
    "--large-icon": "large",
}
_VALUED |= {"-S": "style", "--style": "style", "-c": "intent", "--content-intent": "intent"}


async def _post(call: Call, args: list[str]) -> int:
    values, words = dict[str, str](), list[str]()
    while args:
        arg = args.pop(0)
        if arg in _VALUED and args:
            values[_VALUED[arg]] = args.pop(0)
        elif not arg.startswith("-"):
            words.append(arg)
        elif arg not in {"-v", "--verbose"}:
            await call.err(f"error: unknown option {arg}\n{_USAGE}")
            return 255
    if len(words) < 2:
        await call.err(_USAGE)
        return 255
    tag, text = words[0], " ".join(words[1:])
    made = call.phone.notify("com.android.shell", values.get("title", tag), text, key=tag)
    await call.line(
        "posting:\n  Notification(channel=shell_cmd shortcut=null contentView=null flags=0x0 "
        f"id={made.number})"
    )
    return 0


_USAGE = "usage: cmd notification post [flags] <tag> <text>"


async def _list(call: Call, _: list[str]) -> int:
    for note in call.phone.notifications.posted:
        known = call.phone.packages.installed.get(note.package)
        await call.line(f"0|{note.package}|{note.number}|null|{known.uid if known else 1000}")
    return 0


def _allowed(call: Call, setting: str, name: str, *, there: bool) -> None:
    """One name more or less in a setting that holds several."""
    held = call.phone.settings["secure"].get(setting, "").split(":")
    names = [one for one in held if one not in {"", name}] + ([name] if there else [])
    call.phone.put_setting("secure", setting, ":".join(names))


def _allow(setting: str, *, there: bool) -> Handler:
    return does(lambda call, args: _allowed(call, setting, args[0], there=there))


_DND = {"off": "0", "all": "0", "on": "1", "priority": "1", "none": "2", "alarms": "3"}


async def _set_dnd(call: Call, args: list[str]) -> int:
    """`cmd notification set_dnd MODE`."""
    if args[0] not in _DND:
        await call.err(f"Unknown option: {args[0]}")
        return 255
    call.phone.put_setting("global", "zen_mode", _DND[args[0]])
    return 0


_LISTENERS, _ASSISTANT = "enabled_notification_listeners", "enabled_notification_assistant"
_POLICY = "enabled_notification_policy_access_packages"
VERBS = Verbs(
    "usage: cmd notification SUBCMD [args]",
    {
        "allow_listener": ("COMPONENT [USER_ID]", _allow(_LISTENERS, there=True)),
        "disallow_listener": ("COMPONENT [USER_ID]", _allow(_LISTENERS, there=False)),
        "allow_assistant": ("COMPONENT [USER_ID]", _allow(_ASSISTANT, there=True)),
        "disallow_assistant": ("COMPONENT [USER_ID]", _allow(_ASSISTANT, there=False)),
        "allow_dnd": ("PACKAGE [USER_ID]", _allow(_POLICY, there=True)),
        "disallow_dnd": ("PACKAGE [USER_ID]", _allow(_POLICY, there=False)),
        "set_dnd": ("on|none|priority|alarms|all|off", _set_dnd),
        "list": ("", _list),
        "post": ("[FLAGS]... TAG TEXT", _post),
        "notify": ("[FLAGS]... TAG TEXT", _post),
    },
)

"""`cmd notification`: posting from the shell and listing what is posted."""

from __future__ import annotations

from handrail_sim.shell.call import Call

_VALUED = {
    "-t": "title",
    "--title": "title",
    "-i": "icon",
    "--icon": "icon",
    "-I": "large",
    "--large-icon": "large",
}
_VALUED |= {"-S": "style", "--style": "style", "-c": "intent", "--content-intent": "intent"}


async def run(call: Call, args: list[str]) -> int:
    """`cmd notification post|list|set_dnd`."""
    verb = args[0] if args else ""
    if verb in {"post", "notify"}:
        return await _post(call, args[1:])
    if verb == "list":
        for note in call.phone.notifications.posted:
            known = call.phone.packages.installed.get(note.package)
            await call.line(f"0|{note.package}|{note.number}|null|{known.uid if known else 1000}")
        return 0
    if verb in {
        "allow_listener",
        "disallow_listener",
        "allow_assistant",
        "set_dnd",
        "allow_dnd",
        "disallow_dnd",
    }:
        if verb == "set_dnd" and args[1:]:
            call.phone.put_setting("global", "zen_mode", "0" if args[1] in {"off", "all"} else "1")
        return 0
    await call.err(f"Unknown command: {verb}")
    return 255


async def _post(call: Call, args: list[str]) -> int:
    values, words = dict[str, str](), list[str]()
    while args:
        arg = args.pop(0)
        if arg in _VALUED and args:
            values[_VALUED[arg]] = args.pop(0)
        elif not arg.startswith("-"):
            words.append(arg)
    if len(words) < 2:
        await call.err("usage: cmd notification post [flags] <tag> <text>")
        return 255
    tag, text = words[0], " ".join(words[1:])
    made = call.phone.notify("com.android.shell", values.get("title", tag), text, key=tag)
    await call.line(
        "posting:\n  Notification(channel=shell_cmd shortcut=null contentView=null flags=0x0 "
        f"id={made.number})"
    )
    return 0

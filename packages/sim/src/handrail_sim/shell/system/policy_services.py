"""Shells of the services that hold rules: flags, roles, users, device owners, lock screen, data saver."""

from __future__ import annotations

from handrail_sim.shell.call import Call
from handrail_sim.shell.system import pm
from handrail_sim.shell.system.java import JavaError
from handrail_sim.shell.system.verbs import Verbs, does, missing, plain, says

_USER = "[--user USER_ID]"


# configuration flags


def _flag(args: list[str]) -> str:
    return f"{args[0]}/{args[1]}"


async def flag_get(call: Call, args: list[str]) -> int:
    return await call.line(call.phone.service_state("device_config").get(_flag(plain(args)), "null"))


async def flag_delete(call: Call, args: list[str]) -> int:
    space, name = plain(args)[:2]
    removed = call.phone.service_state("device_config").pop(f"{space}/{name}", None) is not None
    return await call.line(f"{'Successfully deleted' if removed else 'Failed to delete'} {name} from {space}")


async def flag_list(call: Call, args: list[str]) -> int:
    held, space = call.phone.service_state("device_config"), plain(args)[:1]
    for name in sorted(held):
        folder, _, rest = name.partition("/")
        if not space or folder == space[0]:
            await call.line(f"{rest if space else name}={held[name]}")
    return 0


async def flag_reset(call: Call, args: list[str]) -> int:
    mode, *space = plain(args)
    if mode not in {"untrusted_defaults", "untrusted_clear", "trusted_defaults"}:
        raise JavaError("java.lang.IllegalArgumentException", f"Invalid reset mode: {mode}")
    held = call.phone.service_state("device_config")
    for name in [word for word in held if not space or word.startswith(f"{space[0]}/")]:
        held.pop(name)
    return 0


def _sync(call: Call, args: list[str]) -> None:
    call.phone.service_state("device_config_sync")["mode"] = args[0]


async def flag_sync(call: Call, _: list[str]) -> int:
    return await call.line(call.phone.service_state("device_config_sync").get("mode", "none"))


async def flag_put(call: Call, args: list[str]) -> int:
    words = plain(args)
    call.phone.service_state("device_config")[_flag(words)] = words[2]
    return 0


DEVICE_CONFIG = Verbs(
    "Device Config (device_config) commands:",
    {
        "get": ("NAMESPACE KEY", flag_get),
        "put": ("NAMESPACE KEY VALUE [default]", flag_put),
        "delete": ("NAMESPACE KEY", flag_delete),
        "list": ("[NAMESPACE]", flag_list),
        "reset": ("RESET_MODE [NAMESPACE]", flag_reset),
        "set_sync_disabled_for_tests": ("none|persistent|until_reboot", does(_sync)),
        "get_sync_disabled_for_tests": ("", flag_sync),
    },
    "Invalid argument: {}",
)


# roles and users


async def role_get(call: Call, args: list[str]) -> int:
    return await call.line(call.phone.service_state("role").get(plain(args)[0], ""))


async def role_add(call: Call, args: list[str]) -> int:
    role, package = plain(args)[:2]
    if package not in call.phone.packages.installed:
        return await call.err("Error: see logcat for details.", 255)
    call.phone.service_state("role")[role] = package
    return 0


async def role_remove(call: Call, args: list[str]) -> int:
    call.phone.service_state("role").pop(plain(args)[0], None)
    return 0


ROLE = Verbs(
    "Role (role) commands:",
    {
        "get-role-holders": (f"{_USER} ROLE", role_get),
        "add-role-holder": (f"{_USER} ROLE PACKAGE [FLAGS]", role_add),
        "remove-role-holder": (f"{_USER} ROLE PACKAGE [FLAGS]", role_remove),
        "clear-role-holders": (f"{_USER} ROLE [FLAGS]", role_remove),
    },
)
USERS = Verbs("User manager (user) commands:", {"list": ("[-v|--verbose] [--all]", pm.users)})


# device owners


async def admin(_: Call, args: list[str]) -> int:
    component = plain(args)[0]
    if "/" not in component:
        raise JavaError("java.lang.IllegalArgumentException", f"Invalid component {component}")
    why = f"Unknown admin: ComponentInfo{{{component}}}"
    raise JavaError("java.lang.IllegalArgumentException", why)


DEVICE_POLICY = Verbs(
    "DevicePolicyManager Service (device_policy) commands:",
    {
        "list-owners": ("", says("no owners")),
        "set-active-admin": (f"{_USER} COMPONENT", admin),
        "set-device-owner": (f"{_USER} COMPONENT", admin),
        "set-profile-owner": (f"{_USER} COMPONENT", admin),
        "remove-active-admin": (f"{_USER} COMPONENT", admin),
    },
)


# the lock screen: there is none


async def lock_disabled(call: Call, args: list[str]) -> int:
    value = str(args[0] == "true").lower()
    call.phone.service_state("lock_settings")["disabled"] = value
    return await call.line(f"Lock screen disabled set to {value}")


async def lock_is_disabled(call: Call, _: list[str]) -> int:
    return await call.line(call.phone.service_state("lock_settings").get("disabled", "false"))


LOCK_SETTINGS = Verbs(
    "lockSettings service commands:",
    {
        "get-disabled": (_USER, lock_is_disabled),
        "set-disabled": (f"{_USER} true|false", lock_disabled),
        "verify": (f"{_USER} [--old CREDENTIAL]", says("Lock credential verified successfully")),
    },
)


# data saver


async def data_saver(call: Call, args: list[str], verb: str) -> int:
    held = call.phone.service_state("netpolicy")
    if args[0] != "restrict-background":
        return await call.line(f"Error: unknown {verb} type '{args[0]}'", 255)
    if verb == "set":
        if not args[1:]:
            raise missing("restrict-background")
        held["restrict"] = "enabled" if args[1] == "true" else "disabled"
        return 0
    return await call.line(f"Restrict background status: {held.get('restrict', 'disabled')}")


NETPOLICY = Verbs(
    "Network policy manager (netpolicy) commands:",
    {
        "get": ("restrict-background", lambda call, args: data_saver(call, args, "get")),
        "set": ("restrict-background [BOOLEAN]", lambda call, args: data_saver(call, args, "set")),
    },
)

"""Shells of the services that hold rules: flags, roles, users, device owners, lock screen, data saver."""

from __future__ import annotations

from handrail_sim.shell.call import Call
from handrail_sim.shell.system import pm
from handrail_sim.shell.system.verbs import JavaError, Verbs, does, missing, plain, reads, says

_USER = "[--user USER_ID]"


# configuration flags


def _flags(call: Call) -> dict[str, str]:
    return call.phone.service_state("device_config")


async def flag_delete(call: Call, args: list[str]) -> int:
    space, name = plain(args)[:2]
    removed = _flags(call).pop(f"{space}/{name}", None) is not None
    return await call.line(f"{'Successfully deleted' if removed else 'Failed to delete'} {name} from {space}")


async def flag_list(call: Call, args: list[str]) -> int:
    held, space = _flags(call), plain(args)[:1]
    for name in sorted(held):
        folder, _, rest = name.partition("/")
        if not space or folder == space[0]:
            await call.line(f"{rest if space else name}={held[name]}")
    return 0


async def flag_reset(call: Call, args: list[str]) -> int:
    mode, *space = plain(args)
    if mode not in {"untrusted_defaults", "untrusted_clear", "trusted_defaults"}:
        raise JavaError("java.lang.IllegalArgumentException", f"Invalid reset mode: {mode}")
    held = _flags(call)
    for name in [word for word in held if not space or word.startswith(f"{space[0]}/")]:
        held.pop(name)
    return 0


DEVICE_CONFIG = Verbs(
    "Device Config (device_config) commands:",
    {
        "get": ("NAMESPACE KEY", reads(lambda call, args: _flags(call).get("/".join(args[:2]), "null"))),
        "put": (
            "NAMESPACE KEY VALUE [default]",
            does(lambda call, args: _flags(call).update({"/".join(args[:2]): args[2]})),
        ),
        "delete": ("NAMESPACE KEY", flag_delete),
        "list": ("[NAMESPACE]", flag_list),
        "reset": ("RESET_MODE [NAMESPACE]", flag_reset),
        "set_sync_disabled_for_tests": (
            "none|persistent|until_reboot",
            does(lambda call, args: call.phone.service_state("device_config_sync").update(mode=args[0])),
        ),
        "get_sync_disabled_for_tests": (
            "",
            reads(lambda call, _: call.phone.service_state("device_config_sync").get("mode", "none")),
        ),
    },
    "Invalid argument: {}",
)


# roles and users


async def role_add(call: Call, args: list[str]) -> int:
    role, package = plain(args)[:2]
    if package not in call.phone.packages.installed:
        return await call.err("Error: see logcat for details.", 255)
    call.phone.service_state("role")[role] = package
    return 0


_remove_role = does(lambda call, args: call.phone.service_state("role").pop(args[0], None))
ROLE = Verbs(
    "Role (role) commands:",
    {
        "get-role-holders": (
            f"{_USER} ROLE",
            reads(lambda call, args: call.phone.service_state("role").get(args[0], "")),
        ),
        "add-role-holder": (f"{_USER} ROLE PACKAGE [FLAGS]", role_add),
        "remove-role-holder": (f"{_USER} ROLE PACKAGE [FLAGS]", _remove_role),
        "clear-role-holders": (f"{_USER} ROLE [FLAGS]", _remove_role),
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


LOCK_SETTINGS = Verbs(
    "lockSettings service commands:",
    {
        "get-disabled": (
            _USER,
            reads(lambda call, _: call.phone.service_state("lock_settings").get("disabled", "false")),
        ),
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

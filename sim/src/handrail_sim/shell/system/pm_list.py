"""`pm list`: packages, permissions, features, users."""

from __future__ import annotations

from handrail_sim.shell.call import Call
from handrail_sim.shell.system.instrument import declared
from handrail_sim.shell.system.java import JavaError
from handrail_sim.shell.system.system_packages import all_packages
from handrail_sim.shell.system.verbs import Handler, check, plain, usage_of, value_of
from handrail_sim.system.packages import DANGEROUS, Package
from handrail_sim.system.users import ALL, PER_USER, User, asked
from handrail_sim.system.users import users as all_users

_FEATURES = """
android.hardware.audio.output android.hardware.bluetooth android.hardware.bluetooth_le
android.hardware.camera android.hardware.camera.any android.hardware.camera.autofocus
android.hardware.camera.flash android.hardware.camera.front android.hardware.faketouch
android.hardware.fingerprint android.hardware.location android.hardware.location.gps
android.hardware.location.network android.hardware.microphone android.hardware.nfc
android.hardware.ram.normal android.hardware.screen.landscape android.hardware.screen.portrait
android.hardware.sensor.accelerometer android.hardware.sensor.gyroscope android.hardware.telephony
android.hardware.telephony.gsm android.hardware.touchscreen android.hardware.touchscreen.multitouch
android.hardware.touchscreen.multitouch.distinct android.hardware.touchscreen.multitouch.jazzhand
android.hardware.usb.accessory android.hardware.wifi android.hardware.wifi.direct
android.software.app_widgets android.software.autofill android.software.backup
android.software.home_screen android.software.input_methods android.software.live_wallpaper
android.software.picture_in_picture android.software.print android.software.webview
"""
FEATURES = _FEATURES.split()
_GROUPS = (
    "CALENDAR",
    "CAMERA",
    "CONTACTS",
    "LOCATION",
    "MICROPHONE",
    "NOTIFICATIONS",
    "PHONE",
    "SENSORS",
    "SMS",
)
LIBRARIES = (
    "android.ext.shared",
    "android.test.base",
    "android.test.mock",
    "android.test.runner",
    "org.apache.http.legacy",
)


_PACKAGES = "[-f] [-d] [-e] [-s] [-3] [-i] [-l] [-u] [-U] [-a] [-q] [--show-versioncode] [--apex-only]"
_PACKAGES += " [--factory-only] [--match-libraries] [--uid UID] [--user USER_ID] [FILTER]"


async def packages(call: Call, args: list[str]) -> int:
    """`pm list packages [-f -3 -s -d -e -i -U] [FILTER]`; joined letters are no option, as on Android."""
    chosen = _users(call, args)
    flags, names = {arg.lstrip("-") for arg in args if arg.startswith("-")}, plain(args, _VALUED)
    names = [name for name in names if not name.startswith("-")]
    found = [one for one in all_packages(call.phone).values() if _wanted(one, flags)]
    found = [one for one in found if not names or names[0] in one.name]
    uid = value_of(args, "--uid")
    found = [one for one in found if not uid or str(one.uid) == uid]
    found = [one for one in found if "apex-only" not in flags]
    await call.out("".join(_line(one, flags, chosen) + "\n" for one in found))
    return 0


def _users(call: Call, args: list[str]) -> list[User]:
    """Those that were asked about; the shell is refused where one of them is closed to it."""
    wanted = asked(args)
    chosen = [user for user in all_users(call.phone) if wanted in {ALL, user.number}]
    closed = next((user for user in chosen if user.refused), None)
    if closed is not None:
        raise JavaError(
            "java.lang.SecurityException",
            f"Shell does not have permission to access user {closed.number}\n "
            "com.android.server.am.ActivityManagerService.handleIncomingUser:16014 "
            "android.app.ActivityManager.handleIncomingUser:5174 "
            "com.android.server.pm.PackageManagerShellCommand.translateUserId:3771",
            "com.android.server.am.UserController.handleIncomingUser(UserController.java:2895)",
        )
    return chosen


def _wanted(package: Package, flags: set[str]) -> bool:
    if ("3" in flags and package.system) or ("s" in flags and not package.system):
        return False
    return not (("d" in flags and package.enabled) or ("e" in flags and not package.enabled))


def _line(package: Package, flags: set[str], chosen: list[User]) -> str:
    text = f"package:{package.path}={package.name}" if "f" in flags else f"package:{package.name}"
    if "show-versioncode" in flags:
        text += f" versionCode:{package.version_code}"
    if "i" in flags:
        text += f"  installer={package.installer or 'null'}"
    uids = ",".join(str(user.number * PER_USER + package.uid) for user in chosen)
    return text + (f" uid:{uids}" if "U" in flags else "")


_VALUED = frozenset({"--uid", "--user"})


async def permissions(call: Call, args: list[str]) -> int:
    """The dangerous ones, which are those that tools ask for."""
    await call.line("All Permissions:\n")
    if "-d" in "".join(args) or "-g" in "".join(args):
        await call.line("Dangerous Permissions:\n")
    for name in sorted(DANGEROUS):
        await call.line(f"permission:{name}")
    return 0


async def permission_groups(call: Call, _: list[str]) -> int:
    """`pm list permission-groups`."""
    for name in _GROUPS:
        await call.line(f"permission group:android.permission-group.{name}")
    return 0


async def features(call: Call, _: list[str]) -> int:
    """`pm list features`."""
    await call.line("feature:reqGlEsVersion=0x30002")
    for name in FEATURES:
        await call.line(f"feature:{name}")
    return 0


async def libraries(call: Call, _: list[str]) -> int:
    """`pm list libraries`."""
    for name in LIBRARIES:
        await call.line(f"library:{name}")
    return 0


async def users(call: Call, _: list[str]) -> int:
    """`pm list users`."""
    await call.line("Users:")
    for user in all_users(call.phone):
        await call.line(f"\tUserInfo{{{user.number}:{user.name}:{user.flags:x}}} running")
    return 0


async def instrumentation(call: Call, _: list[str]) -> int:
    """What the manifests of installed packages declare, and what is served here."""
    for component, target in declared(call.phone).items():
        await call.line(f"instrumentation:{component} (target={target})")
    return 0


LISTS: dict[str, tuple[str, Handler]] = {
    "packages": (_PACKAGES, packages),
    "package": (_PACKAGES, packages),
    "permissions": ("[-g] [-f] [-d] [-u] [-s] [GROUP]", permissions),
    "permission-groups": ("", permission_groups),
    "features": ("", features),
    "libraries": ("[-v]", libraries),
    "users": ("[--verbose|-v]", users),
    "instrumentation": ("[-f] [PACKAGE]", instrumentation),
}


async def run(call: Call, args: list[str]) -> int:
    """`pm list WHAT`."""
    if not args:
        await call.err("Error: didn't specify type of data to list")
        return 255
    kind = args[0]
    if kind not in LISTS:
        await call.err(f"Error: unknown list type '{kind}'")
        return 255
    usage, handler = LISTS[kind]
    wrong = check(kind, usage_of(usage), args[1:])
    if wrong is not None:
        await call.err(f"Error: Unknown option: {wrong}")
        return 255
    return await handler(call, args[1:])

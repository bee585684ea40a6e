"""Dumps of services that tell what they were told: settings, app ops, roles, storage, heat, flags."""

from __future__ import annotations

from handrail_sim.disk.lookup import CAPACITY
from handrail_sim.shell.call import Call
from handrail_sim.shell.system import appops
from handrail_sim.shell.system.props import TABLES
from handrail_sim.shell.tools.names import user_name


async def settings(call: Call, _: list[str]) -> int:
    """The three tables, as their provider prints them."""
    for table in TABLES:
        await call.line(f"{table.upper()} SETTINGS (user 0)")
        for number, (name, value) in enumerate(sorted(call.phone.settings[table].items()), 1):
            await call.line(
                f"_id:{number} name:{name} pkg:android value:{value} default:{value} defaultSystemSet:true"
            )
        await call.line("")
    return 0


async def app_ops(call: Call, args: list[str]) -> int:
    """Every app with the modes of its operations."""
    await call.line("Current AppOps Service state:\n  Settings:\n    top_state_settle_time=+5s0ms")
    for package in call.phone.packages.installed.values():
        modes = appops.modes_of(call, package.name)
        if modes and (not args or args[0].startswith("-") or package.name in args):
            await call.line(f"\n  Uid {user_name(package.uid)}:\n    Package {package.name}:")
            for op, mode in sorted(modes.items()):
                await call.line(f"      {op} ({mode}):")
    return 0


async def role(call: Call, _: list[str]) -> int:
    """Who holds which role."""
    held = call.phone.service_state("role")
    await call.line("user_id=0\nroles=[")
    for name, holder in sorted(held.items()):
        await call.line(f"  {{\n    name={name}\n    holders={holder}\n  }}")
    await call.line("]")
    return 0


async def account(call: Call, _: list[str]) -> int:
    """No account was added."""
    await call.line("User UserInfo{0:Owner:4c13}:\n  Accounts: 0\n\n  Accounts History\n")
    return 0


async def device_policy(call: Call, _: list[str]) -> int:
    """Nobody owns the device."""
    await call.line(
        "Current Device Policy Manager state:\n  Device Owner: null\n\n  Enabled Device Admins "
        "(User 0, provisioningState: 0):"
    )
    return 0


async def diskstats(call: Call, _: list[str]) -> int:
    """Free space of /data, as `df` has it."""
    total = CAPACITY * 128 // 1024
    free = total - call.phone.files.used // 1024 - 8_200_000
    await call.line("Latency: 1ms [512B Data Write]\nRecent Disk Write Speed (kB/s) = 60000")
    await call.line(f"Data-Free: {free}K / {total}K total = {free * 100 // total}% free")
    await call.line("File-based Encryption: true")
    return 0


async def mount(call: Call, _: list[str]) -> int:
    """The volumes that `sm list-volumes` names."""
    await call.line(
        "Disks:\n\nVolumes:\n  VolumeInfo{private}:\n    type=PRIVATE diskId=null state=MOUNTED\n    "
        "path=/data\n  VolumeInfo{emulated;0}:\n    type=EMULATED diskId=null state=MOUNTED\n    "
        "path=/storage/emulated\n\nPrimary storage UUID: null"
    )
    return 0


async def netpolicy(call: Call, _: list[str]) -> int:
    """Data saver."""
    on = call.phone.service_state("netpolicy").get("restrict", "disabled") == "enabled"
    await call.line(f"System ready: true\nRestrict background: {str(on).lower()}\nDevice idle: false")
    return 0


async def thermal(call: Call, _: list[str]) -> int:
    """How hot it was told to be."""
    held = call.phone.service_state("thermal").get("status")
    await call.line(f"IsStatusOverride: {str(held is not None).lower()}\nThermalEventListeners:")
    await call.line(f"\tcallbacks: 0\n\tkilled: false\nThermal Status: {held or 0}\nHAL Ready: true")
    return 0


async def lock_settings(call: Call, _: list[str]) -> int:
    """No credential."""
    off = call.phone.service_state("lock_settings").get("disabled", "false")
    await call.line(
        f"Current lock settings service state:\n\nUser State:\n  User 0\n    Quality: 0\n    "
        f"CredentialType: NONE\n    LockScreenDisabled: {off}"
    )
    return 0


async def device_config(call: Call, _: list[str]) -> int:
    """The flags that were put."""
    await call.line("Device config:")
    for name, value in sorted(call.phone.service_state("device_config").items()):
        await call.line(f"  {name}={value}")
    return 0


async def overlay(call: Call, _: list[str]) -> int:
    """Which buttons are at the foot."""
    mode = call.phone.settings["secure"].get("navigation_mode", "0")
    for name, value in (("threebutton", "0"), ("gestural", "2")):
        state = "STATE_ENABLED" if mode == value else "STATE_DISABLED"
        await call.line(
            f"com.android.internal.systemui.navbar.{name}:0 {{\n  mState.............: {state}\n}}"
        )
    return 0


async def locale(call: Call, _: list[str]) -> int:
    """Languages that single apps were given."""
    await call.line("LocaleManagerService:\n  App locales:")
    for package, tags in sorted(call.phone.service_state("locale").items()):
        await call.line(f"    {package}: [{tags}]")
    return 0


async def dropbox(call: Call, _: list[str]) -> int:
    """The crashes that the log's crash buffer holds."""
    crashes = [
        line for line in call.phone.log.lines if line.buffer == "crash" and line.text.startswith("Process:")
    ]
    await call.line(f"Drop box contents: {len(crashes)} entries\nMax entries: 1000\n")
    for line in crashes:
        await call.line(
            f"========================================\n{line.time_ms} data_app_crash (text)\n{line.text}\n"
        )
    return 0

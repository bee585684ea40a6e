"""What a phone says of itself: model, versions and boot."""

from __future__ import annotations

from handrail.adb.device import AdbDevice
from handrail.adb.shell import DeviceShell, Script
from handrail.android.input import read_again
from handrail.clock import Clock
from handrail.errors import AdbCommandError
from handrail.surface.values import Facts

FACTS_COMMAND = Script(
    "getprop ro.product.model; getprop ro.product.manufacturer; getprop ro.build.version.release; "
    "getprop ro.build.version.sdk; "
    "cat /proc/sys/kernel/random/boot_id 2>/dev/null || settings get global boot_count"
)
"""Where SELinux hides the kernel's boot id, Android's own count of boots is as good."""


async def ask_facts(device: AdbDevice, clock: Clock) -> Facts:
    """Ask the phone; again where that may help."""
    return await read_again(lambda left: read_facts(device.shell, device.serial, left), clock)


async def read_facts(shell: DeviceShell, serial: str, timeout_ms: float) -> Facts:
    """Ask the phone."""
    output = await shell.run(FACTS_COMMAND, timeout_ms=timeout_ms, check=False)
    lines = [line.strip() for line in output.text.splitlines()]
    if len(lines) < 5 or not lines[3].isdigit():
        raise AdbCommandError(
            f"`getprop` did not tell what this phone is: {output.text[:200]!r}",
            hint="The phone may still be starting; try again in a few seconds.",
            command="getprop",
        )
    model, manufacturer, version, sdk, boot_id = lines[:5]
    return Facts(serial, model, manufacturer, version, int(sdk), boot_id)

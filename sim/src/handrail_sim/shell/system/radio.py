"""Radios by shell: `svc`, and the wifi, connectivity, bluetooth and phone parts of `cmd`."""

from __future__ import annotations

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.dumpsys.radio import ADDRESS, SSID, is_on

SWITCHES = {"wifi": "wifi_on", "data": "mobile_data", "bluetooth": "bluetooth_on", "nfc": "nfc_on"}


def switch(call: Call, name: str, on: bool) -> None:
    """Write the setting that stands for a radio."""
    call.phone.put_setting("global", name, "1" if on else "0")


async def svc(call: Call) -> int:
    """`svc wifi|data|bluetooth|nfc enable|disable`, `svc power stayon …`."""
    args = call.args
    if len(args) < 2:
        await call.err(
            "Available commands:\n    help     Show information about the subcommands\n    power "
            "   Control the power manager\n    data     Control mobile data connectivity\n    "
            "wifi     Control the Wi-Fi manager\n    usb      Control Usb state\n    nfc      "
            "Control NFC functions\n    bluetooth     Control Bluetooth service"
        )
        return 1
    if args[0] in SWITCHES and args[1] in {"enable", "disable"}:
        switch(call, SWITCHES[args[0]], args[1] == "enable")
        return 0
    if args[0] == "power":
        return await _power(call, args[1:])
    if args[0] == "usb":
        if args[1] == "getFunctions":
            await call.line("adb")
        return 0
    await call.err(f"Unknown command: {' '.join(args)}")
    return 1


async def _power(call: Call, args: list[str]) -> int:
    if args[0] == "stayon" and args[1:]:
        value = {"true": "15", "false": "0", "usb": "2", "ac": "1", "wireless": "4"}.get(args[1], "0")
        call.phone.put_setting("global", "stay_on_while_plugged_in", value)
    elif args[0] in {"reboot", "shutdown"}:
        call.phone.reboot()
    return 0


async def connectivity(call: Call, args: list[str]) -> int:
    """`cmd connectivity airplane-mode [enable|disable]`."""
    if args[:1] != ["airplane-mode"]:
        await call.err(f"Unknown command: {args[0] if args else ''}")
        return 255
    if not args[1:]:
        await call.line("enabled" if is_on(call, "airplane_mode_on") else "disabled")
    elif args[1] in {"enable", "disable"}:
        switch(call, "airplane_mode_on", args[1] == "enable")
    return 0


async def wifi(call: Call, args: list[str]) -> int:
    """`cmd wifi status|set-wifi-enabled|list-networks`."""
    verb = args[0] if args else ""
    if verb == "set-wifi-enabled" and args[1:]:
        switch(call, "wifi_on", args[1] == "enabled")
    elif verb == "status":
        await call.line(f"Wifi is {'enabled' if is_on(call, 'wifi_on') else 'disabled'}")
        await call.line(
            f'Wifi is connected to "{SSID}"' if is_on(call, "wifi_on") else "Wifi is not connected"
        )
        if is_on(call, "wifi_on"):
            await call.line(f'WifiInfo: SSID: "{SSID}", BSSID: 02:00:00:00:01:00, IP: /{ADDRESS}, RSSI: -45')
    elif verb == "list-networks":
        await call.line(
            f"Network Id      SSID                         Security type\n0            {SSID:<33}wpa2-psk"
        )
    elif verb in {"start-scan", "list-scan-results", "connect-network", "forget-network", "help"}:
        return 0
    else:
        await call.err(f"Unknown command: {verb}")
        return 255
    return 0


async def bluetooth(call: Call, args: list[str]) -> int:
    """`cmd bluetooth_manager enable|disable`."""
    if args[:1] in (["enable"], ["disable"]):
        switch(call, "bluetooth_on", args[0] == "enable")
    return 0


async def phone(_: Call, __: list[str]) -> int:
    """No calls are made here; what is asked is accepted."""
    return 0


FAMILY: dict[str, Command] = {"svc": svc}

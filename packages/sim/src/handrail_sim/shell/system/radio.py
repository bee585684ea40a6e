"""Radios by shell: `svc`, and the wifi, connectivity, bluetooth and phone parts of `cmd`."""

from __future__ import annotations

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.dumpsys.radio import ADDRESS, SSID, is_on
from handrail_sim.shell.system.verbs import Verbs, says

SWITCHES = {"wifi": "wifi_on", "data": "mobile_data", "bluetooth": "bluetooth_on", "nfc": "nfc_on"}


def switch(call: Call, name: str, on: bool) -> None:
    call.phone.put_setting("global", name, "1" if on else "0")


_USAGE = """Available commands:
    help     Show information about the subcommands
    power    Control the power manager
    data     Control mobile data connectivity
    wifi     Control the Wi-Fi manager
    usb      Control Usb state
    nfc      Control NFC functions
    bluetooth     Control Bluetooth service"""
_SVC = {
    "power": "usage: svc power stayon [true|false|usb|ac|wireless|dock]\n         Set the 'keep awake while "
    "plugged in' setting.\n       svc power reboot [reason]\n       svc power shutdown",
    "usb": "usage: svc usb getFunctions\n         Gets the list of currently enabled functions",
    **{
        name: f"usage: svc {name} [enable|disable]\n         Turn it on or off."
        for name in ("data", "wifi", "nfc", "bluetooth")
    },
}
STAY_ON = {"true": "15", "false": "0", "ac": "1", "usb": "2", "wireless": "4", "dock": "8"}


async def svc(call: Call) -> int:
    """`svc wifi|data|bluetooth|nfc enable|disable`, `svc power stayon …`."""
    words = [*call.args, "", "", ""][:3]
    match words:
        case [name, "enable" | "disable", ""] if name in SWITCHES:
            switch(call, SWITCHES[name], words[1] == "enable")
        case ["power", "stayon", value] if value in STAY_ON:
            call.phone.put_setting("global", "stay_on_while_plugged_in", STAY_ON[value])
        case ["power", "reboot" | "shutdown", _]:
            call.phone.reboot()
        case ["usb", "getFunctions", _]:
            await call.err("adb")
        case ["help", name, _] if name in _SVC:
            await call.err(_SVC[name])
        case _:
            await call.err(_SVC.get(words[0], _USAGE))
    return 0


async def airplane(call: Call, args: list[str]) -> int:
    if not args:
        await call.line("enabled" if is_on(call, "airplane_mode_on") else "disabled")
    elif args[0] in {"enable", "disable"}:
        switch(call, "airplane_mode_on", args[0] == "enable")
    else:
        await call.out(CONNECTIVITY.help())
        return 255
    return 0


CONNECTIVITY = Verbs("Connectivity service commands:", {"airplane-mode": ("[enable|disable]", airplane)})


async def _wifi_enabled(call: Call, args: list[str]) -> int:
    if args[0] not in {"enabled", "disabled"}:
        return await call.line("Invalid args to set-wifi-enabled - should be 'enabled' or 'disabled'", 255)
    switch(call, "wifi_on", args[0] == "enabled")
    return 0


async def _wifi_status(call: Call, _: list[str]) -> int:
    on = is_on(call, "wifi_on")
    await call.line(f"Wifi is {'enabled' if on else 'disabled'}")
    await call.line(f'Wifi is connected to "{SSID}"' if on else "Wifi is not connected")
    if on:
        await call.line(f'WifiInfo: SSID: "{SSID}", BSSID: {BSSID}, IP: /{ADDRESS}, RSSI: -45')
    return 0


async def _scanned(call: Call, _: list[str]) -> int:
    if not is_on(call, "wifi_on"):
        return await call.line("No scan results")
    title = f"    BSSID              Frequency      RSSI           Age(sec)     {'SSID':<32}     Flags"
    flags = "[WPA2-PSK-CCMP][RSN-PSK-CCMP][ESS]"
    return await call.line(
        f"{title}\n  {BSSID}       5180    -45                1.000    {SSID:<32}  {flags}"
    )


_NETWORKS = f"Network Id      SSID                         Security type\n0            {SSID:<33}wpa2-psk"
BSSID = "02:00:00:00:01:00"
WIFI = Verbs(
    "Wi-Fi (wifi) commands:",
    {
        "set-wifi-enabled": ("enabled|disabled", _wifi_enabled),
        "status": ("", _wifi_status),
        "list-networks": ("", says(_NETWORKS)),
        "list-scan-results": ("", _scanned),
    },
)


async def _bluetooth(call: Call, on: bool) -> int:
    switch(call, "bluetooth_on", on)
    return await call.line(f"{'Enable' if on else 'Disable'}: Success")


BLUETOOTH = Verbs(
    "Bluetooth Manager Commands:",
    {
        "enable": ("", lambda call, _: _bluetooth(call, True)),
        "disable": ("", lambda call, _: _bluetooth(call, False)),
    },
)
FAMILY: dict[str, Command] = {"svc": svc}

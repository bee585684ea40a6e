"""Networks and calls: wifi, connectivity, telephony.registry, bluetooth_manager, audio."""

from __future__ import annotations

from handrail_sim.shell.call import Call

SSID, ADDRESS = "HandrailNet", "192.168.1.77"


def is_on(call: Call, name: str) -> bool:
    """Whether a switch of the global settings is on."""
    return call.phone.settings["global"].get(name, "0") not in {"0", ""}


async def wifi(call: Call, _: list[str]) -> int:
    """`dumpsys wifi`."""
    on = is_on(call, "wifi_on")
    await call.line(
        f"Wi-Fi is {'enabled' if on else 'disabled'}\nStay-awake conditions: 0\nmInIdleMode false"
    )
    if on:
        await call.line(
            f'mWifiInfo SSID: "{SSID}", BSSID: 02:00:00:00:01:00, MAC: 02:00:00:00:00:00, IP: /{ADDRESS}, '
            "Security type: 2, Supplicant state: COMPLETED, Wi-Fi standard: 6, RSSI: -45, "
            "Link speed: 866Mbps, Frequency: 5180MHz, Net ID: 0, Metered hint: false, score: 60\n"
            "curState=L3ConnectedState\n"
            "mNetworkInfo [type: WIFI[], state: CONNECTED/CONNECTED, reason: (unspecified), extra: (none), "
            "failover: false, available: true, roaming: false]"
        )
    return 0


async def connectivity(call: Call, _: list[str]) -> int:
    """`dumpsys connectivity`: the networks there are."""
    wifi_on, data = is_on(call, "wifi_on"), is_on(call, "mobile_data") and not is_on(call, "airplane_mode_on")
    await call.line("NetworkProviders for:\n")
    await call.line(
        f"Active default network: {100 if wifi_on else 101 if data else 'none'}\n\nCurrent Networks:"
    )
    if wifi_on:
        await call.line(
            "  NetworkAgentInfo{network{100}  handle{432902426637}  ni{WIFI CONNECTED} Score(60) "
            "everValidated lastValidated created "
            f'nc{{[ Transports: WIFI Capabilities: INTERNET&VALIDATED SSID: "{SSID}" ]}}}}'
        )
    if data:
        await call.line(
            "  NetworkAgentInfo{network{101}  handle{437197393933}  ni{MOBILE[LTE] CONNECTED} Score(50) "
            "everValidated lastValidated created "
            "nc{[ Transports: CELLULAR Capabilities: INTERNET&VALIDATED ]}}"
        )
    return 0


async def telephony(call: Call, _: list[str]) -> int:
    """`dumpsys telephony.registry`: no call, full signal."""
    service = 3 if is_on(call, "airplane_mode_on") else 0
    words = {0: "IN_SERVICE", 3: "POWER_OFF"}[service]
    await call.out(f"""last known state:
  Phone Id=0
    mCallState=0
    mRingingCallState=0
    mForegroundCallState=0
    mBackgroundCallState=0
    mCallIncomingNumber=
    mServiceState={{mVoiceRegState={service}({words}), mDataRegState={service}({words}), \
mOperatorAlphaLong=Handrail}}
    mSignalStrength=SignalStrength:{{mLte=CellSignalStrengthLte: rssi=-65 rsrp=-95 level=4}}
    mDataActivity=0
    mDataConnectionState={2 if is_on(call, "mobile_data") and not service else 0}
""")
    return 0


async def bluetooth(call: Call, _: list[str]) -> int:
    """`dumpsys bluetooth_manager`."""
    on = is_on(call, "bluetooth_on")
    await call.line(
        f"Bluetooth Status\n  enabled: {str(on).lower()}\n  state: {'ON' if on else 'OFF'}\n  "
        "address: XX:XX:XX:XX:00:01\n  name: Simulated Phone"
    )
    return 0


async def audio(call: Call, _: list[str]) -> int:
    """`dumpsys audio`: the volumes."""
    volume = call.phone.volume
    await call.line(
        "MediaFocusControl dump time\nAudio Focus stack entries (last is top of stack):\n\n"
        "Stream volumes (device: index)"
    )
    for name, index, top in (
        ("VOICE_CALL", 5, 7),
        ("SYSTEM", 7, 7),
        ("RING", 7, 7),
        ("MUSIC", volume, 15),
        ("ALARM", 6, 7),
        ("NOTIFICATION", 7, 7),
    ):
        await call.line(
            f"- STREAM_{name}:\n   Muted: {str(index == 0).lower()}\n   Muted Internally: false\n "
            f"  Min: 0\n   Max: {top}\n   streamVolume:{index}\n   Current: 2 (speaker): {index}\n"
            "   Devices: speaker(2)"
        )
    await call.line(
        "- mode (internal) = NORMAL\n- mode (external) = NORMAL\nRinger mode:\n- mode (internal) = NORMAL"
    )
    return 0

"""Networks and calls: wifi, connectivity, telephony.registry, bluetooth_manager, audio."""

from __future__ import annotations

from handrail_sim.shell.call import Call
from handrail_sim.system.releases import Release, release_of
from handrail_sim.system.surroundings import is_online
from handrail_sim.system.telephony import registry_state as telephony_state

SSID, ADDRESS = "HandrailNet", "192.168.1.77"


def is_on(call: Call, name: str) -> bool:
    return call.phone.settings["global"].get(name, "0") not in {"0", ""}


async def wifi(call: Call, _: list[str]) -> int:
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
    valid, mark = (" lastValidated", "&VALIDATED") if is_online(call.phone) else ("", "")
    await call.line("NetworkProviders for:\n")
    await call.line(
        f"Active default network: {100 if wifi_on else 101 if data else 'none'}\n\nCurrent Networks:"
    )
    if wifi_on:
        await call.line(
            "  NetworkAgentInfo{network{100}  handle{432902426637}  ni{WIFI CONNECTED} Score(60) "
            f"everValidated{valid} created "
            f'nc{{[ Transports: WIFI Capabilities: INTERNET{mark} SSID: "{SSID}" ]}}}}'
        )
    if data:
        await call.line(
            "  NetworkAgentInfo{network{101}  handle{437197393933}  ni{MOBILE[LTE] CONNECTED} Score(50) "
            f"everValidated{valid} created "
            f"nc{{[ Transports: CELLULAR Capabilities: INTERNET{mark} ]}}}}"
        )
    return 0


async def telephony(call: Call, _: list[str]) -> int:
    """`dumpsys telephony.registry`: the call, if there is one; full signal."""
    state, number = telephony_state(call.phone)
    ringing, active = int(state == 1) * 5, int(state == 2)
    service = 3 if is_on(call, "airplane_mode_on") else 0
    words = {0: "IN_SERVICE", 3: "POWER_OFF"}[service]
    return await call.out(f"""last known state:
  Phone Id=0
    mCallState={state}
    mRingingCallState={ringing}
    mForegroundCallState={active}
    mBackgroundCallState=0
    mCallIncomingNumber={number}
    mServiceState={{mVoiceRegState={service}({words}), mDataRegState={service}({words}), \
mOperatorAlphaLong=Handrail}}
    mSignalStrength=SignalStrength:{{mLte=CellSignalStrengthLte: rssi=-65 rsrp=-95 level=4}}
    mDataActivity=0
    mDataConnectionState={2 if is_on(call, "mobile_data") and not service else 0}
""")


def _stream(release: Release, name: str, index: int, top: int) -> list[str]:
    lines = [f"- STREAM_{name}:", f"   Muted: {str(index == 0).lower()}"]
    lines += ["   Muted Internally: false"] if release.audio_muted_internally else []
    lines += ["   Min: 0", f"   Max: {top}"]
    lines += [f"   streamVolume:{index}"] if release.audio_stream_volume else []
    lines += [f"   Current: 2 (speaker): {index}, 40000000 (default): {index}"]
    lines += [f"   Devices: {release.audio_device}"]
    return [*lines, f"   Volume Group: AUDIO_STREAM_{name}", ""] if release.audio_group else lines


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
        await call.line("\n".join(_stream(release_of(call.phone), name, index, top)))
    return await call.line(
        "- mode (internal) = NORMAL\n- mode (external) = NORMAL\nRinger mode:\n- mode (internal) = NORMAL"
    )

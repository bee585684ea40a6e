"""Notifications, status bar, clipboard, accessibility, appearance: services around the person."""

from __future__ import annotations

from handrail_sim.shell.call import Call
from handrail_sim.shell.dumpsys.shapes import hash_code
from handrail_sim.system.notifications import Notification
from handrail_sim.system.surroundings import last_place
from handrail_sim.system.users import users


async def notification(call: Call, args: list[str]) -> int:
    """Titles and texts are shown with --noredact only, as Android protects them."""
    await call.line("Current Notification Manager state:\n  Notification List:")
    for note in reversed(call.phone.notifications.posted):
        await call.out(_record(call, note, open_text="--noredact" in args))
    await call.line(
        "  \n  mUseAttentionLight=false\n  mHasLight=true\n  mNotificationPulseEnabled=false\n  "
        "mSoundNotificationKey=null\n  Snoozed notifications:"
    )
    return 0


def _record(call: Call, note: Notification, *, open_text: bool) -> str:
    known = call.phone.packages.installed.get(note.package)
    uid = known.uid if known else 1000
    key = f"0|{note.package}|{note.number}|null|{uid}"

    def text(value: str) -> str:
        return f"String ({value})" if open_text else f"String [length={len(value)}]"

    return f"""    NotificationRecord(0x{hash_code(2, note.number)}: pkg={note.package} \
user=UserHandle{{0}} id={note.number} \
tag=null importance={note.importance} key={key}: \
Notification(channel={note.channel} shortcut=null contentView=null \
vibrate=null sound=null defaults=0x0 flags=0x{2 if note.ongoing else 10:x} color=0x00000000 vis=PRIVATE))
      uid={uid} userId=0
      opPkg={note.package}
      flags=0x{2 if note.ongoing else 10:x}
      pri=0
      key={key}
      seen=true
      groupKey={key}
      when={note.when_ms}
      extras={{
          android.title={text(note.title)}
          android.text={text(note.text)}
          android.showWhen=Boolean (true)
      }}
"""


async def statusbar(call: Call, _: list[str]) -> int:
    """Whether the shade is open."""
    shown = str(any(window.type == "shade" for window in call.phone.windows())).lower()
    await call.line(
        f"  mDisabled1=0x0\n  mDisabled2=0x0\n  mNotificationShadeExpanded={shown}\n  "
        f"mExpandedVisible={shown}"
    )
    return 0


async def clipboard(call: Call, _: list[str]) -> int:
    """Never the text itself."""
    await call.line("Clipboard state: " + ("has text" if call.phone.clipboard else "empty"))
    return 0


async def accessibility(call: Call, _: list[str]) -> int:
    """Which services are on."""
    secure = call.phone.settings["secure"]
    on = str(secure.get("accessibility_enabled", "0") == "1").lower()
    services = secure.get("enabled_accessibility_services", "")
    await call.line(
        "ACCESSIBILITY MANAGER (dumpsys accessibility)\n\ncurrentUserId=0\nUser state[\n     "
        "attributes:{id=0, touchExplorationEnabled=false, installedServiceCount=0}\n     "
        f"accessibility enabled:{on}\n     Enabled services:{{{services}}}\n]"
    )
    return 0


async def uimode(call: Call, _: list[str]) -> int:
    """Day or night."""
    dark = call.phone.display.dark
    await call.line(
        "Current UI Mode Service state:\n  mDockState=0 mLastBroadcastState=0\n  "
        f"mNightMode={2 if dark else 1} ({'yes' if dark else 'no'}) mCarModeEnabled=false\n  "
        f"mComputedNightMode={str(dark).lower()} mCurUiMode=0x{21 if dark else 11}"
    )
    return 0


async def trust(call: Call, _: list[str]) -> int:
    """Unlocked: this phone has no lock screen."""
    await call.line(
        'Trust manager state:\n User "Owner" (id=0, flags=0x4c13) (current): trustState=TRUSTED, '
        "trustManaged=0, deviceLocked=0, strongAuthRequired=0x0"
    )
    return 0


async def user(call: Call, _: list[str]) -> int:
    """Everybody who uses the phone."""
    await call.line("Current user: 0\nUsers:")
    for one in users(call.phone):
        first = str(one.number == 0).lower()
        await call.line(
            f"  UserInfo{{{one.number}:{one.name}:{one.flags:x}}} serialNo={one.number} isPrimary={first}\n"
            "    State: RUNNING_UNLOCKED"
        )
    return 0


async def location(call: Call, _: list[str]) -> int:
    """On or off."""
    on = call.phone.settings["secure"].get("location_mode", "0") != "0"
    await call.line(
        f"Location Manager State:\n  User 0: location setting: {str(on).lower()}\n  gps provider:\n"
        f"    enabled={str(on).lower()}"
    )
    known = last_place(call.phone)
    if known is not None:
        place, at_ms = known
        age = f"et=+{(call.phone.wall_ms() - at_ms) / 1000:.3f}s"
        await call.line(
            f"    last location=Location[gps {place.latitude:.6f},{place.longitude:.6f} hAcc=5.0 {age} "
            f"alt={place.altitude:.1f}]"
        )
    for name, mocked in call.phone.service_state("location").items():
        if " " not in name:
            await call.line(
                f"  {name} provider [mock]:\n    last location=Location[{name} {mocked or 'none'}]"
            )
    return 0


async def usagestats(call: Call, _: list[str]) -> int:
    """What runs was used."""
    await call.line("user=0\n  In-memory daily stats")
    for name, process in call.phone.packages.processes.items():
        await call.line(
            f'      package={name} totalTimeUsed="00:00" lastTimeUsed="{int(process.started_ms)}" '
            "appLaunchCount=1"
        )
    return 0


async def media_session(call: Call, _: list[str]) -> int:
    """Nobody plays anything."""
    await call.line(
        "MEDIA SESSION SERVICE (dumpsys media_session)\n\n0 sessions listeners.\nGlobal priority "
        "session is null\n  Sessions Stack - have 0 sessions:"
    )
    return 0

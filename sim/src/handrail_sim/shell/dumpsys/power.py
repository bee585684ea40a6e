"""Battery, power, memory, CPU: the state of the machine."""

from __future__ import annotations

from handrail_sim.shell.call import Call
from handrail_sim.shell.dumpsys.shapes import hash_code
from handrail_sim.shell.system import machine_services
from handrail_sim.system.releases import release_of
from handrail_sim.system.vendors import vendor_of

_PLUG_TYPES = (("ac", 1), ("usb", 2), ("wireless", 4), ("dock", 8))


async def battery(call: Call, args: list[str]) -> int:
    """`dumpsys battery [set KEY VALUE|unplug|reset]`: the service's own shell answers what is not a dump."""
    if args and args[0] not in {"-a", "--proto"}:
        return await machine_services.BATTERY.run(call, args)

    def of(key: str) -> str:
        return machine_services.battery_value(call, key)

    def yes(key: str) -> str:
        return str(of(key) == "1").lower()

    release = release_of(call.phone)
    stopped = call.phone.service_state("battery")
    sent = " Time when the latest updated value of the {} was sent via battery changed broadcast: +21s560ms"
    lines = [
        "Current Battery Service state:",
        *(["  (UPDATES STOPPED -- use 'reset' to restart)"] if stopped else []),
        f"  AC powered: {yes('ac')}",
        f"  USB powered: {yes('usb')}",
        f"  Wireless powered: {yes('wireless')}",
        *([f"  Dock powered: {yes('dock')}"] if release.battery_dock else []),
        "  Max charging current: 500000",
        *([sent.format("Max charging current")] if release.battery_sent else []),
        "  Max charging voltage: 5000000",
        f"  Charge counter: {of('counter')}",
        f"  status: {of('status')}",
        "  health: 2",
        f"  present: {yes('present')}",
        f"  level: {of('level')}",
        "  scale: 100",
        "  voltage: 4200",
        *([sent.format("voltage")] if release.battery_sent else []),
        f"  temperature: {of('temp')}",
        "  technology: Li-ion",
        *release.battery_tail,
        *vendor_of(call.phone).lines.get("battery", ()),
    ]
    await call.out("\n".join(lines) + "\n")
    return 0


async def power(call: Call, _: list[str]) -> int:
    """`dumpsys power`: awake or asleep."""
    awake = call.phone.awake
    flag, state = str(awake).lower(), "Awake" if awake else "Asleep"
    stay = call.phone.settings["global"].get("stay_on_while_plugged_in", "0")
    timeout = call.phone.settings["system"].get("screen_off_timeout", "60000")
    plug = next(
        (number for key, number in _PLUG_TYPES if machine_services.battery_value(call, key) == "1"), 0
    )
    await call.out(f"""POWER MANAGER (dumpsys power)

Power Manager State:
  Settings power_manager_constants:
  mDirty=0x0
  mWakefulness={state}
  mWakefulnessChanging=false
  mIsPowered={str(plug > 0).lower()}
  mPlugType={plug}
  mBatteryLevel={call.phone.battery}
  mStayOn={str(stay != "0").lower()}
  mBootCompleted=true
  mSystemReady=true
  mHalAutoSuspendModeEnabled={str(not awake).lower()}
  mHalInteractiveModeEnabled={flag}
  mWakeLockSummary=0x0
  mUserActivitySummary=0x{1 if awake else 0}
  mHoldingWakeLockSuspendBlocker=false
  mHoldingDisplaySuspendBlocker={flag}

Settings and Configuration:
  mScreenOffTimeoutSetting={timeout}
  mStayOnWhilePluggedInSetting={stay}

Display Power: state={"ON" if awake else "OFF"}

Wake Locks: size=0

Suspend Blockers: size=2
""")
    return 0


def _meminfo_of(pid: int, name: str) -> str:
    return f"""
** MEMINFO in pid {pid} [{name}] **
                   Pss  Private  Private  SwapPss      Rss     Heap     Heap     Heap
                 Total    Dirty    Clean    Dirty    Total     Size    Alloc     Free
                ------   ------   ------   ------   ------   ------   ------   ------
  Native Heap     9216     9180        0        0    11200    16384    10240     6144
  Dalvik Heap     4608     4560        0        0     9800     8192     4608     3584
        TOTAL    54321    21000    12000        0   110592    24576    14848     9728

 App Summary
                       Pss(KB)                        Rss(KB)
                        ------                         ------
           Java Heap:     4560                          9800
         Native Heap:     9180                         11200
                Code:    12000                         48000
               Stack:      640                           648
            Graphics:     8192                          8192
       Private Other:     1200
              System:    18549
             Unknown:                                  32752

           TOTAL PSS:    54321            TOTAL RSS:   110592      TOTAL SWAP PSS:        0
"""


async def meminfo(call: Call, args: list[str]) -> int:
    """`dumpsys meminfo [PACKAGE|PID]`: round figures."""
    names = [arg for arg in args if not arg.startswith("-")]
    uptime, processes = int(call.phone.clock.monotonic_ms()), call.phone.packages.processes
    await call.line(f"Applications Memory Usage (in Kilobytes):\nUptime: {uptime} Realtime: {uptime}")
    if names:
        found = [one for one in processes.values() if names[0] in {one.name, str(one.pid)}]
        if not found:
            await call.line(f"No process found for: {names[0]}")
        for one in found:
            await call.out(_meminfo_of(one.pid, one.name))
        return 0
    await call.line("\nTotal RSS by process:")
    for one in processes.values():
        await call.line(f"    110,592K: {one.name} (pid {one.pid} / activities)")
    await call.line(
        "\nTotal RAM: 2,036,904K (status normal)\n Free RAM: 1,077,940K\n Used RAM:   823,292K\n "
        "Lost RAM:   135,672K"
    )
    return 0


async def cpuinfo(call: Call, _: list[str]) -> int:
    """An idle phone."""
    await call.line("Load: 0.1 / 0.08 / 0.05\nCPU usage from 60000ms to 0ms ago:")
    await call.line("  1.2% 543/system_server: 0.9% user + 0.3% kernel")
    for one in call.phone.packages.processes.values():
        await call.line(f"  0.4% {one.pid}/{one.name}: 0.3% user + 0.1% kernel")
    await call.line("1.6% TOTAL: 1.2% user + 0.4% kernel")
    return 0


async def deviceidle(call: Call, args: list[str]) -> int:
    """`dumpsys deviceidle [get …]`: the service's own shell answers what is not a dump."""
    if args and not args[0].startswith("-"):
        return await machine_services.DEVICEIDLE.run(call, args)
    state = call.phone.service_state("deviceidle").get("state", "ACTIVE")
    await call.line(f"  Settings:\n  mLightEnabled=true  mDeepEnabled=true\n  mState={state}")
    return 0


async def alarm(call: Call, _: list[str]) -> int:
    """`dumpsys alarm`."""
    now = call.phone.wall_ms()
    await call.line(
        f"Current Alarm Manager state:\n  nowRTC={now}\n  nowELAPSED={int(call.phone.clock.monotonic_ms())}"
    )
    await call.line(
        f"  Next alarm clock information:\n  Pending alarms: 0\n  mLastTimeChange={hash_code(1, 1)}"
    )
    return 0

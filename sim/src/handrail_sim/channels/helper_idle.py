"""When the helper calls the screen quiet: no accessibility event of the kinds that matter for 150 ms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handrail_sim.handset import Handset
    from handrail_sim.system.device import Event

FIRST_MS, POLL_MS, QUIET_MS = 50.0, 25.0, 150.0
MAX_EVENTS = 16
MATTERS = frozenset({"TYPE_WINDOW_STATE_CHANGED", "TYPE_WINDOW_CONTENT_CHANGED", "TYPE_WINDOWS_CHANGED"})
MATTERS |= {"TYPE_VIEW_SCROLLED", "TYPE_VIEW_TEXT_CHANGED"}


async def wait_idle(phone: Handset, timeout_ms: float) -> dict[str, Any]:
    """Listen until it is quiet or the time is over; events count from the moment of the question."""
    clock = phone.clock
    start = clock.monotonic_ms()
    heard: list[str] = []
    last = start

    def listen(event: Event) -> None:
        nonlocal last
        if event[1] in MATTERS:
            last = event[0]
            if len(heard) < MAX_EVENTS:
                heard.append(event[1].removeprefix("TYPE_"))

    phone.on_event(listen)
    try:
        await clock.sleep_ms(min(FIRST_MS, timeout_ms))
        while True:
            phone.is_idle()  # brings timers and animations up to now
            now = clock.monotonic_ms()
            if now - last >= QUIET_MS:
                return {"idle": True, "reason": "events_quiet", "events": heard}
            if now - start >= timeout_ms:
                return {"idle": False, "reason": "timeout", "events": heard}
            await clock.sleep_ms(min(POLL_MS, start + timeout_ms - now))
    finally:
        phone.off_event(listen)

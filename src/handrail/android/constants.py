"""Numbers and names of Android devices; the unit is in the name.

Each is followed by its reason; `docs/devices.md` lists them from here. Signs of loading are in
`screen/dialogs.py`, network presets in `settings.py`.
"""

from __future__ import annotations

from handrail.adb.shell import TIMEOUT_MS

SHELL_TIMEOUT_MS = TIMEOUT_MS
"""A shell command that says nothing for longer is hung, not slow."""
READ_ATTEMPTS = 3
"""Reads are tried again; input never is, because a second tap is another tap."""
READ_RETRY_FIRST_MS = 100
"""Pause before the second attempt of a read; a null root is often gone after one frame or two."""
READ_RETRY_GROWTH = 3
"""Each further pause is this many times the last one."""
READ_DEADLINE_MS = 30_000
"""All attempts of one read together; `uiautomator dump` alone may wait 10 s for a quiet screen."""
DUMP_FOLDER = "/data/local/tmp"
"""Writable for the shell on every Android, also before the first unlock, unlike /sdcard."""
SECOND_DUMP_FOLDER = "/sdcard"
"""For phones that close the first one."""
TIDY_TIMEOUT_MS = 2_000
"""What is cleared away at the end may take no longer; a phone that is gone is not waited for."""
LARGE_DUMP_BYTES = 300_000
"""Above it a dump is parsed in a thread: 10 ms in the event loop would hold up every other phone."""
SCREENSHOT_LIMIT_BYTES = 64 << 20
"""A noisy 4K picture as PNG stays below."""
DOUBLE_TAP_GAP_MS = 100
"""Android takes two taps for one double tap when 40 to 300 ms lie between them; commands start unevenly."""
CHANNEL_DOUBLE_TAP_GAP_MS = 50
"""The same by a channel, whose touches start at once: the way to the phone only adds to it."""
LONG_PRESS_TIMEOUT_MS = 500
"""How long `input draganddrop` holds before it moves; the duration that it is given includes the hold."""
LOGCAT_LINES = 200
"""What a log read returns at most by default: about one screenful of a crash."""
GRPC_PORT_OFFSET = 3_000
"""An emulator's gRPC port is its console port plus this."""
GRPC_CONNECT_TIMEOUT_MS = 5_000
"""The channel is on this machine: later than this it is not there."""
GRPC_RPC_TIMEOUT_MS = 10_000
"""One call, a screenshot included."""
GRPC_FRAMES_PER_SEC = 60
"""Touches of a gesture are sent at the rate at which Android reads them."""
GRPC_PRESSURE = 100
"""A finger that is down; 0 lifts it."""
U2_PORT = 9_008
"""Where the u2 server listens on the device."""
U2_STARTUP_TIMEOUT_MS = 30_000
"""app_process loads the jar and registers with the accessibility service."""
CHANNEL_PAUSE_FIRST_MS = 1_000
"""A channel that failed is left alone for so long before it is tried again."""
CHANNEL_PAUSE_GROWTH = 2
"""Each further failure in a row makes the pause this many times longer."""
CHANNEL_PAUSE_LAST_MS = 60_000
"""No pause is longer: a helper that came back is found within a minute."""
CHANNEL_OPENING_WAIT_MS = 5_000
"""A look waits so long for a channel that is opening again, rather than to dump against it."""

"""Opening addresses: web pages and deep links, in the app that handles them."""

from __future__ import annotations

import re

from handrail.adb.shell import Shell
from handrail.android.apps import VIEW, NotStarted, Started, start_intent
from handrail.android.packages import check_package, require_package
from handrail.errors import AdbCommandError, InvalidAction

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")


def check_url(url: str) -> str:
    """The address itself; without a scheme Android would read it as a package."""
    if len(url) > 8_192 or not _URL.fullmatch(url):
        raise InvalidAction(f"{url[:200]!r} is not an address with a scheme", path="url")
    return url


async def open_url(shell: Shell, url: str, package: str | None = None) -> Started:
    """Let the device choose the app, or name it."""
    to = ["-p", check_package(package)] if package else []
    try:
        return await start_intent(shell, ["-a", VIEW, "-d", check_url(url), *to])
    except NotStarted as refusal:
        if package:
            await require_package(shell, package)
        scheme = url.partition(":")[0]
        hint = f"No installed app handles {scheme}: addresses like this one." if refusal.missing else None
        raise AdbCommandError(
            f"{url[:200]} was not opened: {refusal.text[:500]}", hint=hint, command=["am", "start"]
        ) from None

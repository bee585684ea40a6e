"""How Android's own commands fail: a Java exception on stderr and exit code 255."""

from __future__ import annotations

from handrail_sim.shell.call import Call
from handrail_sim.system.releases import release_of

SECURITY = "java.lang.SecurityException"


class JavaError(Exception):
    """An exception inside a system service: class name, message, and the frame it is thrown from."""

    def __init__(self, kind: str, message: str = "", frame: str = "") -> None:
        super().__init__(f"{kind}: {message}" if message else kind)
        self.kind, self.message, self.frame = kind, message, frame


async def show(call: Call, command: str, error: JavaError) -> int:
    frame = (
        error.frame
        or "com.android.modules.utils.BasicShellCommandHandler.exec(BasicShellCommandHandler.java:97)"
    )
    release = release_of(call.phone)
    shape = release.security_exception if error.kind == SECURITY else release.exception
    return await call.err(shape.format(command=command, message=error.message, error=error, frame=frame), 255)


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise JavaError("java.lang.NumberFormatException", f'For input string: "{text}"') from None


def integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise JavaError("java.lang.NumberFormatException", f'For input string: "{text}"') from None

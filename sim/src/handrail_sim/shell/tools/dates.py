"""Times as toybox reads them, and the command `date`."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from handrail_sim.clock import SettableClock
from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.options import BadUsage

_FORMS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%H:%M:%S", "%H:%M")
_POSIX = re.compile(r"(?:(\d\d)?(\d\d))?(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d\d))?")
_SET = re.compile(r"(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(\d\d)?(?:\.(\d\d))?")


def parse_time(text: str, now_ms: int) -> float:
    """Seconds since 1970 of `@SECONDS`, `YYYY-MM-DD hh:mm[:ss]`, `hh:mm` or `[[CC]YY]MMDDhhmm[.ss]`."""
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    if re.fullmatch(r"@-?\d+(\.\d+)?", text):
        return float(text[1:])
    for form in _FORMS:
        try:
            moment = datetime.strptime(text.removesuffix("Z"), form).replace(tzinfo=UTC)
        except ValueError:
            continue
        if "%Y" not in form:
            moment = moment.replace(year=now.year, month=now.month, day=now.day)
        return moment.timestamp()
    match = _POSIX.fullmatch(text)
    if match is None:
        raise BadUsage(f"bad date '{text}'")
    century, year, *rest = match.groups()
    whole = now.year if year is None else int((century or "20") + year)
    return _moment(text, whole, *(int(part or 0) for part in rest))


def _moment(text: str, year: int, month: int, day: int, hour: int, minute: int, second: int) -> float:
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    except ValueError:
        raise BadUsage(f"bad date '{text}'") from None


def _to_set(text: str, now_ms: int) -> float:
    """`MMDDhhmm[[CC]YY][.ss]`, which is how a time to set is written."""
    match = _SET.fullmatch(text)
    if match is None:
        return parse_time(text, now_ms)
    month, day, hour, minute, first, second, seconds = match.groups()
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    year = int(first + second) if second else 2000 + int(first) if first else now.year
    return _moment(text, year, int(month), int(day), int(hour), int(minute), int(seconds or 0))


async def date(call: Call) -> int:
    """`date [-u] [-d TIME] [-r FILE] [+FORMAT] [SET]`, in UTC; setting it needs root, as on a device."""
    options, now_ms = call.options, call.phone.clock.now_ms()
    seconds = now_ms / 1000
    if "r" in options:
        seconds = call.session.files.stat(call.path(options.values["r"])).mtime
    elif "d" in options:
        seconds = parse_time(options.values["d"], now_ms)
    forms = [word[1:] for word in options.rest if word.startswith("+")]
    given = [word for word in options.rest if not word.startswith("+")]
    moment = datetime.fromtimestamp(_to_set(given[0], now_ms) if given else seconds, UTC)
    form = forms[0] if forms else "%a %b %e %H:%M:%S UTC %Y"
    form = form.replace("%N", f"{moment.microsecond * 1000:09d}").replace("%Z", "UTC")
    form = form.replace("%s", str(int(moment.timestamp())))
    if given:
        clock = call.phone.clock
        if call.session.user.uid != 0 or not isinstance(clock, SettableClock):
            await call.fail("cannot set date: Operation not permitted")
            await call.line(moment.strftime(form))
            return 1
        clock.set_now_ms(int(moment.timestamp() * 1000))
    await call.line(moment.strftime(form))
    return 0


FAMILY: dict[str, Command] = {"date": date}

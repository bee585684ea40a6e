"""Times as toybox reads them, and the command `date`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo

from handrail_sim.shell.call import Call, Command
from handrail_sim.shell.options import BadUsage

_FORMS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%H:%M:%S", "%H:%M")
_POSIX = re.compile(r"(?:(\d\d)?(\d\d))?(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d\d))?")
_SET = re.compile(r"(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(\d\d)?(?:\.(\d\d))?")


def parse_time(text: str, now_ms: int, zone: tzinfo = UTC) -> float:
    """Seconds since 1970 of `@SECONDS`, `YYYY-MM-DD hh:mm[:ss]`, `hh:mm` or `[[CC]YY]MMDDhhmm[.ss]`."""
    now = datetime.fromtimestamp(now_ms / 1000, zone)
    if re.fullmatch(r"@-?\d+(\.\d+)?", text):
        return float(text[1:])
    for form in _FORMS:
        try:
            moment = datetime.strptime(text.removesuffix("Z"), form).replace(
                tzinfo=UTC if text.endswith("Z") else zone
            )
        except ValueError:
            continue
        if "%Y" not in form:
            moment = moment.replace(year=now.year, month=now.month, day=now.day)
        return moment.timestamp()
    match = _POSIX.fullmatch(text)
    if match is None:
        raise BadUsage(f"bad date '{text}'")
    century, year, *rest = match.groups()
    total = now.year if year is None else int((century or "20") + year)
    return _moment(text, zone, total, *(int(part or 0) for part in rest))


def _moment(text: str, zone: tzinfo, year: int, *parts: int) -> float:
    try:
        month, day, hour, minute, second = parts
        return datetime(year, month, day, hour, minute, second, tzinfo=zone).timestamp()
    except ValueError:
        raise BadUsage(f"bad date '{text}'") from None


def _to_set(text: str, now_ms: int, zone: tzinfo) -> float:
    """`MMDDhhmm[[CC]YY][.ss]`, which is how a time to set is written."""
    match = _SET.fullmatch(text)
    if match is None:
        return parse_time(text, now_ms, zone)
    month, day, hour, minute, first, second, seconds = match.groups()
    now = datetime.fromtimestamp(now_ms / 1000, zone)
    year = int(first + second) if second else 2000 + int(first) if first else now.year
    return _moment(text, zone, year, int(month), int(day), int(hour), int(minute), int(seconds or 0))


async def date(call: Call) -> int:
    """`date [-u] [-d TIME] [-r FILE] [+FORMAT] [SET]`, in the phone's zone; only root may set it."""
    options, phone = call.options, call.phone
    zone, now_ms = UTC if "u" in options else phone.zone, phone.wall_ms()
    seconds = now_ms / 1000
    if "r" in options:
        seconds = call.session.files.stat(call.path(options.values["r"])).mtime
    elif "d" in options:
        seconds = parse_time(options.values["d"], now_ms, zone)
    forms = [word[1:] for word in options.rest if word.startswith("+")]
    arguments = [word for word in options.rest if not word.startswith("+")]
    moment = datetime.fromtimestamp(_to_set(arguments[0], now_ms, zone) if arguments else seconds, zone)
    form = forms[0] if forms else "%a %b %e %H:%M:%S %Z %Y"
    form = form.replace("%N", f"{moment.microsecond * 1000:09d}")
    form = form.replace("%s", str(int(moment.timestamp())))
    refused = bool(arguments) and call.session.user.uid != 0
    if refused:
        await call.fail("cannot set date: Operation not permitted")
    elif arguments:
        phone.set_date(int(moment.timestamp() * 1000))
    await call.line(moment.strftime(form))
    return int(refused)


FAMILY: dict[str, Command] = {"date": date}

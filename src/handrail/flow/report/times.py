"""Durations and moments as people read them."""

from __future__ import annotations

from datetime import UTC, datetime


def duration(ms: float) -> str:
    """ "38 ms", "1.24 s", "2 min 05 s"."""
    if ms < 999.5:
        return f"{ms:.0f} ms"
    if ms < 9_995:
        return f"{ms / 1000:.2f} s"
    if ms < 59_950:
        return f"{ms / 1000:.1f} s"
    minutes, seconds = divmod(round(ms / 1000), 60)
    return f"{minutes} min {seconds:02d} s"


def moment(ms: int) -> str:
    """ "2026-03-14 15:09:26 UTC"."""
    return _utc(ms).strftime("%Y-%m-%d %H:%M:%S UTC")


def timestamp(ms: int) -> str:
    """ISO 8601 without a zone, as JUnit wants it; UTC."""
    return _utc(ms).strftime("%Y-%m-%dT%H:%M:%S")


def _utc(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)

"""File contents, held once per process however many phones hold the file. Knows no paths and no phones."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from weakref import WeakValueDictionary

SMALL = 1024
"""Below this many bytes a table entry would cost more than the copy it saves."""


class Blob:
    """One immutable content; it leaves the table with its last file."""

    __slots__ = ("__weakref__", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __len__(self) -> int:
        return len(self.data)


class LazyBlob(Blob):
    """A content whose length is known and that is made when somebody reads it."""

    __slots__ = ("_content", "_length", "_make")

    def __init__(self, length: int, make: Callable[[], bytes]) -> None:
        self._length = length
        self._make = make
        self._content: bytes | None = None

    def __len__(self) -> int:
        return self._length

    @property
    def data(self) -> bytes:  # type: ignore[override]
        if self._content is None:
            self._content = self._make()
        return self._content


_held: WeakValueDictionary[bytes, Blob] = WeakValueDictionary()
EMPTY = Blob(b"")


def intern(data: bytes) -> Blob:
    """The blob with this content: the one that is there already, if any."""
    if len(data) < SMALL:
        return Blob(data) if data else EMPTY
    key = blake2b(data, digest_size=20).digest()
    blob = _held.get(key)
    if blob is None:
        blob = _held[key] = Blob(bytes(data))
    return blob


def held() -> int:
    """How many bytes the table keeps alive; for measurements."""
    return sum(len(blob) for blob in list(_held.values()))

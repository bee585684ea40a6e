"""The media provider: shared storage as rows of external.db. A row is there because its file is.

Android's FUSE tells the provider of every change; here the provider looks when it is asked.
"""

from __future__ import annotations

import mimetypes
import posixpath
import sqlite3
from collections.abc import Iterable
from io import BytesIO
from typing import Any
from zlib import crc32

from handrail_sim.disk.lookup import Stat
from handrail_sim.system.device import Device

ROOT = "/storage/emulated/0"
_PRIVATE = (f"{ROOT}/Android/data", f"{ROOT}/Android/obb")
_FOLDER_FORMAT = 0x3001
_FORMATS = {
    "image/jpeg": 0x3801,
    "image/png": 0x380B,
    "image/gif": 0x3807,
    "video/mp4": 0xB982,
    "audio/mpeg": 0x3009,
}
_TYPES = {"image": 1, "audio": 2, "video": 3}
HOMES = {1: "Pictures", 2: "Music", 3: "Movies"}
_MIME_TYPES = {
    ".webp": "image/webp",
    ".heic": "image/heic",
    ".mp4": "video/mp4",
    ".m4a": "audio/mp4",
    ".md": "text/markdown",
}


def refresh(phone: Device, database: sqlite3.Connection) -> None:
    there = {path: stat for path, stat in _walk(phone) if path != ROOT}
    existing = {
        row[0]: (row[1], row[2]) for row in database.execute("SELECT _data, _size, date_modified FROM files")
    }
    removed = [path for path in existing if path not in there]
    new = [path for path, stat in there.items() if existing.get(path) != (_size(stat), stat.mtime)]
    if not removed and not new:
        return
    database.executemany("DELETE FROM files WHERE _data = ?", [(path,) for path in removed])
    for path in new:
        _keep(database, describe(phone, path, there[path]), path in existing)
    database.commit()


def describe(phone: Device, path: str, stat: Stat) -> dict[str, Any]:
    folder, name = posixpath.split(path)
    mime = None if stat.is_dir else mime_of(name)
    kind = _TYPES.get((mime or "").partition("/")[0], 0)
    inside = folder.removeprefix(ROOT).strip("/")
    size = _picture_size(phone.files.read(path)) if kind == 1 else (None, None)
    return {
        "_data": path,
        "_size": _size(stat),
        "_display_name": name,
        "title": posixpath.splitext(name)[0],
        "mime_type": mime,
        "media_type": kind,
        "format": _FOLDER_FORMAT if stat.is_dir else _FORMATS.get(mime or "", 0x3000),
        "date_added": stat.mtime,
        "date_modified": stat.mtime,
        "datetaken": stat.mtime * 1000 if kind in (1, 3) else None,
        "relative_path": f"{inside}/" if inside else "/",
        "bucket_id": str(crc32(folder.lower().encode())),
        "bucket_display_name": posixpath.basename(folder) if inside else None,
        "primary_directory": inside.partition("/")[0] or None,
        "is_download": int(inside.partition("/")[0] == "Download" and not stat.is_dir),
        "width": size[0],
        "height": size[1],
    }


def insert(phone: Device, database: sqlite3.Connection, values: dict[str, Any]) -> int:
    """A new row makes its file, empty, where Android keeps such things unless told otherwise."""
    path = str(values.get("_data") or "")
    if not path:
        home = HOMES.get(int(values.get("media_type") or 0), "Download")
        folder = str(values.get("relative_path") or home).strip("/")
        path = f"{ROOT}/{folder}/{values.get('_display_name') or values.get('title') or phone.wall_ms()}"
    path = phone.files.canonical(path)
    if not path.startswith(f"{ROOT}/"):
        raise sqlite3.IntegrityError(f"{path} is outside of shared storage")
    phone.files.mkdir(posixpath.dirname(path), parents=True)
    if not phone.files.exists(path):
        phone.files.write(path, b"")
    refresh(phone, database)
    return int(database.execute("SELECT _id FROM files WHERE _data = ?", (path,)).fetchone()[0])


def scan(phone: Device, path: str) -> str:
    """The URI of a file after a look at it, "null" if it is not there."""
    database = phone.providers.database("external.db")
    refresh(phone, database)
    try:
        match = phone.files.canonical(path)
    except OSError:
        match = path
    row = database.execute("SELECT _id, media_type FROM files WHERE _data = ?", (match,)).fetchone()
    kinds = {1: "images/media", 2: "audio/media", 3: "video/media"}
    return f"content://media/external_primary/{kinds.get(row[1], 'file')}/{row[0]}" if row else "null"


def delete(phone: Device, database: sqlite3.Connection, ids: Iterable[int]) -> None:
    for number in ids:
        row = database.execute("SELECT _data FROM files WHERE _id = ?", (number,)).fetchone()
        if row and phone.files.exists(row[0]):
            phone.files.remove_tree(row[0])


def mime_of(name: str) -> str:
    ending = posixpath.splitext(name)[1].lower()
    return _MIME_TYPES.get(ending) or mimetypes.types_map.get(ending) or "application/octet-stream"


def _walk(phone: Device) -> Iterable[tuple[str, Stat]]:
    return ((path, stat) for path, stat in phone.files.walk(ROOT) if not path.startswith(_PRIVATE))


def _size(stat: Stat) -> int | None:
    return None if stat.is_dir else stat.size


def _keep(database: sqlite3.Connection, columns: dict[str, Any], exists: bool) -> None:
    if exists:
        columns = {name: value for name, value in columns.items() if name != "date_added"}
        places = ", ".join(f"{name} = ?" for name in columns)
        text = f"UPDATE files SET {places} WHERE _data = ?"  # noqa: S608 - our own names
        database.execute(text, (*columns.values(), columns["_data"]))
        return
    names, places = ", ".join(columns), ", ".join("?" * len(columns))
    database.execute(f"INSERT INTO files ({names}) VALUES ({places})", tuple(columns.values()))  # noqa: S608


def _picture_size(data: bytes) -> tuple[int, int] | tuple[None, None]:
    from PIL import Image  # noqa: PLC0415 - a phone without pictures does without Pillow

    try:
        with Image.open(BytesIO(data)) as picture:
            return (picture.width, picture.height)
    except (OSError, Image.DecompressionBombError):
        return (None, None)

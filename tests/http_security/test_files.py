"""Attacks on files, each of which fails: out of the folder, through links, hidden ones, other apps' ones."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

from tests.unit.web_server.door import Door, door

OUT = [
    "../config/secrets", "..%2fconfig%2fsecrets", "%2e%2e/config/secrets", "..\\config\\secrets",
    "%2e%2e%5cconfig%5csecrets", "notes/../../config/secrets", "/etc/passwd", "%2fetc%2fpasswd",
    "//etc/passwd", "....//config/secrets", "link/secrets", "notes/link/secrets", "linked.txt",
    "notes/linked.txt", ".hidden", "notes/.hidden", "notes/index.html%00.png", "notes/" + "a" * 5000,
    "notes/index.html/x",
]  # fmt: skip


def _home(home: Path) -> None:
    """Folders as somebody would leave them, and links that lead out of them."""
    (home / "config").mkdir()
    (home / "config" / "secrets").write_text("SECRET")
    for name in ("storage", "apps"):
        notes = home / name / "notes"
        notes.mkdir(parents=True)
        (notes / "app.json").write_text(json.dumps({"name": "Notes"}))
        (notes / "index.html").write_text("<script src=app.js></script>")
        (notes / "app.js").write_text("parent.postMessage(1, '*')")
        for folder in (home / name, notes):
            (folder / ".hidden").write_text("SECRET")
            (folder / "link").symlink_to(home / "config")
            (folder / "linked.txt").symlink_to(home / "config" / "secrets")


async def _get(served: Door, path: str) -> tuple[int, bytes]:
    answer = await served.get(path)
    return answer.status, answer.body


async def test_no_path_leads_out_of_the_storage(tmp_path: Path) -> None:
    _home(tmp_path)
    async with door(tmp_path) as served:
        for path in OUT:
            status, body = await _get(served, f"/api/storage/{path}")
            assert status in (400, 404), path
            assert b"SECRET" not in body, path
        listed = (await served.get("/api/storage/")).json
        assert [one["name"] for one in listed["entries"]] == ["notes"]


async def test_no_path_leads_out_of_an_app(tmp_path: Path) -> None:
    _home(tmp_path)
    async with door(tmp_path) as served:
        sealed = (await served.get("/apps/notes/index.html")).headers["location"].rpartition("/")[0]
        assert (await served.ask("GET", f"{sealed}/index.html")).status == 200
        for path in (*OUT, "app.json", "../notes/../../config/secrets"):
            answer = await served.ask("GET", f"{sealed}/{path}")
            assert answer.status in (400, 401, 404), path
            assert b"SECRET" not in answer.body, path


async def test_an_app_runs_on_an_origin_that_is_nobodys_and_reaches_its_own_files_only(
    tmp_path: Path,
) -> None:
    _home(tmp_path)
    async with door(tmp_path) as served:
        sealed = (await served.get("/apps/notes/index.html")).headers["location"]
        page = await served.ask("GET", sealed, {"Origin": "null", "Sec-Fetch-Site": "cross-site"})
        policy = page.headers["content-security-policy"]
        assert policy.startswith("sandbox allow-scripts allow-forms;")
        assert "allow-same-origin" not in policy
        assert "default-src 'none'" in policy
        folder = f"http://{served.host}{sealed.rpartition('/')[0]}/"
        assert f"connect-src {folder};" in policy
        # What it could try from there: the API has no ear for it, with or without the seal.
        for origin in ("null", served.origin):
            assert (await served.ask("GET", "/api/desk", {"Origin": origin})).status in (401, 403)


async def test_a_seal_opens_its_own_app_only_and_can_not_be_made_up(tmp_path: Path) -> None:
    _home(tmp_path)
    other = tmp_path / "apps" / "other"
    other.mkdir()
    (other / "app.json").write_text(json.dumps({"name": "Other"}))
    (other / "index.html").write_text("other")
    async with door(tmp_path) as served:
        sealed = (await served.get("/apps/notes/index.html")).headers["location"]
        seal = sealed.split("~")[1].partition("/")[0]
        for path in (
            f"/apps/other~{seal}/index.html",
            f"/apps/notes~{'x' * 43}/index.html",
            f"/apps/notes~{seal[:-1]}/index.html",
            f"/apps/notes~{seal}/../other/index.html",
            f"/apps/..~{seal}/config/secrets",
        ):
            status = (await served.ask("GET", path)).status
            assert status in (401, 404), path
        assert (await served.ask("POST", sealed, {"Content-Type": "application/json"}, b"{}")).status == 401


async def test_a_page_in_the_storage_is_shown_as_its_text_and_a_picture_can_not_run(tmp_path: Path) -> None:
    storage = tmp_path / "storage"
    storage.mkdir()
    for name in ("a.html", "a.svg", "a.exe", "a.png.html", "A.HTM", "a", "a.svg.xml", "ü 1.txt"):
        (storage / name).write_text("<script>alert(1)</script>")
    async with door(tmp_path) as served:
        kinds = {}
        for name in sorted(path.name for path in storage.iterdir()):
            answer = await served.get(f"/api/storage/{quote(name)}")
            kinds[name] = answer.headers["content-type"].partition(";")[0]
            assert answer.headers["content-security-policy"].endswith("; sandbox")
            assert answer.headers["x-content-type-options"] == "nosniff"
        text, unknown = "text/plain", "application/octet-stream"
        assert kinds == {
            "A.HTM": text, "a": unknown, "a.exe": unknown, "a.html": text, "a.png.html": text,
            "a.svg": "image/svg+xml", "a.svg.xml": text, "ü 1.txt": text,
        }  # fmt: skip
        download = await served.get("/api/storage/a.exe")
        assert download.headers["content-disposition"].startswith("attachment")

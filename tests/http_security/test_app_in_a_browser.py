"""A hostile desk app in a real Chromium: its own files load, and everything else is out of its reach."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import async_playwright

from tests.unit.web_server.door import Door, door
from tests.web.conftest import QUIET, chromium

APP = """
import { value } from "./part.js";
const told = { value, origin: self.origin };
const attempt = async (name, work) => {
  try { told[name] = await work(); } catch (error) { told[name] = error.name; }
};
await attempt("own", async () => (await (await fetch("data.json")).json()).x);
await attempt("api", async () => (await fetch("/api/desk")).status);
await attempt("opaque", async () => (await fetch("/api/desk", { mode: "no-cors" })).type);
await attempt("cookie", () => document.cookie);
await attempt("parent", () => parent.document.title);
await attempt("store", () => localStorage.length);
await attempt("socket", () => new Promise((done, fail) => {
  const socket = new WebSocket(`ws://${location.host}/ws`);
  socket.onopen = () => done("open");
  socket.onerror = () => fail(new TypeError());
}));
parent.postMessage(told, "*");
"""
FRAME = """(address) => new Promise((done) => {
  addEventListener("message", (event) => done([event.origin, event.data]));
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts";
  frame.src = address;
  document.body.append(frame);
})"""


def _app(home: Path) -> None:
    folder = home / "apps" / "hostile"
    folder.mkdir(parents=True)
    (folder / "app.json").write_text(json.dumps({"name": "Hostile"}))
    (folder / "index.html").write_text('<!doctype html><script type="module" src="app.js"></script>')
    (folder / "app.js").write_text(APP)
    (folder / "part.js").write_text("export const value = 7;")
    (folder / "data.json").write_text('{"x": 5}')


async def _in_a_frame(served: Door, path: str) -> Any:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=QUIET)
        page = await browser.new_page()
        await page.goto(f"{served.origin}/login#code={served.context.auth.link_code()}")
        await page.wait_for_url(f"{served.origin}/")
        apps = (await served.get("/api/apps")).json["apps"]
        told = await page.evaluate(FRAME, next(one["url"] for one in apps if one["id"] == "hostile"))
        await browser.close()
        return told


@pytest.mark.slow
async def test_an_app_reaches_its_own_files_and_nothing_else(tmp_path: Path) -> None:
    path = chromium()
    if path is None:
        turn_away = pytest.fail if os.environ.get("HANDRAIL_REQUIRE_BROWSER") == "1" else pytest.skip
        turn_away("no Chromium found: install it, or name it in CHROME_BIN")
    _app(tmp_path)
    async with door(tmp_path) as served, asyncio.timeout(60):
        origin, told = await _in_a_frame(served, path)
        assert (origin, told["origin"]) == ("null", "null")
        assert (told["value"], told["own"]) == (7, 5)
        for name in ("api", "opaque", "socket"):
            assert told[name] == "TypeError", told
        for name in ("cookie", "parent", "store"):
            assert told[name] == "SecurityError", told

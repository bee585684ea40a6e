"""Writes `docs/img/report*.png`: the report of a run with a failing flow, as Chromium shows it.

Run by hand (`python docs/report.py`) after the report's looks have changed; it needs a Chromium.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).parent / "img"
SHOTS = (
    ("report.png", {"width": 1280, "height": 1180}, "light", ""),
    ("report-dark-narrow.png", {"width": 390, "height": 844}, "dark", ".player"),
)
"""File, size, theme, and what stands at the top."""
SHOWN = 0
"""Pictures that the player has gone on by."""
FLOWS = {
    "contact.yaml": """
name: Create a contact
app: com.google.android.contacts
tags: [contacts, smoke]
steps:
  - swipe: up
  - tap: Create new contact
  - type_text: {target: First name, text: Marigold}
  - type_text: {target: Last name, text: Tern}
  - tap: Save
    expect: Marigold Fern
  - press_key: back
""",
    "display.yaml": """
name: Dark theme
app: com.android.settings
tags: [settings]
steps:
  - tap: Display
  - tap: Dark theme
  - press_key: back
""",
}


def run(folder: Path) -> Path:
    """The report of the flows on a simulated phone of their own."""
    for name, text in FLOWS.items():
        (folder / name).write_text(text)
    command = [
        sys.executable,
        "-m",
        "handrail.cli.main",
        "run",
        *FLOWS,
        "--sim",
        "--report",
        "report",
        "--video",
    ]
    env = {**os.environ, "HANDRAIL_HOME": str(folder / "home")}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 1:
        raise SystemExit(f"one flow should fail, but: {done.stdout}{done.stderr}")
    return folder / "report" / "index.html"


def photograph(page: Path, chromium: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for name, size, theme, top in SHOTS:
            shown = browser.new_page(viewport=size, color_scheme=theme)
            shown.goto(page.as_uri())
            for _ in range(SHOWN):
                shown.keyboard.press("ArrowRight")
            shown.evaluate("top => top && scrollTo(0, document.querySelector(top).offsetTop - 150)", top)
            shown.screenshot(path=FOLDER / name)
            with Image.open(FOLDER / name) as image:
                small = image.convert("RGB").quantize(256)
            small.save(FOLDER / name, optimize=True)
        browser.close()


def main() -> None:
    chromium = os.environ.get("CHROME_BIN") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("no Chromium found: install it, or name it in CHROME_BIN")
    with tempfile.TemporaryDirectory() as folder:
        photograph(run(Path(folder)), chromium)


if __name__ == "__main__":
    main()

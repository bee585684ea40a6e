"""Films of runs on the simulated phone: made by the commands, and without any secret in them."""

from __future__ import annotations

import operator
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from statistics import fmean, pstdev

import av
import pytest
import yaml
from PIL import Image

from handrail.errors import InvalidAction
from handrail.film.scene import FilmScene
from handrail.film.write import CAPTION, write_film
from handrail.flow.document import loads
from handrail.flow.evidence import ReportEvidence
from handrail.flow.filming import flow_scenes, journal_scenes
from handrail.flow.report.page import page
from handrail.flow.run import FlowRunner
from handrail.safety.caller import Caller
from handrail.screen.node import Bounds
from tests.scenario.world import FastClock, World, play, world

ASYNC_RUNNER = play

pytestmark = pytest.mark.slow

SECRET = "Marigold-7731-Tern"
CONTACT = """
name: A secret contact
app: com.google.android.contacts
steps:
  - tap: Create new contact
  - type_text: {target: First name, text: "${secret:WORD}"}
    label: "say Marigold-7731-Tern aloud"
    reason: "because Marigold-7731-Tern is the word"
  - swipe: {direction: up}
  - press_key: back
"""


def decoded(path: Path) -> list[Image.Image]:
    with av.open(str(path)) as file:
        return [frame.to_image() for frame in file.decode(video=0)]


def words_of(scenes: list[FilmScene]) -> str:
    return "\n".join(f"{one.title}\n{one.reason}\n{one.verdict}" for one in scenes)


def field_on(w: World) -> tuple[Image.Image, Bounds]:
    """What the phone itself draws where the secret stands, and where that is."""
    view = next(view for window in w.phone.windows() for view in window.views() if view.text == SECRET)
    edge = int(view.h) // 4  # without the frame of the field, which is there anyway
    box = Bounds(
        int(view.x) + edge, int(view.y) + edge, int(view.x + view.w) - edge, int(view.y + view.h) - edge
    )
    return w.phone.frame().image().convert("RGB").crop(tuple(box)), box


def alike(letters: Image.Image, frame: Image.Image, place: Bounds) -> float:
    """How much a part of a frame looks like these letters, whatever lies behind them: 1 is the same."""
    size = (place.width, place.height)
    one = letters.convert("L").resize(size).tobytes()
    other = frame.crop(tuple(place)).convert("L").tobytes()
    spread = pstdev(one) * pstdev(other)
    if not spread:
        return 0.0
    together = sum(map(operator.mul, one, other)) / len(one)
    return abs(together - fmean(one) * fmean(other)) / spread


async def test_a_secret_is_in_no_frame_and_in_no_caption(tmp_path: Path) -> None:
    """The adversary has a picture of the very letters, and looks for them in every frame."""
    clock = FastClock()
    async with world(tmp_path, clock=clock, env={"HANDRAIL_SECRET_WORD": SECRET}) as w:
        drawn: list[tuple[Image.Image, Bounds]] = []

        class Watching(ReportEvidence):
            async def picture(self, session, caller):  # type: ignore[no-untyped-def]
                taken = await super().picture(session, caller)
                with suppress(StopIteration):
                    drawn.append(field_on(w))
                return taken

        runner = FlowRunner({"phone": w.session}, clock, evidence=Watching(), caller=Caller("t"))
        record = await runner.run(loads(CONTACT, tmp_path / "contact.yaml"))
        scenes = flow_scenes(record)
        write_film(scenes, tmp_path / "a.mp4", record.name)
        film, words = tmp_path / "a.mp4", words_of(scenes)
    assert drawn, "the phone never showed the secret, so nothing was tried"
    for part in (SECRET, "Marigold", "7731"):
        assert part not in words
    assert "${secret:WORD}" in words
    letters, box = drawn[0]
    assert alike(letters, letters.resize((400, 30)), Bounds(0, 0, 400, 30)) > 0.95, "the eye can tell"
    found: list[float] = []
    for frame in decoded(film):
        scale = frame.width / 1080
        place = Bounds(*(round(edge * scale) for edge in box))
        assert place.bottom < frame.height - CAPTION
        found.append(alike(letters, frame, place))
    assert max(found) < 0.6, f"the letters can be seen: {found}"
    assert SECRET.encode() not in film.read_bytes()


PLAIN = """
name: A word that becomes a secret
app: com.google.android.contacts
steps:
  - tap: Create new contact
  - type_text: {target: First name, text: "Marigold-7731-Tern"}
  - press_key: home
"""


async def test_what_becomes_a_secret_later_is_withheld_from_the_pictures_before(tmp_path: Path) -> None:
    """A code that a person gives with an answer may have stood on the screen already."""
    clock = FastClock()
    async with world(tmp_path, clock=clock) as w:

        class Telling(ReportEvidence):
            async def picture(self, session, caller):  # type: ignore[no-untyped-def]
                taken = await super().picture(session, caller)
                with suppress(StopIteration):
                    field_on(w)
                    w.runtime.secrets.add("LATE", SECRET)
                return taken

        record = await FlowRunner({"phone": w.session}, clock, evidence=Telling()).run(loads(PLAIN))
        pictures = [one for step in record.steps for one in (step.before, step.after) if one]
        first, *_, last = pictures
        assert first.png
        assert last.png
        typed = record.steps[1].after
        assert typed
        assert (typed.png, typed.why_not) == (None, "a secret is on it")
        assert record.steps[2].before == typed
        assert SECRET not in page([record])
        assert SECRET not in words_of(flow_scenes(record))


async def test_the_journal_becomes_a_film_with_the_pictures_that_were_taken(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock()) as w:
        await w.open("com.android.settings")
        await w.session.screenshot(scale=0.5)
        await w.session.tap("Display", reason="I look at the display")
        await w.session.screenshot(scale=0.5)
        await w.session.swipe(direction="up")
        (first, tapped, swiped) = journal_scenes(w.runtime.journal)
    assert (first.title, first.verdict) == ("Start app com.android.settings", "verified")
    assert (tapped.title, tapped.reason) == ("Tap Display", "I look at the display")
    assert first.after.png == tapped.before.png is not None
    assert tapped.after is not None
    assert tapped.after.png == swiped.before.png is not None if swiped.before else False
    assert tapped.touch.box is not None
    [[down, up]] = [list(stroke) for stroke in swiped.touch.strokes]
    assert down.y > up.y
    assert swiped.started_ms > tapped.started_ms > 0


async def test_the_film_of_a_journal_shows_no_picture_of_a_process_that_knew_a_secret(tmp_path: Path) -> None:
    async with world(tmp_path, clock=FastClock(), env={"HANDRAIL_SECRET_WORD": SECRET}) as w:
        await w.open("com.google.android.contacts")
        await w.session.screenshot(scale=0.5)
        await w.session.tap("Create new contact")
        await w.session.type_text("${secret:WORD}", target="First name", reason=f"It is {SECRET}")
        await w.session.screenshot(scale=0.5)
        with pytest.raises(InvalidAction, match="a secret might be on it"):
            journal_scenes(w.runtime.journal)


async def test_the_arrow_of_a_swipe_is_the_way_that_the_phone_felt(w: World) -> None:
    await w.open("com.google.android.contacts")
    done = await w.session.swipe(direction="up")
    [stroke] = done.details["strokes"]
    felt = [(one["x"], one["y"]) for one in w.inputs() if one["action"] in ("down", "up")]
    assert [tuple(point) for point in stroke] == felt[-2:]


def environment(home: Path, **more: str) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HANDRAIL_")}
    return {**clean, "HANDRAIL_HOME": str(home), "HOME": str(home), "HANDRAIL_NO_DAEMON": "1", **more}


def handrail(home: Path, *words: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "handrail.cli.main", *map(str, words)],
        env=environment(home, **env),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def test_run_agent_and_journal_write_films_and_say_where(tmp_path: Path) -> None:
    flow = "name: Two taps\napp: com.android.settings\nsteps: [tap: Display, press_key: back]\n"
    (tmp_path / "one.yaml").write_text(flow)
    done = handrail(tmp_path, "run", "one.yaml", "--sim", "--video", "--report", "report")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "video: report/Two-taps.mp4" in done.stdout
    assert len(decoded(tmp_path / "report" / "Two-taps.mp4")) >= 5
    assert 'href="Two-taps.mp4"' in (tmp_path / "report" / "index.html").read_text()
    script = [
        {"thought": "I open it", "action": {"type": "start_app", "package": "com.android.settings"}},
        {"finish": "Done."},
    ]
    (tmp_path / "script.yaml").write_text(yaml.safe_dump(script))
    said = handrail(tmp_path, "agent", "Open", "--model", "scripted:script.yaml", "--sim", "--video")
    assert said.returncode == 0, said.stdout + said.stderr
    [folder] = (tmp_path / "runs").iterdir()
    assert f"video: {folder / 'video.mp4'}" in said.stdout
    assert decoded(folder / "video.mp4")
    kept = handrail(tmp_path, "journal", "export", "--video", "-o", "all.mp4")
    assert kept.returncode == 0, kept.stderr
    assert len(decoded(tmp_path / "all.mp4")) > 5
    nowhere = handrail(tmp_path, "journal", "export", "--video")
    assert nowhere.returncode == 2
    assert "--output" in nowhere.stderr


def test_without_the_extra_nothing_is_begun(tmp_path: Path) -> None:
    """As where PyAV is not installed: its name leads nowhere."""
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "av.py").write_text("raise ImportError('not here')\n")
    (tmp_path / "one.yaml").write_text("app: com.android.settings\nsteps: [tap: Display]\n")
    path = os.pathsep.join([str(tmp_path / "without"), os.environ.get("PYTHONPATH", "")])
    for words in (("run", "one.yaml", "--sim"), ("agent", "Open", "--model", "scripted:one.yaml", "--sim")):
        done = handrail(tmp_path, *words, "--video", PYTHONPATH=path)
        assert done.returncode != 0
        assert "handrail[video]" in done.stderr
        assert "UNSUPPORTED" in done.stderr
        assert "tap Display" not in done.stdout
    assert not list(tmp_path.glob("**/*.mp4"))

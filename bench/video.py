"""What a film of 60 steps costs in CPU seconds and megabytes, and whether steps are shown as they were.

Run from the repository: `python bench/video.py [--steps N] [--real]`. Without `--real`, every screen is a
new one, which is more than most runs have; with it, a flow goes through the settings of the simulated phone.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import sys
import tempfile
import time
from pathlib import Path

import av
from PIL import Image, ImageChops, ImageStat

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.report import picture, screens  # noqa: E402

from handrail.film.scene import FilmScene, FilmTouch, Picture, SceneTimes  # noqa: E402
from handrail.film.write import CAPTION, write_film  # noqa: E402
from handrail.screen.node import Bounds, ScreenPoint  # noqa: E402

CPU_S, MB = 4.0, 2.0
REASON = "I go on with what the person has asked for, because the row that it needs is not in sight yet"


def made(count: int) -> list[FilmScene]:
    """A screen that was never there before after every step; every third one is a swipe."""
    bases = asyncio.run(screens())
    turned = [ImageChops.offset(bases[at % len(bases)], 0, at // len(bases) * 173) for at in range(count + 1)]
    shots = [picture(base, at) for at, base in enumerate(turned)]
    swipe = FilmTouch(None, ((ScreenPoint(540, 1800), ScreenPoint(540, 700)),))
    tap = FilmTouch(Bounds(40, 300, 1040, 420))
    return [
        FilmScene(
            str(at + 1), f"Tap row {at} of the list", REASON, "verified", "good", at * 1_500.0, 600.0,
            shots[at], shots[at + 1], tap if at % 3 else swipe,
        )
        for at in range(count)
    ]  # fmt: skip


def real(count: int) -> list[FilmScene]:
    """What a flow leaves that goes through the settings."""
    from tests.scenario.world import FastClock, world  # noqa: PLC0415

    from handrail.flow.document import loads  # noqa: PLC0415
    from handrail.flow.evidence import ReportEvidence  # noqa: PLC0415
    from handrail.flow.filming import flow_scenes  # noqa: PLC0415
    from handrail.flow.run import FlowRunner  # noqa: PLC0415

    ways = ("tap: Display", "press_key: back", "swipe: {direction: up}", "swipe: {direction: down}")
    steps = "\n".join(f"  - {ways[at % len(ways)]}" for at in range(count))

    async def story(home: Path) -> list[FilmScene]:
        clock = FastClock()
        async with world(home, clock=clock) as w:
            runner = FlowRunner({"phone": w.session}, clock, evidence=ReportEvidence())
            return flow_scenes(await runner.run(loads(f"app: com.android.settings\nsteps:\n{steps}\n")))

    with tempfile.TemporaryDirectory() as home:
        return asyncio.run(story(Path(home)))


def furthest(path: Path, scenes: list[FilmScene], marks: tuple[SceneTimes, ...]) -> float:
    """Of all steps, how far the film's picture is from the screenshot, on average from 0 to 255."""
    with av.open(str(path)) as file:
        frames = [(float(one.time) * 1000, one.to_image()) for one in file.decode(video=0)]
    worst = 0.0
    for scene, mark in zip(scenes, marks, strict=True):
        for shot, at_ms in ((scene.before, mark.at_ms), (scene.after, mark.over_ms)):
            if shot is not None and shot.png is not None:
                seen = [image for moment, image in frames if moment <= at_ms + 1][-1]
                worst = max(worst, apart(seen, shot))
    return worst


def apart(seen: Image.Image, shot: Picture) -> float:
    shown = seen.crop((0, 0, seen.width, seen.height - CAPTION))
    kept = Image.open(io.BytesIO(shot.png or b"")).convert("RGB").resize(shown.size)
    return max(ImageStat.Stat(ImageChops.difference(shown, kept)).mean)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--real", action="store_true")
    given = parser.parse_args()
    scenes = real(given.steps) if given.real else made(given.steps)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        began, cpu = time.perf_counter(), time.process_time()
        marks = write_film(scenes, path, "bench")
        took, spent = time.perf_counter() - began, time.process_time() - cpu
        size = path.stat().st_size / 1e6
        print(f"{len(scenes)} steps, {marks[-1].over_ms / 1000:.0f} s of film")
        print(f"{'CPU, s':<28}{spent:>9.2f}   (goal: at most {CPU_S} for 60 steps)")
        print(f"{'time, s':<28}{took:>9.2f}")
        print(f"{'size, MB':<28}{size:>9.2f}   (goal: at most {MB} for 60 steps)")
        print(f"{'furthest from a screenshot':<28}{furthest(path, scenes, marks):>9.2f}   (of 255)")


if __name__ == "__main__":
    main()

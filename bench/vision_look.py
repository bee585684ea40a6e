"""CPU and memory of a look at a drawn screen: plain, first, with a changed tile, and unchanged.

The phone is simulated in the same process, so what it costs to draw and to dump is in every figure.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path

from bench.vision_scripts import cpu
from tests.scenario.world import play, usual_clock, world

from handrail_sim.phone import Phone

LAB = "com.handrail.canvaslab"


async def main() -> None:
    for off in ("1", "0"):
        phone = Phone(clock=usual_clock(), world={"canvas_lab": {"page": "game"}})
        with tempfile.TemporaryDirectory() as home:
            async with world(Path(home), env={"HANDRAIL_DISABLE_VISION": off}, phone=phone) as w:
                phone.start_activity(package=LAB)
                for name in ("first look", "unchanged look", "a changed tile"):
                    if name == "a changed tile":
                        phone.tasks.resumed.state["next"] = 2
                        phone.touched_app()
                    began = cpu()
                    await w.session.screens.refresh()
                    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
                    loaded = [name for name in ("cv2", "onnxruntime", "rapidocr") if name in sys.modules]
                    kind = "plain" if off == "1" else "picture"
                    print(
                        f"{kind}, {name}: {cpu() - began:.2f} CPU s, peak {peak} MB, loaded {loaded}",
                        flush=True,
                    )


if __name__ == "__main__":
    play(main())

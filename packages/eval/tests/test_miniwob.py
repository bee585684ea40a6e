"""The harness of MiniWoB++ on a package of the tests' own: its pages, its judge, one origin."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from handrail.clock import SystemClock
from handrail.errors import InvalidAction, Unsupported
from handrail_agent.model import Mode, Prompt, Reply, finished
from handrail_agent.models import Nothing, screen_text
from handrail_eval.miniwob.kinds import BY_PAGE, KINDS, TAGS, solver_of
from handrail_eval.miniwob.run import WobPlan, run_wob
from handrail_eval.miniwob.screen import SeenScreen
from handrail_eval.miniwob.site import OUT_OF_REACH, load_wob_tasks
from handrail_eval.result import TaskResult

PAGE = """<!doctype html><title>Task</title><div id=query></div><div id=area></div>
<div id=reward-display>Last reward</div><div id=sync-task-cover>START</div>
<script>
var WOB_TASK_READY = true, WOB_DONE_GLOBAL = false, WOB_RAW_REWARD_GLOBAL = 0, WOB_REWARD_REASON = null;
Math.seedrandom = (seed) => { wanted = Number(seed) % 2 ? 'ONE' : 'TWO' };
var core = {
  cover_div: document.getElementById('sync-task-cover'),
  getUtterance: () => document.getElementById('query').textContent,
  startEpisodeReal: () => {
    document.getElementById('query').textContent = 'Click button ' + wanted + '.';
    document.getElementById('area').innerHTML = '<button>ONE</button><button>TWO</button>';
    for (const one of document.querySelectorAll('button')) one.onclick = () => {
      WOB_RAW_REWARD_GLOBAL = one.textContent === wanted ? 1 : -1;
      WOB_DONE_GLOBAL = true;
    };
  },
};
</script>"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site" / "miniwob"
    (folder / "html" / "miniwob").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise ImportError('its code is never run')")
    for name in ("click-test-2", "draw-line"):
        (folder / "html" / "miniwob" / f"{name}.html").write_text(PAGE)
    monkeypatch.setitem(sys.modules, "miniwob", None)
    monkeypatch.delitem(sys.modules, "miniwob")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))


class Wanderer:
    """Tries to leave, then presses the wrong button."""

    name = "wanderer"
    mode: Mode = "tools"
    sees = False

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def step(self, prompt: Prompt) -> Reply:
        self.seen.append(screen_text(prompt))
        if prompt.step == 1:
            return Reply("", {"type": "open_url", "url": "http://127.0.0.1:9/"}, "")
        return Reply("", {"type": "tap", "target": "TWO"}, "") if prompt.step == 2 else finished("")

    async def close(self) -> None:
        """Nothing is open."""


@pytest.mark.slow
def test_a_page_of_the_package_is_solved_judged_and_not_left(package: None) -> None:
    del package
    wanderer, results = Wanderer(), list[TaskResult]()
    models = iter([solver_of, solver_of, lambda _: wanderer, lambda _: Nothing()])
    tasks = load_wob_tasks(["click-test-2"], [1, 2, 3, 5], TAGS)
    plan = WobPlan(lambda task: next(models)(task), SystemClock())  # noqa: PLW0108  (another one each time)
    asyncio.run(run_wob(tasks, plan, 1, results.append))
    assert [(one.seed, one.success) for one in results] == [(1, True), (2, True), (3, False), (5, False)]
    assert results[2].why.startswith("reward -1"), results[2]
    assert all(word not in text for text in wanderer.seen for word in ("START", "Last reward")), wanderer.seen
    assert all("ONE" in text for text in wanderer.seen), "the page was left"


def test_tasks_are_chosen_by_name_and_tag_and_the_package_must_be_there(
    package: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    del package
    assert [one.id for one in load_wob_tasks(["out of reach"], [1], TAGS)] == ["draw-line"]
    assert len(load_wob_tasks([], [1, 2], TAGS)) == 4
    with pytest.raises(InvalidAction, match="click-tset"):
        load_wob_tasks(["click-tset"], [1], TAGS)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(Unsupported, match="not installed"):
        load_wob_tasks([], [1], TAGS)


def test_every_kind_has_its_pages_and_none_is_out_of_reach() -> None:
    pages = [page for kind in KINDS for page in kind.all]
    assert len(pages) == len(set(pages)) == len(BY_PAGE) >= 60
    assert not OUT_OF_REACH.keys() & BY_PAGE.keys()
    shown = [page for kind in KINDS if kind.unseen for page in kind.all]
    assert len(shown) >= 60, "pages of kinds that an unseen page has shown"
    assert TAGS["email-inbox-noscroll"] == ("handle mail", "unseen")
    assert TAGS["email-inbox-reply"] == ("handle mail", "seen")
    assert TAGS["guess-number"] == ("guess", "no unseen page")


def test_a_screen_is_read_back_line_by_line() -> None:
    screen = SeenScreen.read(
        'screen 10x10 x #1 r1\n "Say \\"hi\\". · More"\n @f1 "Name" = "Ada" focused\n @f2 #who empty\n'
        ' @c1-3 3× (below "Name") off\n @s1 ↑↓\n  @b1 Save all'
    )
    assert screen.lines[0].parts == ['Say "hi".', "More"]
    assert [(line.ref, line.name, line.value) for line in screen.of("f")] == [
        ("@f1", "Name", "Ada"),
        ("@f2", "", ""),
    ]
    assert [line.ref for line in screen.of("c")] == ["@c1", "@c2", "@c3"]
    assert screen.of("s")[0].tail == "↑↓"
    found = screen.named("save all")
    assert found is not None
    assert (found.ref, found.depth) == ("@b1", 2)

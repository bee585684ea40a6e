"""A film of a run: what it shows when, that its pictures are the run's own, that its captions are right."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import av
import pytest
from PIL import Image, ImageChops, ImageStat

from handrail.cli.run import film_flows
from handrail.errors import InvalidAction, Unsupported
from handrail.film.scene import (
    LONGEST_MS,
    FilmFrame,
    FilmScene,
    FilmTouch,
    Picture,
    plan_film,
    touch_of,
    verdict_of,
)
from handrail.film.write import CAPTION, FilmPainter, fit_lines, font_for, need_encoder, write_film
from handrail.flow.filming import flow_scenes, title_of
from handrail.flow.plan import step_name
from handrail.protocol.flow import Step
from handrail.protocol.read import action_from
from handrail.screen.node import Bounds, ScreenPoint
from tests.cases import each
from tests.unit.flow.records_made import failing_contact, passing

MARK = (224, 33, 138)


def a_picture(colour: str, size: tuple[int, int] = (270, 600)) -> Picture:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return Picture(out.getvalue(), size[0] * 4, size[1] * 4)


def scene(number: int = 1, at_ms: float = 0.0, **fields: object) -> FilmScene:
    given = {"before": a_picture("white"), "after": a_picture("navy"), "duration_ms": 100.0, **fields}
    return FilmScene(str(number), f"Tap row {number}", started_ms=at_ms, **given)  # type: ignore[arg-type]


def decoded(path: Path) -> list[tuple[float, Image.Image]]:
    with av.open(str(path)) as file:
        return [(float(frame.time) * 1000, frame.to_image()) for frame in file.decode(video=0)]


def shown_at(frames: list[tuple[float, Image.Image]], at_ms: float) -> Image.Image:
    """What a player shows at this moment."""
    return [image for time, image in frames if time <= at_ms + 1][-1]


def apart(one: Image.Image, other: Image.Image) -> float:
    return max(ImageStat.Stat(ImageChops.difference(one.convert("RGB"), other.convert("RGB"))).mean)


@pytest.mark.slow
def test_the_frame_at_each_step_is_that_steps_screenshot(tmp_path: Path) -> None:
    record = failing_contact()
    scenes = flow_scenes(record)
    marks = write_film(scenes, tmp_path / "a.mp4")
    frames = decoded(tmp_path / "a.mp4")
    assert len(marks) == len(record.steps) == 5
    for step, mark in zip(record.steps, marks, strict=True):
        for picture, at_ms in ((step.before, mark.at_ms), (step.after, mark.over_ms)):
            if picture is None or picture.png is None:
                continue
            real = Image.open(io.BytesIO(picture.png)).convert("RGB")
            seen = shown_at(frames, at_ms)
            seen = seen.crop((0, 0, seen.width, seen.height - CAPTION))
            others = [one.after for one in record.steps if one.after and one.after.png != picture.png]
            near = apart(seen, real.resize(seen.size))
            assert near < 3, f"step {mark.number} shows another picture: {near}"
            for other in others:
                far = apart(seen, Image.open(io.BytesIO(other.png or b"")).convert("RGB").resize(seen.size))
                assert near < far


@pytest.mark.slow
def test_the_touch_is_drawn_where_the_element_was(tmp_path: Path) -> None:
    record = failing_contact()
    touched = record.steps[1].touched
    assert touched
    [_, one, *_] = flow_scenes(record)
    painter = FilmPainter([one])
    plain = painter.paint(FilmFrame(0, 0, one.before))
    marked = painter.paint(FilmFrame(0, 0, one.before, one.touch))
    box = ImageChops.difference(plain, marked).getbbox()
    assert box
    scale = painter.screen[0] / 1080
    for seen, real in zip(box, touched, strict=True):
        assert abs(seen - real * scale) <= 24  # a ring may reach over a small element


def test_a_swipe_is_an_arrow_from_where_the_finger_came_down(tmp_path: Path) -> None:
    touch = touch_of({"details": {"strokes": [[[540, 1800], [540, 600]]]}})
    assert touch == FilmTouch(None, ((ScreenPoint(540, 1800), ScreenPoint(540, 600)),))
    one = scene(touch=touch, before=a_picture("white"))
    image = FilmPainter([one]).paint(FilmFrame(0, 0, one.before, touch))
    column = [image.getpixel((image.width // 2, y)) for y in range(image.height - CAPTION)]
    inked = [y for y, colour in enumerate(column) if colour == MARK]
    assert inked
    height = image.height - CAPTION
    assert abs(inked[0] / height - 600 / 2400) < 0.03
    assert abs(inked[-1] / height - 1800 / 2400) < 0.03
    upper = sum(image.getpixel((x, inked[6])) == MARK for x in range(image.width))
    middle = sum(image.getpixel((x, height // 2)) == MARK for x in range(image.width))
    assert upper > middle, "the head is at the end where the finger lifts"


@each(
    ("told", "is_touched"),
    [
        ({"semantic": "selection", "delivery": "delivered"}, True),
        ({"semantic": "selection", "delivery": "unknown"}, True),
        ({"semantic": "selection", "delivery": "not_delivered"}, False),
        ({"semantic": "observation", "delivery": "delivered"}, False),
        ({"semantic": "control", "delivery": "delivered"}, False),
    ],
)
def test_only_what_was_touched_is_marked(told: dict[str, str], is_touched: bool) -> None:
    """An expectation names an element, and so does a payment that a person has refused."""
    target = {"selector": {"text": "Pay"}, "resolved": {"bounds": [0, 0, 100, 50]}}
    assert bool(touch_of({**told, "target": target})) is is_touched


def test_there_is_a_frame_only_where_something_changes(tmp_path: Path) -> None:
    still = scene(touch=FilmTouch(), after=None)
    touched = scene(2, 400, touch=FilmTouch(Bounds(0, 0, 400, 400)))
    plan = plan_film([still, touched])
    assert [(frame.scene, bool(frame.touch), frame.is_over) for frame in plan.frames] == [
        (0, False, False), (0, False, True), (1, False, False), (1, True, False), (1, False, True),
    ]  # fmt: skip
    write_film([still, touched], tmp_path / "a.mp4")
    times = [time for time, _ in decoded(tmp_path / "a.mp4")]
    assert times == [*(frame.at_ms for frame in plan.frames), plan.end_ms]


def test_time_in_which_nothing_happens_is_shortened() -> None:
    plan = plan_film([scene(1, 0), scene(2, 600_000)])
    assert plan.end_ms < 4 * LONGEST_MS


def test_a_caption_says_action_reason_and_verdict() -> None:
    one = scene(reason="I save it", verdict="verified", tone="good")
    painter = FilmPainter([one])
    over = painter.paint(FilmFrame(0, 0, None, is_over=True))
    for words, size, bold in (("Tap row 1", 22, True), ("I save it", 18, False), ("verified", 18, True)):
        assert is_written(over, words, size, bold=bold), words
    assert not is_written(over, "Swipe up", 22, bold=True)
    before = painter.paint(FilmFrame(0, 0, None))
    assert not is_written(before, "verified", 18, bold=True), "nobody knows yet"


def is_written(image: Image.Image, words: str, size: int, *, bold: bool) -> bool:
    """Whether the caption has these letters somewhere, whatever their colour."""
    caption = image.crop((0, image.height - CAPTION, *image.size)).convert("L")
    mask = font_for(words, size, bold=bold).getmask(words, mode="L")
    letters = Image.frombytes("L", mask.size, bytes(mask)).point(lambda value: 255 if value > 127 else 0)
    drawn = caption.point(lambda value: 255 if value > 75 else 0)
    width, height = letters.size
    for top in range(drawn.height - height):
        for left in range(40, 80):  # captions begin behind the number of the step
            part = drawn.crop((left, top, left + width, top + height))
            if ImageStat.Stat(ImageChops.difference(part, letters)).mean[0] < 10:
                return True
    return False


def test_what_is_too_long_is_cut_and_says_so() -> None:
    font = font_for("x", 18)
    [first, second] = fit_lines("word " * 60, font, 300, 2)
    assert second.endswith("…")
    assert not first.endswith("…")
    assert all(font.getlength(line) <= 300 for line in (first, second))
    assert fit_lines("x" * 500, font, 100, 1)[0].endswith("…")
    assert fit_lines("", font, 100, 2) == []


def test_a_picture_that_may_not_be_shown_is_a_card_with_the_reason() -> None:
    hidden = scene(before=Picture(None, why_not="a secret was used"), after=None)
    painter = FilmPainter([hidden])
    shown = painter.paint(plan_film([hidden]).frames[0])
    blank = painter.paint(FilmFrame(0, 0, Picture(None, why_not="another reason")))
    assert ImageChops.difference(shown, blank).getbbox(), "the reason is written on it"


def test_pictures_of_other_shapes_fit_into_the_film(tmp_path: Path) -> None:
    turned = scene(2, 500, before=a_picture("teal", (600, 270)), after=Picture(b"no picture at all"))
    write_film([scene(), turned], tmp_path / "a.mp4")
    sizes = {image.size for _, image in decoded(tmp_path / "a.mp4")}
    assert len(sizes) == 1
    [(width, height)] = sizes
    assert (width % 2, height % 2) == (0, 0)


def test_nothing_to_film_is_said_and_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidAction):
        write_film([], tmp_path / "a.mp4")
    assert list(tmp_path.iterdir()) == []


def test_a_film_that_cannot_be_written_is_said_and_costs_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    record = passing()
    record.steps[0].before = a_picture("white")
    film_flows([record], tmp_path / "file", to_stderr=False)
    assert record.video == ""
    assert "was not written" in capsys.readouterr().err
    film_flows([record, record], tmp_path / "folder", to_stderr=False)
    assert {one.name for one in (tmp_path / "folder").iterdir()} == {
        "Read-the-news.mp4",
        "Read-the-news-2.mp4",
    }


def test_without_the_extra_a_code_and_a_hint_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(Unsupported) as refused:
        need_encoder()
    assert "handrail[video]" in (refused.value.hint or "")


@each(
    ("envelope", "said"),
    [
        ({"success": True, "lifecycle_state": "verified"}, ("verified", "good")),
        ({"success": True, "lifecycle_state": "pending_verification"}, ("done, not verified", "plain")),
        ({"success": False, "failure_code": "TIMEOUT"}, ("failed: TIMEOUT", "bad")),
        (
            {"success": True, "lifecycle_state": "verified", "approval": {"by": "Ada"}},
            ("verified, approved by Ada", "good"),
        ),
    ],
)
def test_a_verdict_is_never_better_than_the_envelope(
    envelope: dict[str, object], said: tuple[str, str]
) -> None:
    assert verdict_of(envelope) == said


def test_titles_are_for_people() -> None:
    assert title_of("start_app com.android.settings") == "Start app com.android.settings"
    assert title_of("close the tour") == "Close the tour"
    assert title_of("Öffne_das Menü") == "Öffne_das Menü"


def test_an_element_without_words_is_named_by_what_it_is_and_where() -> None:
    target = {"role": "switch", "right_of": {"text": "Dark theme"}}
    step = Step(action=action_from({"type": "tap", "target": target}))
    assert step_name(step) == "tap switch right of Dark theme"

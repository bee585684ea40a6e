"""The HTML report as text: what stands in it, and that nothing from a screen can break out."""

from __future__ import annotations

from html.parser import HTMLParser

from handrail.flow.report.page import page
from handrail.flow.report.summary import Html, tag
from handrail.flow.run_record import FlowRecord
from handrail.protocol.envelope import EnvelopeTarget, ResolvedElement, Verification
from handrail.screen.node import Bounds
from tests.cases import each
from tests.unit.flow.records_made import envelope, everything, failing_contact, passing, step

HOSTILE = [
    "<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "\"><svg onload='alert(1)'>",
    "' onmouseover='alert(1)", "</pre></style><iframe src=javascript:alert(1)>", "&lt;b&gt; &amp; &#60;",
    "<!-- ", "]]> {{7*7}} ${7*7}",
]  # fmt: skip


class Outline(HTMLParser):
    """Tags and attributes as a browser finds them, and the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def hostile_flow(words: str) -> FlowRecord:
    element = ResolvedElement(text=words, resource_id=words, class_=words, bounds=(1, 2, 3, 4))
    record = passing(words, words)
    record.outcome, record.error, record.device, record.tags = "failed", words, words, (words,)
    record.journal_head, record.proposals = words, [f"+{words}"]
    record.steps = [
        step(
            0,
            words,
            "tap",
            source={"tap": words, words: [words]},
            outcome="failed",
            error=words,
            code=words,
            hint=words,
            diff=f'Elements added:\nButton "{words}"',
            log=[words],
            loading=words,
            device=words,
            envelope=envelope(
                "tap",
                target=EnvelopeTarget(resolved=element),
                verification=Verification(
                    mode="explicit", expected=words, observed=[words], outcome="failed"
                ),
                diagnostics=(words,),
            ),
        )
    ]
    return record


@each("words", HOSTILE)
def test_words_from_a_screen_stay_words(words: str) -> None:
    harmless, hostile = Outline(page([hostile_flow("w")])), Outline(page([hostile_flow(words)]))
    assert [name for name, _ in hostile.tags] == [name for name, _ in harmless.tags]
    assert [set(attributes) for _, attributes in hostile.tags] == [
        set(attributes) for _, attributes in harmless.tags
    ]
    assert " ".join(words.split()) in hostile.text


def test_scripts_of_other_directions_and_emoji_stay_as_they_are() -> None:
    text = page([hostile_flow("שלום مرحبا 👩‍🚀 नमस्ते")])
    assert "<bdi>שלום مرحبا 👩‍🚀 नमस्ते</bdi>" in text


def test_only_markup_passes_unescaped() -> None:
    assert tag("p", "<b>", Html("<i>"), None, ["&"]) == "<p>&lt;b&gt;<i>&amp;</p>"
    assert (
        tag("a", href='"', hidden=True, title=None, aria_label="x")
        == '<a href="&quot;" hidden aria-label="x"></a>'
    )


def test_the_page_needs_nothing_from_elsewhere() -> None:
    outline = Outline(page(everything()))
    for name, attributes in outline.tags:
        assert name not in {"link", "iframe", "object", "embed", "form", "base", "a\u200b"}
        for key, value in attributes.items():
            assert not key.startswith("on"), key
            assert key != "style"
            if key in {"href", "src"}:
                assert str(value).startswith(("#", "data:image/webp;base64,"))


def test_every_anchor_is_there_once_and_every_link_leads_to_one() -> None:
    record = passing()
    record.steps[1].children.append(record.steps[1].children[0])  # rounds of a repeat may share a path
    outline = Outline(page([*everything(), record]))
    anchors = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(anchors) == len(set(anchors))
    links = {str(attributes["href"]) for name, attributes in outline.tags if name in {"a", "use"}}
    assert links <= {f"#{anchor}" for anchor in anchors}


def test_a_touched_point_gets_a_ring_and_an_element_off_the_screen_no_mark() -> None:
    record = failing_contact()
    record.steps = [record.steps[1]]
    record.steps[0].touched = Bounds(0, 9_000, 10, 9_100)
    assert not any(one.get("class") == "touched" for one in Outline(page([record])).all("rect"))
    record.steps[0].envelope = envelope("tap", target=EnvelopeTarget(selector={"x": 300, "y": 700}))
    ring = next(one for one in Outline(page([record])).all("circle") if one.get("class") == "touched")
    assert (ring["cx"], ring["cy"]) == ("300", "700")


def test_bars_stay_inside_the_drawing_whatever_the_clocks_say() -> None:
    record = failing_contact()
    record.steps[0].started_ms -= 60_000
    record.steps[3].duration_ms = 9e9
    for bar in Outline(page([record])).all("rect"):
        if "bar" in str(bar.get("class")):
            assert float(str(bar["x"])) >= 0
            assert float(str(bar["x"])) + float(str(bar["width"])) <= 1000.1


def test_inner_steps_are_not_told_twice() -> None:
    record = passing()
    record.steps[1].source = {"repeat": {"times": 2, "steps": [{"tap": "Once only"}]}}
    said = Outline(page([record])).text
    assert "steps: 1 step" in said
    assert "Once only" not in said


def test_attempts_are_numbered() -> None:
    again = passing("A new contact", "flows/contact.yaml", attempt=2)
    said = Outline(page([failing_contact(), again])).text
    assert "attempt 1 of 2" in said
    assert "attempt 2 of 2" in said
    assert "The flow passed" in said


def test_a_run_of_nothing_is_still_a_page() -> None:
    assert "No flow was run" in page([])

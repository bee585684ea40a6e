"""Rendering: Markdown and HTML become what can only be read, whatever an agent or a screen put into them."""

from __future__ import annotations

import re

import pytest

from handrail.desk.render import render
from handrail.errors import InvalidAction
from tests.cases import each


@each(
    ("markdown", "html"),
    [
        ("# Done", "<h1>Done</h1>"), ("a **b** `c`", "<p>a <strong>b</strong> <code>c</code></p>"),
        ("- x\n- y", "<li>x</li>"), ("|a|b|\n|-|-|\n|1|2|", "<td>1</td>"), ("~~no~~", "<s>no</s>"),
        ("```py\nx < 1\n```", "<pre><code>x &lt; 1"), ("<b>raw</b>", "<b>raw</b>"),
    ],
)  # fmt: skip
def test_markdown_is_rendered(markdown: str, html: str) -> None:
    assert html in render("markdown", markdown)


@each("link", ["https://example.org/x?y=1", "http://example.org", "mailto:ada@example.org"])
def test_links_open_outside_and_tell_nothing(link: str) -> None:
    for html in (
        render("markdown", f"[x]({link})"),
        render("html", f'<a href="{link}" target="_self">x</a>'),
    ):
        assert f'href="{link}"' in html
        assert 'target="_blank"' in html
        assert 'rel="noopener noreferrer"' in html


@each(
    "link",
    [
        "javascript:alert(1)", "JAVASCRIPT:alert(1)", "java&#10;script:alert(1)", "data:text/html,x",
        "vbscript:x", "/api/approvals", "#top", "//example.org", "file:///etc/passwd", "relative",
    ],
)  # fmt: skip
def test_a_link_to_anything_else_leads_nowhere(link: str) -> None:
    assert "href" not in render("html", f'<a href="{link}">x</a>')


@each("src", ["data:image/png;base64,AAAA", "/api/storage/shots/1.png", "/static/icon.svg"])
def test_the_desks_own_pictures_are_shown(src: str) -> None:
    assert f'src="{src}"' in render("html", f'<img src="{src}" alt="x">')
    assert f'src="{src}"' in render("markdown", f"![x]({src})")


@each(
    "src",
    [
        "https://example.org/pixel.png", "//example.org/p.png", "http://127.0.0.1/p", "x.png",
        "/api/approvals", "/api/storage/../approvals", "/api/storage/%2e%2e/approvals", "data:text/html,x",
        "javascript:x", "/static/..\\x",
    ],
)  # fmt: skip
def test_no_picture_is_loaded_from_elsewhere(src: str) -> None:
    assert "src" not in render("html", f'<img src="{src}" srcset="{src} 2x" alt="">')


ATTACKS = [
    "<script>alert(1)</script>", "<SCRIPT SRC=//x></SCRIPT>", "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>", "<svg><script>alert(1)</script></svg>", "<iframe src=javascript:x></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>", "<object data=x>", "<embed src=x>",
    "<form action=/api/approvals method=post><input name=id><button>ok</button></form>",
    "<style>*{position:fixed}</style>", "<link rel=stylesheet href=//x>", "<meta http-equiv=refresh>",
    "<base href=//x>", "<p style='position:fixed;inset:0;z-index:9999'>x</p>", "<p onclick=alert(1)>x</p>",
    "<p id=dialogs class=approval name=x data-key=y aria-label=z>x</p>", "<a id=location href=x>x</a>",
    "<math><mtext></p><script>alert(1)</script></math>", "<noscript><p title='</noscript><img onerror=1>'>",
    "<template><script>alert(1)</script></template>", "<textarea><script>alert(1)</script></textarea>",
    "<video src=//x onerror=alert(1)>", "<audio src=//x>", "<input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>x</details>", "<body onload=alert(1)>", "<table background=//x><td>x",
    "<!--><script>alert(1)</script>-->", "<a href='jav\tascript:alert(1)'>x</a>", "<dialog open>x</dialog>",
    "<button popovertarget=x>x</button>", "<marquee onstart=alert(1)>x</marquee>", "<x-app>x</x-app>",
    "<p slot=x is=y part=z tabindex=1 contenteditable accesskey=x>x</p>", "<title>x</title>",
]  # fmt: skip
FORBIDDEN = re.compile(
    r"<(script|style|iframe|object|embed|form|input|button|textarea|select|link|meta|base|svg|math|video|audio"
    r"|template|dialog|body|html|head|title|marquee|x-app)\b"
    r"|<[^>]*\s(on\w+|style|id|class|name|data-[\w-]+|srcset|srcdoc|background|slot|is|part|tabindex|"
    r"contenteditable|accesskey|popovertarget)\b=?"
    r"|<[^>]*javascript:",
    re.IGNORECASE,
)


@each("attack", ATTACKS)
@each("renderer", ["markdown", "html"])
def test_nothing_in_the_text_can_act(renderer: str, attack: str) -> None:
    html = render(renderer, f"before\n\n{attack}\n\nafter")
    assert not FORBIDDEN.search(html), html
    assert "before" in html


@pytest.mark.parametrize("attribute", ["colspan", "rowspan"])
def test_a_cell_cannot_span_the_world(attribute: str) -> None:
    cell = f"<table><tr><td {attribute}=1000000>x</td><td {attribute}=2>y</td></tr></table>"
    html = render("html", cell)
    assert "1000000" not in html
    assert f'{attribute}="2"' in html


@each(
    ("renderer", "text"),
    [
        ("html", "<div>" * 300_000),
        ("html", "<b><i>" * 20_000 + "x"),
        ("html", "".join(f"<b x={at}>" for at in range(5_000)) + "<p>x" * 5_000),
        ("markdown", "<div>" * 10_000),
        ("markdown", "[" * 300_000),
    ],
)
def test_what_is_too_deep_or_too_long_to_be_meant_is_shown_as_written(renderer: str, text: str) -> None:
    html = render(renderer, text)
    assert html.startswith("<pre>")
    assert "<div" not in html


def test_quotes_within_quotes_and_crooked_tags_are_survived() -> None:
    assert "x" in render("markdown", ">" * 90 + "x")
    assert render("html", "a</div><b>b</div>c") == "<div>a</div><b>b</b>c".replace("</b>c", "c</b>")


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"])
def test_characters_that_nothing_can_say_do_not_end_the_text(text: str) -> None:
    for renderer in ("markdown", "html"):
        assert re.search("a.?b", render(renderer, text))


@each("renderer", ["text", "table", "iframe", "component", "pdf"])
def test_only_text_with_marks_is_rendered(renderer: str) -> None:
    with pytest.raises(InvalidAction) as caught:
        render(renderer, "x")
    assert caught.value.details["path"] == "renderer"

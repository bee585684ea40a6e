"""The fast reader reads the stock shape exactly as expat does, and declines everything else."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.screen.node import Node
from handrail.screen.parse.build import ScreenDraft
from handrail.screen.parse.xml_dumps import read_stock, read_xml
from tests.cases import each
from tests.unit.screen.stock_dumps import hierarchy, node

BUTTON = node("Button", text="Go", desc="Go on")
DUMP = hierarchy(node("FrameLayout", BUTTON, node("ListView", node("LinearLayout"))))
NOT_IN_XML = st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\ufffe\uffff")


def said(draft: ScreenDraft | None) -> list[tuple[object, ...]]:
    """Everything the nodes say, and their places in the tree."""
    assert draft is not None
    names = [name for name in Node.__slots__ if name not in ("parent", "children")]
    return [tuple(getattr(one, name) for name in names) for one in draft.nodes]


@each(
    "dump",
    [
        DUMP,
        "\ufeff" + DUMP,
        DUMP.replace("<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>", ""),
        DUMP.replace("<node index", '<node NAF="true" index'),
        DUMP.replace("><", ">\n  <"),
        DUMP.replace("Go on", "a&amp;b &#10;&#x1F600;\n\tc"),
        DUMP.replace('selected="false"', 'selected="false" visible-to-user="false"'),
        DUMP.replace('"[0,0][1080,2400]"', '"[-5,7][3,-9]" drawing-order="3" hint="Name" display-id="0"'),
        hierarchy(node("FrameLayout"), node("FrameLayout"), attributes=' rotation="3" width="9" height="8"'),
        f'<displays><display id="0"><window layer="3">{hierarchy(BUTTON).partition("?>")[2]}'
        "</window></display></displays>",
        '<displays><display id="0"><window index="0" title="Settings" bounds="[0,0][1080,2400]" '
        'active="true" focused="true" accessibility-focused="false" id="7" layer="1" type="TYPE_SYSTEM">'
        f"{hierarchy(BUTTON).partition('?>')[2]}</window></display></displays>",
    ],
)
def test_the_stock_shape_is_read_as_expat_reads_it(dump: str) -> None:
    fast, slow = read_stock(dump.encode()), read_xml(dump.encode())
    assert fast is not None
    assert said(fast) == said(slow)
    assert (fast.rotation, fast.width, fast.height) == (slow.rotation, slow.width, slow.height)
    assert [(window.layer, window.display) for window in fast.windows] == [
        (window.layer, window.display) for window in slow.windows
    ]


@each(
    ("old", "new"),
    [
        ('desc="Go on"', 'desc="Go on""'),
        ('desc="Go on"', "desc='Go on'"),
        ('desc="Go on"', 'desc="Go on" text="twice"'),
        ("Go on", "&lol;"),
        ("Go on", "a & b"),
        ("Go on", "&#0;"),
        ("Go on", "a\x01b"),
        (' bounds="[0,0][1080,2400]"', ""),
        ('bounds="[0,0]', 'bounds="[0;0]'),
        ('bounds="[0,0][1080,2400]"', 'bounds="[0,0][1080,2400]" checked="true"'),
        ('bounds="[0,0][1080,2400]"', 'bounds="[0,0][1080,2400]" hint="a" hint="b"'),
        ('index="0"', 'index="x"'),
        (" clickable=", " -clickable="),
        ("</hierarchy>", ""),
        ("</hierarchy>", "</hierarchy><hierarchy></hierarchy>"),
        ("</hierarchy>", "</hierarchy>bye"),
        ("</node>", "</node>text"),
        ("</node>", "<!-- note --></node>"),
        ("</node>", "</node></node>"),
        ("<hierarchy", "hello<hierarchy"),
        ('class="android.widget.Button"', 'tag="android.widget.Button"'),
        ("standalone", "standalive"),
    ],
)
def test_any_other_shape_is_declined(old: str, new: str) -> None:
    assert old in DUMP
    assert read_stock(DUMP.replace(old, new).encode()) is None


@settings(max_examples=200)
@given(text=st.text(NOT_IN_XML), desc=st.text(NOT_IN_XML), hint=st.text(NOT_IN_XML, max_size=20))
def test_any_text_is_read_as_expat_reads_it(text: str, desc: str, hint: str) -> None:
    plain = hint.replace("&", "").replace("<", "").replace('"', "")
    dump = hierarchy(node("TextView", text=text, desc=desc, extra=f' hint="{plain}"')).encode()
    fast = read_stock(dump)
    assert said(fast) == said(read_xml(dump))
    assert fast is not None
    assert (fast.nodes[0].text, fast.nodes[0].description) == (text, desc)

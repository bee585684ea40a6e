"""XPath over a small tree: what each spelling finds."""

from __future__ import annotations

import pytest

from handrail_sim.channels.appium.xpath import BadXPath, Element, find


def tree() -> Element:
    top = Element("")

    def add(parent: Element, tag: str, **given: str) -> Element:
        made = Element(tag, {"n": "", **given}, None, parent)
        parent.children.append(made)
        return made

    frame = add(top, "android.widget.FrameLayout", n="frame")
    rows = add(frame, "List", n="list", scrollable="true")
    for number, name in enumerate(["Ada", "Bob's", "Cleo"]):
        row = add(rows, "Row", n=f"row{number}", index=str(number))
        add(row, "Text", n=f"name{number}", text=name)
        add(row, "Switch", n=f"switch{number}", checked=str(number == 1).lower())
    add(frame, "Text", n="foot", text="3 rows")
    return top


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("//Text", "name0 name1 name2 foot"),
        ("//Text[@text='Ada']", "name0"),
        ('//*[@text="Bob\'s"]', "name1"),
        ("//*[contains(@text, 'o')]", "name1 name2 foot"),
        ("//Row[1]", "row0"),
        ("//Row[last()]", "row2"),
        ("//Row[position()>1]", "row1 row2"),
        ("(//Text)[2]", "name1"),
        ("//Text[2]", ""),
        ("//Switch[@checked='true']/..", "row1"),
        ("//Switch[@checked='true']/preceding-sibling::Text", "name1"),
        ("//Text[@text='Ada']/following-sibling::*", "switch0"),
        ("//Text[@text='Ada']/ancestor::*", "frame list row0"),
        ("//Row[.//Text[@text='Cleo']]", "row2"),
        ("//Row[./Text[@text='Cleo']]//Switch", "switch2"),
        ("//Row[Text/@text='Cleo' or @index='0']", "row0 row2"),
        ("//Row[not(@index='1')]", "row0 row2"),
        ("//Row[@index=1]", "row1"),
        ("//Row[@index mod 2 = 0]", "row0 row2"),
        ("//android.widget.FrameLayout/List/Row", "row0 row1 row2"),
        ("/android.widget.FrameLayout", "frame"),
        ("//*[@scrollable='true']/*[2]/Text", "name1"),
        ("//Text[@text='Ada'] | //Text[@text='3 rows']", "name0 foot"),
        ("//*[starts-with(@text,'A') and string-length(@text)=3]", "name0"),
        ("//*[translate(@text,'ABC','abc')='ada']", "name0"),
        ("//*[matches(@text,'^[AC]')]", "name0 name2"),
        ("//*[lower-case(@text)='cleo']", "name2"),
        ("//*[count(*)=2]", "frame row0 row1 row2"),
        ("//*[name()='Switch'][3]", ""),
        ("(//*[name()='Switch'])[3]", "switch2"),
        ("//Row[-1 + 2]", "row0"),
        ("//*[@text][normalize-space(@text)!='Ada']", "name1 name2 foot"),
        ("//Text[text()='Ada']", ""),
    ],
)
def test_an_expression_finds_these(expression: str, names: str) -> None:
    assert " ".join(one.attributes["n"] for one in find(expression, tree())) == names


def test_a_relative_expression_starts_at_its_context() -> None:
    row = find("//Row[2]", tree())[0]
    assert [one.attributes["n"] for one in find(".//Text", row)] == ["name1"]
    assert [one.attributes["n"] for one in find("Switch", row)] == ["switch1"]
    assert [one.attributes["n"] for one in find("//Row", row)] == ["row0", "row1", "row2"]


@pytest.mark.parametrize(
    "expression",
    [
        "//",
        "//*[",
        "//Text[@text='Ada]",
        "count(//Text)",
        "//bad::Text",
        "//*[nope()]",
        "",
        "#",
        "//*[contains()]",
        "//*[matches(@text,'(')]",
        "(" * 500,
        "//*" + "[." * 300,
    ],
)
def test_what_is_no_expression_is_refused(expression: str) -> None:
    with pytest.raises(BadXPath):
        find(expression, tree())

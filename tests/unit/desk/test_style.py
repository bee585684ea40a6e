"""`windowStyle`: what changes the look of a window stays, what could cover or hide anything goes."""

from __future__ import annotations

from handrail.desk.content import PROPERTIES, filter_style
from tests.cases import each


@each(
    ("name", "value", "kept"),
    [
        ("color", "red", {"color": "red"}),
        ("backgroundColor", "#1a2b3c", {"background-color": "#1a2b3c"}),
        ("background", "linear-gradient(45deg, #fff, rgba(0, 0, 0, 0.5))",
         {"background": "linear-gradient(45deg, #fff, rgba(0, 0, 0, 0.5))"}),
        ("border-radius", 12, {"border-radius": "12px"}),
        ("borderRadius", "8px 4px", {"border-radius": "8px 4px"}),
        ("opacity", 0.5, {"opacity": "0.5"}),
        ("fontWeight", 700, {"font-weight": "700"}),
        ("fontFamily", "'Fira Code', monospace", {"font-family": "'Fira Code', monospace"}),
        ("border", "1px solid hsl(200, 50%, 50%)", {"border": "1px solid hsl(200, 50%, 50%)"}),
        ("padding", 0, {"padding": "0"}),
        ("padding", "100px 75pt 6em 100%", {"padding": "100px 75pt 6em 100%"}),
        ("opacity", 0.3, {"opacity": "0.3"}),
        ("opacity", "100%", {"opacity": "100%"}),
        ("opacity", "50%", {"opacity": "50%"}),
        ("opacity", "1", {"opacity": "1"}),
    ],
)  # fmt: skip
def test_looks_stay(name: str, value: str | float, kept: dict[str, str]) -> None:
    assert filter_style({name: value}) == (kept, [])


@each(
    ("name", "value"),
    [
        ("position", "fixed"), ("zIndex", 99999), ("z-index", "99999"), ("inset", "0"), ("top", "0"),
        ("left", "-100px"), ("transform", "scale(100)"), ("translate", "-500px"), ("scale", "9"),
        ("pointerEvents", "none"), ("width", "100vw"), ("height", "100vh"), ("margin", "-500px"),
        ("boxShadow", "0 0 0 9999px black"), ("outline", "9999px solid black"), ("filter", "blur(9px)"),
        ("backdropFilter", "blur(9px)"), ("mixBlendMode", "difference"), ("display", "none"),
        ("visibility", "hidden"), ("animation", "x 1s"), ("content", "'x'"), ("cursor", "none"),
        ("overflow", "visible"), ("clipPath", "none"), ("--x", "1"), ("all", "unset"), ("contain", "none"),
    ],
)  # fmt: skip
def test_what_could_leave_the_window_goes(name: str, value: str | float) -> None:
    assert filter_style({name: value}) == ({}, [name])


@each(
    "value",
    [
        "url(https://example.org/x.png)", "URL (x)", "u\\72l(x)", "expression(alert(1))", "var(--x)",
        "calc(1px)", "image-set('x' 1x)", "red; position: fixed", "red} body{color:red", "red !important",
        "/* x */ red", "env(x)", "attr(x)", "element(#x)", "rgb(0,0,0", "@import 'x'", "<script>", "red\x00",
        "(1)",
        "",
        "linear-gradient(red, url(x))",
    ],
)  # fmt: skip
def test_a_value_that_loads_or_breaks_out_goes(value: str) -> None:
    assert filter_style({"background": value}) == ({}, ["background"])


@each(
    ("name", "value"),
    [
        ("padding", "9999px"), ("padding", 101), ("fontSize", "100vh"), ("borderWidth", "7em"),
        ("letterSpacing", "-50px"), ("textIndent", "-9999px"), ("lineHeight", 1e9), ("fontSize", "1e9px"),
        ("padding", "101%"), ("padding", "5cm"),
    ],
)  # fmt: skip
def test_lengths_stay_small(name: str, value: str | float) -> None:
    assert filter_style({name: value}) == ({}, [name])


@each("value", [0, 0.29, "0%", "29%", "101%", "1.5", "inherit", -1])
def test_a_window_that_nobody_sees_cannot_be_made(value: str | float) -> None:
    assert filter_style({"opacity": value}) == ({}, ["opacity"])


LOOKS = """
color background background-color accent-color
border border-color border-style border-width border-radius border-top border-right border-bottom border-left
padding padding-top padding-right padding-bottom padding-left gap
font-family font-size font-style font-weight font-variant line-height
letter-spacing word-spacing text-align text-transform text-decoration text-indent
white-space word-break overflow-wrap direction
""".split()


@each("name", LOOKS)
def test_every_look_that_stays_inside_may_be_set(name: str) -> None:
    assert filter_style({name: "inherit"}) == ({name: "inherit"}, [])


def test_nothing_else_may_be_set() -> None:
    assert {*LOOKS, "opacity"} == PROPERTIES


@each(
    ("name", "value", "text"),
    [
        ("lineHeight", 1.5, "1.5"),
        ("fontSize", 12.50001, "12.5px"),
        ("gap", 10, "10px"),
        ("gap", 0.25, "0.25px"),
    ],
)
def test_a_number_counts_as_pixels_where_a_length_is_wanted(name: str, value: float, text: str) -> None:
    assert list(filter_style({name: value})[0].values()) == [text]


@each("value", ["75pt", "6em", "6rem", "100%", "360deg", "1turn", "1000", "hsla(360deg, 5%, 5%, 0.1)"])
def test_lengths_and_angles_have_their_own_limits(value: str) -> None:
    assert filter_style({"border": value})[1] == []


@each("value", ["76pt", "6.1em", "6.1rem", "100.1%", "361deg", "1.1turn", "1001", "1vw"])
def test_beyond_its_limit_no_length_or_angle_is_kept(value: str) -> None:
    assert filter_style({"border": value})[1] == ["border"]

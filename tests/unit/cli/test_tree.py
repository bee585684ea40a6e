"""`handrail tree` and `handrail diff` on dump files, without a device."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from handrail.cli.program import cli
from handrail.errors import ElementNotFound, HandrailError, TreeParseError
from tests.cases import each

DUMPS = Path(__file__).parents[3] / "examples" / "dumps"
EMPTY, TYPED = str(DUMPS / "contact_empty.xml"), str(DUMPS / "contact_typed.xml")


def run(*words: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(cli, words, input=stdin)


def test_a_dump_is_rendered_as_an_agent_reads_it() -> None:
    lines = run("tree", EMPTY).stdout.splitlines()
    assert lines[0].startswith("screen 1080x2400 com.google.android.contacts #")
    assert lines[1:] == [
        "@b1 Close", '"Create contact"', '@b2 "Save" disabled', "@s1 ↕", ' @f1 "First name" empty',
        ' @f2 "Phone" empty', " @b3 Mobile", ' @c1 "Favourite" off',
    ]  # fmt: skip


def test_a_dump_may_come_from_standard_input() -> None:
    assert run("tree", "-", stdin=Path(EMPTY).read_bytes()).stdout == run("tree", EMPTY).stdout


def test_json_has_every_ref_with_its_place_also_when_the_text_is_cut() -> None:
    found = json.loads(run("tree", EMPTY, "--json", "--max-lines", "3").stdout)
    assert found["truncated"]
    assert found["line_count"] == len(found["text"].splitlines()) == 3
    assert found["ref_count"] == len(found["refs"]) == 7
    assert found["refs"]["@b1"] == {
        "role": "image_button", "label": "Close", "bounds": [0, 80, 147, 227], "point": [73, 153],
        "states": [], "node_id": "0.0",
    }  # fmt: skip
    assert found["refs"]["@b2"]["point"] is None, "a disabled button can't be tapped"
    assert len(found["fingerprint"]) == 6
    assert found["idle_fingerprint"]
    assert found["warnings"] == []


def test_outline_is_one_json_tree_with_bounds() -> None:
    found = json.loads(run("tree", EMPTY, "--format", "outline").stdout)
    assert found["bounds"] == "[0,0][1080,2400]"
    assert {"role", "children"} <= found.keys()


def test_full_shows_every_node() -> None:
    text = run("tree", EMPTY, "--format", "full").stdout
    assert text.startswith("Window: com.google.android.contacts\n")
    assert 'Button "Save" [860,90][1050,210]' in text


def test_find_keeps_the_header_and_the_lines_that_match() -> None:
    lines = run("tree", EMPTY, "--find", "phone").stdout.splitlines()
    assert len(lines) == 2
    assert lines[1] == ' @f2 "Phone" empty'


def test_within_shows_one_element_and_its_inside() -> None:
    lines = run("tree", EMPTY, "--within", "@s1").stdout.splitlines()
    assert lines[1].startswith("@s1")
    assert not any("Close" in line for line in lines)


def test_only_interactive_drops_plain_texts() -> None:
    assert '"Create contact"' not in run("tree", EMPTY, "--only-interactive").stdout


def test_what_is_not_there_is_said_with_the_nearest() -> None:
    error = run("tree", EMPTY, "--within", "Mobil").exception
    assert isinstance(error, ElementNotFound)
    assert "Mobile" in error.hint


@each("data", [b"", b"hello", b"<hierarchy", b"{}", b"\xff\xfe"])
def test_what_is_no_dump_is_a_parse_error(data: bytes) -> None:
    assert isinstance(run("tree", "-", stdin=data).exception, TreeParseError)


def test_a_missing_file_is_named() -> None:
    error = run("tree", "no-such-file.xml").exception
    assert isinstance(error, HandrailError)
    assert "no-such-file.xml" in error.message


def test_damage_is_repaired_and_reported() -> None:
    result = run("tree", "-", stdin=Path(EMPTY).read_bytes()[:-200])
    assert "@b1 Close" in result.stdout
    assert "warning:" in result.stderr


def test_diff_says_what_changed() -> None:
    assert run("diff", EMPTY, TYPED).stdout.splitlines() == [
        "Elements changed:",
        'Button "Save" enabled=false -> enabled=true',
        'EditText "First name" text="" -> text="Ada"',
        'EditText "First name" focused=false -> focused=true',
        "Elements added:",
        'TextView "Draft saved" [60,2200][700,2290]',
    ]


def test_diff_of_a_screen_with_itself_is_empty() -> None:
    assert run("diff", EMPTY, EMPTY).stdout == "No change on screen.\n"
    assert json.loads(run("diff", EMPTY, EMPTY, "--json").stdout) == {
        "navigated": False,
        "changes": [],
        "total": 0,
    }


def test_diff_as_json_is_capped_and_counts_the_rest() -> None:
    found = json.loads(run("diff", EMPTY, TYPED, "--format", "json", "--limit", "2").stdout)
    assert found["total"] > 2
    assert found["changes"][-1] == {"type": "more", "count": found["total"] - 2}

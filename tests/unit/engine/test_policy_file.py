"""Reading policy files: what is wrong is said with file, line, key and what was meant."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.engine.policy import Policy
from handrail.engine.policy.read import READERS, parse_policy, read_policy
from handrail.engine.policy.rule import unreachable
from handrail.errors import InvalidAction
from tests.unit.engine.policy_subjects import button, policy, subject

ROOT = Path(__file__).parents[3]


def refusal(text: str) -> InvalidAction:
    with pytest.raises(InvalidAction) as caught:
        parse_policy(text, "p.toml")
    return caught.value


def test_without_a_file_the_defaults_stand_alone() -> None:
    assert Policy.load(None) == Policy()


def test_the_example_loads_and_all_its_rules_can_decide() -> None:
    loaded = Policy.load(ROOT / "examples" / "policy.toml")
    assert len(loaded.rules) >= 5
    assert unreachable(loaded.rules) == {}


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidAction, match=r"absent\.toml"):
        read_policy(tmp_path / "absent.toml")


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidAction, match=r"p\.toml: it is not UTF-8"):
        read_policy(path)


def test_a_syntax_error_has_its_line() -> None:
    failure = refusal("[[rule]]\nverdict = 'ask'\naction = \n")
    assert failure.details["line"] == 3
    assert failure.message.startswith("p.toml:3: ")


def test_an_unknown_key_is_named_with_its_line_and_the_nearest() -> None:
    failure = refusal("[[rule]]\nverdict = 'ask'\n\n[[rule]]\nverdict = 'ask'\nlable = 'Pay'\n")
    assert failure.details["path"] == "rule[1].lable"
    assert failure.message.startswith("p.toml:6: ")
    assert failure.hint.startswith("Did you mean label")


@pytest.mark.parametrize(
    ("line", "path", "says"),
    [
        ("verdict = 'maybe'", "rule[0].verdict", "allow, ask, deny"),
        ("verdict = 1", "rule[0].verdict", "allow, ask, deny"),
        ("verdict = 'ask'\naction = 'tpa'", "rule[0].action", "did you mean tap"),
        ("verdict = 'ask'\neffect = 'inputs'", "rule[0].effect", "did you mean input"),
        ("verdict = 'ask'\nlabel = '/(/'", "rule[0].label", "no regular expression"),
        ("verdict = 'ask'\nlabel = 3", "rule[0].label", "a text or a list of texts"),
        ("verdict = 'ask'\nlabel = []", "rule[0].label", "empty list"),
        ("verdict = 'ask'\nlabel = ['']", "rule[0].label", "a text or a list of texts"),
        ("verdict = 'ask'\npassword = 'yes'", "rule[0].password", "true or false"),
        ("verdict = 'ask'\ntime = '25:00-26:00'", "rule[0].time", "22:00-06:00"),
        ("verdict = 'ask'\ntime = '06:00-06:00'", "rule[0].time", "different times"),
        ("verdict = 'ask'\ndays = 'monday'", "rule[0].days", "mon, tue"),
        ("verdict = 'ask'\nremember = 'forever'", "rule[0].remember", "never, session, always"),
        ("verdict = 'deny'\nremember = 'always'", "rule[0].remember", "only an answer"),
        ("action = 'tap'", "rule[0].verdict", "is required"),
        ("verdict = 'ask'\nwhy = 3", "rule[0].why", "must be a text"),
    ],
)
def test_a_bad_value_is_said_with_its_key_and_what_is_allowed(line: str, path: str, says: str) -> None:
    failure = refusal(f"[[rule]]\n{line}\n")
    assert failure.details["path"] == path
    assert says in failure.message
    assert "line" in failure.details


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("rules = []", "rules"),
        ("rule = 3", "rule"),
        ("[script]\nshel = true", "script.shel"),
        ("[script]\nshell = 1", "script.shell"),
        ("script = 1", "script"),
        ("known_hosts = 4", "known_hosts"),
    ],
)
def test_the_rest_of_the_file_is_checked_too(text: str, path: str) -> None:
    assert refusal(text).details["path"] == path


def test_rules_written_inline_are_read_as_well() -> None:
    assert [rule.verdict for rule in policy("rule = [{verdict = 'ask'}, {verdict = 'deny'}]").rules] == [
        "ask",
        "deny",
    ]


def test_scripts_and_hosts_are_read() -> None:
    read = policy("known_hosts = ['example.org']\n[script]\nshell = true\nallow = 'git'")
    assert read.known_hosts == {"example.org"}
    assert (read.script.shell, read.script.allow) == (True, ("git",))


values = st.recursive(
    st.text(max_size=8)
    | st.integers(-3, 3)
    | st.booleans()
    | st.sampled_from(["tap", "ask", "/(/", "22:00-06:00"]),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)


@settings(max_examples=300)
@given(st.dictionaries(st.sampled_from([*READERS, "other"]), values, max_size=4))
def test_whatever_a_rule_says_it_is_read_or_refused_with_its_key(table: dict[str, object]) -> None:
    body = "\n".join(f"{key} = {json.dumps(value)}" for key, value in table.items())
    try:
        [rule] = parse_policy(f"[[rule]]\n{body}", "p.toml").rules
    except InvalidAction as refused:
        assert refused.message.startswith("p.toml")
    else:
        assert rule.verdict == table["verdict"]


@settings(max_examples=200)
@given(st.text())
def test_any_text_is_a_policy_or_an_error_that_names_the_file(text: str) -> None:
    try:
        parse_policy(text, "p.toml")
    except InvalidAction as refused:
        assert refused.message.startswith("p.toml")


def test_a_file_that_nests_without_end_is_refused() -> None:
    assert "not valid TOML" in refusal("a = " + "[" * 100_000).message


def dead(text: str) -> set[int]:
    return set(unreachable(policy(text).rules))


@pytest.mark.parametrize(
    ("first", "later", "covered"),
    [
        ("", "action = 'tap'", True),
        ("action = '*'", "action = 'tap'", True),
        ("action = 't*'", "action = 'tap'", True),
        ("action = 'tap'", "action = 't*'", False),
        ("effect = 'input'", "action = 'tap'", True),
        ("effect = 'system'", "action = 'shell'", False),
        ("effect = ['system', 'sensitive']", "action = 'shell'", True),
        ("app = 'com.*'", "app = 'com.bank'", True),
        ("app = 'com.*'", "app = '/bank/'", False),
        ("label = 'pay*'", "label = 'Pay now'\napp = 'com.a'", True),
        ("label = 'Pay'", "", False),
        ("door = ['mcp', 'cli']", "door = 'mcp'", True),
        ("door = 'mcp'", "door = ['mcp', 'cli']", False),
        ("password = true", "password = true", True),
        ("password = true", "password = false", False),
        ("time = '20:00-08:00'", "time = '22:00-06:00'", True),
        ("time = '22:00-06:00'", "time = '20:00-08:00'", False),
        ("time = '22:00-06:00'", "", False),
    ],
)
def test_a_rule_that_an_earlier_one_covers_never_decides(first: str, later: str, covered: bool) -> None:
    text = f"[[rule]]\nverdict = 'deny'\n{first}\n[[rule]]\nverdict = 'ask'\n{later}"
    assert (1 in dead(text)) is covered


def test_an_allow_on_a_name_does_not_cover_a_limit_that_looks_at_more() -> None:
    allow = "[[rule]]\nverdict = 'allow'\nlabel = 'Save'\n"
    assert dead(allow + "[[rule]]\nverdict = 'ask'\nlabel = 'Save'") == set()
    assert dead(allow + "[[rule]]\nverdict = 'allow'\nlabel = 'Save'") == {1}


def test_a_rule_whose_own_parts_exclude_each_other_never_decides() -> None:
    assert dead("[[rule]]\nverdict = 'deny'\naction = 'tap'\neffect = 'read'") == {0}


def test_an_allow_that_excludes_password_fields_looks_at_the_screen_too() -> None:
    allow = "[[rule]]\nverdict = 'allow'\npassword = false\n"
    assert dead(allow + "[[rule]]\nverdict = 'ask'\npassword = false") == set()
    rules = policy(allow + "[[rule]]\nname = 'it'\nverdict = 'ask'\npassword = false")
    both = [button("Name"), button("Password", password=True)]
    assert rules.decide(subject({"type": "drag", "from": "1,1", "to": "2,2"}, resolved=both)).rule == "it"

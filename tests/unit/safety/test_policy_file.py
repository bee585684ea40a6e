"""Reading policy files: what is wrong is said with file, line, key and what was meant."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.errors import InvalidAction
from handrail.safety.policy import Policy, unreachable
from handrail.safety.policy_file import READERS, parse_policy, read_policy
from tests.cases import each
from tests.unit.safety.policy_subjects import policy

ROOT = Path(__file__).parents[3]


def refusal(text: str) -> InvalidAction:
    with pytest.raises(InvalidAction) as caught:
        parse_policy(text, "p.toml")
    return caught.value


def test_without_a_file_the_defaults_stand_alone() -> None:
    assert not Policy().script.shell


def test_the_example_loads_and_all_its_rules_can_decide() -> None:
    loaded = Policy.of(read_policy(ROOT / "examples" / "policy.toml"))
    assert len(loaded.rules) >= 5
    assert unreachable(loaded.rules) == {}


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidAction, match=r"absent\.toml") as caught:
        read_policy(tmp_path / "absent.toml")
    assert caught.value.details["path"] == ""


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidAction, match=r"p\.toml: it is not UTF-8"):
        read_policy(path)


def test_a_syntax_error_has_its_line() -> None:
    failure = refusal("[[rule]]\nverdict = 'ask'\naction = \n")
    assert (failure.details["line"], failure.details["path"]) == (3, "")
    assert failure.message.startswith("p.toml:3: ")


def test_an_unknown_key_is_named_with_its_line_and_the_nearest() -> None:
    failure = refusal("[[rule]]\nverdict = 'ask'\n\n[[rule]]\nverdict = 'ask'\nlable = 'Pay'\n")
    assert failure.details["path"] == "rule[1].lable"
    assert failure.message.startswith("p.toml:6: ")
    assert failure.hint.startswith("Did you mean label")


@each(
    ("line", "path", "says"),
    [
        ("verdict = 'maybe'", "rule[0].verdict", "allow, ask, deny"),
        ("verdict = 1", "rule[0].verdict", "allow, ask, deny"),
        ("verdict = 'ask'\naction = 'tpa'", "rule[0].action", "did you mean tap"),
        ("verdict = 'ask'\neffect = 'inputs'", "rule[0].effect", "did you mean input"),
        ("verdict = 'ask'\nlabel = '/(/'", "rule[0].label", "not a valid regular expression"),
        ("verdict = 'ask'\nlabel = 3", "rule[0].label", "a text or a list of texts"),
        ("verdict = 'ask'\nlabel = []", "rule[0].label", "empty list"),
        ("verdict = 'ask'\nlabel = ['']", "rule[0].label", "a text or a list of texts"),
        ("verdict = 'ask'\npassword = 'yes'", "rule[0].password", "true or false"),
        ("verdict = 'ask'\ntime = '25:00-26:00'", "rule[0].time", "22:00-06:00"),
        ("verdict = 'ask'\ntime = '06:00-06:00'", "rule[0].time", "different times"),
        ("verdict = 'ask'\ndays = 'monday'", "rule[0].days", "mon, tue"),
        ("verdict = 'ask'\nremember = 'forever'", "rule[0].remember", "never, time, session, always"),
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


@each(
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


def test_a_rule_has_its_name_its_line_and_only_what_was_given() -> None:
    first, second = policy(
        "# mine\n[[rule]]\nverdict = 'ask'\n\n [[ rule ]] # two\nverdict = 'deny'\nname = 'n'"
    ).rules
    assert (first.name, first.line, first.why, first.remember, first.parts) == ("rule 1", 2, "", "never", ())
    assert (second.name, second.line, second.verdict) == ("n", 5, "deny")


def test_rules_written_inline_have_no_line() -> None:
    [rule] = policy("rule = [{verdict = 'ask', name = ''}]").rules
    assert (rule.line, rule.name) == (None, "rule 1")
    failure = refusal("rule = [\n{verdict = 'ask', lable = 'x'},\n]")
    assert "line" not in failure.details
    assert failure.message == "p.toml: rule[0].lable: is not a known key"


@each(
    ("body", "line"),
    [
        ("verdict = 'ask'\n\n  'lable' = 'Pay'", 4),
        ('verdict = "ask"\n"lable"= 1', 3),
        ("verdict = 'ask'\nlable.x = 1", 3),
        ("verdict = 'ask'\nwhy = 'lable = 1'\nlable = 1", 4),
        ("verdict = 'ask'\nlabels = 1", 3),
        ("verdict = 'ask', lable = 1", None),
        ("label = 'x'\n[[rule]]\nverdict = 'ask'", 1),
        ("verdict = 'ask'\n\"la\\u0062le\" = 1\n[[rule]]\nlable = 1", 1),
        ("verdict = 'ask'\n\"la\\u0062le\" = 1", 1),
        ("verdict = 'deny'\nwhy = 'x'\nremember = 'always'", 4),
    ],
)
def test_a_key_is_found_below_its_own_header(body: str, line: int | None) -> None:
    text = f"[[rule]]\n{body}\n" if line else f"rule = [{{{body}}}]"
    failure = refusal(text)
    assert failure.details.get("line") == line
    assert failure.message.startswith(f"p.toml:{line}: rule[0]." if line else "p.toml: rule[0].")


def test_what_is_wrong_names_the_file_and_where_to_read_more() -> None:
    failure = refusal("[[rule]]\nverdict = 'ask'\nrole = 'knob'")
    assert (failure.details["file"], failure.details["path"]) == ("p.toml", "rule[0].role")
    assert failure.hint == "docs/safety.md has every key of a rule."
    unlike = refusal("[[rule]]\nverdict = 'ask'\nqqqqq = 1")
    assert unlike.hint.startswith("Known: action, effect, ")
    assert refusal("a = ").details["file"] == "p.toml"


def test_a_file_is_called_policy_unless_it_has_another_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidAction, match=r"^policy\.toml:1: rules: "):
        parse_policy("rules = 1")
    path = tmp_path / "mine.toml"
    path.write_text("[[rule]]\nverdict = 'ask'\nname = 'grüße'", encoding="utf-8")
    assert [rule.name for rule in Policy.of(read_policy(path)).rules] == ["grüße"]
    path.write_text("rules = 1")
    with pytest.raises(InvalidAction) as caught:
        read_policy(path)
    assert caught.value.message.startswith(f"{path}:1: rules: ")


def test_as_many_rules_as_anybody_writes_are_read() -> None:
    assert len(policy("[[rule]]\nverdict = 'ask'\n" * 1_000).rules) == 1_000
    failure = refusal("[[rule]]\nverdict = 'ask'\n" * 1_001)
    assert failure.details["path"] == "rule"
    assert "1001 rules are too many" in failure.message


def test_rules_that_are_no_tables_are_refused() -> None:
    assert refusal("rule = [1]").details["path"] == "rule"
    assert refusal("[rule]\nverdict = 'ask'").details["path"] == "rule"


@each(
    ("word", "says"),
    [
        ("'sel'", "'sel' is not one of selection"),
        ("'observe'", "did you mean observation?"),
        ("'zzz'", "'zzz' is not one of selection, input, navigation, system, observation, control"),
    ],
)
def test_an_unknown_word_is_told_with_those_that_are_known(word: str, says: str) -> None:
    message = refusal(f"[[rule]]\nverdict = 'ask'\nsemantic = {word}").message
    assert says in message
    assert message.endswith("control") is ("zzz" in message)


def test_a_pattern_for_no_action_says_which_may_be_meant_or_where_they_are_listed() -> None:
    assert (
        "called 'tapp'; did you mean tap"
        in refusal("[[rule]]\nverdict = 'ask'\naction = ['tap', 'tapp']").message
    )
    assert "`handrail actions` lists them" in refusal("[[rule]]\nverdict = 'ask'\naction = 'qqqq*'").message


def test_hosts_and_commands_may_be_left_out_and_are_texts() -> None:
    assert (policy("").known_hosts, policy("").script.allow, policy("").script.shell) == (
        frozenset(),
        (),
        False,
    )
    assert policy("known_hosts = []\n[script]").script.allow == ()
    assert refusal("known_hosts = ['a', 1]").details["path"] == "known_hosts"
    assert refusal("[script]\nallow = ['']").details["path"] == "script.allow"
    assert policy("known_hosts = 'a.org'").known_hosts == {"a.org"}

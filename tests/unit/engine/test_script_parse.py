"""Scripts are read by the quoting rules of `sh`; whatever only a shell could do is refused."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.engine.script.parse import MOST_CHARACTERS, MOST_COMMANDS, Refusal, ScriptCommand, parse


def argv_of(script: str) -> list[tuple[str, ...]]:
    return [command.argv for pipeline in parse(script) for command in pipeline.commands]


@pytest.mark.parametrize(
    ("script", "argv"),
    [
        ("echo a b", ("echo", "a", "b")),
        ("echo  'a  b'\t\"c  d\"", ("echo", "a  b", "c  d")),
        ("echo a\\ b", ("echo", "a b")),
        ("echo 'it'\\''s'", ("echo", "it's")),
        ('echo "a\\"b\\\\c\\d"', ("echo", 'a"b\\c\\d')),
        ("echo ''", ("echo", "")),
        ("echo a#b # a comment", ("echo", "a#b")),
        ("echo a \\\n b", ("echo", "a", "b")),
        ("echo '$HOME' '`id`' '*' \"*\" \\*", ("echo", "$HOME", "`id`", "*", "*", "*")),
        ("grep 'x$' f$ \"y$\"", ("grep", "x$", "f$", "y$")),
        ('echo \\$HOME "\\$HOME"', ("echo", "$HOME", "$HOME")),
        ('echo ${secret:PIN} "a ${secret:PIN}"', ("echo", "${secret:PIN}", "a ${secret:PIN}")),
        ("echo é 日本 🙂", ("echo", "é", "日本", "🙂")),
        ("echo if then", ("echo", "if", "then")),
        ("'if'", ("if",)),
        ("echo a=b", ("echo", "a=b")),
        ("echo 2 > f", ("echo", "2")),
    ],
)
def test_words_are_what_a_shell_would_see(script: str, argv: tuple[str, ...]) -> None:
    assert argv_of(script) == [argv]


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), min_size=1))
def test_every_quoted_list_of_words_comes_back(words: list[str]) -> None:
    script = shlex.join(["echo", *words])
    if len(script) <= MOST_CHARACTERS:
        assert argv_of(script) == [("echo", *words)]


def test_pipelines_are_joined_as_written() -> None:
    pipelines = parse("a | b && c || d; e\n\n# nothing\nf |\n g &&\n\n h;")
    assert [(one.joint, [command.argv[0] for command in one.commands]) for one in pipelines] == [
        (";", ["a", "b"]),
        ("&&", ["c"]),
        ("||", ["d"]),
        (";", ["e"]),
        (";", ["f", "g"]),
        ("&&", ["h"]),
    ]


def test_redirections_are_kept_with_their_command() -> None:
    [pipeline] = parse("sort < in 2>> errors | head -1 > 'out put' 2>&1")
    assert pipeline.commands == (
        ScriptCommand(("sort",), stdin="in", stderr="errors", append_err=True),
        ScriptCommand(("head", "-1"), stdout="out put", err_to_out=True),
    )


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("echo $(id)", "substitution"),
        ('echo "$(id)"', "substitution"),
        ("echo `id`", "backquotes"),
        ('echo "`id`"', "backquotes"),
        ("cat <(id)", "process substitution"),
        ("echo x >(cat)", "process substitution"),
        ("sleep 9 &", "background"),
        ("sleep 9 & echo", "background"),
        ("echo a &> f", "background"),
        ("echo a |& cat", "both streams"),
        ("cat << END\nx\nEND", "here-document"),
        ("cat <<< x", "here-document"),
        ("echo x >& f", "file descriptor"),
        ("echo x 1> f", "numbered"),
        ("echo x 3< f", "numbered"),
        ("echo x >| f", "forced"),
        ("cat <> f", "both ways"),
        ("(echo x)", "subshell"),
        ("f() { echo x; }", "subshell or function"),
        ("{ echo x; }", "keyword {"),
        ("if true; then echo x; fi", "keyword if"),
        ("for i in a; do echo; done", "keyword for"),
        ("while true; do echo; done", "keyword while"),
        ("! true", "keyword !"),
        ("time ls", "keyword time"),
        ("case x in x) echo;; esac", "subshell"),
        ("LD_PRELOAD=x ls", "assignment"),
        ("A=1", "assignment"),
        ("echo $HOME", "variable"),
        ("echo ${HOME}", "variable"),
        ('echo "$HOME"', "variable"),
        ("echo $'x'", "variable"),
        ("echo $$", "variable"),
        ("echo $? $1", "variable"),
        ("ls *", "unquoted *"),
        ("ls a?", "unquoted ?"),
        ("ls [ab]", "unquoted ["),
        ("echo 'x", "does not end"),
        ('echo "x', "does not end"),
        ("echo x\\", "backslash"),
        ("echo a\0b", "NUL"),
        ("| cat", "without a name"),
        ("echo a |", "without a name"),
        ("echo a &&", "without a name"),
        ("echo a && || b", "without a name"),
        ("; echo", "without a command"),
        ("echo a;; echo b", "case branch"),
        ("> f", "without a name"),
        ("echo >", "without a file"),
        ("echo > | cat", "without a file"),
        ("echo > a > b", "two redirections"),
        ("", "empty"),
        (" \n# only a comment\n", "empty"),
        ("echo " + "x" * MOST_CHARACTERS, "characters"),
        ("true;" * (MOST_COMMANDS + 1), "commands"),
    ],
)
def test_what_only_a_shell_could_do_is_refused(script: str, what: str) -> None:
    with pytest.raises(Refusal) as refusal:
        parse(script)
    assert what in refusal.value.what
    assert refusal.value.hint


@given(st.text("ab '\"\\|&;<>()$`#\n2{}*", max_size=40))
def test_any_text_is_parsed_or_refused_and_nothing_else(script: str) -> None:
    try:
        pipelines = parse(script)
    except Refusal:
        return
    assert all(command.argv for pipeline in pipelines for command in pipeline.commands)

"""What a tool does not take is refused by every tool alike; what it takes is in its usage."""

from __future__ import annotations

import string

import pytest

from handrail_sim.shell import COMMANDS
from handrail_sim.shell.table import TOOLS
from handrail_sim.shell.tools.starting import ANDROID_ONLY
from tests.shell_person import out, shell

OWN_WORDS = """
[ dd echo expr false find ip kill killall pkill printf seq stty test time top toybox true yes
"""
"""Tools whose words are no options in the usual form: they read them themselves."""
TMP = "cd /data/local/tmp; "


def test_every_tool_is_in_the_table_or_reads_its_own_words() -> None:
    listed = set(TOOLS) | set(OWN_WORDS.split()) | ANDROID_ONLY
    assert set(COMMANDS) - listed == set()
    assert set(TOOLS) - set(COMMANDS) == set()


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_letter_that_a_tool_does_not_have_is_refused(name: str) -> None:
    tool = TOOLS[name]
    usage = out(f"/system/bin/{name} --help")
    assert usage.startswith(f"{tool.usage()}\n")
    known = usage.partition(name)[2]
    unknown = next(letter for letter in string.ascii_letters if f"-{letter}" not in known and
                   letter not in known.partition("]")[0])  # fmt: skip
    for line in (f"/system/bin/{name} -{unknown} x", f"/system/bin/{name} --nosuch x y"):
        answer = shell(line)
        option = unknown if f"-{unknown}" in line else "nosuch"
        assert answer.errors == f"{name}: Unknown option '{option}' (see \"{name} --help\")\n"
        assert answer.status


@pytest.mark.parametrize(
    "line", ["dd nosuch=1", "find . -nosuch", "top -@", "killall -@ x", "seq --nosuch 3"]
)
def test_tools_with_their_own_words_refuse_others_too(line: str) -> None:
    answer = shell(line)
    assert answer.status
    assert answer.errors


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("find a -name x -o -name y | sort", "a/x\na/y\n"),
        ("find a ! \\( -name x -o -type d \\)", "a/y\n"),
        ("find a -type f -exec echo {} + | wc -w", "2\n"),
        ("find a -name y -delete; ls a", "x\n"),
        ("ls -ll a/x", "-rw-r--r-- 1 shell shell 2 2024-03-09 16:00:00.000000000 +0000 a/x\n"),
        ("sed -i s/1/2/ a/x; cat a/x", "2\n"),
        ("printf 'a\\tb\\n' | cat -et", "a^Ib$\n"),
        ("rm -v a/x", "rm 'a/x'\n"),
        ("printf 'b\\na\\n' | sort -o a/x; cat a/x", "a\nb\n"),
        ("du -s -c a | tail -1 | cut -f2", "total\n"),
        ("touch -d '2020-01-02 03:04' a/x; date -r a/x +%F", "2020-01-02\n"),
        ("printenv SHELL", "/system/bin/sh\n"),
        ("printf 616263 | xxd -p -r", "abc"),
    ],
)
def test_options_do_what_they_say(line: str, said: str) -> None:
    made = "mkdir a; echo 1 > a/x; echo 2 > a/y; touch -t 202403091600 a/x; "
    assert out(TMP + made + line) == said


def test_only_root_sets_the_date() -> None:
    refused = shell("date 010203042030")
    assert refused.status == 1
    assert refused.errors == "date: cannot set date: Operation not permitted\n"

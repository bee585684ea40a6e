"""The shell as a language: quoting, expansion, control flow, redirections, messages of mksh."""

from __future__ import annotations

import pytest

from tests.shell_person import out, shell


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("echo 'a  b' \"c  d\" e\\ f", "a  b c  d e f\n"),
        ("echo \"it's\" 'say \"x\"' \"a\\\"b\\$c\"", "it's say \"x\" a\"b$c\n"),
        ("echo $'tab\\tend' $'\\x41\\u00e9'", "tab\tend Aé\n"),
        ("A=1; B=\"$A 2\"; echo $B \"${B}\" '$B'", "1 2 1 2 $B\n"),
        ("echo ${NONE:-fallback} ${#PATH} ${NONE:+x}end", None),
        ("F=/x/a.tar.gz; echo ${F##*/} ${F%.gz} ${F%%.*} ${F#/*/}", "a.tar.gz /x/a.tar /x/a a.tar.gz\n"),
        ("echo $((2 + 3 * 4)) $(( (1 << 4) % 7 )) $((2147483647 + 1))", "14 2 -2147483648\n"),
        ("echo $(echo one; echo two) \"$(echo one; echo two)\"", "one two one\ntwo\n"),
        ("echo `echo \\`echo deep\\``", "deep\n"),
        ("false; echo $?; true; echo $?", "1\n0\n"),
        ("true && echo yes || echo no; false && echo yes || echo no", "yes\nno\n"),
        ("for i in a b c; do [ $i = b ] && continue; echo $i; done", "a\nc\n"),
        ("i=0; while [ $i -lt 3 ]; do i=$((i+1)); echo $i; done", "1\n2\n3\n"),
        ("if [ -d /sdcard ]; then echo dir; elif true; then echo x; else echo y; fi", "dir\n"),
        ("case hello.txt in *.png) echo image;; *.txt|*.md) echo text;; esac", "text\n"),
        ("f() { echo \"$#:$1\"; return 7; }; f 'a b' c; echo $?", "2:a b\n7\n"),
        ("(cd /data; pwd); pwd", "/data\n/\n"),
        ("{ echo a; echo b; } | wc -l", "2\n"),
        ("set -- x y z; shift; echo $1 $# \"$@\"", "y 2 y z\n"),
        ("echo a # not b", "a\n"),
        ("cat <<END\nhome is $HOME\nEND\necho after", "home is /\nafter\n"),
        ("cat <<'END'\n$HOME\nEND", "$HOME\n"),
        ("IFS=:; for p in $X a:b; do echo $p; done; Y=c:d; for p in $Y; do echo $p; done", "a b\nc\nd\n"),
        ("X=5 sh -c 'echo $X'; echo ${X:-unset}", "5\nunset\n"),
        ("sh -c 'echo $0 $1' name first", "name first\n"),
        ("export ANDROID_LOG_TAGS=\"''\"; exec echo '-d'; echo never", "-d\n"),
        ("! true; echo $?", "1\n"),
        ("echo a\\\nb", "ab\n"),
        ("true\n\necho second line", "second line\n"),
    ],
)  # fmt: skip
def test_a_command_line_means_what_a_posix_shell_makes_of_it(command: str, printed: str | None) -> None:
    answer = shell(command)
    assert answer.errors == ""
    if printed is not None:
        assert answer.text == printed


@pytest.mark.parametrize(
    ("command", "status", "complaint"),
    [
        ("nosuch", 127, "/system/bin/sh: nosuch: inaccessible or not found\n"),
        (
            "/data/local/tmp/nosuch",
            127,
            "/system/bin/sh: /data/local/tmp/nosuch: inaccessible or not found\n",
        ),
        ("su -c id", 127, "/system/bin/sh: su: inaccessible or not found\n"),
        ("echo 'open", 1, "/system/bin/sh: no closing quote\n"),
        ("echo )", 1, "/system/bin/sh: syntax error: unexpected ')'\n"),
        ("if true; then echo", 1, "/system/bin/sh: syntax error: unexpected EOF\n"),
        ("cat < /nosuch", 1, "/system/bin/sh: can't open /nosuch: No such file or directory\n"),
        ("echo > /system/x", 1, "/system/bin/sh: can't create /system/x: Read-only file system\n"),
        ("cd /nosuch", 2, "/system/bin/sh: cd: /nosuch: No such file or directory\n"),
        ("echo $((1/0))", 1, "/system/bin/sh: 1/0: zero divisor\n"),
        ("/sdcard", 126, "/system/bin/sh: /sdcard: can't execute: Is a directory\n"),
    ],
)
def test_a_mistake_is_told_in_the_words_of_mksh(command: str, status: int, complaint: str) -> None:
    answer = shell(command)
    assert (answer.status, answer.errors) == (status, complaint)


def test_stderr_and_stdout_are_kept_apart_and_can_be_joined() -> None:
    answer = shell("echo good; echo bad >&2")
    assert (answer.text, answer.errors) == ("good\n", "bad\n")
    assert out("nosuch 2>&1 >/dev/null | wc -l") == "1\n"
    assert shell("nosuch >/dev/null 2>&1").errors == ""


def test_a_file_can_be_written_appended_and_read_back() -> None:
    folder = "cd /data/local/tmp; "
    assert out(folder + "echo one > f; echo two >> f; cat < f; > f; wc -c f") == "one\ntwo\n0 f\n"


def test_patterns_match_files_and_stay_when_nothing_matches() -> None:
    made = "cd /sdcard/Download; touch b.txt a.txt .hidden.txt; "
    assert out(made + "echo *.txt '*.txt' x*y /sdcard/Down*/a.?xt") == (
        "a.txt b.txt *.txt x*y /sdcard/Download/a.txt\n"
    )


def test_the_exit_status_of_a_shell_is_that_of_its_last_command() -> None:
    assert shell("exit 42").status == 42
    assert shell("true; false").status == 1
    assert shell("false | true").status == 0
    assert shell("(exit 3)").status == 3
    assert shell("x=$(exit 4)").status == 4


def test_set_e_ends_the_shell_at_the_first_failure() -> None:
    answer = shell("set -e; if false; then echo a; fi; false || echo kept; false; echo never")
    assert (answer.status, answer.text) == (1, "kept\n")


def test_a_script_file_runs_when_it_may() -> None:
    script = "cd /data/local/tmp; echo 'echo from script $1' > s.sh; "
    assert out(script + "sh s.sh x; chmod 755 s.sh; ./s.sh y") == "from script x\nfrom script y\n"
    refused = shell(script + "./s.sh")
    assert refused.status == 126
    assert refused.errors == "/system/bin/sh: ./s.sh: can't execute: Permission denied\n"


def test_a_native_binary_is_refused_as_for_another_machine() -> None:
    answer = shell("cd /data/local/tmp; printf '\\x7fELF\\x02' > minicap; chmod 755 minicap; ./minicap")
    assert answer.status == 126
    assert answer.errors == "/system/bin/sh: ./minicap: not executable: 64-bit ELF file\n"


def test_a_shell_without_a_command_reads_lines_from_stdin() -> None:
    answer = shell("", stdin=b"A=3\nif true\nthen echo $A\nfi\nexit 5\necho never\n")
    assert (answer.status, answer.text) == (5, "3\n")


def test_a_shell_that_reads_a_pipe_runs_what_comes() -> None:
    assert out("sh", stdin=b"echo hello\necho $((1+1))\n") == "hello\n2\n"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("[[ abc == a* ]] && echo yes", "yes\n"),
        ('[[ abc == "a*" ]] || echo no', "no\n"),
        ('x="a b"; [[ $x = "a b" && ! -e /nosuch ]] && echo yes', "yes\n"),
        ("[[ -n $nothing || ( a < b ) ]] && echo yes", "yes\n"),
        ('a=(one "two 3" four); echo ${a[1]} ${#a[@]} ${a[-1]}', "two 3 3 four\n"),
        ('a=(x y); a+=(z); a[5]=w; for i in "${a[@]}"; do echo "<$i>"; done', "<x>\n<y>\n<z>\n<w>\n"),
        ('a=(x y); a[5]=w; unset a[0]; echo "${!a[@]}"', "1 5\n"),
        ("set -A z p q; i=1; echo $z ${z[i]} ${z[$i]}", "p q q\n"),
        ("s=ab; s+=cd; echo $s", "abcd\n"),
        ("trap 'echo bye $?' EXIT; echo hi; exit 3", "hi\nbye 3\n"),
        ("(trap 'echo sub' EXIT; echo in); echo out", "in\nsub\nout\n"),
        ("trap 'echo caught' TERM; kill -TERM $$; echo on", "caught\non\n"),
        ("alias ll='ls -d'; ll /sdcard", "/sdcard\n"),
        ("umask 077; touch /data/local/tmp/q; stat -c %a /data/local/tmp/q", "600\n"),
        ("echo 'x y z' | { read -r m n; echo \"$n\"; }", "y z\n"),
        ("read -A w <<< x; true; echo a b | { read -A w; echo ${w[1]}; }", "b\n"),
        ("set -o pipefail; false | true; echo $?", "1\n"),
        ("exec sleep 100 & p=$!; sleep 0.1; ps -o NAME= -p $p; kill $p", "sleep\n"),
        ("sleep 50 & p=$!; sleep 0.1; ps -o NAME= -p $p; kill $p; wait $p; echo $?", "sleep\n143\n"),
    ],
)
def test_what_scripts_of_mksh_use(script: str, said: str) -> None:
    assert shell(script).text == said


def test_random_is_another_number_each_time_and_below_32768() -> None:
    numbers = {int(number) for number in out("echo $RANDOM $RANDOM $RANDOM $RANDOM").split()}
    assert len(numbers) > 1
    assert all(0 <= number < 32768 for number in numbers)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("cd -x /", "cd: -x: unknown option"),
        ("set -Q", "set: -Q: unknown option"),
        ("ulimit -Q", "ulimit: -Q: unknown option"),
        ("readonly k=1; k=2", "k: is read only"),
        ("trap x NOSUCH", "trap: bad signal 'NOSUCH'"),
        ("set -u; echo $nothing", "nothing: parameter not set"),
        ("alias nosuch", "alias: nosuch: not found"),
    ],
)
def test_what_the_shell_itself_refuses(script: str, words: str) -> None:
    answer = shell(script)
    assert answer.status
    assert words in answer.errors

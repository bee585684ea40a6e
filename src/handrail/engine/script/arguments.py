"""What the arguments of allowed programs mean: which are files of this machine, and which options are known.

Pure. For the programs of the built-in list every option is named here; one that is not may read, write or run
anything, and is refused. For programs that the owner added, whatever looks like a path counts as one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from handrail.engine.script.parse import Refusal


@dataclass(frozen=True, slots=True)
class Grammar:
    """The options of one program. Single letters stand together in one string."""

    flags: str = ""
    words: str = ""
    """Letters that take a value which is no file."""
    files: str = ""
    long: frozenset[str] = frozenset()
    """Long options; they may have a value behind `=`."""
    long_words: frozenset[str] = frozenset()
    """Long options whose value may stand in the next argument."""
    long_files: frozenset[str] = frozenset()
    pattern_first: bool = False
    """The first argument is a pattern, unless an option gave one."""
    patterns: frozenset[str] = frozenset()
    """The options that do."""
    operands: re.Pattern[str] | None = None
    """Every other argument has to look like this, and is no file."""


def _names(text: str) -> frozenset[str]:
    return frozenset(f"--{name}" for name in text.split())


DIGITS = "0123456789"
GRAMMARS: dict[str, Grammar] = {
    "cat": Grammar(
        "AbeEnstTuv",
        long=_names("show-all number number-nonblank show-ends squeeze-blank show-tabs show-nonprinting"),
    ),
    "cut": Grammar(
        "nsz",
        "bcdf",
        long=_names("complement only-delimited zero-terminated"),
        long_words=_names("bytes characters delimiter fields output-delimiter"),
    ),
    "date": Grammar(
        "uR",
        "d",
        long=_names("utc universal rfc-email iso-8601 rfc-3339"),
        long_words=_names("date"),
        operands=re.compile(r"\+.*", re.DOTALL),  # a bare number would set the clock
    ),
    "diff": Grammar(
        "abBcdeEinNpqrstTuwyZ" + DIGITS,
        "CFILUWx",
        long=_names(
            "brief report-identical-files ignore-case ignore-all-space ignore-space-change text recursive "
            "ignore-blank-lines ignore-tab-expansion ignore-trailing-space side-by-side minimal new-file "
            "expand-tabs initial-tab speed-large-files strip-trailing-cr suppress-common-lines color unified "
            "context normal"
        ),
        long_words=_names("label width exclude ignore-matching-lines tabsize horizon-lines"),
    ),
    "grep": Grammar(
        "abcEFGhHiIlLnoPqrsTvwxyzZ" + DIGITS,
        "ABCDdem",
        "f",
        long=_names(
            "extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match "
            "word-regexp line-regexp count files-with-matches files-without-match only-matching quiet silent "
            "no-messages byte-offset with-filename no-filename line-number initial-tab null null-data text "
            "recursive line-buffered color colour"
        ),
        long_words=_names(
            "regexp max-count after-context before-context context include exclude exclude-dir label "
            "binary-files"
        ),
        long_files=_names("file exclude-from"),
        pattern_first=True,
        patterns=_names("regexp file") | {"-e", "-f"},
    ),
    "head": Grammar(
        "qvz" + DIGITS,
        "cn",
        long=_names("quiet silent verbose zero-terminated"),
        long_words=_names("bytes lines"),
    ),
    "ls": Grammar(
        "1aAbBcCdfFgGhiklmnNopqQrRsStuUvxX",
        "ITw",
        long=_names(
            "all almost-all directory classify file-type full-time group-directories-first human-readable "
            "inode literal no-group numeric-uid-gid quote-name recursive reverse size color escape"
        ),
        long_words=_names(
            "block-size format hide ignore indicator-style quoting-style sort tabsize time time-style width"
        ),
    ),
    "nl": Grammar("p", "bdfhilnsvw"),
    "paste": Grammar("sz", "d", long=_names("serial zero-terminated"), long_words=_names("delimiters")),
    "rev": Grammar(),
    "sort": Grammar(
        "bcCdfghiMmnrRsuVz",
        "ktS",
        long=_names(
            "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort "
            "month-sort numeric-sort random-sort reverse version-sort check merge stable unique "
            "zero-terminated"
        ),
        long_words=_names("key field-separator buffer-size parallel sort"),
    ),
    "tac": Grammar("br", "s", long=_names("before regex"), long_words=_names("separator")),
    "tail": Grammar(
        "fFqvz" + DIGITS,
        "cns",
        long=_names("follow retry quiet silent verbose zero-terminated"),
        long_words=_names("bytes lines sleep-interval max-unchanged-stats"),
    ),
    "uniq": Grammar(
        "cdDiuz" + DIGITS,
        "fsw",
        long=_names("count repeated all-repeated group ignore-case unique zero-terminated"),
        long_words=_names("skip-fields skip-chars check-chars"),
    ),
    "wc": Grammar("clLmw", long=_names("bytes chars lines words max-line-length total")),
}
WORDS_ONLY = frozenset(
    "adb basename dirname echo expr false printf pwd seq sleep tr true".split()  # noqa: SIM905
)
"""Their arguments are words and not files of this machine (of `adb`: files of the phone)."""


@dataclass(slots=True)
class FileArgument:
    """A file that a program would open; `sure` where it can't be anything else."""

    text: str
    sure: bool


def files_of(program: str, arguments: Sequence[str]) -> Iterator[FileArgument]:
    """Every argument that names a file. Raises `Refusal` for an option that is not known."""
    if program in WORDS_ONLY:
        return
    if program == "test":  # everything may be the operand of -e, -ef and their like
        yield from (FileArgument(one, sure=True) for one in arguments)
    elif (grammar := GRAMMARS.get(program)) is not None:
        yield from (
            FileArgument(one, sure=True) for one in _Reading(program, grammar, list(arguments)).files()
        )
    else:
        for argument in arguments:
            yield from (FileArgument(one, sure=False) for one in _may_be_files(argument))


@dataclass(slots=True)
class _Reading:
    """Arguments as GNU programs read them: options anywhere, letters glued, `--` ends them."""

    program: str
    grammar: Grammar
    rest: list[str]
    has_pattern: bool = False
    operands: list[str] = field(default_factory=list)

    def files(self) -> Iterator[str]:
        while self.rest:
            argument = self.rest.pop(0)
            if argument == "--":
                self.operands += self.rest
                break
            if argument.startswith("--"):
                yield from self._long(argument)
            elif argument.startswith("-") and len(argument) > 1:
                yield from self._letters(argument)
            else:
                self.operands.append(argument)
        skipped = 1 if self.grammar.pattern_first and not self.has_pattern else 0
        yield from self._checked(self.operands[skipped:])

    def _checked(self, operands: list[str]) -> list[str]:
        like = self.grammar.operands
        if like is None:
            return operands
        for one in operands:
            if not like.fullmatch(one):
                self._refuse(one)
        return []

    def _long(self, argument: str) -> Iterator[str]:
        name, equals, value = argument.partition("=")
        known = self.grammar
        self.has_pattern |= name in known.patterns
        if name in known.long:
            return
        if name not in known.long_words | known.long_files:
            self._refuse(argument)
        given = value if equals else self._next(argument)
        if name in known.long_files:
            yield given

    def _letters(self, argument: str) -> Iterator[str]:
        known = self.grammar
        for at, letter in enumerate(argument[1:], 1):
            if letter in known.flags:
                continue
            if letter not in known.words + known.files:
                self._refuse(argument)
            self.has_pattern |= f"-{letter}" in known.patterns
            given = argument[at + 1 :] or self._next(argument)
            if letter in known.files:
                yield given
            return

    def _next(self, argument: str) -> str:
        if not self.rest:
            self._refuse(argument)
        return self.rest.pop(0)

    def _refuse(self, argument: str) -> None:
        raise Refusal(
            f"{self.program} with {argument!r}",
            f"{self.program} is allowed with options that read and print only; write them in full.",
        )


_INSIDE = re.compile(r"[=:,@]")


def _may_be_files(argument: str) -> Iterator[str]:
    """The argument, what stands behind = : , or @ in it, and a path that is glued to letters."""
    if not argument.startswith("-"):
        yield argument
    elif not argument.startswith("--") and len(argument) > 3:
        starts = [at for at in (argument.find("/", 1), argument.find("..", 1)) if at > 0]
        yield from ([argument[min(starts) :]] if starts else [])
    yield from filter(None, _INSIDE.split(argument)[1:])


def may_be_a_word(text: str) -> bool:
    """An absolute path at whose root this machine has nothing, as in `/pattern/p`: no file is named so."""
    parts = PurePosixPath(text).parts
    return len(parts) > 1 and parts[0] in ("/", "//") and not os.path.lexists(f"/{parts[1]}")


RUN_ANYTHING = frozenset(
    """
    ash at awk bash batch busybox cargo cc chroot clang cmake cpio crontab csh dash dc doas docker ed emacs
    entr env ex expect find fish flock ftp g++ gawk gcc gdb git go ionice java julia ksh less lftp lua m4
    make man mawk mc mksh more mysql nano nawk nc ncat netcat nice ninja node nohup npm npx nsenter nvim
    osascript parallel perl php pip podman powershell psql pwsh py python python2 python3 rlwrap rpm rsync
    ruby run-parts scp screen script sed setarch setpriv setsid sftp sh socat split sqlite3 ssh
    start-stop-daemon stdbuf strace su sudo systemd-run tar taskset tclsh tcsh time timeout tmux toybox
    unshare unzip vi view vim watch wish xargs yarn zip zsh
    """.split()  # noqa: SIM905
)
"""Programs that start others, or have a language of their own: whoever may run one may run anything."""


def runs_anything(name: str) -> bool:
    """Whether an entry of the owner's list is no longer a list. Versions count as their program."""
    base = PurePosixPath(name).name
    return base in RUN_ANYTHING or re.sub(r"[-.\d]+$", "", base) in RUN_ANYTHING

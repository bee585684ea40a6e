"""Running a parsed script: control flow, pipelines, redirections, jobs. Knows no command by name."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase, translate

from handrail_sim.shell.call import Call
from handrail_sim.shell.conditions import judge
from handrail_sim.shell.io import BufferSink, Nothing, Pipe, Streams
from handrail_sim.shell.parse import (
    Arithmetic,
    Assignment,
    Case,
    For,
    Function,
    Group,
    If,
    Node,
    Pipeline,
    Redirect,
    Script,
    ShellSyntaxError,
    Simple,
    Statement,
    Substitution,
    Test,
    Text,
    Variable,
    While,
    Word,
    parse,
)
from handrail_sim.shell.processes import SIGNALS, Process, processes_of
from handrail_sim.shell.redirect import RedirectFailed, redirected
from handrail_sim.shell.session import MAX_DEPTH, Leave, Loop, Return, Session
from handrail_sim.shell.start import complain, run_command
from handrail_sim.waiting import Background

_TOKEN = re.compile(
    r"\s*(0[xX][0-9a-fA-F]+|\d+|[A-Za-z_]\w*|\*\*|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%()<>!~&|^?:,])"
)
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", "<=", ">", ">="),
)
_LEVELS += (("<<", ">>"), ("+", "-"), ("*", "/", "%"))
_APPLY: dict[str, Callable[[int, int], int]] = {
    "||": lambda a, b: int(bool(a or b)),
    "&&": lambda a, b: int(bool(a and b)),
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "<<": lambda a, b: a << (b & 31),
    ">>": lambda a, b: a >> (b & 31),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: int(abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1),
    "%": lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
}


def wrap(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def evaluate(text: str, get: Callable[[str], str | None]) -> int:
    """The value of an expression; raises `ShellSyntaxError` if it is malformed."""
    tokens: list[str] = []
    at = 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if not match:
            raise ShellSyntaxError(f"{text}: unexpected '{text[at:].strip()[:1]}'")
        tokens.append(match[1])
        at = match.end()
    if not tokens:
        return 0
    reader = _Reader(text, tokens[:1000], get)
    value = reader.ternary(0)
    if reader.tokens:
        raise ShellSyntaxError(f"{text}: unexpected '{reader.tokens[0]}'")
    return value


class _Reader:
    """Precedence climbing over a list of tokens."""

    def __init__(self, text: str, tokens: list[str], get: Callable[[str], str | None]) -> None:
        self.text = text
        self.tokens = tokens
        self.get = get

    def ternary(self, depth: int) -> int:
        if depth > 20:
            raise ShellSyntaxError(f"{self.text}: expression too deep")
        condition = self.binary(0, depth)
        if self.tokens[:1] != ["?"]:
            return condition
        self.tokens.pop(0)
        first = self.ternary(depth + 1)
        self._expect(":")
        second = self.ternary(depth + 1)
        return first if condition else second

    def binary(self, level: int, depth: int) -> int:
        if level == len(_LEVELS):
            return self.unary(depth)
        value = self.binary(level + 1, depth)
        while self.tokens and self.tokens[0] in _LEVELS[level]:
            operator = self.tokens.pop(0)
            other = self.binary(level + 1, depth)
            if operator in "/%" and other == 0:
                raise ShellSyntaxError(f"{self.text}: zero divisor")
            value = wrap(_APPLY[operator](value, other))
        return value

    def unary(self, depth: int) -> int:
        if not self.tokens:
            raise ShellSyntaxError(f"{self.text}: unexpected end of expression")
        token = self.tokens.pop(0)
        if token in {"-", "+", "!", "~"}:
            if depth > 20:
                raise ShellSyntaxError(f"{self.text}: expression too deep")
            value = self.unary(depth + 1)
            return {"-": wrap(-value), "+": value, "!": int(not value), "~": ~value}[token]
        if token == "(":  # noqa: S105 - a parenthesis
            value = self.ternary(depth + 1)
            self._expect(")")
            return value
        return self._value(token)

    def _value(self, token: str) -> int:
        if token[0].isdigit():
            return wrap(int(token, 16 if token[:2].lower() == "0x" else 10))
        if token[0].isalpha() or token[0] == "_":
            value = (self.get(token) or "0").strip()
            return wrap(int(value)) if re.fullmatch(r"-?\d{1,19}", value) else 0
        raise ShellSyntaxError(f"{self.text}: unexpected '{token}'")

    def _expect(self, token: str) -> None:
        if self.tokens[:1] != [token]:
            raise ShellSyntaxError(f"{self.text}: missing '{token}'")
        self.tokens.pop(0)


_MAGIC = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Expander:
    """Expands words for one session; `substitute` runs a script, `glob` asks the file system."""

    session: Session
    substitute: Callable[[Script], Awaitable[str]]
    glob: Callable[[str], list[str]]

    async def words(self, words: tuple[Word, ...]) -> list[str]:
        names: list[str] = []
        for word in words:
            names += await self.fields(word)
        return names

    async def fields(self, word: Word) -> list[str]:
        """The arguments a word becomes: none, one or many."""
        if len(word) == 1 and isinstance(word[0], Text):
            text = word[0]
            if text.quoted or not (_MAGIC.search(text.text) or text.text.startswith("~")):
                return [text.text]
        fields = _Fields(self.session.variables.get("IFS", " \t\n"))
        for at, part in enumerate(word):
            if isinstance(part, Text):
                fields.add(
                    (self._home(part.text) if not part.quoted and part.text.startswith("~") else part.text)
                    if at == 0
                    else part.text,
                    part.quoted,
                )
            elif isinstance(part, Variable) and part.quoted and (each := self._each(part)) is not None:
                fields.add_each(each)
            elif part.quoted:
                fields.add(await self._value(part), quoted=True)
            else:
                fields.add_split(await self._value(part))
        return [name for field in fields.finish() for name in self._matches(field)]

    def _each(self, part: Variable) -> list[str] | None:
        """What `"$@"`, `"${a[@]}"` and `"${!a[@]}"` become: a word for each."""
        if part.name == "@" and not part.operator and part.index is None:
            return self.session.parameters
        if part.index != (Text("", quoted=True), Text("@", quoted=True)) or part.operator not in {"", "keys"}:
            return None
        held = self.session.elements(part.name)
        return [str(key) for key in held] if part.operator else list(held.values())

    async def _indexed(self, part: Variable, index: str) -> str:
        held = self.session.elements(part.name)
        if index in {"@", "*"}:
            if part.operator == "length":
                return str(len(held))
            return " ".join(map(str, held) if part.operator == "keys" else held.values())
        at = int(evaluate(index, self.session.get))
        value = held.get(at if at >= 0 else max(held, default=0) + 1 + at)
        return await self._operated(part, value) if part.operator else value or ""

    async def single(self, word: Word) -> str:
        """One string, neither split nor matched: an assignment or the target of a redirection."""
        values = [part.text if isinstance(part, Text) else await self._value(part) for part in word]
        return (
            self._home("".join(values))
            if word and (isinstance(word[0], Text) and not word[0].quoted and word[0].text.startswith("~"))
            else "".join(values)
        )

    async def pattern(self, word: Word) -> str:
        """For `case` and `${x#…}`: quoted characters lose their special meaning."""
        out: list[str] = []
        for part in word:
            value = part.text if isinstance(part, Text) else await self._value(part)
            out.append(escape(value) if part.quoted else value)
        return "".join(out)

    def _home(self, text: str) -> str:
        if text == "~" or text.startswith("~/"):
            return self.session.variables.get("HOME", "/").rstrip("/") + (text[1:] or "/")
        return text

    async def _value(self, part: Variable | Substitution | Arithmetic) -> str:
        if isinstance(part, Substitution):
            return await self.substitute(part.script)
        if isinstance(part, Arithmetic):
            return str(evaluate(await self.single(part.expression), self.session.get))
        if part.index is not None:
            return await self._indexed(part, await self.single(part.index))
        value = self.session.get(part.name)
        if value is None and not part.operator and "u" in self.session.modes and part.name not in {"@", "*"}:
            raise ShellSyntaxError(f"{part.name}: parameter not set")
        return await self._operated(part, value) if part.operator else value or ""

    async def _operated(self, part: Variable, value: str | None) -> str:
        operator = part.operator
        if operator == "length":
            return str(len(value or ""))
        if operator in {"#", "##", "%", "%%"}:
            return _trim(value or "", await self.pattern(part.word), operator)
        if operator in {"/", "//"}:
            return await self._replaced(part, value or "")
        present = bool(value) if operator[0] == ":" else value is not None
        if operator[-1] == "+":
            return await self.single(part.word) if present else ""
        if present:
            return value or ""
        word = await self.single(part.word)
        if operator[-1] == "?":
            raise ShellSyntaxError(f"{part.name}: {word or 'parameter null or not set'}")
        if operator[-1] == "=":
            self.session.put(part.name, word)
        return word

    async def _replaced(self, part: Variable, value: str) -> str:
        pattern, _, replacement = (await self.pattern(part.word)).partition("/")
        expression = re.compile(_regex(pattern), re.DOTALL)
        return expression.sub(lambda _: replacement, value, count=0 if part.operator == "//" else 1)

    def _matches(self, field: list[tuple[str, bool]]) -> list[str]:
        literal = "".join(text for text, _ in field)
        if not any(not quoted and _MAGIC.search(text) for text, quoted in field):
            return [literal]
        if "f" in self.session.modes:
            return [literal]
        pattern = "".join(escape(text) if quoted else text for text, quoted in field)
        return self.glob(pattern) or [literal]


class _Fields:
    """Collects pieces into fields; unquoted values are split at IFS."""

    def __init__(self, ifs: str) -> None:
        self._done: list[list[tuple[str, bool]]] = []
        self._open: list[tuple[str, bool]] | None = None
        self._ifs = ifs

    def add(self, text: str, quoted: bool) -> None:
        self._open = [*(self._open or []), (text, quoted)]

    def add_each(self, values: list[str]) -> None:
        for at, value in enumerate(values):
            if at:
                self._close()
            self.add(value, quoted=True)

    def add_split(self, text: str) -> None:
        if not self._ifs:
            if text:
                self.add(text, quoted=False)
            return
        separator = f"[{re.escape(self._ifs)}]"
        pieces = re.split(f"{separator}+" if self._ifs.isspace() else separator, text)
        for at, piece in enumerate(pieces):
            if at:
                self._close()
            if piece:
                self.add(piece, quoted=False)

    def _close(self) -> None:
        if self._open is not None:
            self._done.append(self._open)
            self._open = None

    def finish(self) -> list[list[tuple[str, bool]]]:
        self._close()
        return self._done


def escape(text: str) -> str:
    """The text as a pattern that matches only itself."""
    return _MAGIC.sub(lambda match: f"[{match.group()}]", text)


def _regex(pattern: str) -> str:
    """The body of fnmatch's regular expression, without its anchors."""
    return translate(pattern).removeprefix("(?s:").removesuffix(")\\Z")


def _trim(value: str, pattern: str, operator: str) -> str:
    """`#` and `%` cut the shortest match at the start or the end, doubled the longest."""
    expression = re.compile(f"(?:{_regex(pattern)})\\Z", re.DOTALL)
    sizes = range(len(value) + 1) if len(operator) == 1 else range(len(value), -1, -1)
    for size in sizes:
        part = value[:size] if operator[0] == "#" else value[len(value) - size :]
        if expression.match(part):
            return value[size:] if operator[0] == "#" else value[: len(value) - size]
    return value


SIGPIPE_STATUS = 141
MAX_SUBSTITUTION = 1 << 24


class Interpreter:
    """Runs scripts in one session. Every method gives the exit status."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.expander = Expander(session, self._substitute, self._glob)
        self.substituted = 0

    async def script(self, script: Script) -> int:
        session = self.session
        if session.depth >= MAX_DEPTH:
            await complain(session, "recursion too deep")
            raise Leave(1)
        session.depth += 1
        try:
            for statement in script.statements:
                session.status = await self._statement(statement)
            return session.status
        finally:
            session.depth -= 1

    async def top(self, script: Script) -> int:
        """As a whole shell: `exit`, stray `return` and `break` end here, and the trap on EXIT runs."""
        try:
            status = await self.script(script)
        except (Leave, Return) as end:
            status = end.status
        except Loop:
            status = self.session.status
        return await self.leave(status)

    async def leave(self, status: int) -> int:
        """The end of a shell: `trap … EXIT`, whose own `exit` decides over the status."""
        last = self.session.traps.pop("EXIT", "")
        if not last:
            return status
        self.session.status = status
        try:
            await self.script(parse(last))
        except Leave as end:
            return end.status
        return status

    async def _trapped(self, shell: Process) -> bool:
        """Run the trap on a signal that the shell got, if there is one; then the signal is done with."""
        name = next((name for name, number in SIGNALS.items() if number == shell.signal), "")
        handler = self.session.traps.get(name)
        if handler is None:
            return False
        shell.signal = 0
        if handler:
            await self.script(parse(handler))
        return True

    async def _statement(self, statement: Statement) -> int:
        if statement.background:
            return await self._background(statement)
        status = await self._pipeline(statement.first)
        checked = not statement.rest and not statement.first.negated
        for operator, pipeline in statement.rest:
            if (status == 0) == (operator == "&&"):
                self.session.status = status
                status = await self._pipeline(pipeline)
        if status and checked and self.session.exit_on_error:
            raise Leave(status)
        return status

    async def _pipeline(self, pipeline: Pipeline) -> int:
        shell = self.session.shell
        if shell is not None and shell.signal and not await self._trapped(shell):
            raise Leave(128 + shell.signal)
        if len(pipeline.stages) == 1:
            status = await self.node(pipeline.stages[0])
        else:
            status = await self._piped(pipeline.stages)
        return int(not status) if pipeline.negated else status

    async def _piped(self, stages: tuple[Node, ...]) -> int:
        streams = self.session.streams
        pipes = [Pipe() for _ in stages[1:]]
        tasks: list[asyncio.Task[int]] = []
        async with Background() as running:
            for at, stage in enumerate(stages):
                stdin = pipes[at - 1] if at else streams.stdin
                stdout = pipes[at] if at < len(pipes) else streams.stdout
                inner = self.session.subshell(Streams(stdin, stdout, streams.stderr))
                before, after = pipes[at - 1] if at else None, pipes[at] if at < len(pipes) else None
                work = _stage(inner, stage, before, after)
                tasks.append(running.start(work, "a stage of a pipe", reported=True))
            ends = await asyncio.gather(*tasks)
            failed = [status for status in ends if status]
            return failed[-1] if failed and "pipefail" in self.session.modes else ends[-1]

    async def _background(self, statement: Statement) -> int:
        session, table = self.session, processes_of(self.session.phone)
        inner = session.subshell(Streams(Nothing(), session.streams.stdout, session.streams.stderr))
        foreground = Statement(statement.first, statement.rest)
        inner.parent, inner.pid = session.pid, table.new_pid()
        session.background_pid = inner.pid
        inner.shell, inner.owns_pid, inner.in_place = None, True, _is_command(statement)
        job = asyncio.ensure_future(Interpreter(inner).job(Script((foreground,))))
        table.keep(job, session.group)
        table.forked(
            inner.pid, session.pid, session.user, session.phone.clock.monotonic_ms(), job, session.group
        )
        if not leaves_streams(statement):
            session.jobs.append(job)
        session.all_jobs[inner.pid] = job
        await asyncio.sleep(0)  # a fork is there before its parent goes on
        return 0

    async def job(self, script: Script) -> int:
        """Runs in the background, so its failure is not reported."""
        try:
            return await self.top(script)
        except BrokenPipeError:
            return SIGPIPE_STATUS
        except ShellSyntaxError as problem:
            await complain(self.session, str(problem))
            return 1

    async def node(self, node: Node) -> int:
        if isinstance(node, Simple):
            return await self._simple(node)
        if isinstance(node, Function):
            self.session.functions[node.name] = node.body
            return 0
        if isinstance(node, Test):
            return await self._test(node)
        if not node.redirects:
            return await self._compound(node)
        return await self._redirected(node)

    async def _redirected(self, node: Group | If | For | While | Case) -> int:
        before = self.session.streams
        try:
            async with redirected(self.session, before, await self._targets(node.redirects)) as streams:
                self.session.streams = streams
                return await self._compound(node)
        except RedirectFailed as problem:
            self.session.streams = before
            await complain(self.session, str(problem))
            return 1
        finally:
            self.session.streams = before

    async def _compound(self, node: Group | If | For | While | Case) -> int:
        if isinstance(node, Group):
            if node.subshell:
                return await Interpreter(self.session.subshell()).top(node.script)
            return await self.script(node.script)
        if isinstance(node, If):
            for condition, body in node.branches:
                if await self._condition(condition):
                    return await self.script(body)
            return await self.script(node.otherwise) if node.otherwise else 0
        if isinstance(node, Case):
            return await self._case(node)
        return await (self._for(node) if isinstance(node, For) else self._while(node))

    async def _test(self, node: Test) -> int:
        """`[[ … ]]`: the right side of `=` and `!=` is a pattern unless it is quoted."""
        words: list[str] = []
        for token in node.tokens:
            if isinstance(token, str):
                words.append(token)
            elif words[-1:] and words[-1] in {"=", "==", "!="}:
                words.append(await self.expander.pattern(token))
            else:
                words.append(await self.expander.single(token))
        streams = self.session.streams
        call = Call(self.session.phone, ["[["], self.session, streams.stdin, streams.stdout, streams.stderr)
        return await judge(call, words)

    async def _condition(self, script: Script) -> bool:
        strict, self.session.exit_on_error = self.session.exit_on_error, False
        try:
            return await self.script(script) == 0
        finally:
            self.session.exit_on_error = strict

    async def _case(self, node: Case) -> int:
        value = await self.expander.single(node.word)
        for patterns, body in node.arms:
            for pattern in patterns:
                if fnmatchcase(value, await self.expander.pattern(pattern)):
                    return await self.script(body)
        return 0

    async def _for(self, node: For) -> int:
        session = self.session
        values = list(session.parameters) if node.words is None else await self.expander.words(node.words)
        status = 0
        for value in values:
            session.put(node.name, value)
            status, go_on = await self._round(node.body)
            if not go_on:
                break
        return status

    async def _while(self, node: While) -> int:
        status = 0
        while await self._condition(node.condition) != node.until:
            status, go_on = await self._round(node.body)
            if not go_on:
                break
        return status

    async def _round(self, body: Script) -> tuple[int, bool]:
        await asyncio.sleep(0)
        try:
            return await self.script(body), True
        except Loop as jump:
            if jump.count > 1:
                raise Loop(jump.count - 1, again=jump.again) from None
            return 0, jump.again

    async def _simple(self, node: Simple) -> int:
        self.substituted = 0
        try:
            argv = await self.expander.words(node.words)
            values = [
                pair for assignment in node.assignments for pair in await self._assigned(assignment, argv)
            ]
            if not node.redirects:
                return await run_command(self, argv, values, self.session.streams)
            targets = await self._targets(node.redirects)
            async with redirected(self.session, self.session.streams, targets) as streams:
                return await run_command(self, argv, values, streams)
        except ShellSyntaxError as problem:
            await complain(self.session, str(problem))
            raise Leave(1) from None
        except RedirectFailed as problem:
            await complain(self.session, str(problem))
            return 1

    async def _assigned(self, assignment: Assignment, argv: list[str]) -> list[tuple[str, str]]:
        """A name and its value; arrays and elements are stored at once and give none."""
        session = self.session
        if assignment.values is not None:
            values = await self.expander.words(assignment.values)
            held = session.array(assignment.name)
            first = max(held, default=-1) + 1 if assignment.appends else 0
            if not assignment.appends:
                held.clear()
            held.update(enumerate(values, first))
            return []
        value = await self.expander.single(assignment.word)
        if assignment.index is not None:
            at = int(evaluate(await self.expander.single(assignment.index), session.get))
            held = session.array(assignment.name)
            held[at] = held.get(at, "") + value if assignment.appends else value
            return []
        if assignment.appends:
            value = (session.get(assignment.name) or "") + value
        if assignment.name in session.read_only:
            raise ShellSyntaxError(f"{assignment.name}: is read only")
        if not argv and assignment.name in session.arrays:
            session.put(assignment.name, value)
            return []
        return [(assignment.name, value)]

    async def _targets(self, redirects: tuple[Redirect, ...]) -> list[tuple[Redirect, str]]:
        return [(redirect, await self.expander.single(redirect.target)) for redirect in redirects]

    async def _substitute(self, script: Script) -> str:
        if self.session.depth >= MAX_DEPTH:
            raise ShellSyntaxError("recursion too deep")
        out = BufferSink(MAX_SUBSTITUTION)
        streams = Streams(self.session.streams.stdin, out, self.session.streams.stderr)
        inner = self.session.subshell(streams)
        self.session.status = self.substituted = await Interpreter(inner).top(script)
        return out.value().replace(b"\0", b"").decode("utf-8", "surrogateescape").rstrip("\n")

    def _glob(self, pattern: str) -> list[str]:
        if pattern.startswith("/"):
            return self.session.files.glob(pattern)
        base = self.session.cwd.rstrip("/") + "/"
        return [path.removeprefix(base) for path in self.session.files.glob(base + pattern)]


async def _stage(session: Session, node: Node, before: Pipe | None, after: Pipe | None) -> int:
    try:
        return await Interpreter(session).top(Script((Statement(Pipeline((node,))),)))
    except BrokenPipeError:
        return SIGPIPE_STATUS
    except ShellSyntaxError as problem:
        await complain(session, str(problem))
        return 1
    finally:
        if before:
            before.leave()
        if after:
            after.end()


def _is_command(statement: Statement) -> bool:
    """One plain command: the fork becomes it, so that `$!` is its pid."""
    stages = statement.first.stages
    return not statement.rest and len(stages) == 1 and isinstance(stages[0], Simple)


def leaves_streams(statement: Statement) -> bool:
    stages = [
        stage for pipeline in (statement.first, *(p for _, p in statement.rest)) for stage in pipeline.stages
    ]
    return all({1, 2} <= {redirect.fd for redirect in getattr(stage, "redirects", ())} for stage in stages)

"""The small JavaScript behind simulated React Native apps. Every answer is the one that Node gives."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from handrail_sim.js.lib_data import to_plain
from handrail_sim.js.realm import Realm
from handrail_sim.js.values import Throw, to_text

ANSWERS: list[tuple[str, Any]] = [
    ("1 + 2 * 3", 7),
    ("'a' + 1 + 2", "a12"),
    ("2 ** 3 ** 2", 512),
    ("7 / 2 | 0", 3),
    ("-7 % 3", -1),
    ("1 < 2 === true && null == undefined", True),
    ("[] + [] + 'x' + [1, [2, 3]]", "x1,2,3"),
    ("typeof null + typeof undefined + typeof (() => 1) + typeof nobody", "objectundefinedfunctionundefined"),
    ("(function () { return arguments.length; })(1, 2)", 2),
    ("((a, b = a + 1, ...rest) => [a, b, rest])(1, undefined, 3, 4)", [1, 2, [3, 4]]),
    ("(function f(n) { return n < 2 ? 1 : n * f(n - 1); })(6)", 720),
    ("var fs = []; for (let i = 0; i < 3; i++) fs.push(() => i); fs.map(f => f())", [0, 1, 2]),
    ("var gs = []; for (var j = 0; j < 3; j++) gs.push(() => j); gs.map(g => g())", [3, 3, 3]),
    ("(() => { try { null.x } catch (e) { return e instanceof TypeError } })()", True),
    ("(() => { try { return 1 } finally { globalThis.ended = 2 } })() + ended", 3),
    ("`a${1 + 1}b${`c${3}`}`", "a2bc3"),
    ("var {a, b: {c = 9} = {}, ...rest} = {a: 1, z: 2}; [a, c, rest]", [1, 9, {"z": 2}]),
    ("var [p, , q = 5] = [1, 2]; [p, q]", [1, 5]),
    ("[undefined?.a.b, null ?? 'n', ({a: {b: 1}}).a?.b, (void 0)?.()]", [None, "n", 1, None]),
    ("var o = {n: 1, get twice() { return this.n * 2 }, ['k' + 1]: 3, m() { return 4 }};"
     "[o.twice, o.k1, o.m()]", [2, 3, 4]),
    ("function Dog(name) { this.name = name } Dog.prototype.say = function () { return this.name + '!' };"
     "new Dog('Rex').say() + (new Dog('x') instanceof Dog)", "Rex!true"),
    ("var m = new Map([['a', 1]]); m.set('b', 2); [...m.entries()].concat(m.size)", [["a", 1], ["b", 2], 2]),
    ("[...new Set([1, 1, 2])].reduce((s, n) => s + n, 0)", 3),
    ("var s = ''; for (const [k, v] of new Map([['x', 1]])) s += k + v; s", "x1"),
    ("var ks = []; for (var k in {a: 1, b: 2}) ks.push(k); ks", ["a", "b"]),
    ("'https://u@h.example/p?q#f'.split(/[?#]/)[0].replace(/\\/\\/[^\\/@]*@/, '//')", "https://h.example/p"),
    ("/^RCT(\\w+)$/.exec('RCTView')[1]", "View"),
    ("JSON.stringify({a: [1, null, 'x'], b: undefined, c: NaN})", '{"a":[1,null,"x"],"c":null}'),
    ("JSON.parse('{\"a\": [1, 2.5]}').a[1]", 2.5),
    ("Object.keys(Object.defineProperty({a: 1}, 'b', {value: 2}))", ["a"]),
    ("Reflect.apply(function () { return this.v + arguments[0] }, {v: 1}, [2])", 3),
    ("switch (2) { case 1: var w = 'one'; break; case 2: w = 'two'; default: w += '+' } w", "two+"),
    ("var t = 0; do { t++; if (t == 2) continue; if (t > 3) break } while (true); t", 4),
    ("[3, 1, 2].sort((x, y) => x - y).slice(-2).join('-')", "2-3"),
    ("var x = 1\nvar y = x\n;[x, y].length", 2),
    ("Math.round(2.5) + Math.max(1, 5) + parseInt('12px')", 20),
    ("[0.1 + 0.2, 1e21 > 1, 0xff, 10 / 4]", [0.30000000000000004, True, 255, 2.5]),
]  # fmt: skip


def answer(source: str) -> Any:
    return to_plain(Realm().run(source))


@pytest.mark.parametrize(("source", "wanted"), ANSWERS)
def test_a_program_gives_what_javascript_gives(source: str, wanted: Any) -> None:
    assert answer(source) == wanted


@pytest.mark.slow
def test_node_gives_the_same_answers() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    sources = json.dumps([source for source, _ in ANSWERS])
    script = f"console.log(JSON.stringify({sources}.map(s => (0, eval)(s))))"
    told = subprocess.run([node, "-e", script], capture_output=True, text=True, check=True).stdout
    assert json.loads(told) == [wanted for _, wanted in ANSWERS]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("throw new Error('boo')", "Error: boo"),
        ("nobody", "ReferenceError: Property 'nobody' doesn't exist"),
        ("({}).run()", "TypeError: expression.run is not a function"),
        ("const c = 1; c = 2", "TypeError: Assignment to constant variable."),
        ("1 +", "SyntaxError: Unexpected end of input"),
        ("class A {}", "SyntaxError: 'class' is beyond this engine"),
        ("while (true) {}", "RangeError: the program took too long"),
        ("(function f() { f() })()", "RangeError: Maximum call stack size exceeded"),
        (
            "var loop = {}; loop.self = loop; JSON.stringify(loop)",
            "TypeError: Converting circular structure to JSON",
        ),
    ],
)
def test_what_fails_is_thrown_and_never_stops_the_phone(source: str, said: str) -> None:
    with pytest.raises(Throw) as thrown:
        Realm().run(source)
    assert to_text(thrown.value.value) == said


def test_promises_go_on_after_the_program_that_made_them() -> None:
    realm = Realm()
    assert (
        realm.run("var seen = []; Promise.resolve(1).then(v => { seen.push(v); throw 2 }); seen.length") == 0
    )
    assert to_plain(realm.run("seen")) == [1]
    realm.run("Promise.all([1, Promise.resolve(2)]).then(v => { seen = v })")
    assert to_plain(realm.run("seen")) == [1, 2]
    realm.run("Promise.reject(3).finally(() => seen.push('end')).catch(e => seen.push(e))")
    assert to_plain(realm.run("seen")) == [1, 2, "end", 3]


def test_two_realms_share_nothing() -> None:
    one, other = Realm(), Realm()
    one.run("Array.prototype.mine = 1; globalThis.here = 1")
    assert other.run("typeof [].mine + typeof here") == "undefinedundefined"

"""Syntax trees, asked for by many threads at once."""

from concurrent.futures import ThreadPoolExecutor

from handrail.python_syntax import expression_of, syntax_of


def test_many_threads_may_ask_at_once() -> None:
    deep = "x = " + "(" * 60 + "1" + " + 1)" * 60
    with ThreadPoolExecutor(8) as pool:
        files = [pool.submit(syntax_of, "\n".join([deep] * 40)) for _ in range(64)]
        sums = [pool.submit(expression_of, deep.removeprefix("x = ")) for _ in range(64)]
        assert {len(one.result().body) for one in files} == {40}
        assert {type(one.result()).__name__ for one in sums} == {"BinOp"}

"""The source stays inside `budget.toml`, which only falls."""

import pytest

from tests.budget import BUDGET, budget, measured, modules, single_importer, source_of

SOURCES = [name for name in budget() if name != "reasons"]


@pytest.mark.parametrize("name", SOURCES)
def test_no_figure_is_above_its_budget(name: str) -> None:
    now, limits = measured(name), budget()[name]
    assert set(now) == set(limits), "every package has a section"
    over = {
        f"{part}.{key}": f"{now[part][key]} > {limit}"
        for part, figures in limits.items()
        for key, limit in figures.items()
        if now[part][key] > limit
    }
    assert over == {}, f"`python -m tests.budget` shows all; {BUDGET.name} is raised by hand, with a reason"


def test_a_reason_belongs_to_a_module_with_one_importer() -> None:
    alone = {name for source in SOURCES for name in single_importer(modules(source_of(source)))}
    assert budget().get("reasons", {}).keys() <= alone

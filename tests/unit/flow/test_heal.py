"""Who follows an element that is gone: the one most like it, clearly, and never one that promises else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handrail.errors import InvalidAction
from handrail.flow.document import FlowDocument, loads
from handrail.flow.heal import FileRepair, find_successor, heal_action, may_replace_label
from handrail.protocol.device import Drag, Tap, TypeText
from handrail.protocol.target import Selector
from handrail.screen.node import Screen
from handrail.screen.refs import Registry
from handrail.screen.robust_selector import identity
from tests.unit.screen.drawn import Box, node, row, screen


def button(text: str, box: Box, tail: str = "", kind: str = "Button") -> str:
    more = {"resource_id": f"com.example.app:id/{tail}"} if tail else {}
    return node(kind, text=text, box=box, flags="clickable", **more)


def form(*buttons: str) -> Screen:
    return screen(
        node("TextView", text="New contact", box=row(0)),
        node("EditText", hint="First name", box=row(1), flags="clickable"),
        node("EditText", hint="Last name", box=row(2), flags="clickable"),
        *buttons,
    )


def known(shown: Screen, text: str) -> dict[str, Any]:
    return identity(shown, next(one for one in shown.nodes if text in (one.text, one.hint_text)))


def drawn(shown: Screen) -> Registry:
    registry = Registry()
    registry.rebuild(shown)
    return registry


BOTTOM, TOP, MIDDLE = row(12), (800, 0, 1080, 150), row(6)
BEFORE = form(button("Save", BOTTOM, "save"), button("Cancel", row(13), "cancel"))
SAVE = known(BEFORE, "Save")


def follows(*buttons: str) -> str | None:
    """What is proposed for the Save button on a form with these buttons."""
    after = form(*buttons)
    found = find_successor(SAVE, after, drawn(after))
    return None if found is None else str(found.element["text"])


class TestSuccessor:
    def test_a_button_that_was_renamed_and_moved(self) -> None:
        assert follows(button("Store", TOP, "store_button"), button("Cancel", row(13), "cancel")) == "Store"

    def test_a_button_with_another_id(self) -> None:
        assert follows(button("Save", MIDDLE, "btn_primary"), button("Cancel", row(13), "cancel")) == "Save"

    def test_a_button_in_another_language(self) -> None:
        assert (
            follows(button("Speichern", BOTTOM, "save"), button("Abbrechen", row(13), "cancel"))
            == "Speichern"
        )

    def test_its_selector_means_it_on_the_new_screen(self) -> None:
        after = form(button("Store", TOP, "store_button"), button("Cancel", row(13), "cancel"))
        found = find_successor(SAVE, after, drawn(after))
        assert found.selector == Selector(id="store_button")
        assert "Store" in found.text
        assert "Save" in found.text

    @pytest.mark.parametrize(
        "label", ["Delete", "Discard", "Cancel", "Don't save", "Send", "Buy now", "Löschen"]
    )
    def test_never_one_that_promises_something_else_even_in_its_very_place(self, label: str) -> None:
        assert follows(button(label, BOTTOM, "save")) is None

    def test_never_from_delete_to_save(self) -> None:
        before = form(button("Delete", BOTTOM, "primary"))
        after = form(button("Save", BOTTOM, "primary"))
        assert find_successor(known(before, "Delete"), after, drawn(after)) is None

    def test_not_where_two_are_equally_alike(self) -> None:
        assert follows(button("Save draft", MIDDLE, "one"), button("Save copy", row(7), "two")) is None

    def test_not_where_nothing_of_its_names_is_left(self) -> None:
        assert follows(button("Balloons", BOTTOM, "balloons"), button("Cancel", row(13), "cancel")) is None

    def test_not_one_that_stood_beside_it_before(self) -> None:
        assert follows(button("Cancel", BOTTOM, "cancel")) is None

    def test_a_button_does_not_become_a_field(self) -> None:
        after = screen(
            node(
                "EditText", hint="Save", resource_id="com.example.app:id/save", box=BOTTOM, flags="clickable"
            )
        )
        assert find_successor(SAVE, after, drawn(after)) is None

    def test_a_field_is_followed_by_a_field(self) -> None:
        after = screen(
            node("TextView", text="New contact", box=row(0)),
            node("EditText", hint="Given name", box=row(3), flags="clickable"),
            node("EditText", hint="First names", box=row(1), flags="clickable"),
            button("First name help", row(2)),
        )
        found = find_successor(known(BEFORE, "First name"), after, drawn(after))
        assert found.element["text"] == "First names"

    def test_a_row_of_a_list_with_other_words_is_another_row(self) -> None:
        def files(*names: str) -> Screen:
            rows = [button(name, row(at), "file", "TextView") for at, name in enumerate(names)]
            return screen(node("ListView", *rows, box=(0, 200, 1080, 2000), flags="scrollable"))

        before, after = files("report.txt"), files("report.apk")
        assert find_successor(known(before, "report.txt"), after, drawn(after)) is None

    def test_not_one_with_the_same_text_and_another_description(self) -> None:
        before = form(node("Switch", text="Mode", content_desc="Loud", box=row(5), flags="checkable"))
        after = form(node("Switch", text="Mode", content_desc="Quiet", box=row(5), flags="checkable"))
        assert find_successor(known(before, "Mode"), after, drawn(after)) is None

    def test_never_one_of_another_app_in_front(self) -> None:
        prompt = button("Save", MIDDLE, "save")
        after = form(prompt.replace("com.example.app", "com.android.permissioncontroller"))
        assert find_successor(SAVE, after, drawn(after)) is None

    def test_an_empty_screen_has_none(self) -> None:
        after = screen()
        assert find_successor(SAVE, after, drawn(after)) is None


class TestMeaning:
    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("Save", "Done"),
            ("Delete", "Remove"),
            ("Log in", "Sign in"),
            ("btn_save", "Save contact"),
            ("Tea", "Coffee"),
        ],
    )
    def test_may_follow(self, old: str, new: str) -> None:
        assert may_replace_label(old, new)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("Save", "Delete"), ("Allow", "Don't allow"), ("Sign in", "Sign out"), ("Enable", "Disable"),
            ("Tea", "Delete tea"), ("Save", "Save and send"), ("Draft", "Send"), ("Turn on", "Turn off"),
        ],
    )  # fmt: skip
    def test_must_not_follow(self, old: str, new: str) -> None:
        assert not may_replace_label(old, new)


class TestAction:
    after = form(button("Store", TOP, "store_button"), button("Cancel", row(13), "cancel"))

    def test_the_lost_target_is_replaced(self) -> None:
        healed = heal_action(Tap(target=Selector(id="save")), SAVE, self.after, drawn(self.after))
        assert healed.action == Tap(target=Selector(id="store_button"))

    def test_only_the_target_that_is_lost(self) -> None:
        drag = Drag(from_=Selector(id="cancel"), to=Selector(id="save"))
        recorded = {"from": known(BEFORE, "Cancel"), "to": SAVE}
        healed = heal_action(drag, recorded, self.after, drawn(self.after))
        assert healed.field == "to"
        assert healed.action == Drag(from_=Selector(id="cancel"), to=Selector(id="store_button"))

    def test_a_target_that_is_there_is_left_alone(self) -> None:
        assert heal_action(Tap(target=Selector(id="cancel")), SAVE, self.after, drawn(self.after)) is None

    def test_without_an_identity_there_is_nothing_to_go_by(self) -> None:
        assert heal_action(Tap(target=Selector(id="save")), None, self.after, drawn(self.after)) is None

    def test_typing_without_a_target_has_none_to_heal(self) -> None:
        assert heal_action(TypeText(text="x"), SAVE, self.after, drawn(self.after)) is None


FLOW = """\
# A contact that stays.
name: Contact
steps:
  - type_text: {target: First name, text: Ada}    # who
  - tap: Save    # the old place
    element: {class: Button, id: save, text: Save, bounds: [0, 2000, 1080, 2150]}
  - repeat:
      times: 2
      steps:
        - tap: {id: save}
          element: {class: Button, id: save, text: Save, bounds: [0, 2000, 1080, 2150]}
"""


def document(folder: Path) -> FlowDocument:
    path = folder / "contact.yaml"
    path.write_text(FLOW)
    return loads(FLOW, path)


class TestRepair:
    after = TestAction.after
    healed = heal_action(Tap(target=Selector(id="save")), SAVE, after, drawn(after))

    def repaired(self, folder: Path, *at: tuple[int, ...]) -> tuple[FileRepair, list[str]]:
        repair = FileRepair(document(folder))
        assert self.healed is not None
        return repair, [repair.add(one, self.healed) for one in at]

    def test_an_edit_is_a_diff_of_its_own_lines(self, tmp_path: Path) -> None:
        _, [diff] = self.repaired(tmp_path, (1,))
        removed = [line for line in diff.splitlines() if line.startswith("-") and not line.startswith("---")]
        added = [line for line in diff.splitlines() if line.startswith("+") and not line.startswith("+++")]
        assert removed[0] == "-  - tap: Save    # the old place"
        assert added[0] == "+  - tap: {id: store_button}    # the old place"
        assert "First name" not in "".join(removed + added)

    def test_comments_and_the_other_steps_stay(self, tmp_path: Path) -> None:
        repair, _ = self.repaired(tmp_path, (1,), (2, 0))
        assert repair.repaired_text.startswith("# A contact that stays.\n")
        assert "{target: First name, text: Ada}    # who" in repair.repaired_text
        again = loads(repair.repaired_text)
        assert again.flow.steps[1].action == Tap(target=Selector(id="store_button"))  # type: ignore[union-attr]
        assert (again.element((1,)) or {})["text"] == "Store"
        assert (again.element((2, 0)) or {})["text"] == "Store"

    def test_nothing_is_written_before_somebody_says_so(self, tmp_path: Path) -> None:
        repair, _ = self.repaired(tmp_path, (1,))
        assert (tmp_path / "contact.yaml").read_text() == FLOW
        repair.save()
        assert (tmp_path / "contact.yaml").read_text() == repair.repaired_text

    def test_a_file_that_changed_meanwhile_is_not_overwritten(self, tmp_path: Path) -> None:
        repair, _ = self.repaired(tmp_path, (1,))
        (tmp_path / "contact.yaml").write_text(FLOW + "  - press_key: back\n")
        with pytest.raises(InvalidAction, match="was changed"):
            repair.save()

    def test_a_step_that_comes_again_is_healed_already(self, tmp_path: Path) -> None:
        repair, _ = self.repaired(tmp_path, (2, 0))
        lost = Tap(target=Selector(id="save"))
        assert repair.action_repaired_earlier((2, 0), lost) == Tap(target=Selector(id="store_button"))
        assert repair.action_repaired_earlier((1,), lost) == lost

"""Roles by class, actions by role and flags."""

from __future__ import annotations

from typing import get_args

from handrail.protocol.target import Role
from handrail.screen.node import actions_of, role_of
from tests.cases import each
from tests.unit.screen.stock_dumps import node, screen

SEED = {
    "android.widget.Button": "button",
    "android.widget.ImageButton": "image_button",
    "android.widget.EditText": "text_field",
    "android.widget.CheckBox": "check_box",
    "android.widget.Switch": "switch",
    "android.widget.ToggleButton": "switch",
    "android.widget.RadioButton": "radio_button",
    "android.widget.SeekBar": "slider",
    "android.widget.Spinner": "spinner",
    "android.widget.TextView": "text_view",
    "android.widget.ImageView": "image",
    "android.widget.ProgressBar": "progress_bar",
    "android.widget.ScrollView": "scroll_view",
    "android.widget.HorizontalScrollView": "scroll_view",
    "android.widget.ListView": "list",
    "androidx.recyclerview.widget.RecyclerView": "list",
    "android.webkit.WebView": "web_view",
    "android.widget.TabWidget": "tab",
    "android.widget.Toolbar": "toolbar",
    "androidx.appcompat.widget.Toolbar": "toolbar",
    "android.widget.FrameLayout": "container",
    "android.view.ViewGroup": "container",
    "androidx.cardview.widget.CardView": "container",
    "androidx.compose.ui.platform.ComposeView": "container",
    "com.facebook.react.views.view.ReactViewGroup": "container",
    "android.view.View": "unknown",
    "": "unknown",
}
RELATIVES = {
    "androidx.appcompat.widget.AppCompatButton": "button",
    "com.google.android.material.button.MaterialButton": "button",
    "com.google.android.material.floatingactionbutton.FloatingActionButton": "image_button",
    "com.google.android.material.floatingactionbutton.ExtendedFloatingActionButton": "button",
    "androidx.appcompat.widget.SwitchCompat": "switch",
    "com.google.android.material.switchmaterial.SwitchMaterial": "switch",
    "com.google.android.material.materialswitch.MaterialSwitch": "switch",
    "com.google.android.material.textfield.TextInputEditText": "text_field",
    "com.google.android.material.textfield.TextInputLayout": "container",
    "android.widget.AutoCompleteTextView": "text_field",
    "android.widget.MultiAutoCompleteTextView": "text_field",
    "androidx.appcompat.widget.SearchView$SearchAutoComplete": "text_field",
    "com.facebook.react.views.textinput.ReactEditText": "text_field",
    "com.facebook.react.views.text.ReactTextView": "text_view",
    "com.google.android.material.tabs.TabLayout": "tab",
    "com.google.android.material.tabs.TabLayout$TabView": "tab",
    "androidx.core.widget.NestedScrollView": "scroll_view",
    "androidx.viewpager2.widget.ViewPager2": "scroll_view",
    "android.support.v7.widget.RecyclerView": "list",
    "android.widget.GridView": "list",
    "com.google.android.material.slider.RangeSlider": "slider",
    "com.google.android.material.progressindicator.CircularProgressIndicator": "progress_bar",
    "com.google.android.material.appbar.MaterialToolbar": "toolbar",
    "com.google.android.material.appbar.CollapsingToolbarLayout": "container",
    "android.widget.Image": "image",
    "android.widget.ViewSwitcher": "unknown",
}


@each(("class_name", "role"), SEED.items())
def test_every_class_of_the_reference_table_has_its_role(class_name: str, role: str) -> None:
    assert role_of(class_name, "") == role


@each(("class_name", "role"), RELATIVES.items())
def test_relatives_of_a_class_share_its_role(class_name: str, role: str) -> None:
    assert role_of(class_name, "") == role


@each("class_name", ["android.widget.FrameLayout", "android.view.View", "com.app.a1"])
def test_a_nondescript_child_of_a_list_is_a_list_item(class_name: str) -> None:
    assert role_of(class_name, "list") == "list_item"


def test_a_button_in_a_list_stays_a_button() -> None:
    assert role_of("android.widget.Button", "list") == "button"


def test_only_direct_children_of_a_list_are_list_items() -> None:
    label = node("TextView", text="Ada", box=(0, 0, 300, 100))
    rows = node("ListView", node("LinearLayout", node("FrameLayout", label)))
    assert [one.role for one in screen(rows).nodes] == [
        "container", "list", "list_item", "container", "text_view",
    ]  # fmt: skip


def test_every_role_given_is_a_known_one() -> None:
    assert {*SEED.values(), *RELATIVES.values(), "list_item"} <= set(get_args(Role))


@each(
    ("kind", "flags", "actions"),
    [
        ("TextView", "", ()),
        ("TextView", "clickable", ("tap",)),
        ("FrameLayout", "clickable long-clickable scrollable", ("tap", "long_press", "scroll")),
        ("CheckBox", "checkable clickable", ("tap", "check")),
        ("AutoCompleteTextView", "clickable", ("tap", "type")),
        ("SeekBar", "", ("adjust",)),
    ],
)
def test_actions_follow_flags_and_role(kind: str, flags: str, actions: tuple[str, ...]) -> None:
    assert actions_of(screen(node(kind, flags=flags)).nodes[1]) == actions

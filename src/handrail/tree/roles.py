"""What a class is (role) and what a node offers (actions). Knows class names and flags, no geometry."""

from __future__ import annotations

from functools import lru_cache

from handrail.tree.node import CHECKABLE, CLICKABLE, LONG_CLICKABLE, SCROLLABLE, Node

ROLES = (
    "button", "text_field", "text_view", "check_box", "switch", "radio_button", "slider", "scroll_view",
    "image", "image_button", "container", "list", "list_item", "tab", "toolbar", "progress_bar", "spinner",
    "web_view", "unknown",
)  # fmt: skip

_EXACT = {
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
}

# Tested in this order, so the narrower ending stands before the wider one.
_SUFFIXES = (
    ("AutoCompleteTextView", "text_field"),
    ("SearchAutoComplete", "text_field"),
    ("EditText", "text_field"),
    ("TextField", "text_field"),
    ("RadioButton", "radio_button"),
    ("ToggleButton", "switch"),
    ("ExtendedFloatingActionButton", "button"),
    ("FloatingActionButton", "image_button"),
    ("ImageButton", "image_button"),
    ("Button", "button"),
    ("Chip", "button"),
    ("CheckBox", "check_box"),
    ("Switch", "switch"),
    ("SwitchCompat", "switch"),
    ("SwitchMaterial", "switch"),
    ("ProgressBar", "progress_bar"),
    ("ProgressIndicator", "progress_bar"),
    ("SeekBar", "slider"),
    ("RatingBar", "slider"),
    ("Slider", "slider"),
    ("Spinner", "spinner"),
    ("HorizontalScrollView", "scroll_view"),
    ("ScrollView", "scroll_view"),
    ("ViewPager", "scroll_view"),
    ("ViewPager2", "scroll_view"),
    ("RecyclerView", "list"),
    ("ListView", "list"),
    ("GridView", "list"),
    ("WebView", "web_view"),
    ("TabLayout", "tab"),
    ("TabView", "tab"),
    ("TabWidget", "tab"),
    ("ActionBar$Tab", "tab"),
    ("ActionBar.Tab", "tab"),
    ("Toolbar", "toolbar"),
    ("ImageView", "image"),
    (".Image", "image"),
    ("TextView", "text_view"),
    ("TextClock", "text_view"),
    ("Chronometer", "text_view"),
)
_CONTAINER_PARTS = ("Layout", "ViewGroup", "CardView", "ComposeView")
_ROWLIKE = frozenset({"container", "unknown"})

_FLAG_ACTIONS = (
    (CLICKABLE, "tap"),
    (LONG_CLICKABLE, "long_press"),
    (SCROLLABLE, "scroll"),
    (CHECKABLE, "check"),
)
_ROLE_ACTIONS = {"text_field": ("type",), "slider": ("adjust",)}
_ACTION_FLAGS = CLICKABLE | LONG_CLICKABLE | SCROLLABLE | CHECKABLE


@lru_cache(maxsize=4096)
def class_role(class_name: str) -> str:
    """The role that a class has wherever it stands."""
    if exact := _EXACT.get(class_name):
        return exact
    for suffix, role in _SUFFIXES:
        if class_name.endswith(suffix):
            return role
    if any(part in class_name for part in _CONTAINER_PARTS):
        return "container"
    return "unknown"


def role_of(class_name: str, parent_role: str) -> str:
    """The role of a node: by class, and a list's nondescript child is a list item."""
    role = class_role(class_name)
    if parent_role == "list" and role in _ROWLIKE:
        return "list_item"
    return role


@lru_cache(maxsize=1024)
def _actions(flags: int, role: str) -> tuple[str, ...]:
    by_flag = tuple(action for flag, action in _FLAG_ACTIONS if flags & flag)
    return by_flag + _ROLE_ACTIONS.get(role, ())


def actions_of(node: Node) -> tuple[str, ...]:
    """What the node offers, in AgenTest's words: tap, long_press, scroll, check, type, adjust."""
    return _actions(node.flags & _ACTION_FLAGS, node.role)

"""The system's dialogs, and what only looks like one."""

from __future__ import annotations

from handrail.screen.parse import parse
from handrail.screen.windows import ScreenDialog, system_dialogs
from tests.cases import each
from tests.unit.screen.stock_dumps import hierarchy, node

BOX = (28, 900, 1052, 1500)
CONTROLLER = "com.android.permissioncontroller"


def window(package: str, *inside: tuple[str, str, str], prefix: str = "android") -> str:
    nodes = [
        node(kind, text=text, rid=f"{prefix}:id/{rid}" if rid else "", package=package,
             flags="clickable" if kind == "Button" else "", box=BOX)
        for kind, rid, text in inside
    ]  # fmt: skip
    return node("FrameLayout", *nodes, package=package, box=BOX)


def only(dump: str) -> ScreenDialog:
    (found,) = system_dialogs(parse(hierarchy(node("FrameLayout"), dump)))
    return found


def test_a_permission_prompt_is_named_with_its_buttons() -> None:
    prompt = window(
        "com.google.android.permissioncontroller",
        ("TextView", "permission_message", "Allow Notes to take pictures?"),
        ("Button", "permission_allow_foreground_only_button", "While using the app"),
        ("Button", "permission_deny_button", "Don’t allow"),
        prefix=CONTROLLER,
    )
    found = only(prompt)
    assert found.to_dict() == {
        "kind": "permission",
        "package": "com.google.android.permissioncontroller",
        "title": "Allow Notes to take pictures?",
        "buttons": ["While using the app", "Don’t allow"],
    }
    assert [one.text for one in found.nodes] == list(found.buttons)


def test_the_permission_managers_own_pages_are_no_prompt() -> None:
    page = window(CONTROLLER, ("TextView", "title", "App permissions"), ("TextView", "summary", "Camera"))
    assert system_dialogs(parse(hierarchy(page))) == []


@each(
    ("ids", "title", "kind"),
    [
        (("aerr_close", "aerr_wait"), "Notes isn't responding", "anr"),
        (("aerr_close", "aerr_app_info"), "Notes keeps stopping", "crash"),
        (("aerr_restart", "aerr_close"), "Notes has stopped", "crash"),
        (("aerr_close",), "《便签》没有响应", "anr"),
        (("button1",), "Unfortunately, Notes has stopped.", "crash"),
        (("button1", "button2"), "Notes isn’t responding.", "anr"),
    ],
)
def test_crash_and_anr_are_told_apart(ids: tuple[str, ...], title: str, kind: str) -> None:
    buttons = [("Button", one, one) for one in ids]
    found = only(window("android", ("TextView", "alertTitle", title), *buttons))
    assert (found.kind, found.title, found.buttons) == (kind, title, ids)


def test_an_app_that_writes_the_words_of_a_crash_has_not_crashed() -> None:
    fake = window(
        "com.evil", ("TextView", "alertTitle", "Notes keeps stopping"), ("Button", "aerr_close", "Close")
    )
    assert system_dialogs(parse(hierarchy(fake))) == []


def test_a_system_alert_about_something_else_is_no_crash() -> None:
    alert = window("android", ("TextView", "alertTitle", "USB connected"), ("Button", "button1", "OK"))
    assert system_dialogs(parse(hierarchy(alert))) == []


def test_choosers_old_and_new_are_found() -> None:
    old = window("android", ("TextView", "title", "Open with"), ("ListView", "resolver_list", ""))
    new = window("com.android.intentresolver", ("TextView", "headline", "Sharing link"))
    assert (only(old).kind, only(old).title) == ("chooser", "Open with")
    assert (only(new).kind, only(new).title) == ("chooser", "Sharing link")


def test_the_package_installer_is_not_a_permission_prompt() -> None:
    confirm = window(
        "com.google.android.packageinstaller",
        ("TextView", "install_confirm_question", "Do you want to install this app?"),
        ("Button", "button2", "Cancel"),
        ("Button", "button1", "Install"),
    )
    found = only(confirm)
    assert (found.kind, found.buttons) == ("installer", ("Cancel", "Install"))


def test_an_old_permission_prompt_of_the_package_installer_is_one() -> None:
    prompt = window(
        "com.android.packageinstaller",
        ("TextView", "permission_message", "Allow Notes to access photos?"),
        ("Button", "permission_deny_button", "DENY"),
    )
    assert only(prompt).kind == "permission"


def test_a_plain_app_has_no_system_dialog() -> None:
    assert system_dialogs(parse(hierarchy(window("com.example", ("Button", "ok", "OK"))))) == []


def test_a_button_is_named_by_the_text_inside_it() -> None:
    label = node("TextView", text="Allow", package=CONTROLLER)
    rid = f"{CONTROLLER}:id/permission_allow_button"
    row = node("LinearLayout", label, flags="clickable", rid=rid, package=CONTROLLER)
    assert only(node("FrameLayout", row, package=CONTROLLER, box=BOX)).buttons == ("Allow",)

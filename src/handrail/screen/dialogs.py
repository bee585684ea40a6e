"""What a screen says of its own state: the system's dialogs (prompts, crashes, choosers), and loading.

Recognised by who draws them and by the framework's resource ids, so an app can't fake one with words alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from handrail.screen.node import CLICKABLE, HIDDEN, Node, Screen, once_per_screen
from handrail.screen.windows import is_backdrop

Kind = Literal["permission", "crash", "anr", "chooser", "installer"]

_PERMISSION_PACKAGES = re.compile(
    r"permissioncontroller$|packageinstaller$|securitypermission$|^com\.lbe\.security\.miui$"
)
_PERMISSION_IDS = frozenset({"grant_dialog", "grant_singleton", "permission_message", "desc_container"})
_PERMISSION_BUTTON = re.compile(r"permission_(?:allow|deny|no_upgrade).*button|.*location_accuracy.*")
_INSTALLER_PACKAGES = re.compile(r"packageinstaller$")
_CHOOSER_PACKAGES = frozenset({"com.android.intentresolver", "com.google.android.intentresolver"})
_CHOOSER_IDS = frozenset(
    {"resolver_list", "resolver_tab_divider", "chooser_header",
     "button_always", "button_once", "profile_pager"}
)  # fmt: skip
_SYSTEM = frozenset({"android", "com.android.systemui"})
_CRASH_IDS = frozenset({"aerr_close", "aerr_restart", "aerr_app_info", "aerr_report", "aerr_mute"})
_ANR_WORDS = re.compile(
    r"n['’]t responding|not responding|没有响应|無回應|无响应|応答していません|응답하지 않"
    r"|no responde|não está respondendo|ne répond pas|reagiert nicht|non risponde|не отвечает|yanıt vermiyor",
    re.IGNORECASE,
)
_CRASH_WORDS = re.compile(
    r"keeps? stopping|has stopped|停止运行|停止運作|停止しま|停止しています|중지됨|중단"
    r"|se ha detenido|se detiene|parou"
    r"|s['’]est arrêté|cessé de fonctionner|wurde beendet|angehalten|si è (?:arrestat|interrott|bloccat)"
    r"|приложение .* (?:остановлено|снова дало сбой)|durdu",
    re.IGNORECASE,
)
_TITLE_IDS = ("permission_message", "alertTitle", "install_confirm_question", "title", "message")
_BUTTON_ROLES = frozenset({"button", "image_button"})


@dataclass(frozen=True, slots=True)
class ScreenDialog:
    """One dialog; `nodes[i]` is the node of `buttons[i]`."""

    kind: Kind
    package: str
    title: str
    buttons: tuple[str, ...]
    nodes: tuple[Node, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "package": self.package,
            "title": self.title,
            "buttons": list(self.buttons),
        }


@once_per_screen
def system_dialogs(screen: Screen) -> list[ScreenDialog]:
    """The system dialogs that are up, the topmost last."""
    return [dialog for window in screen.windows if (dialog := _read(screen, window))]


def _read(screen: Screen, window: Node) -> ScreenDialog | None:
    nodes = [window, *screen.inside(window)]
    package = window.package_name or screen.package  # some exporters leave it out at a window's root
    kind = _kind(package, nodes)
    if kind is None:
        return None
    buttons = [(label, node) for node, label in _buttons(screen, nodes)]
    return ScreenDialog(
        kind,
        package,
        _title(nodes),
        tuple(label for label, _ in buttons),
        tuple(node for _, node in buttons),
    )


def _kind(package: str, nodes: list[Node]) -> Kind | None:
    ids = {node.id_tail for node in nodes if node.resource_id}
    # The prompt itself, not the permission manager's pages, which the same package draws.
    if _PERMISSION_PACKAGES.search(package) and (
        bool(ids & _PERMISSION_IDS) or any(_PERMISSION_BUTTON.fullmatch(name) for name in ids)
    ):
        return "permission"
    if package in _SYSTEM and (failure := _failure(ids, nodes)):
        return failure
    if package in _CHOOSER_PACKAGES or (package == "android" and ids & _CHOOSER_IDS):
        return "chooser"
    return "installer" if _INSTALLER_PACKAGES.search(package) else None


def _failure(ids: set[str], nodes: list[Node]) -> Kind | None:
    if "aerr_wait" in ids:
        return "anr"
    words = " ".join(node.text for node in nodes if node.id_tail in _TITLE_IDS)
    if ids & _CRASH_IDS:
        return "anr" if _ANR_WORDS.search(words) else "crash"
    if "button1" not in ids:  # the framework's alert, as crash dialogs were before Android 7
        return None
    if _ANR_WORDS.search(words):
        return "anr"
    return "crash" if _CRASH_WORDS.search(words) else None


def _title(nodes: list[Node]) -> str:
    """The text under the best-known id, else the first text that is not on a button."""
    by_id = {node.id_tail: node.text for node in reversed(nodes) if node.text and node.resource_id}
    for name in _TITLE_IDS:
        if name in by_id:
            return by_id[name]
    plain = (node.text for node in nodes if node.text and node.role not in _BUTTON_ROLES)
    return next(plain, "")


def _buttons(screen: Screen, nodes: list[Node]) -> Iterator[tuple[Node, str]]:
    for node in nodes:
        if node.flags & CLICKABLE and (node.role in _BUTTON_ROLES or "button" in node.id_tail):
            label = (
                node.text
                or node.description
                or next((inner.text for inner in screen.inside(node) if inner.text), "")
            )
            if label:
                yield node, label


_MIN_PX = 5
_LONG = 3  # a bar this many times as wide as high is no spinner
_PLACEHOLDER = re.compile(r"shimmer|skeleton", re.IGNORECASE)
_SPINNER = re.compile(
    r"ProgressBar|ProgressIndicator|LoadingIndicator|LoadingView|LoadingSpinner|SpinKit|ActivityIndicator"
)
_DOTS = r"\s*(?:…|\.{1,3}|。{1,3})"
_BUSY = (
    r"loading|please wait|just a moment|one moment(?: please)?"
    r"|fetching|connecting|refreshing|syncing|processing"
)
_ENGLISH = re.compile(rf"(?:{_BUSY})(?:{_DOTS})?|(?:{_BUSY})\s[^.…\n]{{1,40}}(?:…|\.{{3}})", re.IGNORECASE)
_FOREIGN_WORDS = frozenset(
    word.replace("_", " ")
    for word in """
    正在加载 加载中 载入中 正在载入 请稍候 请稍等 请稍后 正在連接 正在连接 讀取中 載入中 読み込み中 接続中
    お待ちください 로드_중 로딩_중 불러오는_중 연결_중 잠시만_기다려_주세요 chargement
    chargement_en_cours veuillez_patienter wird_geladen laden lädt bitte_warten cargando espere
    por_favor_espere conectando carregando aguarde caricamento caricamento_in_corso attendere загрузка
    подождите пожалуйста,_подождите подключение yükleniyor lütfen_bekleyin ładowanie proszę_czekać
    memuat mohon_tunggu đang_tải vui_lòng_chờ กำลังโหลด جارٍ_التحميل लोड_हो_रहा_है
    """.split()  # noqa: SIM905 (a table, not a list)
)
_BUSY_STATE = re.compile(r"in progress|busy|loading", re.IGNORECASE)
_VALUE = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class LoadingIndicator:
    """One sign of loading; `why` is for people: "spinner", "placeholder", or the words on the screen."""

    node: Node
    why: str

    def __str__(self) -> str:
        return f"{self.why} {self.node.bounds}"


@once_per_screen
def loading_indicators(screen: Screen) -> list[LoadingIndicator]:
    """Every visible sign that something is still being loaded, in document order."""
    visible = [node for node in screen.nodes if _may_tell(screen, node)]
    has_bar = any(_is_progress(node) and not _names_value(node) for node in visible)
    reasons = ((node, _why(node, has_bar=has_bar)) for node in visible)
    return [LoadingIndicator(node, why) for node, why in reasons if why]


@lru_cache(maxsize=4096)
def _is_loading_kind(class_name: str, resource_id: str) -> bool:
    names = class_name.rpartition(".")[2], resource_id.rpartition(":id/")[2]
    return _SPINNER.search(class_name) is not None or any(map(_PLACEHOLDER.search, names))


def _may_tell(screen: Screen, node: Node) -> bool:
    """A visible node of the app that says something or looks like a spinner or placeholder."""
    speaks = node.text or node.description or node.state_description or node.role == "progress_bar"
    if not speaks and not _is_loading_kind(node.class_name, node.resource_id):
        return False
    if node.flags & HIDDEN or is_backdrop(node.package_name):
        return False
    shown = node.bounds.intersect(screen.bounds)
    return shown.width >= _MIN_PX and shown.height >= _MIN_PX


def _is_progress(node: Node) -> bool:
    return node.role == "progress_bar" or _SPINNER.search(node.class_name) is not None


def _names_value(node: Node) -> bool:
    return any(_VALUE.search(text) for text in (node.text, node.description, node.state_description))


def _why(node: Node, *, has_bar: bool) -> str:
    if _is_progress(node) and _is_indeterminate(node):
        return "spinner"
    if _PLACEHOLDER.search(node.short_class) or _PLACEHOLDER.search(node.id_tail):
        return "placeholder"
    for text in (node.text, node.description):
        if _says_busy(node, text.strip(), has_bar=has_bar):
            return f'"{text.strip()}"'
    return ""


def _is_indeterminate(node: Node) -> bool:
    if _names_value(node):
        return False
    is_long = node.bounds.width >= _LONG * node.bounds.height
    return not is_long or _BUSY_STATE.search(f"{node.state_description} {node.class_name}") is not None


def _says_busy(node: Node, text: str, *, has_bar: bool) -> bool:
    """English words count alone; words of other languages only next to a progress bar."""
    if not text or node.role == "text_field":
        return False
    if _ENGLISH.fullmatch(text):
        # "Loading" on something to tap is a name; "Loading…" is a state.
        return not node.flags & CLICKABLE or text[-1] in ".…"
    return has_bar and text.rstrip(" .…。").lower() in _FOREIGN_WORDS

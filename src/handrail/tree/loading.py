"""Finds what says that the screen is still loading: spinners, placeholders, "please wait". Knows no clock.

A progress bar that names its value is determinate and not loading; neither is a long bar without any word,
which may as well be a player's or a storage meter's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from handrail.tree.node import CLICKABLE, HIDDEN, Node, Screen
from handrail.tree.windows import is_backdrop

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


def loading_indicators(screen: Screen) -> list[LoadingIndicator]:
    """Every visible sign that something is still being loaded, in document order."""
    visible = [node for node in screen.nodes if _is_candidate(node) and _is_visible(screen, node)]
    has_bar = any(_is_progress(node) and not _names_value(node) for node in visible)
    found = ((node, _why(node, has_bar=has_bar)) for node in visible)
    return [LoadingIndicator(node, why) for node, why in found if why]


def _is_candidate(node: Node) -> bool:
    return bool(
        node.text or node.description or node.state_description or _is_progress(node) or _is_placeholder(node)
    )


def _is_visible(screen: Screen, node: Node) -> bool:
    if node.flags & HIDDEN or is_backdrop(node.package_name):
        return False
    shown = node.bounds.intersect(screen.bounds)
    return shown.width >= _MIN_PX and shown.height >= _MIN_PX


def _is_progress(node: Node) -> bool:
    return node.role == "progress_bar" or _SPINNER.search(node.class_name) is not None


def _is_placeholder(node: Node) -> bool:
    return _PLACEHOLDER.search(node.short_class) is not None or _PLACEHOLDER.search(node.id_tail) is not None


def _names_value(node: Node) -> bool:
    return any(_VALUE.search(text) for text in (node.text, node.description, node.state_description))


def _why(node: Node, *, has_bar: bool) -> str:
    if _is_progress(node) and _is_indeterminate(node):
        return "spinner"
    if _is_placeholder(node):
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
    """In English by itself; in other languages only where a progress bar stands beside it."""
    if not text or node.role == "text_field":
        return False
    if _ENGLISH.fullmatch(text):
        # "Loading" on something to tap is a name; "Loading…" is a state.
        return not node.flags & CLICKABLE or text[-1] in ".…"
    return has_bar and text.rstrip(" .…。").lower() in _FOREIGN_WORDS

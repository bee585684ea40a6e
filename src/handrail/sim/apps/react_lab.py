"""React lab: the tree of a React Native app. Deep nesting, icon buttons without words, unseen requests."""

from __future__ import annotations

from functools import partial
from typing import Any

from handrail.sim.system.activities import Activity, App
from handrail.sim.system.intents import SEND, Handles, Intent
from handrail.sim.view import Style, View, avatar, column, field, frame, icon, image, row, scroll, text

# Accessibility names a view by its Android class: ReactRootView is a FrameLayout, ReactViewGroup a ViewGroup.
ROOT = "android.widget.FrameLayout"
GROUP = "android.view.ViewGroup"
REQUEST_MS = 1200
_POSTS = (
    ("Ada Marrow", "The ferry was early today. Nobody knew what to do with the time."),
    ("Tilo Sand", "First tomatoes."),
    ("Una Birch", "Looking for the owner of a blue umbrella."),
    ("Pim Inkwell", "Fog, day three."),
)


def group(*children: View | None, **options: Any) -> View:
    """What <View> becomes."""
    return column(*children, **{"cls": GROUP, **options})


class Main(Activity):
    """A feed. A heart is counted only when its request is answered, and nothing on the screen says so."""

    title = "React lab"

    single_top = True

    def on_create(self) -> None:
        self.state.update(
            likes=[3, 0, 12, 1], liked=[False] * 4, pending_requests=0, posts=[], tab=0, by_likes=False
        )
        self.on_new_intent(self.intent)

    def on_new_intent(self, intent: Intent) -> None:
        """What another app shares is posted at once."""
        if intent.action == SEND:
            shared = intent.extras.get("android.intent.extra.TEXT") or "A photo"
            self.request(partial(self.sent, str(shared)))

    def build(self) -> View:
        body = self.feed() if self.state["tab"] == 0 else self.profile()
        return frame(
            frame(
                group(group(self.head(), body, self.tabs(), height="fill"), height="fill"),
                cls=GROUP,
                height="fill",
            ),
            cls=ROOT,
            height="fill",
        )

    def head(self) -> View:
        return group(
            row(
                text("Harbour feed", "title", weight=1.0),
                icon_only("sort", self.sort),
                icon_only("refresh", self.refresh),
                cls=GROUP,
            ),
            padding=(16.0, 4.0),
        )

    def feed(self) -> View:
        own = [self.post(f"own:{number}", "You", words) for number, words in enumerate(self.state["posts"])]
        posts = [self.post(str(number), *_POSTS[number], number) for number in self.order()]
        return scroll(
            group(self.composer(), *own[::-1], *posts, gap=8.0, padding=16.0),
            cls="android.widget.ScrollView",
            height="wrap",
            weight=1.0,
            key="feed",
        )

    def order(self) -> list[int]:
        likes = self.state["likes"]
        return sorted(
            range(len(_POSTS)), key=lambda number: -likes[number] if self.state["by_likes"] else number
        )

    def composer(self) -> View:
        return row(
            field("=", hint="What is new?", key="composer", width="wrap", weight=1.0, on_submit=self.send),
            icon_only("send", self.send),
            cls=GROUP,
            gap=8.0,
        )

    def post(self, key: str, name: str, words: str, number: int | None = None) -> View:
        return group(
            row(avatar(name), text(name, "subtitle"), cls=GROUP, gap=12.0),
            text(words),
            self.deeds(number) if number is not None else None,
            key=f"post:{key}",
            gap=8.0,
            padding=12.0,
            style=Style(kind="card", background="surface_container", radius=12.0),
        )

    def deeds(self, number: int) -> View:
        heart = "favorite" if self.state["liked"][number] else "heart"
        return row(
            icon_only(heart, partial(self.like, number)),
            text(str(self.state["likes"][number]), "label"),
            icon_only("message", partial(self.toast, "No comments yet")),
            icon_only("share", partial(self.copy_link, number)),
            cls=GROUP,
            gap=8.0,
        )

    def tabs(self) -> View:
        names = ("home", "account")
        return row(
            *(icon_only(name, partial(self.show, number), weight=1.0) for number, name in enumerate(names)),
            cls=GROUP,
            height=56.0,
            style=Style(kind="bottom_bar", background="surface_container"),
        )

    def profile(self) -> View:
        return group(
            image("landscape:8", width="fill", height=160.0),
            text("You", "headline"),
            text(f"{len(self.state['posts'])} posts"),
            height="wrap",
            weight=1.0,
            padding=16.0,
            gap=12.0,
        )

    def request(self, then: partial[None]) -> None:
        self.state["pending_requests"] += 1
        self.later(REQUEST_MS, then)

    def like(self, number: int) -> None:
        self.request(partial(self.liked, number))

    def liked(self, number: int) -> None:
        self.state["pending_requests"] -= 1
        on = not self.state["liked"][number]
        self.state["liked"][number] = on
        self.state["likes"][number] += 1 if on else -1

    def send(self) -> None:
        words = self.field("composer").strip()
        if words:
            self.set_field("composer", "")
            self.request(partial(self.sent, words))

    def sent(self, words: str) -> None:
        self.state["pending_requests"] -= 1
        self.state["posts"].append(words)

    def refresh(self) -> None:
        self.request(partial(self.refreshed))

    def refreshed(self) -> None:
        self.state["pending_requests"] -= 1
        self.state["likes"][2] += 1

    def sort(self) -> None:
        self.state["by_likes"] = not self.state["by_likes"]

    def copy_link(self, number: int) -> None:
        self.phone.clipboard = f"https://harbour.example/post/{number}"
        self.toast("Link copied")

    def show(self, number: int) -> None:
        self.state["tab"] = number


def icon_only(name: str, run: Any, **options: Any) -> View:
    """A <Pressable> around an SVG, with neither accessibilityLabel nor testID."""
    path = icon(name, cls="com.horcrux.svg.PathView")
    drawing = frame(path, cls="com.horcrux.svg.GroupView", width="wrap")
    picture = frame(drawing, cls="com.horcrux.svg.SvgView", width="wrap", align="center")
    return frame(picture, **{"cls": GROUP, "width": 48.0, "height": 48.0, "on_click": run, **options})


class ReactLab(App):
    """A feed in React Native's shape; `pending_requests` is what an agent can't see."""

    package = "com.handrail.reactlab"
    label = "React lab"
    icon = "code"
    version = "0.74"
    libraries = ("libreactnative.so", "libhermes.so")
    permissions = ("android.permission.INTERNET",)
    activities = {"MainActivity": Main}
    handles = (
        Handles("MainActivity", SEND, mime="text/plain"),
        Handles("MainActivity", SEND, mime="image/*"),
    )

    def state(self) -> dict[str, Any]:
        screens = [one for task in self.phone.tasks.tasks for one in task.activities if isinstance(one, Main)]
        return {
            "pending_requests": sum(screen.state["pending_requests"] for screen in screens),
            "likes": [screen.state["likes"] for screen in screens][-1:],
            "posts": [words for screen in screens for words in screen.state["posts"]],
        }


APP = ReactLab

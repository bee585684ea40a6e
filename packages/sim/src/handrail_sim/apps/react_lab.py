"""React lab: the tree of a React Native app. Deep nesting, icon buttons without words, unseen requests.

A debug build: Metro is on port 8081 of the phone while it runs, with a JS context that knows the components.
That context needs the extra `js`; without it this is a release build.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from handrail_sim import extras
from handrail_sim.apps.manifests import declared
from handrail_sim.channels.react_component import drawn_by
from handrail_sim.stream import Stream
from handrail_sim.system.activities import Activity, App, Context
from handrail_sim.system.intents import SEND, Handles, Intent
from handrail_sim.system.world import entries
from handrail_sim.view import Style, View, avatar, column, field, frame, icon, image, row, scroll, text

if TYPE_CHECKING:
    from handrail_sim.channels.react import Runtime  # needs the extra `js`

# Accessibility names a view by its Android class: ReactRootView is a FrameLayout, ReactViewGroup a ViewGroup.
ROOT = "android.widget.FrameLayout"
GROUP = "android.view.ViewGroup"
REQUEST_MS = 1200
SERVER = "https://harbour.example"
METRO = "tcp:8081"
_POSTS = (
    ("Ada Marrow", "The ferry was early today. Nobody knew what to do with the time.", 3),
    ("Tilo Sand", "First tomatoes.", 0),
    ("Una Birch", "Looking for the owner of a blue umbrella.", 12),
    ("Pim Inkwell", "Fog, day three.", 1),
)


def group(*children: View | None, **options: Any) -> View:
    return column(*children, **{"cls": GROUP, **options})


class Main(Activity):
    """A feed. A heart is counted only when its request is answered, and nothing on the screen says so."""

    title = "React lab"

    single_top = True

    def on_create(self) -> None:
        self.state.update(
            likes=[likes for _, _, likes in self.first_posts],
            liked=[False] * len(self.first_posts),
            pending_requests=0,
            requests=0,
            posts=[],
            tab=0,
            by_likes=False,
        )
        self.on_new_intent(self.intent)

    @property
    def first_posts(self) -> list[tuple[str, str, int]]:
        """What others posted: who, which words, how many hearts."""
        return list(self.phone.world.get(self.app.package, _POSTS))

    def on_new_intent(self, intent: Intent) -> None:
        if intent.action == SEND:
            shared = intent.extras.get("android.intent.extra.TEXT") or "A photo"
            self.request("posts", self.sent, str(shared))

    def build(self) -> View:
        body = self.feed() if self.state["tab"] == 0 else self.profile()
        page = group(self.head(), body, self.tabs(), height="fill")
        app = frame(group(page, height="fill"), cls=GROUP, height="fill")
        return frame(drawn_by("HarbourApp", app), cls=ROOT, height="fill")

    def head(self) -> View:
        return group(
            row(
                text("Harbour feed", "title", weight=1.0),
                icon_only("SortButton", "sort", self.sort),
                icon_only("RefreshButton", "refresh", self.refresh),
                cls=GROUP,
            ),
            padding=(16.0, 4.0),
        )

    def feed(self) -> View:
        own = [self.post(f"own:{number}", "You", words) for number, words in enumerate(self.state["posts"])]
        posts = [self.post(str(number), *self.first_posts[number][:2], number) for number in self.order()]
        return scroll(
            group(self.composer(), *own[::-1], *posts, gap=8.0, padding=16.0),
            cls="android.widget.ScrollView",
            weight=1.0,
            key="feed",
        )

    def order(self) -> list[int]:
        likes = self.state["likes"]
        return sorted(
            range(len(self.first_posts)),
            key=lambda number: -likes[number] if self.state["by_likes"] else number,
        )

    def composer(self) -> View:
        return row(
            field("=", hint="What is new?", key="composer", weight=1.0, on_submit=self.send),
            icon_only("SendButton", "send", self.send),
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
            icon_only("HeartButton", heart, partial(self.like_post, number)),
            text(str(self.state["likes"][number]), "label"),
            icon_only("CommentButton", "message", partial(self.toast, "No comments yet")),
            icon_only("ShareButton", "share", partial(self.copy_link, number)),
            cls=GROUP,
            gap=8.0,
        )

    def tabs(self) -> View:
        names = (("HomeTab", "home"), ("ProfileTab", "account"))
        return row(
            *(icon_only(*name, partial(self.show, number), weight=1.0) for number, name in enumerate(names)),
            cls=GROUP,
            height=56.0,
            style=Style(kind="bottom_bar", background="surface_container"),
        )

    def profile(self) -> View:
        return group(
            image("landscape:8", width="fill", height=160.0),
            text("You", "headline"),
            text(f"{len(self.state['posts'])} posts"),
            weight=1.0,
            padding=16.0,
            gap=12.0,
        )

    def request(self, path: str, then: Callable[..., object], *args: Any) -> None:
        """Ask the server; `then(*args)` when it answers. Nothing on the screen says that it is under way."""
        self.state["pending_requests"] += 1
        self.state["requests"] += 1
        url = f"{SERVER}/{path}?request={self.state['requests']}"
        self.later(REQUEST_MS, partial(self.answered, url, then.__name__, *args))
        if (js := cast("ReactLab", self.app).js) is not None:
            js.fetch(url)

    def answered(self, url: str, then: str, *args: Any) -> None:
        self.state["pending_requests"] -= 1
        getattr(self, then)(*args)
        if (js := cast("ReactLab", self.app).js) is not None:
            js.respond(url)

    def like_post(self, number: int) -> None:
        self.request(f"likes/{number}", self.liked, number)

    def liked(self, number: int) -> None:
        on = not self.state["liked"][number]
        self.state["liked"][number] = on
        self.state["likes"][number] += 1 if on else -1

    def send(self) -> None:
        words = self.field("composer").strip()
        if words:
            self.set_field("composer", "")
            self.request("posts", self.sent, words)

    def sent(self, words: str) -> None:
        self.state["posts"].append(words)

    def refresh(self) -> None:
        self.request("feed", self.refreshed)

    def refreshed(self) -> None:
        self.state["likes"][len(self.first_posts) // 2] += 1

    def sort(self) -> None:
        self.state["by_likes"] = not self.state["by_likes"]

    def copy_link(self, number: int) -> None:
        self.phone.clipboard = f"https://harbour.example/post/{number}"
        self.toast("Link copied")

    def show(self, number: int) -> None:
        self.state["tab"] = number


def icon_only(component: str, name: str, run: Any, **options: Any) -> View:
    """A <Pressable> around an SVG, with neither accessibilityLabel nor testID: only React knows its name."""
    path = icon(name, cls="com.horcrux.svg.PathView")
    drawing = frame(path, cls="com.horcrux.svg.GroupView", width="wrap")
    picture = frame(drawing, cls="com.horcrux.svg.SvgView", width="wrap", align="center")
    drawn = drawn_by(f"{name.title()}Icon", picture)
    box = frame(drawn, **{"cls": GROUP, "width": 48.0, "height": 48.0, "on_click": run, **options})
    return drawn_by(component, box)


@declared
class ReactLab(App):
    """A feed in React Native's shape; `pending_requests` is what an agent can't see."""

    activities = {"MainActivity": Main}
    handles = (
        Handles("MainActivity", SEND, mime="text/plain"),
        Handles("MainActivity", SEND, mime="image/*"),
    )

    def __init__(self, phone: Context) -> None:
        super().__init__(phone)
        self.js: Runtime | None = None
        self._debuggers: set[Stream] = set()

    def on_create(self) -> None:
        if extras.has("js"):
            self.phone.ports.setdefault(METRO, self._metro)

    async def _metro(self, stream: Stream) -> None:
        from handrail_sim.channels.react import serve_app  # noqa: PLC0415 - only debugged phones pay for it

        self._debuggers.add(stream)
        try:
            await serve_app(self, stream)
        finally:
            self._debuggers.discard(stream)

    def close(self) -> None:
        super().close()
        if self.phone.ports.get(METRO) == self._metro:
            del self.phone.ports[METRO]
        for stream in list(self._debuggers):
            stream.close()
        if self.js is not None:
            self.js.close()

    def fill(self, content: Any) -> None:
        """Posts of the feed with `who`, `text`, `likes`."""
        rows = entries(content, "react_lab", "who text likes").rows
        self.phone.world[self.package] = [
            (str(row["who"]), str(row["text"]), int(row.get("likes", 0))) for row in rows
        ]

    def state(self) -> dict[str, Any]:
        screens = [activity for activity in self.phone.tasks.open_activities() if isinstance(activity, Main)]
        return {
            "pending_requests": sum(screen.state["pending_requests"] for screen in screens),
            "likes": [screen.state["likes"] for screen in screens][-1:],
            "posts": [words for screen in screens for words in screen.state["posts"]],
        }


APP = ReactLab

"""Which kind of task a page is, and which page of each kind was left out while its solution was written."""

from __future__ import annotations

from dataclasses import dataclass

from handrail_eval.miniwob import kinds_lists as lists
from handrail_eval.miniwob import kinds_press as press
from handrail_eval.miniwob import kinds_write as writing
from handrail_eval.miniwob.site import WobTask
from handrail_eval.miniwob.solver import Kind, Solver


@dataclass(frozen=True, slots=True)
class WobKind:
    """A solution, the pages that were looked at while it was written, and those that were not.

    An unseen page is chosen by its title and run once the solution is written. One that does not pass at
    once counts as seen from then on.
    """

    name: str
    solve: Kind
    pages: str
    unseen: str = ""

    def shown(self, page: str) -> str:
        """Whether the page was tried unseen and passed at once; a kind without such a page proves less."""
        if not self.unseen:
            return "no unseen page"
        return "unseen" if page in self.unseen.split() else "seen"

    @property
    def all(self) -> list[str]:
        return [*self.pages.split(), *self.unseen.split()]


KINDS = (
    WobKind(
        "press in order", press.press_in_order,
        "click-test click-test-2 click-button click-link click-dialog click-dialog-2 "
        "click-button-sequence", "click-test-transfer unicode-test",
    ),
    WobKind(
        "choose by label", press.choose_by_label,
        "click-option click-checkboxes choose-list click-checkboxes-large", "click-checkboxes-transfer",
    ),
    WobKind(
        "open until found", press.open_until_found,
        "click-tab click-tab-2 click-tab-2-hard click-collapsible click-collapsible-2 "
        "navigate-tree",
        "click-tab-2-easy click-tab-2-medium click-collapsible-nodelay click-collapsible-2-nodelay",
    ),
    WobKind("press by number", press.press_by_number, "find-greatest buy-ticket"),
    WobKind("mark each", press.mark_each, "odd-or-even"),
    WobKind("watch a number", press.watch_a_number, "generate-number stock-market"),
    WobKind(
        "fill fields", writing.fill_fields,
        "enter-text enter-text-2 enter-password login-user-popup", "enter-text-dynamic login-user",
    ),
    WobKind("date or time", writing.put_date_or_time, "enter-date", "enter-time"),
    WobKind("focus", writing.focus, "focus-text-2", "focus-text"),
    WobKind(
        "copy over", writing.copy_over,
        "find-word", "text-transform",
    ),
    WobKind("read a table", writing.read_table, "read-table-2", "read-table"),
    WobKind("calculate", writing.calculate, "simple-algebra", "simple-arithmetic"),
    WobKind("guess", writing.guess, "guess-number"),
    WobKind("slide", writing.slide, "use-slider use-spinner form-sequence", "use-slider-2"),
    WobKind(
        "pick a date", writing.pick_date, "choose-date",
        "choose-date-easy choose-date-medium choose-date-nodelay",
    ),
    WobKind("complete", writing.complete, "use-autocomplete", "use-autocomplete-nodelay"),
    WobKind("search form", writing.search_form, "multi-layouts", "multi-orderings"),
    WobKind("menu by keys", press.menu_by_keys, "click-menu"),
    WobKind("book", writing.book, "book-flight", "book-flight-nodelay"),
    WobKind(
        "handle mail", lists.handle_mail,
        "email-inbox-delete email-inbox-reply email-inbox-forward email-inbox-forward-nl",
        "email-inbox-important email-inbox email-inbox-noscroll email-inbox-star-reply "
        "email-inbox-nl-turk email-inbox-forward-nl-turk",
    ),
    WobKind("leaf until found", lists.leaf_until_found, "search-engine phone-book"),
    WobKind("act on posts", lists.act_on_posts, "social-media-some", "social-media-all"),
    WobKind("follow clauses", writing.follow_clauses, "form-sequence-2"),
)  # fmt: skip
BY_PAGE = {page: kind for kind in KINDS for page in kind.all}
TAGS = {page: (kind.name, kind.shown(page)) for page, kind in BY_PAGE.items()}


def solver_of(task: WobTask) -> Solver:
    """Knows the goal and the kind, and nothing of the page."""
    kind = BY_PAGE.get(task.id)
    return Solver(kind.solve if kind else None, task.instruction)

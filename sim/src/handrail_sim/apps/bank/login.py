"""The bank's door: customer number and password, then a code that comes by SMS."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from handrail_sim.system.activities import Activity
from handrail_sim.view import View, button, column, field, icon, scroll, spinner, text, toolbar

if TYPE_CHECKING:
    from handrail_sim.apps.bank import Bank

SENDER = "HARBOUR"
CHECKING_MS = 700
SMS_AFTER_MS = 1500
TRIES = 3
LOCKED_MS = 30_000


class Login(Activity):
    """Three wrong passwords lock the form for half a minute."""

    title = "Harbour Bank"

    def on_create(self) -> None:
        self.state.update(error="", wrong=0, locked_until=0.0, checking=False)
        self.app.prefs("session")["signed_in"] = False

    def build(self) -> View:
        busy = self.state["checking"]
        return scroll(
            column(
                icon("bank", size=72.0, align="center"),
                text("Harbour Bank", "headline", align="center"),
                field("customer", hint="Customer number", input_type="number", ime_action="next"),
                field(
                    "password", hint="Password", input_type="password", password=True, on_submit=self.sign_in
                ),
                text(self.state["error"], "error", id="error") if self.state["error"] else None,
                button("Sign in", self.sign_in, id="sign_in", width="fill", enabled=not busy),
                button("Use fingerprint", self.ask_finger, "tonal", id="fingerprint", width="fill")
                if self.app.prefs("session").get("trusted")
                else None,
                spinner(align="center", desc="Signing in") if busy else None,
                text(
                    "Demonstration customer {}, password {}".format(*self.bank.credentials()),
                    "caption",
                    id="demo",
                )
                if "customer" not in self.bank.prefs("customer")
                else None,
                padding=24.0,
                gap=16.0,
            ),
        )

    @property
    def bank(self) -> Bank:
        return cast("Bank", self.app)

    def sign_in(self) -> None:
        if self.phone.now_ms() < self.state["locked_until"]:
            self.state["error"] = "Too many attempts. Try again in a moment."
        elif not self.field("customer") or not self.field("password"):
            self.state["error"] = "Enter your customer number and password."
        else:
            self.state.update(error="", checking=True)
            self.later(CHECKING_MS, self.checked)

    def ask_finger(self) -> None:
        """A phone on which somebody signed in before is trusted: a finger is enough there."""
        title, subtitle = "Sign in to Harbour Bank", f"Customer {self.bank.credentials()[0]}"
        self.phone.ask_finger(self, title, subtitle, "Use password", self.finger_told)

    def finger_told(self, recognized: bool) -> None:
        if recognized:
            self.app.prefs("session")["signed_in"] = True
            self.start("AccountsActivity")

    def checked(self) -> None:
        self.state["checking"] = False
        if (self.field("customer"), self.field("password")) == self.bank.credentials():
            self.state["wrong"] = 0
            self.set_field("password", "")
            self.start("CodeActivity")
            return
        self.state["wrong"] += 1
        self.state["error"] = "Customer number or password is wrong."
        if self.state["wrong"] >= TRIES:
            self.state.update(wrong=0, locked_until=self.phone.now_ms() + LOCKED_MS)


class Code(Activity):
    """The code is sent when the screen opens, and once more on request; it is valid once."""

    title = "Security code"
    secure = True

    def on_create(self) -> None:
        self.state.update(code="", error="")
        self.send()

    def build(self) -> View:
        return column(
            toolbar("Security code", on_up=self.finish),
            scroll(self.form(), height="wrap", weight=1.0),
            height="fill",
        )

    def form(self) -> View:
        return column(
            text("We have sent a six-digit code to your phone.", id="explanation"),
            field("code", hint="Code", input_type="number", on_submit=self.check),
            text(self.state["error"], "error", id="error") if self.state["error"] else None,
            button("Continue", self.check, id="continue", width="fill"),
            button("Send a new code", self.send, "text", id="resend"),
            padding=24.0,
            gap=16.0,
        )

    def send(self) -> None:
        self.state["code"] = f"{self.phone.random.randrange(1_000_000):06d}"
        self.later(SMS_AFTER_MS, self.deliver)

    def deliver(self) -> None:
        code = self.state["code"]
        self.phone.receive_sms(SENDER, f"{code} is your Harbour Bank code. Never tell it to anyone.")

    def check(self) -> None:
        if self.field("code").strip() != self.state["code"]:
            self.state["error"] = "That code is not right."
            return
        self.app.prefs("session").update(signed_in=True, trusted=True)
        self.start("AccountsActivity")
        self.finish()

"""What Android grants its own apps at first boot, unless it is already decided."""

from __future__ import annotations

from handrail_sim.system.activities import App, Context


def grant_defaults(app: type[App], phone: Context) -> None:
    """The permissions a system app asks for; one that was taken away stays away."""
    decided = phone.packages.installed[app.package].granted
    for permission in app.permissions:
        if permission not in decided:
            phone.packages.set_granted(app.package, permission, True)

"""Builds the documentation from the action tables."""

from typing import TYPE_CHECKING

from kasuwa.api.openapi.documents import build_reference
from kasuwa.http.page import Documentation
from kasuwa.methods.tables import list_methods

if TYPE_CHECKING:
    from kasuwa.documentation.site import Site


def make_site() -> "Site":
    """Returns the documentation. It is the same in test and in live: actions that live lacks are marked. What renders
    it is imported here: a service starts without it."""
    from kasuwa.documentation.reference import make_action_slug
    from kasuwa.documentation.site import Site

    methods = list_methods("test")
    live = frozenset(
        f"{method.name}-{make_action_slug(action)}" for method in list_methods("live") for action in method.actions
    )
    return Site(methods, build_reference(methods, "test"), live)


def build_documentation() -> Documentation:
    return make_site()

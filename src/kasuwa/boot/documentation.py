"""Builds the documentation from the action tables."""

from typing import TYPE_CHECKING

from kasuwa.api.openapi.documents import build_reference
from kasuwa.http.page import Documentation
from kasuwa.methods.tables import methods_of

if TYPE_CHECKING:
    from kasuwa.documentation.site import Site


def make_site() -> "Site":
    """Returns the documentation. It is the same in test and in live: actions that live lacks are marked. What renders
    it is imported here: a service starts without it."""
    from kasuwa.documentation.reference import slug_of
    from kasuwa.documentation.site import Site

    methods = methods_of("test")
    live = frozenset(f"{method.name}-{slug_of(action)}" for method in methods_of("live") for action in method.actions)
    return Site(methods, build_reference(methods, "test"), live)


def build_documentation() -> Documentation:
    return make_site()

"""Builds the documentation from the action tables."""

from kasuwa.api_methods import methods_of
from kasuwa.core.page import Documentation
from kasuwa.documentation.reference import slug_of
from kasuwa.documentation.site import Site
from kasuwa.web.openapi_documents import build_reference


def make_site() -> Site:
    """Returns the documentation. It is the same in test and in live: actions that live lacks are marked."""
    methods = methods_of("test")
    live = frozenset(f"{method.name}-{slug_of(action)}" for method in methods_of("live") for action in method.actions)
    return Site(methods, build_reference(methods, "test"), live)


def build_documentation() -> Documentation:
    return make_site()

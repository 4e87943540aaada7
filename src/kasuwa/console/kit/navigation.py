"""The navigation: the pages that a user may open, in groups."""

from collections.abc import Mapping, Sequence

import msgspec

from kasuwa.console.records.collections import INSTALLMENTS

# Groups in their order, each with the paths of its pages. Pages without a group come last, under LAST_GROUP. The first
# group has no heading.
MERCHANT_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("", ("/", "/transactions", "/wallet", "/insights")),
    (
        "Collect",
        (
            "/customers",
            "/invoices",
            "/mails",
            "/links",
            "/tickets",
            "/checkouts",
            "/recurrents",
            f"/{INSTALLMENTS.name}",
            "/accounts",
            "/disputes",
        ),
    ),
    ("Pay out", ("/transfers", "/transfers/waiting", "/bills", "/cashcodes", "/beneficiaries", "/settlements")),
    ("Cards", ("/cards", "/card-disputes")),
    (
        "Lend and save",
        (
            "/clients",
            "/groups",
            "/loans",
            "/loan-products",
            "/portfolio",
            "/savings",
            "/standing-orders",
            "/thrift",
            "/shares",
        ),
    ),
    ("Developers", ("/events", "/requests", "/sandbox", "/sandbox/worlds", "/docs")),
)
OPERATOR_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("", ("/operator/home", "/operator/search", "/operator/merchants", "/operator/approvals")),
    (
        "Books",
        ("/operator/closes", "/operator/reconciliation", "/operator/taxes", "/operator/rates", "/operator/laws"),
    ),
    (
        "Operation",
        ("/operator/work", "/operator/rails", "/operator/rails/calls", "/operator/notices", "/operator/trail"),
    ),
    ("Developers", ("/docs",)),
)
LAST_GROUP = "Account"


class NavigationGroup(msgspec.Struct, frozen=True):
    """A heading of the navigation, empty for the first pages, and (path, label) of its pages."""

    heading: str
    pages: tuple[tuple[str, str], ...]


def group_pages(labels: Mapping[str, str], is_operator: bool) -> list[NavigationGroup]:
    """Returns the listed pages, given by path and label, in their groups. Groups without a page are left out."""
    table = OPERATOR_GROUPS if is_operator else MERCHANT_GROUPS
    grouped = {path for _, paths in table for path in paths}
    rest = tuple(path for path in labels if path not in grouped)
    groups = [
        NavigationGroup(heading, tuple((path, labels[path]) for path in paths if path in labels))
        for heading, paths in (*table, (LAST_GROUP, rest))
    ]
    return [group for group in groups if group.pages]


def find_current_page(groups: Sequence[NavigationGroup], path: str) -> str:
    """Returns the path of the listed page that a path belongs to: the longest that it begins with, or nothing."""
    listed = (page for group in groups for page, _ in group.pages)
    pages = [page for page in listed if path == page or (page != "/" and path.startswith(page + "/"))]
    return max(pages, key=len, default="")

"""The pages of the documentation that are written as Markdown, in the order of the navigation."""

from importlib.resources import files

import msgspec


class MarkdownPage(msgspec.Struct, frozen=True):
    source: str  # path relative to docs/
    address: str  # path below the root of the site
    group: str  # of the navigation; empty if the page is reached from the reference alone
    label: str


START, GUIDES, TOOLS, REFERENCE = "Start", "Guides", "Tools", "Reference"

HOME = MarkdownPage("guides/README.md", "index.html", START, "Overview")

GUIDE_LABELS = {
    "first-request": "First request",
    "accept-a-payment": "Accept a payment",
    "embed-the-checkout": "Show the checkout in your page",
    "invoices-and-links": "Send invoices and links",
    "mail": "Send mail",
    "subscriptions": "Charge again",
    "disputes": "Answer a dispute",
    "pay-out": "Pay out",
    "settlements-and-payouts": "Settlements and payouts",
    "reconcile": "Reconcile with your books",
    "cards": "Issue cards",
    "card-controls": "Issue cards with controls",
    "bills": "Pay bills",
    "lend-and-save": "Lend and save",
    "run-a-lending-product": "Run a lending product",
    "run-a-cooperative": "Run a cooperative",
    "webhooks": "Receive events",
    "errors": "Handle errors",
    "repeats": "Repeat safely",
    "test-values": "Test values",
    "certify": "Check your integration",
    "cases": "Reproduce an incident",
    "assistants": "Work with an assistant",
    "go-live": "Go live",
}

MARKDOWN_PAGES: tuple[MarkdownPage, ...] = (
    HOME,
    MarkdownPage("quickstart.md", "guides/quickstart.html", START, "Quickstart"),
    *(MarkdownPage(f"guides/{name}.md", f"guides/{name}.html", GUIDES, label) for name, label in GUIDE_LABELS.items()),
    MarkdownPage("../clients/python/README.md", "tools/python.html", TOOLS, "Python client"),
    MarkdownPage("../clients/typescript/README.md", "tools/typescript.html", TOOLS, "TypeScript client"),
    MarkdownPage("../clients/php/README.md", "tools/php.html", TOOLS, "PHP client"),
    MarkdownPage("recipes/testing/README.md", "tools/testing.html", TOOLS, "Testing with pytest"),
    MarkdownPage("commands.md", "tools/commands.html", TOOLS, "Commands"),
    MarkdownPage("operating.md", "tools/operating.html", TOOLS, "Settings and operation"),
    MarkdownPage("upgrade.md", "tools/upgrade.html", TOOLS, "Upgrade"),
    MarkdownPage("reconciliation.md", "tools/reconciliation.html", TOOLS, "Reconciliation, exports and taxes"),
    MarkdownPage("contract/README.md", "reference/index.html", REFERENCE, "All requests"),
    MarkdownPage("contract/errors.md", "reference/errors.html", REFERENCE, "Error codes"),
    MarkdownPage("contract/events.md", "reference/events.html", REFERENCE, "Events"),
    MarkdownPage("contract/keys.md", "reference/keys.html", REFERENCE, "Keys and limits"),
    MarkdownPage("proofs.md", "reference/proofs.html", REFERENCE, "Proofs"),
)


def read_source(source: str) -> str:
    """Returns the text of a Markdown file, named by its path relative to docs/."""
    place = files("kasuwa") / "documentation" / "pages"
    return place.joinpath(*source.removeprefix("../").split("/")).read_text(encoding="utf-8")

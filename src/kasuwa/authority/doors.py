"""Forms and commands that need no row of the table of authority (acts.py), each with the reason."""

SHOWS = "only shows"
OWN_BROWSER = "a person's own session, account or lists"
OF_MACHINE = "runs or prepares the service; whoever may start it has its settings"

HARMLESS_PAGES = {
    **dict.fromkeys(("/sign-in", "/sign-in/code", "/link/{token}", "/sign-out"), OWN_BROWSER),
    **dict.fromkeys(("/account/password", "/account/second-factor", "/account/mails"), OWN_BROWSER),
    **dict.fromkeys((f"/lists/{{list_name}}/{name}" for name in ("save", "delete", "columns")), OWN_BROWSER),
    **dict.fromkeys(("/transfers/preview", "/transfers/bulk/preview"), "a dry run"),
    "/transfers/batches/{batch_ref}/names": "asks the bank for names, and changes nothing",
    "/operator/laws": "checks the books, and changes nothing in them",
    "/operator/reconciliation/import": "what a bank says: it is compared with the books, and moves nothing",
    "/operator/notices/{merchant_id}/{notice_id}": "who looks into a notice and what was found; the notice stays",
    "/operator/closes": "signs the books as they are, as the service does every day",
    "/docs/{method}/{action}": "runs an action, whose own row says who may",
}

HARMLESS_COMMANDS = {
    **dict.fromkeys(("status", "doctor", "audit", "verify", "evidence", "docs", "listen", "log"), SHOWS),
    **dict.fromkeys(("keys list", "merchant list", "merchant keys", "user list", "rates list"), SHOWS),
    **dict.fromkeys(
        ("rail check", "rail shadow", "split list", "split statement", "export books", "report tax"), SHOWS
    ),
    **dict.fromkeys((f"reconcile {name}" for name in ("disputes", "settlements", "unclaimed", "suspense")), SHOWS),
    **dict.fromkeys(("reconcile show", "dispute evidence"), SHOWS),
    **dict.fromkeys(("client export", "client find", "customer find", "customer export"), SHOWS),
    **dict.fromkeys(("world list", "world compare", "world export"), SHOWS),
    **dict.fromkeys(
        (f"world {name}" for name in ("snapshot", "restore", "fork", "import", "delete")),
        "requests an action of the test environment, with a key of the merchant",
    ),
    **dict.fromkeys(("serve", "migrate", "database distribute"), OF_MACHINE),
    **dict.fromkeys(
        (f"twin {name}" for name in ("vtpass", "dojah", "termii", "paystack", "monnify")), "simulates a vendor"
    ),
    "certify": "plays to an application, and works with a merchant of the test environment alone",
    "case replay": "requests actions of a test environment, with a key of its demo merchant",
    "close": "signs the books as they are, as the service does every day",
    "mcp": "acts with a key of a merchant, as its holder may; in live only with one that reads",
    "record": "runs an application that has a key of the merchant, and writes a file",
    "restore-test": "reads a copy, and records the result in the audit trail",
    "trigger": "sends an event again, or requests what leads to one, with a key of the merchant",
    "bills refresh": "takes the biller's own catalogue, as the service does every day",
    "client erase": "erases personal data; no money and no right depends on them",
    "mail bounced": "records what a mail system says of a mail, if it has the code that the mail was sent with",
    "customer erase": "erases personal data; no money and no right depends on them",
    **dict.fromkeys(
        ("reconcile import", "reconcile feed", "reconcile mapping"),
        "what a bank says: it is compared with the books, and moves nothing",
    ),
    "reconcile clear-descriptions": "empties texts of old lines; amounts and matches stay",
}

"""The README of the evidence: what each file shows, and which requirements it speaks to."""

from collections.abc import Callable

from kasuwa.evidence.collect import Deployment

# Each file with what it contains and the requirements it is evidence for.
FILES = (
    (
        "keys.jsonl",
        "Inventory of keys with their ages, validity and last use. No key is in it.",
        "PCI DSS 3.6.1.1, 3.7.4, 8.6.3; ISO 27001 A.8.24",
    ),
    (
        "users.jsonl",
        "Users of the console with roles, second factor and last sign-in.",
        "PCI DSS 7.2.4, 8.2.6, 8.4.2; ISO 27001 A.5.18",
    ),
    (
        "decisions.jsonl",
        "Decisions that take two persons or keys: who proposed, who decided, when and why.",
        "PCI DSS 7.2.2; ISO 27001 A.5.3; SOC 2 CC5.1",
    ),
    (
        "books.json",
        "Verification of the books, the audit trail and the closes.",
        "PCI DSS 10.3.2, 10.3.4; SOC 2 PI1.4",
    ),
    (
        "card_data.json",
        "Search of every row of the database and of the logs for card numbers, security codes and PINs in clear.",
        "PCI DSS 3.3.1, 3.4.1, 3.5.1",
    ),
    (
        "retention.json",
        "What is deleted in time and how old it is, what is kept for good, and erasures.",
        "PCI DSS 3.2.1; Nigeria Data Protection Act 2023, s. 24",
    ),
    ("sbom.json", "Installed production dependencies, as CycloneDX 1.6.", "PCI DSS 6.3.2"),
    (
        "restore_tests.jsonl",
        "Tests of restored backups, the newest first, as the audit trail has them.",
        "PCI DSS 12.10.1; ISO 27001 A.8.13",
    ),
)

TEXT = """# Evidence

Made by `kasuwa evidence` {version} from the {environment} environment at {made_at}. The files describe the system at
that time. `manifest.json` has their digests and is signed with the key that signs closes.
Check it without the system:

```
kasuwa verify manifest.json --key KEY
```

KEY is the public key that the operator publishes (`kasuwa close --public-key`). A file that was changed, added or
removed is named.

| File | Shows | Requirements |
|---|---|---|
{rows}

{problems}

## What it does not show

- Card numbers that are part of a longer word, encrypted or encoded otherwise than as text are not found by the search.
  The search is shown to find a canary, as text and as bytes, in the same run.
- Logs that were not named with `--logs`, and those of other systems, were not searched.
- Files with `.jsonl` have one JSON object in each line. Times are in UTC.
- Addresses of users are personal data: keep these files accordingly.
"""


def write_readme(
    write: Callable[[str, bytes], None], deployment: Deployment, made_at: str, problems: list[str]
) -> None:
    rows = "\n".join(f"| `{name}` | {shows} | {requirements} |" for name, shows, requirements in FILES)
    listed = "\n".join(f"- {problem}" for problem in problems) or "Nothing."
    text = TEXT.format(
        version=deployment.version,
        environment=deployment.environment,
        made_at=made_at,
        rows=rows,
        problems=f"## Needs attention\n\n{listed}",
    )
    write("README.md", text.encode())

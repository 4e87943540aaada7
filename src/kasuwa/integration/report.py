"""The findings of a run as text for a terminal, as one HTML page that loads nothing, and as JUnit for CI."""

from html import escape
from xml.etree import ElementTree

from kasuwa.integration.check import FAIL, NOT_SEEN, PASS, Finding
from kasuwa.integration.run import Outcome

SUITE = "kasuwa certify"
TITLE_WIDTH = 24
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; color: #1c1c1c; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
details { border: 1px solid #d5d5d5; border-left-width: 6px; border-radius: 4px; }
details { padding: .4rem .8rem; margin: .4rem 0; }
summary { cursor: pointer; } dt { font-weight: 600; } dd { margin: 0 0 .5rem; } code { color: #555; }
.fail { border-left-color: #b3261e; } .pass { border-left-color: #1e7d3c; } .not-seen { border-left-color: #8a8a8a; }
"""
GROUPS = ((FAIL, "To mend"), (NOT_SEEN, "Not seen"), (PASS, "Passed"))


def summarize(outcome: Outcome) -> str:
    counts = ", ".join(f"{outcome.count(verdict)} {verdict}" for verdict in (PASS, FAIL, NOT_SEEN))
    return f"{outcome.application}: {counts} in {outcome.seconds:.0f} s"


def describe_line(finding: Finding) -> str:
    """Returns the line of a check while the run goes on."""
    return f"{finding.verdict:8}  {finding.check.id:{TITLE_WIDTH}}  {finding.check.title}"


def describe(outcome: Outcome) -> str:
    """Returns the text after the lines: all that is to mend, why and how, what was not seen, and the counts."""
    lines: list[str] = []
    for finding in outcome.findings:
        check = finding.check
        if finding.verdict == FAIL:
            lines += ["", f"{check.id}: {finding.sentence}", f"  why  {check.why}", f"  fix  {check.fix}"]
            lines.append(f"  see  {outcome.documentation}{check.doc}")
    unseen = [finding for finding in outcome.findings if finding.verdict == NOT_SEEN]
    if unseen:
        lines += ["", "Not seen, so nothing is said about it:"]
        lines += [f"  {finding.check.id:{TITLE_WIDTH}}  {finding.sentence}" for finding in unseen]
    return "\n".join([*lines, "", summarize(outcome)])


def render_html(outcome: Outcome) -> str:
    parts = [
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{SUITE}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{STYLE}</style></head><body><h1>{SUITE}</h1>",
        f"<p>{escape(summarize(outcome))}. {outcome.began:%Y-%m-%d %H:%M} UTC</p>",
    ]
    for verdict, heading in GROUPS:
        group = [finding for finding in outcome.findings if finding.verdict == verdict]
        if group:
            parts.append(f"<h2>{heading} ({len(group)})</h2>")
            parts += [render_finding(finding, outcome.documentation) for finding in group]
    return "\n".join([*parts, "</body></html>", ""])


def render_finding(finding: Finding, documentation: str) -> str:
    check = finding.check
    address = escape(f"{documentation}{check.doc}")
    rows = (("Seen", finding.sentence), ("Why it matters", check.why), ("How to fix it", check.fix))
    shown = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in rows)
    mark = finding.verdict.replace(" ", "-")
    return (
        f'<details class="{mark}" id="{check.id}"{" open" if finding.verdict == FAIL else ""}>'
        f"<summary>{finding.verdict}: {escape(check.title)} <code>{check.id}</code></summary>"
        f'<dl>{shown}<dt>Documentation</dt><dd><a href="{address}">{address}</a></dd></dl></details>'
    )


def render_junit(outcome: Outcome) -> bytes:
    """Returns the findings as a test suite. What was not seen is skipped."""
    suite = ElementTree.Element(
        "testsuite",
        name=SUITE,
        tests=str(len(outcome.findings)),
        failures=str(outcome.count(FAIL)),
        errors="0",
        skipped=str(outcome.count(NOT_SEEN)),
        time=f"{outcome.seconds:.3f}",
        timestamp=f"{outcome.began:%Y-%m-%dT%H:%M:%S}",
    )
    for finding in outcome.findings:
        check = finding.check
        case = ElementTree.SubElement(
            suite, "testcase", classname=SUITE, name=f"{check.id}: {check.title}", time=f"{finding.seconds:.3f}"
        )
        if finding.verdict == FAIL:
            failure = ElementTree.SubElement(case, "failure", message=printable(finding.sentence))
            failure.text = f"Why: {check.why}\nFix: {check.fix}\nSee: {outcome.documentation}{check.doc}"
        elif finding.verdict == NOT_SEEN:
            ElementTree.SubElement(case, "skipped", message=printable(finding.sentence))
    written: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return written


def printable(text: str) -> str:
    """Returns a text without the control characters that XML cannot hold."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in text)

"""The operator's page of taxes: VAT, stamp duty and withholding tax of a month."""

from datetime import UTC, datetime

from starlette.responses import Response

from kasuwa.accounting import books
from kasuwa.accounting.tax_report import TaxReport, format_csv, make_report, parse_month
from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.core.calendar import lagos_day

# Rows of merchants on the page. The file has all.
MAX_ROWS = 500


async def read_report(visit: Visit) -> TaxReport:
    """Reads the report of the month of the query, or of this month. Raises NotFound for anything else."""
    month = visit.query.get("month", "") or f"{lagos_day(datetime.now(UTC)):%Y-%m}"
    days = parse_month(month)
    if days is None:
        raise NotFound
    async with visit.snapshot() as reader:
        return make_report(month, await books.list_taxes(reader, *days))


async def show_taxes(visit: Visit) -> Response:
    report = await read_report(visit)
    lines = report.lines[:MAX_ROWS]
    return visit.render("operator_taxes.html", report=report, lines=lines, hidden=len(report.lines) - len(lines))


async def export_taxes(visit: Visit) -> Response:
    report = await read_report(visit)
    name = f"taxes-{report.month}.csv"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(format_csv(report), media_type="text/csv; charset=utf-8", headers=headers)

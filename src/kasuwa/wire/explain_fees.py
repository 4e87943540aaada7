"""The figures of a dry run for what the wallet pays besides an amount."""

from kasuwa.core.money import format_minor
from kasuwa.terms.tariff import FeeBreakdown
from kasuwa.wire.interest_wire import DryRunFigure


def explain_fees(charge: FeeBreakdown, method: str, vat_percent: str) -> list[DryRunFigure]:
    """Returns fee and VAT by the tariff of a method, and the stamp duty where it is on."""
    figures = [
        DryRunFigure("fee", format_minor(charge.fee), f"from the wallet, by the {method} tariff"),
        DryRunFigure("VAT", format_minor(charge.vat), f"{vat_percent}% on the fee"),
    ]
    if charge.duty:
        figures.append(DryRunFigure("stamp duty", format_minor(charge.duty), "from the wallet"))
    return figures

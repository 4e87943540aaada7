"""Groups of transactions with their outcomes or sums, the largest first, and their charts. Pure functions."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from markupsafe import Markup

from kasuwa.console.insights.store import CategorySum, OutcomeCount
from kasuwa.console.kit.charts import BarChart, Series, draw_bar_chart
from kasuwa.console.kit.figures import percentage
from kasuwa.console.kit.values import format_minor_units
from kasuwa.projections.daily_totals import EXPIRED_CODE
from kasuwa.terms.conversion import HOME
from kasuwa.transactions.transactions import FAILED, SUCCESSFUL

# Groups that a chart and its table show by themselves.
MAX_GROUPS = 8
OTHERS = "Others"
# Categories of shops by their codes (ISO 18245), those that cards pay most.
CATEGORY_NAMES = {
    "4111": "Local transport",
    "4121": "Taxis",
    "4511": "Airlines",
    "4814": "Telephone services",
    "4900": "Utilities",
    "5045": "Computers",
    "5311": "Department stores",
    "5411": "Groceries",
    "5541": "Fuel",
    "5734": "Software shops",
    "5812": "Restaurants",
    "5814": "Fast food",
    "5912": "Pharmacies",
    "5942": "Books",
    "5968": "Subscriptions",
    "6011": "Cash",
    "7011": "Hotels",
    "7311": "Advertising",
    "7372": "Programming services",
    "7399": "Business services",
    "8299": "Education",
}


class Outcomes(msgspec.Struct):
    """The numbers of transactions of one group by outcome."""

    name: str
    successful: int = 0
    failed: int = 0  # without those that expired
    expired: int = 0
    open: int = 0

    @property
    def ended(self) -> int:
        return self.successful + self.failed + self.expired

    @property
    def success_rate(self) -> str:
        return percentage(self.successful, self.ended)

    def add(self, one: OutcomeCount) -> None:
        if one.status == SUCCESSFUL:
            self.successful += one.count
        elif one.status != FAILED:
            self.open += one.count
        elif one.code == EXPIRED_CODE:
            self.expired += one.count
        else:
            self.failed += one.count

    def join(self, other: "Outcomes") -> None:
        for name in ("successful", "failed", "expired", "open"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def group_outcomes(counts: Iterable[OutcomeCount], describe: Callable[[str], str]) -> list[Outcomes]:
    """Returns the outcomes of each group, the largest first and the rest under one name at the end."""
    groups: dict[str, Outcomes] = {}
    for one in counts:
        name = describe(one.group) or OTHERS
        groups.setdefault(name, Outcomes(name)).add(one)
    ranked = sorted(groups.values(), key=lambda group: (-group.ended - group.open, group.name))
    if len(ranked) <= MAX_GROUPS:
        return ranked
    rest = Outcomes(OTHERS)
    for group in ranked[MAX_GROUPS:]:
        rest.join(group)
    return [*ranked[:MAX_GROUPS], rest]


class Spend(msgspec.Struct):
    """The card spend of one category, in the currency of a list."""

    name: str
    count: int = 0
    amount: int = 0  # in minor units


def group_spend(sums: Iterable[CategorySum]) -> list[tuple[str, list[Spend], str]]:
    """Returns for each currency, the home currency first, its categories, the largest first, and their sum as text."""
    known = list(sums)
    currencies = sorted({one.currency for one in known}, key=lambda currency: (currency != HOME, currency))
    return [(currency, rank_spend(known, currency), sum_text(known, currency)) for currency in currencies]


def rank_spend(sums: Iterable[CategorySum], currency: str) -> list[Spend]:
    own = [one for one in sums if one.currency == currency]
    ranked = [Spend(category_name(one.category), one.count, one.amount) for one in own]
    ranked.sort(key=lambda spend: (-spend.amount, spend.name))
    if len(ranked) <= MAX_GROUPS:
        return ranked
    rest = ranked[MAX_GROUPS:]
    others = Spend(OTHERS, sum(one.count for one in rest), sum(one.amount for one in rest))
    return [*ranked[:MAX_GROUPS], others]


def sum_text(sums: Iterable[CategorySum], currency: str) -> str:
    return format_minor_units(sum(one.amount for one in sums if one.currency == currency))


def category_name(code: str) -> str:
    """Returns the name of a category and its code; a category without a name is its code."""
    if not code:
        return "No category"
    return f"{CATEGORY_NAMES[code]} ({code})" if code in CATEGORY_NAMES else f"Category {code}"


# --- charts -----------------------------------------------------------------------------------------------------------


def draw_outcomes(title: str, groups: list[Outcomes]) -> Markup:
    return draw_bar_chart(
        BarChart(
            title,
            [group.name for group in groups],
            (
                Series("successful", "good", [group.successful for group in groups]),
                Series("failed", "rest", [group.failed for group in groups]),
                Series("expired", "dotted", [group.expired for group in groups]),
                Series("open", "hollow", [group.open for group in groups]),
            ),
            names_all_bars=True,
        )
    )


def draw_amounts(title: str, names: list[str], amounts: list[int], currency: str, format_tick: Any) -> Markup:
    """Draws one bar for each amount, in minor units."""
    return draw_bar_chart(
        BarChart(
            title,
            names,
            (Series("", "good", amounts),),
            format_value=lambda minor: f"{currency} {format_minor_units(minor)}",
            format_tick=format_tick,
            names_all_bars=True,
        )
    )

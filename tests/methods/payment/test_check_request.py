"""A payment costs exactly what `charges` quotes, for every method, currency, bearer and amount."""

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kasuwa.core.decision import Merchant, Refusal, refuse_fields
from kasuwa.core.money import format_minor
from kasuwa.methods.payment.lookups import CHARGES_RULES, show_charges
from kasuwa.methods.payment.wire import ChargesRequest
from kasuwa.methods.payment.wire_reply import ChargesReply
from kasuwa.wire.decoding import decode
from tests.hypothesis_settings import without_deadline
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    BODIES,
    CARD,
    InMemoryPayments,
    PaymentInProgress,
    fields_of,
    paid_card,
)
from tests.rule_context import MERCHANT, merchant

FOREIGN = {**CARD, "card_no": "4242424242424242"}
PAGA = BODIES["mobile_money"]
GHANA = {"type": "ghana", "phonenumber": "0240000001", "network": "MTN", "country": "GH", "currency": "GHS"}
MPESA = {"type": "mpesa", "phonenumber": "0700000001", "country": "KE", "currency": "KES"}

# How a payment is asked for, and how its price is: (action, variant, body, the fields of `charges`).
METHODS: dict[str, tuple[str, str, dict[str, Any], dict[str, str]]] = {
    "card": ("initiate", "card", {"card": CARD}, {"type": "card"}),
    "card by number": ("initiate", "card", {"card": CARD}, {"card_no": CARD["card_no"]}),
    "card by bin": ("initiate", "card", {"card": CARD}, {"card_no": CARD["card_no"][:6]}),
    "foreign card": ("initiate", "card", {"card": FOREIGN}, {"card_no": FOREIGN["card_no"]}),
    "card in dollars": ("initiate", "card", {"card": CARD, "currency": "USD"}, {"type": "card", "currency": "USD"}),
    "token": ("charge", "token", {}, {"type": "token"}),
    "paga": ("charge", "mobile_money", PAGA, {"type": "mobile_money"}),
    "ghana": ("charge", "mobile_money", GHANA, {"type": "mobile_money", "country": "GH", "currency": "GHS"}),
    "mpesa": ("charge", "mobile_money", MPESA, {"type": "mobile_money", "country": "KE", "currency": "KES"}),
    **{name: ("charge", name, body, {"type": name}) for name, body in BODIES.items() if name != "mobile_money"},
}
DEAR = {"collection": {"card_local": {"percent": "3.77", "flat": "123.45"}, "phone": {"percent": "0.01"}}}
MERCHANTS = (MERCHANT, merchant(tariff=DEAR), merchant(tariff={"bearer_default": "customer"}))


def charges(of: Merchant, **fields: Any) -> ChargesReply | Refusal:
    given = {name: value for name, value in fields.items() if value is not None}
    request = decode(ChargesRequest, msgspec.json.encode(given), CHARGES_RULES, of)
    return refuse_fields(*request) if isinstance(request, tuple) else show_charges(request, of, NO_RAILS)


NO_RAILS: Any = None


@given(
    st.sampled_from(sorted(METHODS)),
    st.one_of(st.integers(1, 300_000), st.integers(1, 2_000_000_000)),
    st.sampled_from(["merchant", "customer", "account", None]),
    st.sampled_from(MERCHANTS),
)
@without_deadline(400)
def test_a_payment_costs_exactly_what_charges_quotes(
    method: str, amount: int, bearer: str | None, of: Merchant
) -> None:
    name, variant, body, priced = METHODS[method]
    fields = {"amount": format_minor(amount), "bearer": bearer}
    charged = charges(of, **fields, **priced)
    payments = InMemoryPayments(of=of)
    if method == "token":
        body = {"token": paid_card(payments).payment.token}
    asked = payments.put(name, variant, **fields, **body)
    if isinstance(charged, Refusal):
        # Outside of what a merchant takes, both say so, alike.
        assert isinstance(asked, Refusal)
        assert asked.field_errors == charged.field_errors
        return
    paying = PaymentInProgress(payments, asked)
    row, payment, price = paying.row, paying.payment, charged.data
    kept = (row.amount, row.fee, row.vat, payment.charged, payment.settled)
    quoted = (price.amount, price.fee, price.vat, price.total_charge, price.settled)
    assert tuple(format_minor(figure) for figure in kept) == quoted
    assert (price.currency, payment.charged) == (row.currency, row.fee + row.vat + payment.settled)


@given(st.integers(100, 2_000_000), st.sampled_from(["card", "account", "phone"]), st.sampled_from(MERCHANTS))
@without_deadline(100)
def test_the_quoted_charges_are_posted(amount: int, method: str, of: Merchant) -> None:
    charged = charges(of, amount=format_minor(amount), type=method)
    assert isinstance(charged, ChargesReply)
    payments = InMemoryPayments(of=of)
    if method == "card":
        paying = paid_card(payments, amount=format_minor(amount))
    else:
        paying = PaymentInProgress(
            payments, payments.put("charge", method, amount=format_minor(amount), **BODIES[method])
        )
        paying.receive_answer(APPROVED)
    posted = [payments.balance(f"{name}:NGN") for name in ("wallet:main", "income:collection", "tax:vat")]
    assert [format_minor(figure) for figure in posted] == [charged.data.settled, charged.data.fee, charged.data.vat]
    assert paying.row.status == "successful"


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({}, ["type"]),
        ({"type": "mobile_money", "country": "US"}, ["country"]),
        ({"type": "card", "amount": "0.99"}, ["amount"]),
        ({"type": "card", "amount": "10000000.01"}, ["amount"]),
        ({"type": "card", "currency": "USD", "amount": "0.49"}, ["amount"]),
        ({"amount": "x"}, ["amount", "type"]),
        ({"type": "mobile_money", "country": "US", "amount": "0.99"}, ["country", "amount"]),
        ({"type": "mobile_money", "country": "GH"}, ["currency"]),
        ({"type": "mobile_money", "country": "GH", "currency": "KES"}, ["currency"]),
        ({"type": "mobile_money", "country": "NG", "currency": "GHS"}, ["currency"]),
        ({"type": "mobile_money", "currency": "USD"}, ["currency"]),
        ({"type": "account", "card_no": "512345"}, ["card_no"]),
        ({"type": "account", "card_no": "512345", "currency": "USD"}, ["card_no", "currency"]),
        ({"type": "card", "card_no": "512345", "currency": "KES"}, ["currency"]),
        ({"card_no": "512345", "currency": "KES", "amount": "x"}, ["amount", "currency"]),
        ({"card_no": "512345", "country": "FR"}, ["country"]),
        ({"currency": "USD"}, ["type"]),
    ],
)
def test_an_invalid_charges_request_names_its_fields(fields: dict[str, str], named: list[str]) -> None:
    assert fields_of(charges(MERCHANT, **{"amount": "100.00", **fields})) == named


@pytest.mark.parametrize("country", [None, "NG", "GH", "KE", "US", "FR"])
@pytest.mark.parametrize("currency", [None, "NGN", "USD", "GHS", "KES"])
@pytest.mark.parametrize("method", sorted({"card", "account", "ussd", "phone", "qrpay", "bank_transfer"}))
def test_a_country_or_currency_without_payments_has_no_price(
    method: str, country: str | None, currency: str | None
) -> None:
    name, variant, body, priced = METHODS[method]
    money = {field: value for field, value in (("country", country), ("currency", currency)) if value is not None}
    charged = charges(MERCHANT, amount="100.00", **priced, **money)
    asked = InMemoryPayments().put(name, variant, amount="100.00", **{**body, **money})
    assert isinstance(charged, Refusal) == isinstance(asked, Refusal)
    if isinstance(charged, Refusal) and isinstance(asked, Refusal):
        assert charged.field_errors == asked.field_errors


@pytest.mark.parametrize(("currency", "country"), [("GHS", "GH"), ("KES", "KE"), ("NGN", "NG"), (None, "NG")])
def test_the_country_of_mobile_money_follows_from_its_currency(currency: str | None, country: str) -> None:
    charged = charges(MERCHANT, amount="100.00", type="mobile_money", currency=currency)
    assert isinstance(charged, ChargesReply)
    assert charged == charges(MERCHANT, amount="100.00", type="mobile_money", currency=currency, country=country)


def test_the_reply_names_the_effective_bearer() -> None:
    for value, meant in (("account", "merchant"), ("customer", "customer"), (None, "merchant")):
        charged = charges(MERCHANT, amount="100.00", type="card", bearer=value)
        assert isinstance(charged, ChargesReply)
        assert charged.data.bearer == meant


@given(st.integers(100, 10_000_000), st.lists(st.integers(1, 99), min_size=1, max_size=4))
@without_deadline(100)
def test_every_installment_costs_what_charges_quotes(total: int, cuts: list[int]) -> None:
    parts = sorted({0, 100, *cuts})
    percentages = [late - early for early, late in pairwise(parts)]
    days = [f"{5 + n:02d}-01-2026" for n in range(len(percentages))]
    schedule = dict(zip(days, percentages, strict=True))
    payments = InMemoryPayments()
    token = paid_card(payments).payment.token
    plan = {"payment_schedule": schedule, "total": format_minor(total)}
    asked = payments.put("charge", "token", token=token, installment=plan)
    assume(not isinstance(asked, Refusal))
    paying = PaymentInProgress(payments, asked)
    paying.receive_answer(APPROVED)
    amounts = [paying.row.amount]
    while jobs := [job for job in payments.jobs() if job.lane == "schedule"]:
        payments.now = jobs[0].due
        charge = PaymentInProgress(payments, payments.receive_answer(jobs[0], APPROVED))
        charged = charges(MERCHANT, amount=format_minor(charge.row.amount), type="token")
        assert isinstance(charged, ChargesReply)
        assert (charged.data.fee, charged.data.vat) == (format_minor(charge.row.fee), format_minor(charge.row.vat))
        amounts.append(charge.row.amount)
        charge.receive_answer(APPROVED)
    assert sum(amounts) == total

"""Look-ups of bills: preflight checks, calls of the rail, and an edition that another process has just loaded."""

import asyncio
from typing import Any

import msgspec

from kasuwa.core.action import PreflightContext
from kasuwa.core.decision import Refusal
from kasuwa.core.scenario import NO_SCENARIO, Scenario
from kasuwa.methods.bills.lookups import PAY_RULES, pull_catalogue, resolve_customer
from kasuwa.methods.bills.rules.pay_bill import NO_SUCH_PAYCODE, UNKNOWN_PAYCODE
from kasuwa.methods.bills.wire import PayRequest, PullRequest, ResolveReply, ResolveRequest
from kasuwa.rails.catalogue.catalogue import EMPTY_EDITION, Catalogue
from kasuwa.rails.ports.all_rails import NOT_CONFIGURED, Rails
from kasuwa.rails.sandbox.biller import SandboxBiller, first_edition
from kasuwa.wire.decoding import decode
from kasuwa.wire.fields import AMOUNT_REASON
from tests.methods.bills.payments import METER, PREPAID, item_of
from tests.rule_context import MERCHANT, NOW

REQUEST = ResolveRequest(paycode=item_of(PREPAID).paycode, reference=METER)


class FakeCatalogueCache:
    """A catalogue cache whose refresh loads the edition that another process has loaded since."""

    def __init__(self, here: Catalogue, elsewhere: Catalogue | None = None) -> None:
        self.catalogue = here
        self._elsewhere = elsewhere or here
        self.refresh_count = 0

    async def refresh(self) -> None:
        self.refresh_count += 1
        self.catalogue = self._elsewhere


def rails(cache: FakeCatalogueCache) -> Rails:
    return Rails(bank=NOT_CONFIGURED, biller=SandboxBiller(), catalogue_cache=cache)


def resolve(given: Rails, request: ResolveRequest = REQUEST, planned: list[Scenario] | None = None) -> Any:
    async def plan() -> Scenario:
        return NO_SCENARIO if planned is None else planned.pop()

    return asyncio.run(resolve_customer(request, MERCHANT, given, plan))


def test_the_scenario_is_taken_right_before_a_call_and_not_without_one() -> None:
    given, planned = rails(FakeCatalogueCache(Catalogue(1, first_edition()))), [Scenario(rr="05")]
    for strange in (ResolveRequest(paycode="x", reference=METER), msgspec.structs.replace(REQUEST, reference="x")):
        assert resolve(given, strange, planned).code == 104
    assert len(planned) == 1
    assert resolve(given, REQUEST, planned) == Refusal(
        204, "The biller declined: Do not honour", error_code="biller_declined"
    )
    assert planned == []


def test_an_edition_loaded_by_another_process_is_found_by_a_refresh() -> None:
    cache = FakeCatalogueCache(Catalogue(0, EMPTY_EDITION), Catalogue(1, first_edition()))
    assert isinstance(resolve(rails(cache)), ResolveReply)
    assert cache.refresh_count == 1
    assert isinstance(resolve(rails(cache)), ResolveReply)
    assert cache.refresh_count == 1


def test_an_unknown_paycode_refreshes_the_catalogue_once() -> None:
    cache = FakeCatalogueCache(Catalogue(0, EMPTY_EDITION))
    assert resolve(rails(cache)) is UNKNOWN_PAYCODE
    assert cache.refresh_count == 1


def test_preflight_checks_report_catalogue_errors_with_the_other_errors() -> None:
    given = rails(FakeCatalogueCache(Catalogue(1, first_edition())))

    def faults(**fields: Any) -> dict[str, str]:
        found = decode(PayRequest, msgspec.json.encode(fields), PAY_RULES, MERCHANT, PreflightContext(NOW, given))
        return {fault.field: fault.reason for fault in found} if isinstance(found, tuple) else {}

    prepaid = {"paycode": item_of(PREPAID).paycode}
    assert faults(**prepaid, reference="123", amount="1") == {
        "orderRef": "required",
        "reference": "not a customer reference of Ikeja Electric (IKEDC)",
        "amount": "between 500.00 and 1000000.00",
    }
    assert faults(**prepaid)["amount"] == "required: this item has no fixed price"
    assert faults(paycode="nope", orderRef="a", reference="x", amount="x") == {
        "amount": AMOUNT_REASON,
        "paycode": NO_SUCH_PAYCODE,
    }
    # Well-formed, it is judged by the rule of `pay`, which knows of repeats and of newer editions.
    assert faults(paycode="nope", orderRef="a", reference="x", amount="1") == {}


def test_a_pull_reply_is_encoded_once_per_edition_and_refusals_are_not_cached() -> None:
    cache = FakeCatalogueCache(Catalogue(1, first_edition()))

    def pull(**chosen: Any) -> Any:
        return pull_catalogue(PullRequest(**chosen), MERCHANT, rails(cache))

    for chosen in ({}, {"category": "tv"}, {"bills_id": 14}, {"category": "electricity", "bills_id": 14}):
        assert pull(**chosen) is pull(**chosen)
    refused = pull(category="x", bills_id=999)
    assert [fault.field for fault in refused.field_errors] == ["category", "bills_id"]
    kept = len(cache.catalogue.encoded_replies)
    for strange in ({"category": "x"}, {"bills_id": 999}, {"category": "tv", "bills_id": 14}):
        assert isinstance(pull(**strange), Refusal)
    assert len(cache.catalogue.encoded_replies) == kept

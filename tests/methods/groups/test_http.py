"""Groups over HTTP, on real PostgreSQL: their loans, sheets, meetings, standing and pages."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.console.visitor import sign_in_as
from tests.merchant_client import MerchantClient, new_reference
from tests.methods.clients.enrollment import update
from tests.methods.loans.lending_client import FAILING, GOOD, PENDING, LendingClient
from tests.running import Deployment
from tests.walk.bounds import SHEET_DAYS

FORM_KEY = re.compile(r'name="form_key" value="([0-9a-f]+)"')
NOW = "2026-01-31T08:00:00+01:00"
WEEKLY = {"interestSettings": {"interestRate": "0", "interestFrequency": "every_week"}, "period": 10}


class Village(LendingClient):
    """A merchant with a group of three, of whom the first leads it."""

    def settle_down(self, *accounts: str) -> "Village":
        self.members = [self.client(account) for account in accounts or (GOOD, GOOD, GOOD)]
        made = self.loans("create_group", name="Weavers", members=self.members, leader=self.members[0])
        assert made["status"] == 200, made
        self.group_id = str(made["data"]["group_id"])
        return self

    def request_group(self, *amounts: str, **fields: Any) -> Any:
        parts = [{"client_id": one, "amount": amount} for one, amount in zip(self.members, amounts, strict=False)]
        return self.loans("request_group_loan", group_id=self.group_id, loans=parts, **WEEKLY, **fields)

    def process_group(self, group_loan_id: str, status: str = "approve", **fields: Any) -> Any:
        return self.loans("process_group_loan", group_loan_id=group_loan_id, status=status, **fields)

    def lend_group(self, *amounts: str, **fields: Any) -> list[str]:
        """Returns the loans of the members, paid out."""
        made = self.request_group(*amounts, disbursement="one", **fields)
        assert made["status"] == 200, made
        paid = self.process_group(made["data"]["group_loan_id"])
        assert {line["state"] for line in paid["data"]["loans"]} == {"active"}, paid
        return [line["loan_id"] for line in paid["data"]["loans"]]

    def collect(self, amounts: dict[str, str], **fields: Any) -> Any:
        lines = [{"loan_id": loan_id, "amount": amount} for loan_id, amount in amounts.items()]
        return self.loans("collect", group_id=self.group_id, amounts=lines, **fields)

    def sheet(self, day: str | None = None) -> Any:
        return self.loans("collection_sheet", group_id=self.group_id, **({"date": day} if day else {}))

    def group(self) -> Any:
        return self.loans("view_group", group_id=self.group_id)["data"]


@pytest.fixture
def village(open_shop: Callable[..., MerchantClient]) -> Village:
    return open_village(open_shop)


def open_village(open_shop: Callable[..., MerchantClient]) -> Village:
    shop = open_shop(now=NOW)
    return Village(shop.connection, shop.mid, shop.key).settle_down()


def states(record: Any) -> list[str]:
    return [line["state"] for line in record["loans"]]


def events(village: Village) -> list[str]:
    lines = village.put("resources", inquire="events", txnRef=village.group_id, limit=50).body["data"]
    return [line["payload"]["step"] for line in reversed(lines)]


def test_a_group_borrows_meets_and_closes(village: Village) -> None:
    loans = village.lend_group("1000.00", "500.00")
    assert [village.view(loan_id)["group_id"] for loan_id in loans] == [village.group_id] * 2
    assert len({village.view(loan_id)["schedule"][0]["total"] for loan_id in loans}) == 2
    sheet = village.sheet("2026-02-07")["data"]
    assert [(line["due"], line["arrears"]) for line in sheet["lines"]] == [("100.00", "0.00"), ("50.00", "0.00")]
    village.advance(days=7)
    done = village.collect({loans[0]: "100.00", loans[1]: "30.00"}, customer_txnref="meeting-1")
    assert (done["amount"], done["message"]) == ("130.00", "Collected")
    after = village.sheet()["data"]
    assert [(line["due"], line["collected"]) for line in after["lines"]] == [("0.00", "100.00"), ("20.00", "30.00")]
    assert (after["totals"]["due"], after["totals"]["collected"]) == ("20.00", "130.00")
    village.advance(days=7)
    assert [(line["arrears"], line["installment"]) for line in village.sheet()["data"]["lines"]] == [
        ("0.00", "100.00"),
        ("20.00", "50.00"),
    ]
    assert village.sheet("2026-02-07")["data"]["totals"]["collected"] == "130.00"
    for loan_id in loans:
        village.collect({loan_id: village.view(loan_id)["outstanding"]["payoff"]})
    assert village.group()["standing"]["state"] == "good"
    assert village.loans("update_group", group_id=village.group_id, close=True)["data"]["state"] == "closed"
    assert events(village) == [
        "created",
        "loan_requested",
        "loan_approved",
        "collected",
        "collected",
        "collected",
        "closed",
    ]


def test_the_transfer_to_the_leader_names_the_loan_of_the_group(village: Village) -> None:
    made = village.request_group("100.00", "50.00", disbursement="one")["data"]
    txn_ref = village.process_group(made["group_loan_id"])["data"]["txnRef"]
    assert village.put("disburse", action="verify", txnRef=txn_ref).body["group_loan_id"] == made["group_loan_id"]
    [event] = village.put("resources", inquire="events", txnRef=txn_ref).body["data"]
    assert event["payload"]["group_loan_id"] == made["group_loan_id"]
    found = village.put("resources", inquire="transaction", reference=txn_ref).body["data"]
    assert found["related"] == [{"kind": "group_loan", "reference": made["group_loan_id"], "state": None}]


def make_product(village: Village, **changes: Any) -> str:
    ranges = {
        "amount": {"min": "500.00", "max": "5000.00", "default": "1000.00"},
        "period": {"min": 3, "max": 12, "default": 4},
        "interestRate": {"min": 5, "max": 15, "default": 10},
    }
    fee = {"name": "Fee", "amount": "10.00", "when": "disbursement", "deduct": True}
    terms = {"ranges": ranges, "interestFrequency": "every_month", "charges": [fee], **changes}
    made = village.loans("create_product", name="Weavers", **{"code": "W-4", **terms})
    assert made["status"] == 200, made
    return str(made["data"]["product_id"])


def test_a_group_borrows_by_the_terms_of_a_product(village: Village) -> None:
    product_id = make_product(village)
    asked = {"group_id": village.group_id, "product_id": product_id, "disbursement": "one"}
    parts = [{"client_id": village.members[0], "amount": "2000.00"}, {"client_id": village.members[1]}]
    before = village.wallet()
    shown = village.loans("request_group_loan", **asked, loans=parts, dry_run=True)
    assert (shown["dry_run"], shown["data"]["group_loan_id"], village.group()["loans"]) == (True, None, [])
    assert {figure["what"]: figure["amount"] for figure in shown["explained"]}["deducted"] == "20.00"
    outside = village.loans("request_group_loan", **asked, loans=[{**parts[0], "amount": "1.00"}], period=2)
    assert {(error["field"], error["code"]) for error in outside["errors"]} == {
        ("loans[0].amount", "outside_product_range"),
        ("period", "outside_product_range"),
    }
    made = village.loans("request_group_loan", **asked, loans=parts)["data"]
    paid = village.process_group(made["group_loan_id"])["data"]
    assert states(paid) == ["active", "active"]
    first, second = (village.view(line["loan_id"]) for line in paid["loans"])
    assert (first["product_id"], first["group_id"], first["net_amount"]) == (product_id, village.group_id, "1990.00")
    assert (second["amount"], len(second["schedule"]), second["schedule"][0]["total"]) == ("1000.00", 4, "325.47")
    [line] = village.loans("list_products")["data"]
    assert (line["loans"]["active"], line["loans"]["lent"]) == (2, "3000.00")
    assert village.loans("list", product_id=product_id)["total"] == 2
    assert 298_000 < before.balance - village.wallet().balance < 300_000
    village.loans("close_product", product_id=product_id)
    closed = village.loans("request_group_loan", **asked, loans=parts)
    assert (closed["status"], closed["code"]) == (104, "product_closed")


def test_the_console_asks_for_a_loan_of_a_product(village: Village, deployment: Deployment) -> None:
    product_id = make_product(village)
    owner = sign_in_as(deployment, "merchant:owner", village.mid)
    page = f"/groups/{village.group_id}"
    assert "Request a loan of a product" in owner.get(page).text
    fields = {"product_id": product_id, "loans.0.client_id": village.members[0], "disbursement": "each"}
    assert owner.post(f"{page}/request-product-loan", **fields).http in (200, 303)
    [made] = village.group()["loans"]
    assert [(line["client_id"], line["amount"]) for line in made["loans"]] == [(village.members[0], "1000.00")]


def test_groups_their_loans_and_products_are_found_by_their_references(
    village: Village, deployment: Deployment
) -> None:
    code = new_reference("weavers")  # other merchants have a product of the usual code
    product_id = make_product(village, code=code)
    asked = {"group_id": village.group_id, "product_id": product_id, "disbursement": "one"}
    parts = [{"client_id": one} for one in village.members[:2]]
    made = village.loans("request_group_loan", **asked, loans=parts)["data"]
    group_loan_id = made["group_loan_id"]
    paid = village.process_group(group_loan_id)["data"]
    loan_ids = {line["loan_id"] for line in made["loans"]}

    group, group_loan = find(village, village.group_id), find(village, group_loan_id)
    assert (group["kind"], group["state"], group["amount"]) == ("group", "active", None)
    assert (related(group, "group_loan"), related(group, "client")) == ({group_loan_id}, set(village.members))
    assert (group_loan["kind"], group_loan["state"], group_loan["amount"]) == ("group_loan", "accepted", "2000.00")
    assert (related(group_loan, "group"), related(group_loan, "loan")) == ({village.group_id}, loan_ids)
    assert related(group_loan, "transfer") == {paid["txnRef"]}
    assert related(find(village, paid["txnRef"]), "group_loan") == {group_loan_id}
    product = find(village, product_id)
    assert (product["kind"], product["state"], product["orderRef"]) == ("loan_product", "open", code)
    assert (related(product, "loan"), find(village, code)) == (loan_ids, product)

    stories = [explain(village, group_id=village.group_id), explain(village, group_loan_id=group_loan_id)]
    assert [story[0]["said"] for story in stories] == ["group created", "loan of a group created"]
    assert [line["what"] for line in stories[0]].count("event") == 3
    assert {line["txnRef"] for line in stories[1] if line["what"] == "posting"} == {paid["txnRef"]}
    assert explain(village, product_id=product_id)[0]["said"] == "loan product created"
    assert village.put("sandbox", action="explain", group_id="GRnobody").body["status"] == 104

    owner, operator = sign_in_as(deployment, "merchant:owner", village.mid), sign_in_as(deployment, "operator:admin")
    pages = {
        village.group_id: f"/groups/{village.group_id}",
        group_loan_id: f"/groups/{village.group_id}",
        product_id: f"/loan-products/{product_id}",
    }
    for reference, place in pages.items():
        assert owner.get(f"/search?q={reference}").place == place
        found = operator.get(f"/operator/search?q={reference}").place
        assert found == f"/operator/merchants/{village.mid}/records/{reference}"
        assert operator.get(found).http == 200
    assert owner.get(f"/transactions/{paid['txnRef']}").http == 200


def find(village: Village, reference: str) -> Any:
    body = village.put("resources", inquire="transaction", reference=reference).body
    assert body["status"] == 200, body
    return body["data"]


def related(found: Any, kind: str) -> set[str]:
    return {one["reference"] for one in found["related"] if one["kind"] == kind}


def explain(village: Village, **reference: Any) -> Any:
    return village.put("sandbox", action="explain", **reference).body["data"]


def test_arrears_of_one_are_in_the_group_standing(village: Village) -> None:
    loans = village.lend_group("1000.00", "500.00")
    village.advance(days=8)
    village.collect({loans[1]: "50.00"})
    shown = village.group()
    assert (shown["standing"]["state"], shown["standing"]["overdue"], shown["standing"]["days_late"]) == (
        "in_arrears",
        "100.00",
        1,
    )
    assert [one["overdue"] for one in shown["members"]] == ["100.00", "0.00", "0.00"]
    refused = village.request_group("1.00")
    assert (refused["status"], refused["code"]) == (104, "group_in_arrears")
    leaving = village.loans("update_group", group_id=village.group_id, remove=village.members[2:])
    assert leaving["code"] == "group_in_arrears"
    village.loans("write_off", loan_id=loans[0], reason="gone")
    after = village.group()
    assert (after["standing"]["state"], after["standing"]["written_off"]) == ("written_off", "1000.00")
    removed = village.loans(
        "update_group", group_id=village.group_id, remove=village.members[:1], leader=village.members[2]
    )
    assert removed["data"]["members"] == village.members[1:]
    gone = [one for one in village.group()["members"] if "dateLeft" in one]
    assert [(one["client_id"], one["written_off"]) for one in gone] == [(village.members[0], "1000.00")]


def test_each_member_receives_a_transfer_of_its_own(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=NOW)
    village = Village(shop.connection, shop.mid, shop.key).settle_down(GOOD, FAILING, PENDING)
    made = village.request_group("100.00", "100.00", "100.00")["data"]
    done = village.process_group(made["group_loan_id"])
    assert done["message"] == "Group Loan Approved"
    village.advance(seconds=1)
    group_loan = village.group()["loans"][0]
    assert states(group_loan) == ["active", "approved", "disbursing"]
    refs = {village.put("disburse", action="verify", txnRef=line["loan_id"]).body["txnRef"] for line in made["loans"]}
    assert len(refs) == 3
    again = village.process_group(made["group_loan_id"])
    assert states(again["data"]) == ["active", "disbursing", "disbursing"]
    assert events(village) == ["created", "loan_requested", "loan_approved", "loan_approved"]


def test_a_failed_transfer_of_all_is_tried_again_whole(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=NOW)
    village = Village(shop.connection, shop.mid, shop.key).settle_down(FAILING, GOOD)
    made = village.request_group("100.00", "100.00", disbursement="one")["data"]
    failed = village.process_group(made["group_loan_id"])
    assert states(failed["data"]) == ["approved", "approved"]
    assert village.loans("update_group", group_id=village.group_id, leader=village.members[1])["status"] == 200
    paid = village.process_group(made["group_loan_id"])
    assert (states(paid["data"]), paid["data"]["client_id"]) == (["active", "active"], village.members[1])


def test_a_slow_transfer_of_all_ends_by_a_call_back(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=NOW)
    village = Village(shop.connection, shop.mid, shop.key).settle_down(PENDING, GOOD)
    made = village.request_group("100.00", "100.00", disbursement="one")["data"]
    waiting = village.process_group(made["group_loan_id"])["data"]
    assert states(waiting) == ["disbursing", "disbursing"]
    settled = village.put("sandbox", action="settle", txnRef=waiting["txnRef"], outcome="successful").body
    assert settled["status"] == 200, settled
    assert states(village.group()["loans"][0]) == ["active", "active"]


def test_a_meeting_that_is_sent_twice_under_one_key_is_recorded_once(village: Village) -> None:
    [loan_id] = village.lend_group("1000.00")
    body = {"action": "collect", "group_id": village.group_id, "amounts": [{"loan_id": loan_id, "amount": "100.00"}]}
    first, second = (village.put("loans", headers={"Idempotency-Key": "meeting"}, **body).body for _ in range(2))
    assert first == second
    assert village.view(loan_id)["outstanding"]["total"] == "900.00"


def test_two_collectors_at_once_record_what_is_owed_at_most(
    village: Village, open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    [loan_id] = village.lend_group("1000.00")

    def pay(_: int) -> Any:
        other = Village(deployment.connect(), village.mid, village.key)
        other.group_id = village.group_id
        return other.collect({loan_id: "600.00"})["status"]

    with ThreadPoolExecutor(4) as pool:
        found = sorted(pool.map(pay, range(4)))
    assert found == [104, 104, 104, 200]
    assert village.view(loan_id)["outstanding"]["total"] == "400.00"


def test_a_member_is_erased_after_leaving_the_group(village: Village, deployment: Deployment) -> None:
    client_id = village.members[2]
    assert update(village, client_id, status="exited")["code"] == "client_in_group"
    refused = deployment.run_any_command("client", "erase", village.mid, client_id, "--yes")
    assert refused.returncode == 1
    assert "member of a group" in refused.stderr
    village.loans("update_group", group_id=village.group_id, remove=[client_id])
    exported = deployment.run_command("client", "export", village.mid, client_id)
    assert village.group_id in exported
    deployment.run_command("client", "erase", village.mid, client_id, "--yes")
    assert village.group()["member_count"] == 2


@SHEET_DAYS.tries
def test_a_sheet_is_of_a_day_within_366_days(village: Village, value: int, is_within: bool) -> None:
    day = date.fromisoformat(NOW[:10]) + timedelta(days=value)
    assert (village.sheet(day.isoformat())["status"] == 200) == is_within


def test_groups_are_listed_by_client_and_state(village: Village) -> None:
    [line] = village.loans("list_groups", client_id=village.members[0])["data"]
    assert (line["group_id"], line["member_count"], line["leader"]) == (village.group_id, 3, village.members[0])
    assert village.loans("list_groups", state="closed")["data"] == []
    assert village.loans("list_groups", client_id="CLnobody")["total"] == 0
    assert village.loans("view_group", group_id="GRnobody")["code"] == "group_not_found"
    assert village.loans("collection_sheet", group_id="GRnobody")["code"] == "group_not_found"


def test_a_restored_snapshot_has_its_group_and_loans(village: Village) -> None:
    loans = village.lend_group("1000.00")
    assert village.put("sandbox", action="snapshot", name="before").body["status"] == 200
    village.collect({loans[0]: "1000.00"})
    assert village.put("sandbox", action="restore", name="before").body["status"] == 200
    assert village.group()["standing"]["outstanding"] == "1000.00"
    assert village.collect({loans[0]: "100.00"})["amount"] == "100.00"


def test_a_merchant_does_not_reach_another_ones_group(
    village: Village, open_shop: Callable[..., MerchantClient]
) -> None:
    [loan_id] = village.lend_group("1000.00")
    other = open_village(open_shop)
    assert other.collect({loan_id: "1.00"})["status"] == 104
    mine, other.group_id = other.group_id, village.group_id
    assert other.collect({loan_id: "1.00"})["code"] == "group_not_found"
    assert other.sheet()["code"] == "group_not_found"
    assert other.request_group("1.00")["code"] == "group_not_found"
    other.group_id = mine
    added = other.loans("update_group", group_id=mine, add=village.members[:1])
    assert added["code"] == "client_not_found"


def test_a_form_of_a_meeting_or_a_loan_that_is_sent_twice_is_recorded_once(
    village: Village, deployment: Deployment
) -> None:
    loans = village.lend_group("1000.00")
    owner = sign_in_as(deployment, "merchant:owner", village.mid)
    path = f"/groups/{village.group_id}"
    for address, page, fields in (
        (f"{path}/meeting", f"{path}/sheet", {f"amount-{loans[0]}": "100.00"}),
        (f"/loans/{loans[0]}/repay", f"/loans/{loans[0]}", {"amount": "100.00"}),
    ):
        before = Decimal(village.view(loans[0])["outstanding"]["total"])
        form_key = FORM_KEY.search(owner.get(page).text)
        assert form_key is not None
        for _ in range(2):
            sent = owner.post(address, **fields, form_key=form_key[1])
            assert sent.http == 303, sent.words
        assert Decimal(village.view(loans[0])["outstanding"]["total"]) == before - 100
        # Another amount, or the form of a page that was opened anew, is another request.
        assert owner.post(address, **{**fields, next(iter(fields)): "50.00"}, form_key=form_key[1]).http == 303
        anew = FORM_KEY.search(owner.get(page).text)
        assert anew is not None
        assert owner.post(address, **fields, form_key=anew[1]).http == 303
        assert Decimal(village.view(loans[0])["outstanding"]["total"]) == before - 250


def test_a_meeting_is_printed_and_recorded_in_the_console(village: Village, deployment: Deployment) -> None:
    loans = village.lend_group("1000.00", "500.00")
    village.advance(days=8)
    owner = sign_in_as(deployment, "merchant:owner", village.mid)
    page = owner.get(f"/groups/{village.group_id}").text
    assert "All members answer for it." in page
    assert "NGN 150.00 is late, 1 day." in page
    path = f"/groups/{village.group_id}"
    sheet = owner.get(f"{path}/sheet").text
    assert "Signature" in sheet
    assert "Ada Obi" in sheet
    recorded = owner.post(f"{path}/meeting", **{f"amount-{loans[0]}": "100.00", f"amount-{loans[1]}": ""})
    assert (recorded.http, recorded.place) == (303, f"{path}/sheet")
    assert village.view(loans[0])["outstanding"]["total"] == "900.00"
    refused = owner.post(f"{path}/meeting", **{f"amount-{loans[0]}": "9,000.00"})
    assert (refused.http, "closes the loan today" in refused.text) == (422, True)
    day = "2026-02-10"
    again = owner.post(f"{path}/meeting?date={day}", **{f"amount-{loans[0]}": "9,000.00"})
    assert (f'value="{day}"' in again.text, f"/meeting?date={day}" in again.text) == (True, True)
    file = owner.get(f"{path}/sheet.csv?date=2026-02-08").text
    assert f"{village.members[0]},{loans[0]}" in file
    assert owner.get(f"{path}/sheet?date=soon").http == 422
    assert owner.get("/groups/GRnobody/sheet").http == 404
    viewer = sign_in_as(deployment, "merchant:read-only", village.mid)
    assert "Record what was paid" not in viewer.get(f"{path}/sheet").text
    assert owner.get("/groups").http == 200
    assert village.group_id in owner.get(f"/clients/{village.members[0]}").text

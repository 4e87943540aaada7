"""The operator's pages of reconciliation and taxes, over HTTP: import, results, and decisions by two operators."""

import itertools
from collections.abc import Callable
from datetime import datetime

import msgspec
import pytest

from kasuwa.console.operator.reconciliation import DECISIONS, make_posting
from kasuwa.core.calendar import lagos_day
from kasuwa.core.references import rail_key, wire_reference
from tests.console.visitor import PageReply, Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

PAGE = "/operator/reconciliation"
MAPPING = '{"date": "date", "amount": "amount", "reference": ["ref"], "description": ["text"]}'
HEADER = "date,ref,text,amount"


# Each merchant has days of its own: statements are about all merchants, and other tests transfer money too.
years = itertools.count(2101)


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=f"{next(years)}-03-05T12:00:00+01:00")


def day_of(shop: MerchantClient) -> str:
    return str(lagos_day(datetime.fromisoformat(shop.now())))


def upload(visitor: Visitor, account: str, rows: list[str], step: str = "import", mapping: str = MAPPING) -> PageReply:
    visitor.get(PAGE)
    content = "\n".join([HEADER, *rows]).encode()
    return visitor.upload(f"{PAGE}/import", "file", content, account=account, mapping=mapping, step=step)


def wire_of(deployment: Deployment, shop: MerchantClient, txn_ref: str) -> str:
    [(merchant_id,)] = deployment.fetch("select merchant_id from merchant where mid = $1 and current", shop.mid)
    return wire_reference(rail_key(merchant_id, txn_ref))


@pytest.fixture
def finance(deployment: Deployment) -> Visitor:
    return sign_in_as(deployment, "operator:finance")


@pytest.fixture
def admin(deployment: Deployment) -> Visitor:
    return sign_in_as(deployment, "operator:admin")


def test_a_statement_is_imported_once_and_its_differences_decided_by_two(
    deployment: Deployment, shop: MerchantClient, finance: Visitor, admin: Visitor
) -> None:
    sent, other = shop.transfer(amount="100.00"), shop.transfer(amount="50.00")
    reference, marker = wire_of(deployment, shop, sent["txnRef"]), f"SMS charge {shop.mid}"
    rows = [f"{day_of(shop)},{reference},NIP,-100.00", f"{day_of(shop)},,{marker},-4.00"]
    shown = upload(finance, "rail:bank:NGN", rows, "preview")
    assert "2 lines can be read (csv). Nothing was imported." in shown.words
    done = upload(finance, "rail:bank:NGN", rows)
    assert (done.http, done.place.startswith(PAGE)) == (303, True)
    assert "2 new lines of 2. 1 matched, 0 differ." in finance.get(done.place).words
    again = upload(finance, "rail:bank:NGN", rows, mapping="")
    assert "imported before: nothing was changed" in finance.get(again.place).words
    days = f"from={day_of(shop)}&to={day_of(shop)}"
    assert sent["txnRef"] in finance.get(f"{done.place}?{days}&state=matched").words
    assert finance.get(f"{done.place}?from=0001-01-01&to=9999-12-31&state=ours+only").http == 200
    assert finance.get(f"{done.place}?from=x&to=y&state=z&after=9").http == 200
    assert other["txnRef"] in finance.get(f"{done.place}?{days}&state=ours+only").words
    theirs = finance.get(f"{done.place}?{days}&state=theirs+only")
    assert marker in theirs.words
    [(line_id,)] = deployment.fetch("select line_id from statement_line where description = $1", marker)
    item = f"{done.place}/line-{line_id}"
    assert "To be booked NGN -4.00" in finance.get(item).words.replace("−", "-")
    refused = finance.post(item, mid="GP9999999", decision="nonsense", reason="")
    assert refused.http == 422
    for words in ("no merchant has this mid", "choose one", "enter a reason"):
        assert words in refused.words
    assert finance.post(item, mid=shop.mid, decision="bank_fee", reason="SMS").place == "/operator/approvals"
    assert "is open" in finance.get(item).words
    second = finance.post(item, mid=shop.mid, decision="write_off", reason="SMS")
    assert (second.http, "is open" in second.words) == (422, True)
    [(number,)] = deployment.fetch("select approval_id from reconciliation_decision where line_id = $1", line_id)
    admin.get("/operator/approvals")
    assert admin.post(f"/operator/approvals/{number}/approve").http == 303
    assert marker in finance.get(f"{done.place}?{days}&state=decided").words
    assert "This line is decided." in finance.get(item).words
    [(amount,)] = deployment.fetch(
        "select posted from account a join merchant m using (merchant_id) where mid = $1 and a.name = $2",
        shop.mid,
        "income:bank_fee:NGN",
    )
    assert amount == -400
    # The posting of the decision is no entry that waits for a line.
    assert f"approval {number}" not in finance.get(f"{done.place}?{days}&state=ours+only").words
    assert deployment.broken_invariants([shop.mid]) == []


def test_an_entry_that_is_ours_only_is_taken_back_or_stays(
    deployment: Deployment, shop: MerchantClient, finance: Visitor, admin: Visitor
) -> None:
    sent = shop.transfer(amount="75.00")
    done = upload(finance, "rail:bank:NGN", [f"{day_of(shop)},,filler {shop.mid},-0.01"])
    [(merchant_id, group_seq)] = deployment.fetch(
        "select p.merchant_id, p.group_seq from posting p join merchant m using (merchant_id)"
        " where m.mid = $1 and p.reference = $2 and p.credit = 'rail:bank:NGN'",
        shop.mid,
        sent["txnRef"],
    )
    item, before = f"{done.place}/entry-{merchant_id}-{group_seq}", shop.wallet().balance
    assert sent["txnRef"] in finance.get(item).words
    for verdict in ("reject", "approve"):
        assert finance.post(item, mid=shop.mid, decision="wallet", reason="never left").http == 303
        [(number,)] = deployment.fetch(
            "select max(approval_id) from reconciliation_decision where merchant_id = $1 and group_seq = $2",
            merchant_id,
            group_seq,
        )
        admin.get("/operator/approvals")
        assert admin.post(f"/operator/approvals/{number}/{verdict}").http == 303
        finance.get("/operator/approvals")
    assert shop.wallet().balance == before + 7_500
    assert finance.get(item).http == 404
    assert deployment.broken_invariants([shop.mid]) == []


def test_a_wrong_match_is_released_and_not_made_again(
    deployment: Deployment, shop: MerchantClient, finance: Visitor
) -> None:
    sent, marker = shop.transfer(amount="33.00"), f"wrong {shop.mid}"
    reference = wire_of(deployment, shop, sent["txnRef"])
    done = upload(finance, "rail:bank:NGN", [f"{day_of(shop)},{reference},{marker},-33.00"])
    [(line_id,)] = deployment.fetch("select line_id from statement_line where description = $1", marker)
    item, days = f"{done.place}/line-{line_id}", f"from={day_of(shop)}&to={day_of(shop)}"
    assert "Release the match" in finance.get(item).words
    assert "Release the match" not in sign_in_as(deployment, "operator:support").get(item).words
    assert finance.post(item, step="release").place == done.place
    assert "Nothing is matched." in finance.post(item, step="release").words
    upload(finance, "rail:bank:NGN", [f"{day_of(shop)},,later {shop.mid},-0.02"])
    assert marker in finance.get(f"{done.place}?{days}&state=theirs+only").words
    assert sent["txnRef"] in finance.get(f"{done.place}?{days}&state=ours+only").words
    entry = "select before from audit_entry where action = 'released a match' order by at desc limit 1"
    assert deployment.fetch(entry)[0][0] == "reference"


def test_what_left_before_a_reset_or_a_move_of_the_clock_is_matched(
    deployment: Deployment, shop: MerchantClient, finance: Visitor
) -> None:
    before, day = wire_of(deployment, shop, shop.transfer(amount="21.00")["txnRef"]), day_of(shop)
    shop.put("sandbox", action="reset")
    shop.put("sandbox", action="advance", days=40)
    after = wire_of(deployment, shop, shop.transfer(amount="22.00")["txnRef"])
    done = upload(finance, "rail:bank:NGN", [f"{day},{before},,-21.00", f"{day_of(shop)},{after},,-22.00"])
    assert "2 new lines of 2. 2 matched, 0 differ." in finance.get(done.place).words


def test_a_file_that_is_wrong_is_refused_with_its_lines(
    finance: Visitor, deployment: Deployment, shop: MerchantClient
) -> None:
    before = deployment.fetch("select count(*) from statement_import")
    wrong = upload(finance, "rail:bank:NGN", ["x,,a,1.00", f"{day_of(shop)},,b,y"])
    assert wrong.http == 422
    assert "line 2: 'x' is not a date as YYYY-MM-DD line 3: 'y' is not an amount" in wrong.words
    assert "cannot be reconciled" in upload(finance, "wallet:main:NGN", []).words
    assert "the mapping is not valid" in upload(finance, "rail:bank:NGN", [], mapping="{}").words
    unmapped = upload(finance, "rail:unmapped:NGN", [f"{day_of(shop)},,b,1.00"], mapping="")
    assert (unmapped.http, "What the columns mean" in unmapped.words) == (200, True)
    finance.get(PAGE)
    assert "choose a file" in finance.post(f"{PAGE}/import", account="rail:bank:NGN").words
    assert deployment.fetch("select count(*) from statement_import") == before


def test_the_page_shows_disputes_settlements_and_unclaimed_money(deployment: Deployment, finance: Visitor) -> None:
    deployment.fetch(
        "insert into rail_settlement (rail, settlement_id, status, currency, gross, fees, amount, settled_on)"
        " values ('shown', 'S-9', 'paid', 'NGN', 1000, 15, 985, '2020-01-01') on conflict do nothing"
    )
    deployment.fetch(
        "insert into rail_dispute (rail, dispute_id, payment_reference, amount, currency, status)"
        " values ('shown', 'D-9', 'pay-9', 700, 'NGN', 'awaiting-answer') on conflict do nothing"
    )
    words = finance.get(PAGE).words
    assert "shown S-9" in words
    assert "shown D-9 NGN 7.00 – pay-9 awaiting-answer" in words


def test_taxes_of_the_month_add_up_on_the_page_and_in_the_file(
    deployment: Deployment, shop: MerchantClient, finance: Visitor
) -> None:
    shop.transfer(amount="20000.00")
    [(vat,)] = deployment.fetch(
        "select posted from account a join merchant m using (merchant_id) where mid = $1 and a.name = 'tax:vat:NGN'",
        shop.mid,
    )
    page = finance.get(f"/operator/taxes?month={day_of(shop)[:7]}")
    assert page.http == 200
    assert "In all" in page.words
    rows = finance.get(f"/operator/taxes.csv?month={day_of(shop)[:7]}").text.splitlines()
    mine = next(row for row in rows if f",{shop.mid}," in row and ",VAT,NGN," in row).split(",")
    assert mine[-5:] == ["0.00", f"{vat / 100:.2f}", "0.00", "0.00", f"{vat / 100:.2f}"]
    assert finance.get("/operator/taxes?month=2026-13").http == 404


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_decision_posts_money_in_as_a_debit_and_money_out_as_a_credit(decision: str) -> None:
    came, went = make_posting("rail:bank:NGN", 500, decision), make_posting("rail:bank:NGN", -500, decision)
    assert (came.debit, went.credit) == ("rail:bank:NGN", "rail:bank:NGN")
    assert came.credit == went.debit == f"{DECISIONS[decision][1]}:NGN"
    assert (came.amount, went.amount) == (500, 500)
    assert msgspec.json.decode(msgspec.json.encode(came))["kind"].startswith("reconciliation: ")


def test_the_columns_of_a_file_are_chosen_on_its_preview(
    deployment: Deployment, shop: MerchantClient, finance: Visitor
) -> None:
    account = f"rail:chosen:NGN@bank{next(years)}"
    content = f"When;How much;About\n{day_of(shop)};1.500,00;{shop.mid} rent\n".encode()
    finance.get(PAGE)
    first = finance.upload(f"{PAGE}/import", "file", content, account=account, mapping="", step="preview")
    assert "What the columns mean" in first.words
    content_field = first.text.partition('name="content" value="')[2].partition('"')[0]
    form = {"account": account, "content": content_field, "date_form": "YYYY-MM-DD", "amount_form": "1.234,56"}
    twice = finance.post(f"{PAGE}/import", **form, **{"column-0": "date", "column-1": "date", "column-2": "amount"})
    assert (twice.http, "two columns are chosen as date" in twice.words) == (422, True)
    chosen = {"column-0": "date", "column-1": "amount", "column-2": "description"}
    shown = finance.post(f"{PAGE}/import", **form, **chosen, step="preview")
    assert "1 lines can be read (csv)" in shown.words
    assert "1,500.00" in shown.words
    done = finance.post(f"{PAGE}/import", **form, **chosen, step="import", is_out_positive="yes")
    assert done.http == 303, done.words
    [row] = deployment.fetch("select amount, description from statement_line where description like $1", f"{shop.mid}%")
    assert tuple(row) == (-150000, f"{shop.mid} rent")
    again = finance.upload(f"{PAGE}/import", "file", content, account=account, mapping="", step="preview")
    assert "1 lines can be read (csv)" in again.words
    assert finance.post(f"{PAGE}/import", account=account, content="%%%").http == 422

"""Pages of clients, loans and cards, names in place of ids, and the vocabulary of states."""

import ast
import re
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args, get_origin
from urllib.parse import quote, unquote

import msgspec
import pytest

from kasuwa.console.kit import vocabulary
from kasuwa.console.kit.vocabulary import DECLINE_TEXTS, STATE_STYLES, humanize, label
from kasuwa.console.merchant.actions import CONSOLE
from kasuwa.console.records.schedule_chart import draw_schedule
from kasuwa.console.records.table import RECORD_KINDS
from kasuwa.methods.tables import list_methods
from kasuwa.transactions.event_fields import DeclineReason
from kasuwa.transactions.transactions import FINAL, PENDING, PROCESSING
from tests.console.test_signing_in import PASSWORD
from tests.console.test_step_up import expire_step_up, hidden_fields, sign_in_user
from tests.console.test_try_it import reply_in
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.guarantees import test_http as guarantees
from tests.methods.investments import savers
from tests.methods.investments.held import hold_deposit
from tests.methods.loans.lending_client import PENDING as PENDING_ACCOUNT
from tests.methods.loans.lending_client import TERMS, LendingClient
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment
from tests.webhooks.event_log import wait_until

pytestmark = pytest.mark.xdist_group("console")


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", shop.mid)


# --- clients and loans --------------------------------------------------------------------------------------------


def test_the_page_of_a_client_has_loans_savings_and_payments(owner: Visitor, shop: MerchantClient) -> None:
    person = {"firstname": "Ngozi", "lastname": "Eze", "email": "ngozi@example.com"}
    account = {"account_number": "0000000000", "bank_code": "058"}
    made = shop.put("clients", action="create", data={**person, "bankAccount": account}, status="active").body
    client = made["data"]["client_id"]
    loan = LendingClient(shop.connection, shop.mid, shop.key).request(client)["data"]["loan_id"]
    savings = savers.open_savings(shop, client, "700.00")
    paid = PaymentClient(shop).paid(user=person)["txnRef"]
    page = owner.get(f"/clients/{client}")
    for kind, reference in (("loans", loan), ("savings", savings), ("transactions", paid)):
        assert f'href="/{kind}/{reference}"' in page.text
    assert "Guaranty Trust Bank (058)" in page.words
    for path in (f"/loans/{loan}", "/loans", f"/savings/{savings}", "/savings"):
        assert f'href="/clients/{client}">Ngozi Eze</a>' in owner.get(path).text


def test_the_page_of_a_client_sums_what_is_owned_and_owed(owner: Visitor, shop: MerchantClient) -> None:
    bank = LendingClient(shop.connection, shop.mid, shop.key)
    member = guarantees.guarantor(bank)
    empty = owner.get(f"/clients/{bank.client()}").words
    assert "Owns NGN 0.00" in empty
    assert "Owes NGN 0.00" in empty
    client, pledged = member["client_id"], bank.lend(**guarantees.PLAIN)
    assert guarantees.pledge(bank, pledged, member)["status"] == 200
    savers.open_savings(shop, client, "1000.00", term_days=90, period=None)
    made = savers.invest(shop, "create_share_class", name="Ordinary", price="10.00")["data"]["class_id"]
    shares = {"class_id": made, "client_id": client, "shares": 7, "savings_id": member["savings_id"]}
    assert savers.invest(shop, "buy_shares", **shares, payment_method="savings")["status"] == 200
    request = bank.request(client, **guarantees.PLAIN)["data"]["loan_id"]
    assert bank.loans("process", loan_id=request, status="approve")["data"]["state"] == "active"
    words = owner.get(f"/clients/{client}").words
    for line in (
        "Savings 1 NGN 4,930.00",
        "Fixed deposits 1 NGN 1,000.00",
        "Shares 7 NGN 70.00",
        "Owns NGN 6,000.00",
        "Loans 1 NGN 10,000.00",
        "Owes NGN 10,000.00",
        "Pledged for loans of others: NGN 4,000.00 of the savings, for 1 loan",
    ):
        assert line in words, (line, words)


def test_a_purchase_is_disputed_on_the_page_of_its_card(owner: Visitor, shop: MerchantClient) -> None:
    card = CardClient(shop)
    bought = card.buy("40.00", merchant_name="Book Shop")["txnRef"]
    path = f"/cards/{quote(card.reference, safe='')}"
    form = {"id": bought, "reason": "not received", "evidence.explanation": "It never came."}
    assert owner.post(f"{path}/dispute", **form).place == path
    page = owner.get(path)
    [dispute_id] = set(re.findall(r'href="/card-disputes/([^"?]+)"', page.text))
    shown = owner.get(f"/card-disputes/{dispute_id}")
    assert "It never came." in shown.words
    assert "Sandbox: decide this dispute" in shown.words
    assert "not received" in owner.get("/card-disputes?state=submitted").words
    decided = {"dispute_id": unquote(dispute_id), "outcome": "won", "next": f"/card-disputes/{dispute_id}"}
    assert owner.post("/sandbox/card_dispute_outcome", **decided).place == f"/card-disputes/{dispute_id}"
    assert "The card network decided for the cardholder" in owner.get(f"/card-disputes/{dispute_id}").words
    assert card.balance == 10_000


def test_the_page_of_a_client_shows_the_tier_where_limits_apply(owner: Visitor, shop: MerchantClient) -> None:
    client, _, txn_ref = hold_deposit(shop)
    # The console learns of new settings within a second.
    wait_until("the console has the setting", lambda: "Limits by tier" in owner.get(f"/clients/{client}").words)
    page = owner.get(f"/clients/{client}")
    assert "0.00 of 1.00" in page.words
    assert f'href="/transactions/{txn_ref}"' in page.text
    assert "Tier 2 needs bvn verified" in page.words


def test_a_loan_in_arrears_shows_what_is_late_in_red(owner: Visitor, shop: MerchantClient) -> None:
    bank = LendingClient(shop.connection, shop.mid, shop.key)
    loan = bank.lend()
    fresh = owner.get(f"/loans/{loan}")
    assert "In arrears" not in fresh.words
    assert 'aria-label="Schedule: 12 installments, 0 paid, 0 late"' in fresh.text
    bank.repay(loan)
    shop.put("sandbox", action="advance", days=100)
    page = owner.get(f"/loans/{loan}")
    late = [line for line in bank.view(loan)["schedule"] if line["state"] == "late"]
    owed = sum(round(float(line["total"]) * 100) - round(float(line["paid"]) * 100) for line in late)
    assert f"In arrears: NGN {owed / 100:,.2f} , {len(late)} late installment" in page.words
    assert page.text.count('class="late-row"') == len(late)
    assert page.text.count('<rect class="late"') == len(late)
    assert "active in arrears" in page.words


def test_forms_suggest_clients_and_customers_by_name(owner: Visitor, shop: MerchantClient) -> None:
    client = LendingClient(shop.connection, shop.mid, shop.key).client()
    person: dict[str, Any] = {"name": "Adaeze Obiora", "email": "adaeze@example.com"}
    customer = shop.put("resources", request="customer", **person).body["data"]["customer_id"]
    page = owner.get(f"/clients/{client}")
    assert f'href="/loans?form=request&amp;client_id={client}#new-request"' in page.text
    form = owner.get(f"/loans?form=request&client_id={client}")
    assert f'<option value="{client}">Ada Obi</option>' in form.text
    assert f'name="client_id" type="text" list="suggested-request-client-id" value="{client}"' in form.text
    assert f'<option value="{customer}">Adaeze Obiora, adaeze@example.com</option>' in owner.get("/invoices").text


def test_a_pending_disbursement_is_completed_on_the_page_of_its_loan(owner: Visitor, shop: MerchantClient) -> None:
    bank = LendingClient(shop.connection, shop.mid, shop.key)
    loan = bank.request(bank.client(PENDING_ACCOUNT))["data"]["loan_id"]
    sent = bank.loans("process", loan_id=loan, status="approve")["txnRef"]
    page = owner.get(f"/loans/{loan}")
    assert "Sandbox: complete the disbursement" in page.words
    done = owner.post("/sandbox/settle", txnRef=sent, outcome="successful", next=f"/loans/{loan}")
    assert done.place == f"/loans/{loan}"
    assert bank.view(loan)["state"] == "active"


def test_the_picture_of_a_schedule_shows_paid_due_and_late_parts() -> None:
    line = {"due": "2026-02-01", "total": "100.00", "paid": "40.00", "state": "partially_paid"}
    drawn = draw_schedule([line, {**line, "paid": "0.00", "state": "late"}, {**line, "state": "written_off"}])
    assert [drawn.count(f'<rect class="{name}"') for name in ("due", "good", "late", "written-off")] == [1, 2, 1, 1]
    assert draw_schedule([]) == ""


def test_a_long_schedule_is_shown_in_parts(owner: Visitor, shop: MerchantClient) -> None:
    bank = LendingClient(shop.connection, shop.mid, shop.key)
    daily = {"interestSettings": {"interestRate": "0.1", "interestFrequency": "every_day"}, "period": 100}
    loan = bank.request(bank.client(), **{**TERMS, **daily})["data"]["loan_id"]
    page = owner.get(f"/loans/{loan}")
    assert "1 to 50 of 100" in page.words
    assert "51 to 100 of 100" in owner.get(f"/loans/{loan}?schedule_from=50").words
    for offset in ("x", "-1", "99999999999999999999"):
        assert owner.get(f"/loans/{loan}?schedule_from={offset}").http == 200


# --- cards --------------------------------------------------------------------------------------------------------


def test_the_number_of_a_card_is_revealed_once_after_step_up(deployment: Deployment, shop: MerchantClient) -> None:
    card = CardClient(shop).reference
    visitor, email = sign_in_user(deployment, shop)
    page = visitor.get(f"/cards/{card}")
    assert "Ada Obi" in page.words
    shown = shop.put("virtualcard", action="get", reference=card, reveal=True).body["card_data"]
    assert shown["cardpan"] not in page.text
    expire_step_up(deployment, email)
    asked = visitor.post(f"/cards/{card}/reveal")
    assert (asked.http, "Confirm your identity" in asked.words) == (401, True)
    assert shown["cardpan"] not in asked.text
    wrong = visitor.post(f"/cards/{card}/reveal", **{**hidden_fields(asked), "confirm_password": "wrong"})
    assert wrong.http == 401
    revealed = visitor.post(f"/cards/{card}/reveal", **{**hidden_fields(asked), "confirm_password": PASSWORD})
    assert (revealed.http, shown["cardpan"] in revealed.words, shown["cvv"] in revealed.words) == (200, True, True)
    assert revealed.headers["cache-control"] == "no-store"
    trail = visitor.get("/settings/trail").words
    assert ("reveal number and cvv" in trail, shown["cardpan"] in trail) == (True, False)
    assert sign_in_as(deployment, "merchant:developer", shop.mid).post(f"/cards/{card}/reveal").http == 403


def test_the_limits_of_a_card_are_shown_changed_and_removed(owner: Visitor, shop: MerchantClient) -> None:
    card = CardClient(shop).reference
    owner.get(f"/cards/{card}")
    fields = {"limits.per_transaction": "40.00", "limits.per_day": "100", "limits.categories": "5411, 5812"}
    assert owner.post(f"/cards/{card}/limits", **fields).http == 303
    page = owner.get(f"/cards/{card}")
    for value in ('value="40.00"', 'value="100.00"', 'value="5411, 5812"'):
        assert value in page.text
    refused = owner.post(f"/cards/{card}/limits", **{"limits.per_day": "x"})
    assert refused.http == 422
    assert owner.post(f"/cards/{card}/limits").http == 303
    assert "limits" not in shop.put("virtualcard", action="get", reference=card).body


def test_saving_the_limits_of_a_card_keeps_its_other_controls(owner: Visitor, shop: MerchantClient) -> None:
    controls = {
        "merchants": ["Ada, Obi and Sons", "Book Shop"],
        "countries": ["GH", "NG"],
        "velocity": [{"count": 2, "hours": 24}, {"amount": "80.00", "hours": 1}],
        "single_use": True,
        "from_date": "2026-01-01",
        "channels": ["atm", "online"],
    }
    card = CardClient(shop, limits=controls)
    before = card.ask("get")["limits"]
    page = owner.get(f"/cards/{card.reference}").text
    form = dict(re.findall(r'<input[^>]* name="(limits\.[^"]+)"[^>]* value="([^"]*)"', page))
    assert '<option value="yes" selected' in page
    assert owner.post(f"/cards/{card.reference}/limits", **{**form, "limits.single_use": "yes"}).http == 303
    assert card.ask("get")["limits"] == before
    assert owner.post(f"/cards/{card.reference}/limits", **{**form, "limits.per_day": "7"}).http == 303
    after = {name: value for name, value in before.items() if name != "single_use"}
    assert card.ask("get")["limits"] == {**after, "per_day": "7.00"}


def test_the_page_of_a_card_says_why_a_purchase_was_declined(owner: Visitor, shop: MerchantClient) -> None:
    card = CardClient(shop, limits={"countries": ["NG"]})
    assert "Declined purchases" not in owner.get(f"/cards/{card.reference}").words
    declined = card.buy("12.50", country="US")
    page = owner.get(f"/cards/{card.reference}")
    assert "Declined purchases" in page.words
    assert DECLINE_TEXTS["country_not_allowed"] in page.words
    assert declined["txnRef"] in page.words


def test_every_reason_of_a_decline_is_written_in_words() -> None:
    assert set(DECLINE_TEXTS) == set(get_args(DeclineReason))


def test_terminating_a_card_asks_first(owner: Visitor, shop: MerchantClient) -> None:
    card = CardClient(shop).reference
    owner.get(f"/cards/{card}")
    asked = owner.post(f"/cards/{card}/terminate")
    assert "This cannot be undone." in asked.words
    assert shop.put("virtualcard", action="get", reference=card).body["card_data"]["status"] == "active"
    assert owner.post(f"/cards/{card}/terminate", **hidden_fields(asked)).http == 303
    assert shop.put("virtualcard", action="get", reference=card).body["card_data"]["status"] == "terminated"


# --- the request log ----------------------------------------------------------------------------------------------


def test_the_request_log_lists_a_merchants_own_requests(deployment: Deployment, shop: MerchantClient) -> None:
    shop.transfer(orderRef="logged")
    shop.put("disburse", action="transfer", amount="x")
    stranger = deployment.open_shop()
    with stranger.connection:
        stranger.put("resources", inquire="wallet")
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    wait_until("both are recorded", lambda: owner.get("/requests").text.count("PUT /disburse") == 2)
    page = owner.get("/requests")
    assert "PUT /resources" not in page.words
    assert owner.get("/requests?show=refused").text.count("PUT /disburse") == 1
    assert owner.get("/requests?q=LOGGED").text.count("PUT /disburse") == 1
    assert "No such request" in owner.get("/requests?q=nothing-like-it").words


def test_a_logged_request_is_sent_again_with_changes(deployment: Deployment, shop: MerchantClient) -> None:
    shop.put("disburse", action="transfer", amount="x")
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    wait_until("it is recorded", lambda: "PUT /disburse" in owner.get("/requests").text)
    [number] = re.findall(r'href="/requests/(\d+)"', owner.get("/requests").text)
    page = owner.get(f"/requests/{number}")
    assert "field_required" in page.text
    for language in ("curl -X PUT", "urllib.request", "await fetch"):
        assert language in page.text
    body = {"action": "transfer", "amount": "5.00", "bankcode": "058", "accountnumber": "0000000000"}
    assert 'action="/docs/disburse/transfer"' in page.text
    sent = owner.post("/docs/disburse/transfer", body=msgspec.json.encode(body).decode())
    assert reply_in(sent)["message"] == "Transfer Successful"


def test_a_logged_request_is_a_merchants_own(deployment: Deployment, shop: MerchantClient) -> None:
    shop.transfer()
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    wait_until("it is recorded", lambda: "PUT /disburse" in owner.get("/requests").text)
    [number] = re.findall(r'href="/requests/(\d+)"', owner.get("/requests").text)
    stranger = deployment.open_shop()
    with stranger.connection:
        other = sign_in_as(deployment, "merchant:owner", stranger.mid)
        assert other.get(f"/requests/{number}").http == 404


# --- the vocabulary -----------------------------------------------------------------------------------------------


def literals_of(kind: Any) -> set[str]:
    """Returns the texts that a type allows."""
    if get_origin(kind) is Literal:
        return {value for value in get_args(kind) if isinstance(value, str)}
    return {text for part in get_args(kind) for text in literals_of(part)}


def states_of(struct: Any, seen: set[Any]) -> set[str]:
    """Returns the states that the fields `state`, `status` and `txnStatus` of a reply can have, at any depth."""
    if struct in seen:
        return set()
    seen.add(struct)
    if not (isinstance(struct, type) and issubclass(struct, msgspec.Struct)):
        return {state for part in get_args(struct) for state in states_of(part, seen)}
    fields = msgspec.structs.fields(struct)
    own = {s for f in fields if f.encode_name in ("state", "status", "txnStatus") for s in literals_of(f.type)}
    return own | {state for field in fields for state in states_of(field.type, seen)}


def test_every_state_of_a_record_has_a_symbol_and_a_color() -> None:
    methods = {method.name: method for method in (*list_methods("test"), CONSOLE)}
    wanted = {(kind.method, kind.view_action) for kind in RECORD_KINDS}
    wanted |= {(kind.list_method or kind.method, kind.list_action) for kind in RECORD_KINDS}
    actions: list[Any] = [a for name, method in methods.items() for a in method.actions if (name, a.name) in wanted]
    states = {state.lower() for action in actions for state in states_of(action.reply, set())}
    assert len(states) > 20
    assert states | FINAL | {PENDING, PROCESSING} <= STATE_STYLES.keys() | {"success"}


def test_every_state_is_styled_once() -> None:
    """A dict that has a key twice loses the first value."""
    tree = ast.parse(Path(vocabulary.__file__).read_text())
    [styles] = [one.value for one in tree.body if isinstance(one, ast.AnnAssign) and one.target.id == "STATE_STYLES"]  # type: ignore[union-attr]
    assert isinstance(styles, ast.Dict)
    keys = [key for key in styles.keys if key is not None]
    keys += [state for value in styles.values if isinstance(value, ast.Call) for state in list_fromkeys(value)]
    states = [key.value for key in keys if isinstance(key, ast.Constant)]
    assert len(keys) == len(states) == len(STATE_STYLES)


def list_fromkeys(call: ast.Call) -> list[ast.expr]:
    """Returns the keys of a call of dict.fromkeys, nothing of another call."""
    return call.args[0].elts if isinstance(call.args[0], ast.Tuple) else []


@pytest.mark.parametrize("states", [("active", "called", "ended", "released"), ("active", "paused", "held")])
def test_states_of_one_record_do_not_look_alike(states: tuple[str, ...]) -> None:
    assert len({STATE_STYLES[state] for state in states}) == len(states)


def test_opposite_states_differ_in_symbol_and_color() -> None:
    for one, other in (("successful", "failed"), ("pending", "processing"), ("active", "blocked"), ("won", "lost")):
        assert STATE_STYLES[one].symbol != STATE_STYLES[other].symbol
        assert STATE_STYLES[one].tone != STATE_STYLES[other].tone


def test_field_names_become_labels() -> None:
    assert [label(name) for name in ("txnRef", "client_id", "bvn_verified", "someFieldName")] == [
        "Reference",
        "Client",
        "BVN verified",
        "Some field name",
    ]
    assert humanize("tax_rate") == "Tax rate"


RETIRED_PHRASES = ("begin anew", "let time pass", "nothing fits", "keep it", ">facts<", "day one", "make it so")


def test_pages_do_not_use_retired_phrases() -> None:
    templates = files("kasuwa.console") / "templates"
    texts = {path.name: path.read_text().lower() for path in templates.iterdir() if path.name.endswith(".html")}
    texts.pop("payout_policy.html")  # "to keep it instead" is about a policy
    assert len(texts) > 50
    assert [(name, phrase) for name, text in texts.items() for phrase in RETIRED_PHRASES if phrase in text] == []

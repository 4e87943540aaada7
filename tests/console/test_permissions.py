"""What an action needs is a column of its table, and the same for a page, for "try it" and for whoever else asks.

What each role may ask for is written here once more, by hand: a slip in the tables does not test itself.
"""

import msgspec
import pytest

from kasuwa.authority.roles import MERCHANT_ROLES, ROLES_BY_PERMISSION
from kasuwa.console.merchant.actions import CONSOLE
from kasuwa.console.records.table import RECORD_KINDS
from kasuwa.console.routes import RECORD_PAGES
from kasuwa.core.action import PAY, VIEW, Action, AdminCommand, Read, Write, make_action_title, permission_needed
from kasuwa.methods.tables import list_methods
from tests.console.visitor import PageReply, Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

ROWS = [(method.name, action) for method in (*list_methods("test"), CONSOLE) for action in method.actions]
# All that takes money out, moves it between accounts, says where it goes, or shows a card's number.
PAYING = {
    "bills pay",
    "cashcode cancel",
    "cashcode generate",
    "console beneficiary",
    "disburse approve",
    "disburse reject",
    "disburse transfer",
    "disburse transfer bulk",
    "investments approve_redemption",
    "investments buy_shares",
    "investments cashout",
    "investments cashout cashcode",
    "loans decide_write_off",
    "investments change_standing_order",
    "investments decide_reactivation",
    "investments declare_dividend",
    "investments reactivate_savings",
    "investments redeem_shares",
    "investments reject_redemption",
    "investments standing_order",
    "investments transfer_shares",
    "loans auto_repay",
    "loans stop_auto_repay",
    "loans process_group_loan",
    "loans call_guarantee",
    "loans process",
    "loans pay_guarantor",
    "loans reschedule",
    "loans reverse",
    "loans top_up",
    "loans waive",
    "loans write_off",
    "payment refund",
    "payment dispute_respond",
    "resources payout_schedule",
    "virtualcard create",
    "virtualcard fund",
    "virtualcard get",
    "virtualcard terminate",
    "virtualcard withdraw",
}
TRANSFER = {"action": "transfer", "amount": "1500.00", "bankcode": "058", "accountnumber": "0000000000"}


def named(method: str, action: Action) -> str:
    return f"{method} {make_action_title(action)}"


def test_exactly_these_actions_need_the_permission_to_pay() -> None:
    assert {named(method, action) for method, action in ROWS if action.permission == PAY} == PAYING


def test_every_write_needs_more_than_the_permission_to_view() -> None:
    harmless = {
        "sandbox audit",
        "sandbox clock",
        "sandbox explain",
        "sandbox worlds",
        "sandbox compare_worlds",
        "sandbox requests",
    }
    found = {named(m, a) for m, a in ROWS if isinstance(a, Write | AdminCommand) and a.permission == VIEW}
    assert found == harmless
    assert all(action.permission == VIEW for _, action in ROWS if isinstance(action, Read))


def test_a_write_action_that_only_shows_needs_the_permission_to_view() -> None:
    rows = {named(method, action): action for method, action in ROWS}
    get, recurrent = rows["virtualcard get"], rows["resources recurrent"]
    assert permission_needed(get, get.request(reference="r")) == VIEW
    assert permission_needed(get, get.request(reference="r", reveal=True)) == PAY
    assert permission_needed(recurrent, recurrent.request(id="1")) == VIEW
    assert permission_needed(recurrent, recurrent.request(id="1", status="stop")) != VIEW


def test_each_merchant_role_has_exactly_these_permissions() -> None:
    may = {
        role: {permission for permission, roles in ROLES_BY_PERMISSION.items() if role in roles}
        for role in MERCHANT_ROLES
    }
    assert may == {
        "merchant:owner": {"view", "collect", "pay", "manage", "integrate"},
        "merchant:developer": {"view", "integrate"},
        "merchant:finance": {"view", "collect", "pay", "manage"},
        "merchant:read-only": {"view"},
    }


def test_record_forms_are_open_to_the_roles_that_their_actions_need() -> None:
    rows = {(method, action.name): action for method, action in ROWS if not isinstance(action, Read)}
    for kind in RECORD_KINDS:
        for form in (*kind.create_forms, *kind.update_forms):
            roles = ROLES_BY_PERMISSION[rows[kind.method, form.action].permission]
            pages = [
                page for page in RECORD_PAGES if page.http_method == "POST" and page.path.startswith(f"/{kind.name}/")
            ]
            assert pages
            assert all(page.access == roles for page in pages), form


# --- "try it" -----------------------------------------------------------------------------------------------------


def try_it(visitor: Visitor, page: str, **body: object) -> PageReply:
    visitor.get(f"/docs/{page}")
    return visitor.post(f"/docs/{page}", body=msgspec.json.encode(body).decode())


@pytest.mark.parametrize("role", ["merchant:developer", "merchant:read-only"])
def test_roles_without_permission_to_pay_cannot_pay_in_the_api_reference(
    deployment: Deployment, shop: MerchantClient, role: str
) -> None:
    visitor, before = sign_in_as(deployment, role, shop.mid), shop.wallet()
    assert "owner" in visitor.get("/docs/disburse/transfer").words
    assert try_it(visitor, "disburse/transfer", **TRANSFER, orderRef="tried").http == 403
    assert try_it(visitor, "disburse/verify", **TRANSFER, orderRef="tried").http == 422
    assert try_it(visitor, "disburse/transfer-bulk", **TRANSFER, type="bulk", data=[]).http == 403
    assert shop.wallet() == before
    assert shop.verify("tried")["status"] == 104
    sent = shop.transfer(orderRef="mine")
    assert sent["txnRef"] in try_it(visitor, "disburse/verify", action="verify", txnRef=sent["txnRef"]).words


def test_a_tried_body_must_request_the_action_of_the_page(deployment: Deployment, shop: MerchantClient) -> None:
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    for body in (TRANSFER, {**TRANSFER, "type": "bulk"}, {"action": "nonsense"}, {}):
        refused = try_it(owner, "disburse/verify", **body)
        assert (refused.http, "must request the action of this page, verify" in refused.words) == (422, True)
    assert shop.wallet().held == 0


def test_the_audit_entry_of_a_tried_action_has_reference_and_amount(
    deployment: Deployment, shop: MerchantClient
) -> None:
    finance = sign_in_as(deployment, "merchant:finance", shop.mid)
    answer = try_it(finance, "disburse/transfer", **TRANSFER, orderRef="tried")
    assert '"txnStatus": "successful"' in answer.words
    [entry] = deployment.fetch(
        "select action, subject, after from audit_entry join merchant using (merchant_id) where mid = $1 "
        "and action like 'tried %'",
        shop.mid,
    )
    assert (entry["action"], entry["subject"]) == ("tried disburse transfer", shop.verify("tried")["txnRef"])
    assert msgspec.json.decode(entry["after"]) == {
        "action": "disburse transfer",
        "amount": "1500.00",
        "bankcode": "058",
        "accountnumber": "0000000000",
    }


def test_an_action_and_its_audit_entry_are_in_the_same_commit(deployment: Deployment, shop: MerchantClient) -> None:
    """Uses a cashcode, whose rows are written once, so that xmin still names the transaction."""
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    owner.get("/cashcodes")
    order = {"amount": "5000.00", "pin": "2580", "channel": "ATM", "orderRef": "by-hand"}
    assert owner.post("/cashcodes/new/generate", **order).http == 200
    of_both = """
        select a.xmin::text = c.xmin::text as together, a.action, a.subject = c.txn_ref as same
        from merchant m join audit_entry a using (merchant_id) join cashcode c using (merchant_id)
        where m.mid = $1 and a.action not like 'used a link%'
    """
    [row] = deployment.fetch(of_both, shop.mid)
    assert (row["together"], row["action"], row["same"]) == (True, "generate a cashcode", True)
    assert "2580" not in owner.get("/settings/trail").words

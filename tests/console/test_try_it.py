"""The "Try it" forms of the API reference: every action works as the page shows it, on a merchant's own records."""

import html
import re

import msgspec
import pytest

from kasuwa.console.reference.try_it_needs import NEEDS
from tests.console.visitor import PageReply, Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.payer_pages import pay_on_page
from tests.running import Deployment
from tests.walk.rows import (
    ACTION_ROWS,
    RESET,
    ActionRow,
    example_paths,
    is_placeholder,
    make_waiting_transfer,
    placeholder_field,
    value_at,
)

pytestmark = pytest.mark.xdist_group("try_it")

# Actions that a merchant alone cannot carry out, with the refusal that the page then shows.
NEED_SOMEBODY_ELSE = {
    "disburse-approve": "Invalid Transaction Reference",
    "disburse-reject": "Invalid Transaction Reference",
    "loans-decide_write_off": "No write-off of this loan waits for approval",
    "investments-approve_redemption": "Whoever asked for a redemption cannot approve it",
    "investments-reactivate_savings": "The savings are not dormant",
    "investments-decide_reactivation": "The savings are not dormant",
    "investments-declare_dividend": "Nobody had shares of this class",
    "investments-transfer_shares": "another member than client_id",
    "resources-ticket_by_code": "Invalid Ticket Code",
    "resources-ticket_use": "Invalid Ticket Code",
    "resources-resend": "No webhook URL is set; set one first",
}
# These come last: they leave a merchant without its objects, or its books.
LAST = (RESET.title,)


def path_of(row: ActionRow) -> str:
    return f"/docs/{row.method}/{row.title.removeprefix(f'{row.method}-')}"


def body_in(page: PageReply) -> str:
    [body] = re.findall(r'<textarea id="field-body"[^>]*>(.*?)</textarea>', page.text, re.DOTALL)
    return html.unescape(body)


def reply_in(page: PageReply) -> dict[str, object]:
    [reply] = re.findall(r"<pre data-answer>(.*?)</pre>", page.text, re.DOTALL)
    return msgspec.json.decode(html.unescape(reply), type=dict[str, object])


def press(visitor: Visitor, row: ActionRow) -> dict[str, object]:
    """Opens the page, makes what it says is missing, and sends the request as it is filled in."""
    page = visitor.get(path_of(row))
    if "Make one for this test" in page.words:
        page = visitor.post(path_of(row), make="yes")
        assert "was refused" not in page.words, page.words
        assert "data-missing" not in page.text
    return reply_in(visitor.post(path_of(row), body=body_in(page)))


# Actions that end something on purpose: its failure is what was asked for.
ENDED_AS_ASKED = frozenset({"cashcode-cancel", "sandbox-card_reverse"})


def is_carried_out(row: ActionRow, reply: dict[str, object]) -> bool:
    if row.title == "resources-banks":  # a map from codes to names
        return reply["058"] == "Guaranty Trust Bank"
    is_failed = reply.get("txnStatus") == "failed" and row.title not in ENDED_AS_ASKED
    return reply.get("status") in (200, 202, "success") and not is_failed


def test_every_action_works_as_its_page_shows_it(deployment: Deployment, shop: MerchantClient) -> None:
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    wrong = {}
    for row in sorted(ACTION_ROWS, key=lambda row: row.title in LAST):
        reply = press(owner, row)
        if row.title in NEED_SOMEBODY_ELSE:
            if NEED_SOMEBODY_ELSE[row.title] not in str(reply.get("message")):
                wrong[row.title] = reply
        elif not is_carried_out(row, reply):
            wrong[row.title] = reply
    assert not wrong, "\n".join(f"{title}: {reply}" for title, reply in wrong.items())


def test_every_reference_of_an_example_has_its_need() -> None:
    for row in ACTION_ROWS:
        named = {name for name, value in row.example.items() if is_placeholder(name, value)}
        filled = {field for need in NEEDS.get(row.title, ()) for field in need.names}
        assert named <= filled, row.title
        inside = {placeholder_field(value_at(row.example, path)) for path in example_paths(row.example, ())}
        assert filled <= {*row.example, *inside}, row.title
    assert NEEDS.keys() <= {row.title for row in ACTION_ROWS}


def test_references_are_those_of_the_merchants_own_last_calls(deployment: Deployment, shop: MerchantClient) -> None:
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    assert "None was found among your last calls" in owner.get("/docs/disburse/verify").words
    for order in ("mine-1", "mine-2"):
        shop.put(
            "disburse", action="transfer", amount="10.00", bankcode="058", accountnumber="0000000000", orderRef=order
        )
    page = owner.get("/docs/disburse/verify")
    assert msgspec.json.decode(body_in(page)) == {"action": "verify", "txnRef": "mine-2"}
    assert "Filled in from your last calls: txnRef" in page.words


def test_a_transfer_that_waits_is_filled_in_and_approved(deployment: Deployment, shop: MerchantClient) -> None:
    waiting = make_waiting_transfer(shop).body["txnRef"]
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    [approve] = [row for row in ACTION_ROWS if row.title == "disburse-approve"]
    reply = press(owner, approve)
    assert (reply["txnRef"], reply["txnStatus"]) == (waiting, "successful")


def test_the_code_of_a_ticket_that_was_sold_is_filled_in(deployment: Deployment, shop: MerchantClient) -> None:
    [ticket] = [row for row in ACTION_ROWS if row.title == "resources-ticket"]
    link = shop.send_fields("resources", ticket.example).body["data"]["link"]
    pay_on_page(shop, link, {"count_0": "1", "fullname": "Ada Obi", "email": "ada@example.com"})
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    for title in ("resources-ticket_by_code", "resources-ticket_use"):
        [row] = [row for row in ACTION_ROWS if row.title == title]
        assert press(owner, row)["status"] == 200, title


def test_nothing_of_before_a_reset_is_filled_in(deployment: Deployment, shop: MerchantClient) -> None:
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    owner.post("/docs/cashcode/generate", body=body_in(owner.get("/docs/cashcode/generate")))
    assert "Filled in" in owner.get("/docs/cashcode/verify").words
    assert reply_in(owner.post("/docs/sandbox/reset", body=body_in(owner.get("/docs/sandbox/reset"))))["status"] == 200
    assert "None was found" in owner.get("/docs/cashcode/verify").words


def test_a_reply_on_one_page_fills_in_the_next(deployment: Deployment, shop: MerchantClient) -> None:
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    code = reply_in(owner.post("/docs/cashcode/generate", body=body_in(owner.get("/docs/cashcode/generate"))))
    redeem = msgspec.json.decode(body_in(owner.get("/docs/sandbox/redeem_cashcode")))
    assert redeem["cashcode"] == code["cashcode"]
    colleague = sign_in_as(deployment, "merchant:owner", shop.mid)
    assert "None was found among your last calls" in colleague.get("/docs/sandbox/redeem_cashcode").words


def test_a_role_that_may_not_pay_is_not_offered_to_make_a_card(deployment: Deployment, shop: MerchantClient) -> None:
    finance = sign_in_as(deployment, "merchant:read-only", shop.mid)
    page = finance.get("/docs/virtualcard/transactions")
    assert "None was found among your last calls" in page.words
    assert "Make one for this test" not in page.words
    assert finance.post("/docs/virtualcard/transactions", make="yes").http == 403

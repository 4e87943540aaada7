"""What public clients of this kind of API send, and how they are answered.

Contract: #requests, #replies, resources#banks
"""

from typing import Any

import pytest

from tests.merchant_client import MerchantClient, new_reference
from tests.running import Deployment

PAN = "5399832694470923"
SAMPLE_PAYCODE = "lAApm6OBmRmp3cQ"


@pytest.mark.parametrize("text", [PAN, "5399 8326 9447 0923", "539983", "53998326"])
def test_a_whole_card_number_is_looked_up_by_its_first_six_digits(
    shop: MerchantClient, deployment: Deployment, text: str
) -> None:
    short = shop.put("resources", inquire="card", card_no="539983").body
    assert short["status"] == 200
    assert shop.put("resources", inquire="card", card_no=text).body == short
    assert PAN not in deployment.out.read_text()


@pytest.mark.parametrize("value", ["53998", "53998x", "5" * 20, "", 539983, None])
def test_what_is_no_beginning_of_a_card_number_is_refused(shop: MerchantClient, value: object) -> None:
    reply = shop.put("resources", inquire="card", card_no=value).body
    assert (reply["status"], [fault["field"] for fault in reply["errors"]]) == (104, ["card_no"])


@pytest.mark.parametrize("amount", ["1500", "1500.00", "1500.5", 1500, 1500.5])
def test_an_amount_is_repeated_in_the_type_and_digits_that_were_sent(shop: MerchantClient, amount: object) -> None:
    account = shop.put("payment", action="charge", paymentType="bank_transfer", amount=amount).body
    assert (account["status"], account["amount"], type(account["amount"])) == (202, amount, type(amount))
    asked: dict[str, Any] = {"pin": "2580", "channel": "ATM", "orderRef": new_reference("cash")}
    code = shop.put("cashcode", action="generate", amount=amount, **asked).body
    assert (code["status"], code["amount"], type(code["amount"])) == (200, amount, type(amount)), code


def test_the_amount_that_the_payer_pays_is_shown_where_it_differs(shop: MerchantClient) -> None:
    fields: dict[str, Any] = {"paymentType": "bank_transfer", "amount": "1500", "bearer": "customer"}
    charged = shop.put("payment", action="charge", **fields).body["amount"]
    assert isinstance(charged, str)
    assert float(charged) > 1500


def test_the_paycode_of_public_samples_buys_airtime(shop: MerchantClient) -> None:
    order: dict[str, Any] = {"paycode": SAMPLE_PAYCODE, "reference": "08031234567"}
    assert shop.put("bills", action="resolve", **order).body["status"] == 200
    paid = shop.put("bills", action="pay", **order, amount="500", orderRef=new_reference("airtime")).body
    assert paid["txnStatus"] == "successful"


def test_a_body_in_an_array_of_one_and_an_empty_array_for_an_object_are_taken(shop: MerchantClient) -> None:
    body = b'[{"action":"charge","paymentType":"qrpay","amount":"100","user":[]}]'
    assert shop.send("/payment/", body).body["status"] == 202

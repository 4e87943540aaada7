"""The methods of the sync client: one class per path, one method per action.

Written by `python -m clients.generate` from the action tables of the service. Do not edit.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from kasuwa_client import _actions as actions
from kasuwa_client import types
from kasuwa_client._groups import SyncGroup
from kasuwa_client._pages import Page
from kasuwa_client._paid import covers, read_price
from kasuwa_client.errors import InvalidRequest, OutcomeUnknown


class Disburse(SyncGroup):
    """The actions of `PUT /disburse`."""

    def transfer(
        self,
        *,
        amount: types.Amount,
        bankcode: str,
        accountnumber: str,
        currency: Literal["NGN"] | None = None,
        sender_name: str | None = None,
        narration: str | None = None,
        order_ref: str | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.TransferReply:
        """Send money from the wallet to a bank account.

        One transfer from the merchant's wallet to a bank account. `currency` may be left out: it is always NGN.

        Needs a key of scope `payout`.

        amount: Amount that the beneficiary receives, in naira. Fee and VAT are debited on top, and stamp duty where
            it applies. Digits with at most two decimals, above zero, at most 15 digits.
        currency: May be left out: transfers are always made in NGN.
        bankcode: Code of the beneficiary's bank, as `banks` of `/resources` lists it. A bank code of 3, 5 or 6
            digits.
        accountnumber: Account of the beneficiary at that bank. Its check digit is verified where the bank uses one.
            Ten digits.
        sender_name: Name of the sender that is passed on to the bank. At most 200 characters.
        narration: Purpose of the transfer, passed on to the bank. At most 200 characters.
        order_ref: Your reference of the order. Sent again with the same content it returns the first transfer; with
            other content it is refused. If left out, the `txnRef` is used. 1 to 100 characters. The client makes
            one if it is left out.
        dry_run: If true, the reply explains what the transfer would cost and whether it would wait for approval. No
            money moves. An order of a bulk with `true` is refused.
        idempotency_key: Only needed besides `order_ref` if the same reply must come again, for 24 hours.

        Example, and the reply that was recorded for it:

            shop.disburse.transfer(
                amount="1500.00",
                bankcode="058",
                accountnumber="0000000000",
                sender_name="Ada Stores",
                narration="Invoice 1042",
                order_ref="order-1042",
            )

            {
              "status": 200,
              "txnStatus": "successful",
              "txnRef": "<txnRef>",
              "orderRef": "order-1042",
              "message": "Transfer Successful",
              "receiptURL": "<receiptURL>"
            }
        """
        return self._call(
            actions.DISBURSE_TRANSFER,
            {
                "amount": amount,
                "bankcode": bankcode,
                "accountnumber": accountnumber,
                "currency": currency,
                "sender_name": sender_name,
                "narration": narration,
                "order_ref": order_ref,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def transfer_bulk(
        self, *, data: Sequence[types.TransferOrder], idempotency_key: str | None = None
    ) -> types.BulkTransferReply:
        """Send up to 1,000 transfers in one request.

        Many transfers at once. Each order is handled on its own: an invalid one fails and the others are sent.

        Needs a key of scope `payout`.

        data: The orders, each with the fields of a single transfer. At least one order, at most 1,000.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.disburse.transfer_bulk(
                data=[
                    {
                        "amount": "1500.00",
                        "bankcode": "058",
                        "accountnumber": "0000000000",
                        "sender_name": "Ada Stores",
                        "narration": "Invoice 1042",
                        "orderRef": "order-1042",
                    }
                ]
            )

            {
              "status": 202,
              "batchRef": "<batchRef>",
              "message": "Bulk transfer accepted; verify each order",
              "data": [
                {
                  "orderRef": "order-1042",
                  "txnRef": "<txnRef>",
                  "txnStatus": "successful",
                  "message": "Transfer Successful"
                }
              ]
            }
        """
        return self._call(actions.DISBURSE_TRANSFER_BULK, {"data": data}, idempotency_key)

    def approve(self, *, txn_ref: str, idempotency_key: str | None = None) -> types.ApprovalReply:
        """Approve a transfer that waits, or a bulk, with another key than the one that made it.

        A transfer that waits for approval, or a bulk with all of its orders that still wait.

        Needs a key of scope `approve`.

        txn_ref: The `txnRef` of the transfer, or the `batchRef` of the bulk. 1 to 100 characters.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.disburse.approve(txn_ref="<txnRef>")

            {
              "status": 200,
              "txnStatus": "successful",
              "txnRef": "<txnRef>",
              "orderRef": "<reference>",
              "message": "Transfer Successful",
              "receiptURL": "<receiptURL>"
            }
        """
        return self._call(actions.DISBURSE_APPROVE, {"txn_ref": txn_ref}, idempotency_key)

    def reject(self, *, txn_ref: str, idempotency_key: str | None = None) -> types.ApprovalReply:
        """Reject a transfer that waits for approval, or a bulk, and release its money.

        A transfer that waits for approval, or a bulk with all of its orders that still wait.

        Needs a key of scope `approve`.

        txn_ref: The `txnRef` of the transfer, or the `batchRef` of the bulk. 1 to 100 characters.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.disburse.reject(txn_ref="<txnRef>")

            {
              "status": 200,
              "txnStatus": "failed",
              "txnRef": "<txnRef>",
              "orderRef": "<reference>",
              "message": "Rejected by key 1 (default)"
            }
        """
        return self._call(actions.DISBURSE_REJECT, {"txn_ref": txn_ref}, idempotency_key)

    def verify(
        self, *, txn_ref: str | None = None, order_ref: str | None = None, batch_ref: str | None = None
    ) -> types.TransferState:
        """The state of a transfer, by its orderRef or txnRef, or of a bulk, by its batchRef.

        The orderRef or txnRef of a transfer, or the batchRef of a bulk. Each may be sent as `txnRef` or under its own
        name. If several are sent, `txnRef` counts.

        Needs a key of scope `payout` or `read`.

        txn_ref: The reference to look up: an `orderRef`, a `txnRef`, a `batchRef`, or a `loan_id` for its
            disbursement. 1 to 100 characters.
        order_ref: The `orderRef` or `txnRef` of a transfer. Ignored if `txnRef` is sent. 1 to 100 characters.
        batch_ref: The `batchRef` of a bulk. Ignored if `txnRef` or `orderRef` is sent. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.disburse.verify(txn_ref="order-1042")

            {
              "status": 200,
              "txnStatus": "successful",
              "txnRef": "<txnRef>",
              "orderRef": "order-1042",
              "amount": "1500.00",
              "fee": "10.00",
              "vat": "0.75",
              "message": "Transfer Successful",
              "receiptURL": "<receiptURL>"
            }
        """
        return self._call(actions.DISBURSE_VERIFY, {"txn_ref": txn_ref, "order_ref": order_ref, "batch_ref": batch_ref})

    def wait(
        self,
        thing: types.TransferReply | types.BulkTransferReply | types.TransferState | str | OutcomeUnknown,
        seconds: float = 60.0,
    ) -> types.TransferState:
        """Polls `verify` until the transaction is final, and returns its state. Raises StillPending, an
        OutcomeUnknown, if it is not final within so many seconds. `thing` is a reply, a reference, or the
        OutcomeUnknown that the operation raised.
        """
        return self._wait(actions.DISBURSE_VERIFY, thing, seconds)


class Payment(SyncGroup):
    """The actions of `PUT /payment`."""

    def initiate_card(
        self,
        *,
        user: types.Payer | None = None,
        country: str | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        customer_txnref: str | None = None,
        redirect_url: str | None = None,
        meta: Mapping[str, Any] | None = None,
        bearer: Literal["account", "customer", "merchant"] | None = None,
        split: Sequence[types.SplitPart] | None = None,
        is_recurring: bool | None = None,
        recurrent: types.Recurrence | None = None,
        installment: types.InstallmentSchedule | None = None,
        card: types.CardDetails | None = None,
        amount: types.Amount | None = None,
        idempotency_key: str | None = None,
    ) -> types.PaymentReply:
        """Begin a card payment: which authentication does the card want?.

        The first step of a card payment. `amount` may be absent if an installment schedule says what is due.

        Needs a key of scope `collect`.

        user: The payer.
        country: Country of the payment. Default `NG`. Cards: `NG`, `GH`, `KE` or `US`; mobile money: the provider's
            country; other payment types: `NG` alone. A country as two capital letters.
        currency: Currency of all amounts. Default `NGN`. Cards: the currency of `country`, or `USD`; mobile money:
            the provider's currency; other payment types: `NGN` alone. One of NGN, USD, GHS, KES.
        customer_txnref: Your reference of the payment, which `verify` takes. It need not be unique: `verify` then
            returns the successful payment, else the newest. 1 to 100 characters.
        redirect_url: Address to which the payer is sent after a page of ours (3-D Secure, paga) or of a vendor,
            with `txnRef` and `txnStatus` added to it. Required for paga. Without one, the page shows the result as
            JSON. An http or https URL of at most 2,048 characters, its host in ASCII.
        meta: An object of your own, stored and returned unchanged, with card numbers in it masked. At most 64 KiB.
        bearer: Payer of the fee: `merchant` (also spelled `account`) has it deducted at settlement, `customer` pays
            it on top of the amount. Default: your tariff's setting, `merchant` unless changed.
        split: Beneficiaries that get a part of the settled amount. The remainder is yours. At least one part, at
            most 50.
        is_recurring: Implied by `recurrent`. Alone it plans no further charges. Card payments only.
        recurrent: Charges the card again on a schedule after the first charge succeeded. Card payments only, and
            not together with `installment`.
        installment: Charges a total in parts on several dates. Card and token payments only.
        card: The card to charge. Required, unless payers enter their cards on the page of a vendor: then it must be
            left out, and the reply has an `authURL`.
        amount: Amount to charge. Required unless `installment` is sent; then it is what the schedule has due today,
            or left out. Digits with at most two decimals, above zero, at most 15 digits.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.payment.initiate_card(
                user={"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"},
                amount="1500.00",
                country="NG",
                currency="NGN",
                customer_txnref="basket-77",
                is_recurring=True,
                recurrent={"frequency": "monthly", "value": "30"},
                card={
                    "card_no": "5123450000000008",
                    "expiry_month": "12",
                    "expiry_year": "30",
                    "ccv": "100",
                    "pin": "1234",
                },
            )

            {
              "status": 202,
              "txnRef": "<txnRef>",
              "message": "Charge with the card's PIN",
              "apply_auth": "PIN"
            }
        """
        return self._call(
            actions.PAYMENT_INITIATE_CARD,
            {
                "user": user,
                "country": country,
                "currency": currency,
                "customer_txnref": customer_txnref,
                "redirect_url": redirect_url,
                "meta": meta,
                "bearer": bearer,
                "split": split,
                "is_recurring": is_recurring,
                "recurrent": recurrent,
                "installment": installment,
                "card": card,
                "amount": amount,
            },
            idempotency_key,
        )

    def charge_card(
        self,
        *,
        txn_ref: str,
        user: types.Payer | None = None,
        country: str | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        customer_txnref: str | None = None,
        redirect_url: str | None = None,
        meta: Mapping[str, Any] | None = None,
        bearer: Literal["account", "customer", "merchant"] | None = None,
        split: Sequence[types.SplitPart] | None = None,
        is_recurring: bool | None = None,
        recurrent: types.Recurrence | None = None,
        installment: types.InstallmentSchedule | None = None,
        card: types.CardDetails | None = None,
        amount: types.Amount | None = None,
        auth_type: Literal["3DSecure", "OTP", "PIN"] | None = None,
        idempotency_key: str | None = None,
    ) -> types.PaymentReply:
        """Charge the card with the authentication it wants.

        The second step: the same body with the reference and the authentication that the first step asked for. Fields
        that only this step has count as if the first had them.

        Needs a key of scope `collect`.

        user: The payer.
        country: Country of the payment. Default `NG`. Cards: `NG`, `GH`, `KE` or `US`; mobile money: the provider's
            country; other payment types: `NG` alone. A country as two capital letters.
        currency: Currency of all amounts. Default `NGN`. Cards: the currency of `country`, or `USD`; mobile money:
            the provider's currency; other payment types: `NGN` alone. One of NGN, USD, GHS, KES.
        customer_txnref: Your reference of the payment, which `verify` takes. It need not be unique: `verify` then
            returns the successful payment, else the newest. 1 to 100 characters.
        redirect_url: Address to which the payer is sent after a page of ours (3-D Secure, paga) or of a vendor,
            with `txnRef` and `txnStatus` added to it. Required for paga. Without one, the page shows the result as
            JSON. An http or https URL of at most 2,048 characters, its host in ASCII.
        meta: An object of your own, stored and returned unchanged, with card numbers in it masked. At most 64 KiB.
        bearer: Payer of the fee: `merchant` (also spelled `account`) has it deducted at settlement, `customer` pays
            it on top of the amount. Default: your tariff's setting, `merchant` unless changed.
        split: Beneficiaries that get a part of the settled amount. The remainder is yours. At least one part, at
            most 50.
        is_recurring: Implied by `recurrent`. Alone it plans no further charges. Card payments only.
        recurrent: Charges the card again on a schedule after the first charge succeeded. Card payments only, and
            not together with `installment`.
        installment: Charges a total in parts on several dates. Card and token payments only.
        card: The card to charge. Required, unless payers enter their cards on the page of a vendor: then it must be
            left out, and the reply has an `authURL`.
        amount: Amount to charge. Required unless `installment` is sent; then it is what the schedule has due today,
            or left out. Digits with at most two decimals, above zero, at most 15 digits.
        txn_ref: The `txnRef` that `initiate` returned. 1 to 100 characters.
        auth_type: The `apply_auth` that `initiate` returned. May be left out; another value is refused.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.payment.charge_card(
                user={"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"},
                amount="1500.00",
                country="NG",
                currency="NGN",
                customer_txnref="basket-77",
                is_recurring=True,
                recurrent={"frequency": "monthly", "value": "30"},
                card={
                    "card_no": "5123450000000008",
                    "expiry_month": "12",
                    "expiry_year": "30",
                    "ccv": "100",
                    "pin": "1234",
                },
                txn_ref="<txnRef>",
                auth_type="PIN",
            )

            {
              "status": 200,
              "txnRef": "<txnRef>",
              "txnStatus": "successful",
              "message": "Charge Successful",
              "cardToken": "<cardToken>",
              "bank_message": "Approved",
              "fullname": "Ada Obi",
              "email": "ada@example.com",
              "chargedAmount": "1500.00",
              "fraudStatus": "ok",
              "card": {
                "hash": "<hash>",
                "mask": "512345******0008",
                "bin": "512345",
                "brand": "mastercard",
                "type": "credit",
                "issuer": "Sandbox Bank (Mastercard test BIN)",
                "country": "NG"
              },
              "currency": "NGN",
              "payment_method": "card"
            }
        """
        return self._call(
            actions.PAYMENT_CHARGE_CARD,
            {
                "txn_ref": txn_ref,
                "user": user,
                "country": country,
                "currency": currency,
                "customer_txnref": customer_txnref,
                "redirect_url": redirect_url,
                "meta": meta,
                "bearer": bearer,
                "split": split,
                "is_recurring": is_recurring,
                "recurrent": recurrent,
                "installment": installment,
                "card": card,
                "amount": amount,
                "auth_type": auth_type,
            },
            idempotency_key,
        )

    def charge_account(
        self,
        *,
        amount: types.Amount,
        account: types.PayerAccount,
        user: types.Payer | None = None,
        country: str | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        customer_txnref: str | None = None,
        redirect_url: str | None = None,
        meta: Mapping[str, Any] | None = None,
        bearer: Literal["account", "customer", "merchant"] | None = None,
        split: Sequence[types.SplitPart] | None = None,
        is_recurring: bool | None = None,
        recurrent: types.Recurrence | None = None,
        installment: types.InstallmentSchedule | None = None,
        idempotency_key: str | None = None,
    ) -> types.PaymentReply:
        """Debit a bank account, after an OTP.

        Debits a bank account after an OTP.

        Needs a key of scope `collect`.

        user: The payer.
        country: Country of the payment. Default `NG`. Cards: `NG`, `GH`, `KE` or `US`; mobile money: the provider's
            country; other payment types: `NG` alone. A country as two capital letters.
        currency: Currency of all amounts. Default `NGN`. Cards: the currency of `country`, or `USD`; mobile money:
            the provider's currency; other payment types: `NGN` alone. One of NGN, USD, GHS, KES.
        customer_txnref: Your reference of the payment, which `verify` takes. It need not be unique: `verify` then
            returns the successful payment, else the newest. 1 to 100 characters.
        redirect_url: Address to which the payer is sent after a page of ours (3-D Secure, paga) or of a vendor,
            with `txnRef` and `txnStatus` added to it. Required for paga. Without one, the page shows the result as
            JSON. An http or https URL of at most 2,048 characters, its host in ASCII.
        meta: An object of your own, stored and returned unchanged, with card numbers in it masked. At most 64 KiB.
        bearer: Payer of the fee: `merchant` (also spelled `account`) has it deducted at settlement, `customer` pays
            it on top of the amount. Default: your tariff's setting, `merchant` unless changed.
        split: Beneficiaries that get a part of the settled amount. The remainder is yours. At least one part, at
            most 50.
        is_recurring: Implied by `recurrent`. Alone it plans no further charges. Card payments only.
        recurrent: Charges the card again on a schedule after the first charge succeeded. Card payments only, and
            not together with `installment`.
        installment: Charges a total in parts on several dates. Card and token payments only.
        amount: Amount to debit, in naira. Digits with at most two decimals, above zero, at most 15 digits.
        account: The account to debit. Its bank sends the payer an OTP for `validate`.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.payment.charge_account(
                user={"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"},
                amount="2000.00",
                account={"accountnumber": "0000000000", "bankcode": "058"},
            )

            {
              "status": 202,
              "txnRef": "<txnRef>",
              "message": "Validate with the OTP",
              "auth_type": "OTP",
              "validate": "Enter the OTP that the bank sent to the customer"
            }
        """
        return self._call(
            actions.PAYMENT_CHARGE_ACCOUNT,
            {
                "amount": amount,
                "account": account,
                "user": user,
                "country": country,
                "currency": currency,
                "customer_txnref": customer_txnref,
                "redirect_url": redirect_url,
                "meta": meta,
                "bearer": bearer,
                "split": split,
                "is_recurring": is_recurring,
                "recurrent": recurrent,
                "installment": installment,
            },
            idempotency_key,
        )

    def validate(
        self,
        *,
        txn_ref: str,
        otp: str,
        validate: Literal["account", "card"] | None = None,
        idempotency_key: str | None = None,
    ) -> types.PaymentReply:
        """Bring the OTP that the payer's bank sent.

        Submits the OTP that the payer's bank sent. For account payments `validate` is "account".

        Needs a key of scope `collect`.

        txn_ref: The payment that awaits an OTP. 1 to 100 characters.
        otp: The code that the payer received. The third wrong one fails the payment. 4 to 8 digits.
        validate: Kind of the payment. May be left out: the payment itself says it.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.payment.validate(txn_ref="<txnRef>", otp="123456", validate="account")

            {
              "status": 200,
              "txnRef": "<txnRef>",
              "txnStatus": "successful",
              "message": "Validation Successful"
            }
        """
        return self._call(
            actions.PAYMENT_VALIDATE, {"txn_ref": txn_ref, "otp": otp, "validate": validate}, idempotency_key
        )

    def charge_ussd(
        self,
        *,
        amount: types.Amount,
        bank: Literal["gtb", "zenith"],
        user: types.Payer | None = None,
        country: str | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        customer_txnref: str | None = None,
        redirect_url: str | None = None,
        meta: Mapping[str, Any] | None = None,
        bearer: Literal["account", "customer", "merchant"] | None = None,
        split: Sequence[types.SplitPart] | None = None,
        is_recurring: bool | None = None,
        recurrent: types.Recurrence | None = None,
        installment: types.InstallmentSchedule | None = None,
        phonenumber: str | None = None,
        accountnumber: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.PaymentReply:
        """A code that the payer dials.

        Returns a code that the payer dials. Zenith requires phone and account number.

        Needs a key of scope `collect`.

        user: The payer.
        country: Country of the payment. Default `NG`. Cards: `NG`, `GH`, `KE` or `US`; mobile money: the provider's
            country; other payment types: `NG` alone. A country as two capital letters.
        currency: Currency of all amounts. Default `NGN`. Cards: the currency of `country`, or `USD`; mobile money:
            the provider's currency; other payment types: `NGN` alone. One of NGN, USD, GHS, KES.
        customer_txnref: Your reference of the payment, which `verify` takes. It need not be unique: `verify` then
            returns the successful payment, else the newest. 1 to 100 characters.
        redirect_url: Address to which the payer is sent after a page of ours (3-D Secure, paga) or of a vendor,
            with `txnRef` and `txnStatus` added to it. Required for paga. Without one, the page shows the result as
            JSON. An http or https URL of at most 2,048 characters, its host in ASCII.
        meta: An object of your own, stored and returned unchanged, with card numbers in it masked. At most 64 KiB.
        bearer: Payer of the fee: `merchant` (also spelled `account`) has it deducted at settlement, `customer` pays
            it on top of the amount. Default: your tariff's setting, `merchant` unless changed.
        split: Beneficiaries that get a part of the settled amount. The remainder is yours. At least one part, at
            most 50.
        is_recurring: Implied by `recurrent`. Alone it plans no further charges. Card payments only.
        recurrent: Charges the card again on a schedule after the first charge succeeded. Card payments only, and
            not together with `installment`.
        installment: Charges a total in parts on several dates. Card and token payments only.
        amount: Amount to pay, in naira. Digits with at most two decimals, above zero, at most 15 digits.
        bank: Bank of the payer, whose USSD service is dialed.
        phonenumber: Telephone number of the payer. Required for `zenith`. A telephone number in digits.
        accountnumber: Bank account of the payer. Required for `zenith`. Ten digits.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.payment.charge_ussd(
                user={"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}, amount="1000.00", bank="gtb"
            )

            {
              "status": 202,
              "txnRef": "<txnRef>",
              "message": "The customer dials the code",
              "auth_type": "ussd",
              "ussd_code": "<ussd_code>",
              "expires": 600
            }
        """
        return self._call(
            actions.PAYMENT_CHARGE_USSD,
            {
                "amount": amount,
                "bank": bank,
                "user": user,
                "country": country,
                "currency": currency,
                "customer_txnref": customer_txnref,
                "redirect_url": redirect_url,
                "meta": meta,
                "bearer": bearer,
                "split": split,
                "is_recurring": is_recurring,
                "recurrent": recurrent,
                "installment": installment,
                "phonenumber": phonenumber,
                "accountnumber": accountnumber,
            },
            idempotency_key,
        )

    def charge_phone(
        self,
        *,
        amount: types.Amount,
        phonenumber: str,
        user: types.Payer | None = None,
        country: str | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        customer_txnref: str | None = None,
        redirect_url: str | None = None,
        meta: Mapping[str, Any] | None = None,
        bearer: Literal["account", "customer", "merchant"] | None = None,
        split: Sequence[types.SplitPart] | None = None,
        is_recurring: bool | None = None,
        recurrent: types.Recurrence | None = None,
        installment: types.InstallmentSchedule | None = None,
        idempotency_key: str | None = None,
    ) -> types.PaymentReply:
        """Prompt the payer on the telephone.

        Prompts the payer on the phone.

        Needs a key of scope `collect`.

        user: The payer.
        country: Country of the payment. Default `NG`. Cards: `NG`, `GH`, `KE` or `US`; mobile money: the provider's
            country; other payment types: `NG` alone. A country as two capital letters.
        currency: Currency of all amounts. Default `NGN`. Cards: the currency of `country`, or `USD`; mobile money:
            the provider's currency; other payment types: `NGN` alone. One of NGN, USD, GHS, KES.
        customer_txnref: Your reference of the payment, which `verify` takes. It need not be unique: `verify` then
            returns the successful payment, else the newest. 1 to 100 characters.
        redirect_url: Address to which the payer is sent after a page of ours (3-D Secure, paga) or of a vendor,
            with `txnRef` and `txnStatus` added to it. Required for paga. Without one, the page shows the result as
            JSON. An http or https URL of at most 2,048 characters, its host in ASCII.
        meta: An object of your own, stored and returned unchanged, with card numbers in it masked. At most 64 KiB.
        bearer: Payer of the fee: `merchant` (also spelled `account`) has it deducted at settlement, `customer` pays
            it on top of the amount. Default: your tariff's setting, `merchant` unless changed.
        split: Beneficiaries that get a part of the settled amount. The remainder is yours. At least one part, at
            most 50.
        is_recurring: Implied by `recurrent`. Alone it plans no further charges. Card payments only.
        recurrent: Charges the card again on a schedule after the first charge succeeded. Card payments only, and
            not together with `installment`.
        installment: Charges a total in parts on several dates. Card and token payments only.
        amount: Amount to pay, in naira. Digits with at most two decimals, above zero, at most 15 digits.
        phonenumber: Telephone number on which the payer approves the payment. A telephone number in digits.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.payment.charge_phone(amount="1000.00", phonenumber="08000000009")

            {
              "status": 202,
              "txnRef": "<txnRef>",
              "message": "The customer approves on the telephone",
              "auth_type": "device",
              "enrolment": true
            }
        """
        return self._call(
            actions.PAYMENT_CHARGE_PHONE,
            {
                "amount": amount,
                "phonenumber": phonenumber,
                "user": user,
                "country": country,
                "currency": currency,
                "customer_txnref": customer_txnref,
                "redirect_url": redirect_url,
                "meta": meta,
                "bearer": bearer,
                "split": split,
                "is_recurring": is_recurring,
                "recurrent": recurrent,
                "installment": installment,
            },
            idempotency_key,
        )

    def charge_qrpay(
        self,
        *,
        amount: types.Amount,
        user: types.Payer | None = None,
        country: str | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        customer_txnref: str | None = None,
        redirect_url: str | None = None,
        meta: Mapping[str, Any] | None = None,
        bearer: Literal["account", "customer", "merchant"] | None = None,
        split: Sequence[types.SplitPart] | None = None,
        is_recurring: bool | None = None,
        recurrent: types.Recurrence | None = None,
        installment: types.InstallmentSchedule | None = None,
        business_name: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.PaymentReply:
        """A QR code that the payer scans.

        Returns what the payer is shown: a QR code, or an account number to pay into.

        Needs a key of scope `collect`.

        user: The payer.
        country: Country of the payment. Default `NG`. Cards: `NG`, `GH`, `KE` or `US`; mobile money: the provider's
            country; other payment types: `NG` alone. A country as two capital letters.
        currency: Currency of all amounts. Default `NGN`. Cards: the currency of `country`, or `USD`; mobile money:
            the provider's currency; other payment types: `NGN` alone. One of NGN, USD, GHS, KES.
        customer_txnref: Your reference of the payment, which `verify` takes. It need not be unique: `verify` then
            returns the successful payment, else the newest. 1 to 100 characters.
        redirect_url: Address to which the payer is sent after a page of ours (3-D Secure, paga) or of a vendor,
            with `txnRef` and `txnStatus` added to it. Required for paga. Without one, the page shows the result as
            JSON. An http or https URL of at most 2,048 characters, its host in ASCII.
        meta: An object of your own, stored and returned unchanged, with card numbers in it masked. At most 64 KiB.
        bearer: Payer of the fee: `merchant` (also spelled `account`) has it deducted at settlement, `customer` pays
            it on top of the amount. Default: your tariff's setting, `merchant` unless changed.
        split: Beneficiaries that get a part of the settled amount. The remainder is yours. At least one part, at
            most 50.
        is_recurring: Implied by `recurrent`. Alone it plans no further charges. Card payments only.
        recurrent: Charges the card again on a schedule after the first charge succeeded. Card payments only, and
            not together with `installment`.
        installment: Charges a total in parts on several dates. Card and token payments only.
        amount: Amount to pay, in naira. Digits with at most two decimals, above zero, at most 15 digits.
        business_name: Name that the payer sees: in the QR code, or as the name of the account. Default: the
            merchant's name. At most 200 characters.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.payment.charge_qrpay(amount="1000.00", business_name="Ada Stores")

            {
              "status": 202,
              "txnRef": "<txnRef>",
              "message": "The customer scans the code",
              "auth_type": "device",
              "qr_code": "<qr_code>",
              "qr_image": "<qr_image>",
              "expires": 600
            }
        """
        return self._call(
            actions.PAYMENT_CHARGE_QRPAY,
            {
                "amount": amount,
                "user": user,
                "country": country,
                "currency": currency,
                "customer_txnref": customer_txnref,
                "redirect_url": redirect_url,
                "meta": meta,
                "bearer": bearer,
                "split": split,
                "is_recurring": is_recurring,
                "recurrent": recurrent,
                "installment": installment,
                "business_name": business_name,
            },
            idempotency_key,
        )

    def charge_bank_transfer(
        self,
        *,
        amount: types.Amount,
        user: types.Payer | None = None,
        country: str | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        customer_txnref: str | None = None,
        redirect_url: str | None = None,
        meta: Mapping[str, Any] | None = None,
        bearer: Literal["account", "customer", "merchant"] | None = None,
        split: Sequence[types.SplitPart] | None = None,
        is_recurring: bool | None = None,
        recurrent: types.Recurrence | None = None,
        installment: types.InstallmentSchedule | None = None,
        business_name: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.PaymentReply:
        """An account number that the payer pays into.

        Returns what the payer is shown: a QR code, or an account number to pay into.

        Needs a key of scope `collect`.

        user: The payer.
        country: Country of the payment. Default `NG`. Cards: `NG`, `GH`, `KE` or `US`; mobile money: the provider's
            country; other payment types: `NG` alone. A country as two capital letters.
        currency: Currency of all amounts. Default `NGN`. Cards: the currency of `country`, or `USD`; mobile money:
            the provider's currency; other payment types: `NGN` alone. One of NGN, USD, GHS, KES.
        customer_txnref: Your reference of the payment, which `verify` takes. It need not be unique: `verify` then
            returns the successful payment, else the newest. 1 to 100 characters.
        redirect_url: Address to which the payer is sent after a page of ours (3-D Secure, paga) or of a vendor,
            with `txnRef` and `txnStatus` added to it. Required for paga. Without one, the page shows the result as
            JSON. An http or https URL of at most 2,048 characters, its host in ASCII.
        meta: An object of your own, stored and returned unchanged, with card numbers in it masked. At most 64 KiB.
        bearer: Payer of the fee: `merchant` (also spelled `account`) has it deducted at settlement, `customer` pays
            it on top of the amount. Default: your tariff's setting, `merchant` unless changed.
        split: Beneficiaries that get a part of the settled amount. The remainder is yours. At least one part, at
            most 50.
        is_recurring: Implied by `recurrent`. Alone it plans no further charges. Card payments only.
        recurrent: Charges the card again on a schedule after the first charge succeeded. Card payments only, and
            not together with `installment`.
        installment: Charges a total in parts on several dates. Card and token payments only.
        amount: Amount to pay, in naira. Digits with at most two decimals, above zero, at most 15 digits.
        business_name: Name that the payer sees: in the QR code, or as the name of the account. Default: the
            merchant's name. At most 200 characters.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.payment.charge_bank_transfer(amount="1000.00")

            {
              "status": 202,
              "txnRef": "<txnRef>",
              "message": "The customer pays into the account",
              "auth_type": "device",
              "accountNumber": "<accountNumber>",
              "accountName": "Sandbox merchant",
              "bankName": "Wema Bank",
              "accountExpires": 600,
              "amount": "1000.00"
            }
        """
        return self._call(
            actions.PAYMENT_CHARGE_BANK_TRANSFER,
            {
                "amount": amount,
                "user": user,
                "country": country,
                "currency": currency,
                "customer_txnref": customer_txnref,
                "redirect_url": redirect_url,
                "meta": meta,
                "bearer": bearer,
                "split": split,
                "is_recurring": is_recurring,
                "recurrent": recurrent,
                "installment": installment,
                "business_name": business_name,
            },
            idempotency_key,
        )

    def charge_mobile_money(
        self,
        *,
        amount: types.Amount,
        type: Literal["ghana", "mpesa", "paga", "paga_connect"],
        user: types.Payer | None = None,
        country: str | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        customer_txnref: str | None = None,
        redirect_url: str | None = None,
        meta: Mapping[str, Any] | None = None,
        bearer: Literal["account", "customer", "merchant"] | None = None,
        split: Sequence[types.SplitPart] | None = None,
        is_recurring: bool | None = None,
        recurrent: types.Recurrence | None = None,
        installment: types.InstallmentSchedule | None = None,
        phonenumber: str | None = None,
        network: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.PaymentReply:
        """Mobile money: paga, ghana, mpesa.

        Charges mobile money. `type` is the provider: paga (or paga_connect), ghana, mpesa.

        Needs a key of scope `collect`.

        user: The payer.
        country: Country of the payment. Default `NG`. Cards: `NG`, `GH`, `KE` or `US`; mobile money: the provider's
            country; other payment types: `NG` alone. A country as two capital letters.
        currency: Currency of all amounts. Default `NGN`. Cards: the currency of `country`, or `USD`; mobile money:
            the provider's currency; other payment types: `NGN` alone. One of NGN, USD, GHS, KES.
        customer_txnref: Your reference of the payment, which `verify` takes. It need not be unique: `verify` then
            returns the successful payment, else the newest. 1 to 100 characters.
        redirect_url: Address to which the payer is sent after a page of ours (3-D Secure, paga) or of a vendor,
            with `txnRef` and `txnStatus` added to it. Required for paga. Without one, the page shows the result as
            JSON. An http or https URL of at most 2,048 characters, its host in ASCII.
        meta: An object of your own, stored and returned unchanged, with card numbers in it masked. At most 64 KiB.
        bearer: Payer of the fee: `merchant` (also spelled `account`) has it deducted at settlement, `customer` pays
            it on top of the amount. Default: your tariff's setting, `merchant` unless changed.
        split: Beneficiaries that get a part of the settled amount. The remainder is yours. At least one part, at
            most 50.
        is_recurring: Implied by `recurrent`. Alone it plans no further charges. Card payments only.
        recurrent: Charges the card again on a schedule after the first charge succeeded. Card payments only, and
            not together with `installment`.
        installment: Charges a total in parts on several dates. Card and token payments only.
        amount: Amount to pay, in the provider's currency. Digits with at most two decimals, above zero, at most 15
            digits.
        type: The provider: `paga` or `paga_connect` (Nigeria, NGN), `ghana` (Ghana, GHS), `mpesa` (Kenya, KES).
        phonenumber: Telephone number of the payer's mobile-money account. Required for `ghana` and `mpesa`. A
            telephone number in digits.
        network: Mobile network of the payer, by its short name. Required for `ghana`. At most 200 characters.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.payment.charge_mobile_money(
                type="mpesa", amount="1000.00", country="KE", currency="KES", phonenumber="0700000009"
            )

            {
              "status": 202,
              "txnRef": "<txnRef>",
              "message": "The customer approves with the provider",
              "auth_type": "device"
            }
        """
        return self._call(
            actions.PAYMENT_CHARGE_MOBILE_MONEY,
            {
                "amount": amount,
                "type": type,
                "user": user,
                "country": country,
                "currency": currency,
                "customer_txnref": customer_txnref,
                "redirect_url": redirect_url,
                "meta": meta,
                "bearer": bearer,
                "split": split,
                "is_recurring": is_recurring,
                "recurrent": recurrent,
                "installment": installment,
                "phonenumber": phonenumber,
                "network": network,
            },
            idempotency_key,
        )

    def charge_token(
        self,
        *,
        token: str,
        user: types.Payer | None = None,
        country: str | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        customer_txnref: str | None = None,
        redirect_url: str | None = None,
        meta: Mapping[str, Any] | None = None,
        bearer: Literal["account", "customer", "merchant"] | None = None,
        split: Sequence[types.SplitPart] | None = None,
        is_recurring: bool | None = None,
        recurrent: types.Recurrence | None = None,
        installment: types.InstallmentSchedule | None = None,
        amount: types.Amount | None = None,
        idempotency_key: str | None = None,
    ) -> types.PaymentReply:
        """Charge a saved card again.

        Charges a saved card.

        Needs a key of scope `collect`.

        user: The payer.
        country: Country of the payment. Default `NG`. Cards: `NG`, `GH`, `KE` or `US`; mobile money: the provider's
            country; other payment types: `NG` alone. A country as two capital letters.
        currency: Currency of all amounts. Default `NGN`. Cards: the currency of `country`, or `USD`; mobile money:
            the provider's currency; other payment types: `NGN` alone. One of NGN, USD, GHS, KES.
        customer_txnref: Your reference of the payment, which `verify` takes. It need not be unique: `verify` then
            returns the successful payment, else the newest. 1 to 100 characters.
        redirect_url: Address to which the payer is sent after a page of ours (3-D Secure, paga) or of a vendor,
            with `txnRef` and `txnStatus` added to it. Required for paga. Without one, the page shows the result as
            JSON. An http or https URL of at most 2,048 characters, its host in ASCII.
        meta: An object of your own, stored and returned unchanged, with card numbers in it masked. At most 64 KiB.
        bearer: Payer of the fee: `merchant` (also spelled `account`) has it deducted at settlement, `customer` pays
            it on top of the amount. Default: your tariff's setting, `merchant` unless changed.
        split: Beneficiaries that get a part of the settled amount. The remainder is yours. At least one part, at
            most 50.
        is_recurring: Implied by `recurrent`. Alone it plans no further charges. Card payments only.
        recurrent: Charges the card again on a schedule after the first charge succeeded. Card payments only, and
            not together with `installment`.
        installment: Charges a total in parts on several dates. Card and token payments only.
        token: The `cardToken` of an earlier successful payment, which names the saved card. 1 to 100 characters.
        amount: Amount to charge. Required unless `installment` is sent; then it is what the schedule has due today,
            or left out. Digits with at most two decimals, above zero, at most 15 digits.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.payment.charge_token(token="<cardToken>", amount="1500.00")

            {
              "status": 200,
              "txnRef": "<txnRef>",
              "txnStatus": "successful",
              "message": "Charge Successful",
              "cardToken": "<cardToken>",
              "bank_message": "Approved",
              "fullname": "",
              "email": "",
              "chargedAmount": "1500.00",
              "fraudStatus": "ok",
              "card": {
                "hash": "<hash>",
                "mask": "512345******0008",
                "bin": "512345",
                "brand": "mastercard",
                "type": "credit",
                "issuer": "Sandbox Bank (Mastercard test BIN)",
                "country": "NG"
              },
              "currency": "NGN",
              "payment_method": "token"
            }
        """
        return self._call(
            actions.PAYMENT_CHARGE_TOKEN,
            {
                "token": token,
                "user": user,
                "country": country,
                "currency": currency,
                "customer_txnref": customer_txnref,
                "redirect_url": redirect_url,
                "meta": meta,
                "bearer": bearer,
                "split": split,
                "is_recurring": is_recurring,
                "recurrent": recurrent,
                "installment": installment,
                "amount": amount,
            },
            idempotency_key,
        )

    def verify(
        self, *, txn_ref: str | None = None, customer_txnref: str | None = None, refund_ref: str | None = None
    ) -> types.PaymentState:
        """What became of a payment, by txnRef or customer_txnref; or of a refund, by refundRef.

        Asks for a payment by our or the merchant's reference, or for a refund by `refundRef` or `txnRef`.

        Needs a key of scope `collect` or `read`.

        txn_ref: Reference of a payment or of a refund, or a `loan_id` or `savings_id` for the newest payment of a
            payer for it. 1 to 100 characters.
        customer_txnref: Your reference of the payment. Used if neither `txnRef` nor `refundRef` is sent. 1 to 100
            characters.
        refund_ref: Reference of a refund. It counts before the other two. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.payment.verify(txn_ref="<txnRef>")

            {
              "status": 200,
              "txnStatus": "successful",
              "txnRef": "<txnRef>",
              "customer_txnref": null,
              "message": "Charge Successful",
              "chargedAmount": 1500.0,
              "currency": "NGN",
              "payment_method": "token",
              "fullname": "",
              "email": "",
              "bank_message": "Approved",
              "fraudStatus": "ok",
              "card": {
                "hash": "<hash>",
                "mask": "512345******0008",
                "bin": "512345",
                "brand": "mastercard",
                "type": "credit",
                "issuer": "Sandbox Bank (Mastercard test BIN)",
                "country": "NG"
              },
              "cardToken": "<cardToken>",
              "refundedAmount": "0.00"
            }
        """
        return self._call(
            actions.PAYMENT_VERIFY, {"txn_ref": txn_ref, "customer_txnref": customer_txnref, "refund_ref": refund_ref}
        )

    def refund(
        self, *, txn_ref: str, amount: types.Amount, comment: str | None = None, idempotency_key: str | None = None
    ) -> types.RefundReply:
        """Pay back all or a part of a payment.

        Refunds a payment or a part of it.

        Needs a key of scope `payout`.

        txn_ref: The payment to refund. 1 to 100 characters.
        amount: Amount to pay back, in the payment's currency: at most what was charged and not refunded yet. Digits
            with at most two decimals, above zero, at most 15 digits.
        comment: Your reason, shown by `verify` with the refund. At most 200 characters.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.payment.refund(txn_ref="<txnRef>", amount="500.00", comment="one shirt came back")

            {
              "status": 200,
              "txnRef": "<txnRef>",
              "refundRef": "<refundRef>",
              "txnStatus": "successful",
              "amount": "500.00",
              "currency": "NGN",
              "refundedAmount": "500.00",
              "refundableAmount": "1000.00",
              "message": "Refund Successful"
            }
        """
        return self._call(
            actions.PAYMENT_REFUND, {"txn_ref": txn_ref, "amount": amount, "comment": comment}, idempotency_key
        )

    def disputes(
        self,
        *,
        offset: int | None = None,
        limit: int | None = None,
        state: Literal["accepted", "expired", "lost", "needs_response", "under_review", "won"] | None = None,
        txn_ref: str | None = None,
    ) -> Page[types.DisputeSummary]:
        """Disputes of payments, newest first.

        Lists disputes, newest first.

        Needs a key of scope `collect` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        state: Lists only disputes in this state.
        txn_ref: Lists only disputes of this payment. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.payment.disputes()

            {
              "status": 200,
              "data": [
                {
                  "dispute_id": "<dispute_id>",
                  "txnRef": "<txnRef>",
                  "state": "needs_response",
                  "reason": "product not received",
                  "amount": "500.00",
                  "currency": "NGN",
                  "fee": "1500.00",
                  "vat": "112.50",
                  "held": "2112.50",
                  "respond_by": "2026-01-12T08:30:00.000Z",
                  "opened_at": "2026-01-05T08:30:00.000Z",
                  "ended_at": null,
                  "plan_id": null
                }
              ],
              "total": 1,
              "offset": 0,
              "limit": 50
            }
        """
        return self._list(
            actions.PAYMENT_DISPUTES, {"offset": offset, "limit": limit, "state": state, "txn_ref": txn_ref}
        )

    def dispute(self, *, dispute_id: str) -> types.DisputeReply:
        """One dispute with its evidence and its steps.

        Reads one dispute with its evidence.

        Needs a key of scope `collect` or `read`.

        dispute_id: The dispute, by its `dispute_id`. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.payment.dispute(dispute_id="<dispute_id>")

            {
              "status": 200,
              "data": {
                "dispute_id": "<dispute_id>",
                "txnRef": "<txnRef>",
                "state": "needs_response",
                "reason": "product not received",
                "amount": "500.00",
                "currency": "NGN",
                "fee": "1500.00",
                "vat": "112.50",
                "held": "2112.50",
                "respond_by": "2026-01-12T08:30:00.000Z",
                "opened_at": "2026-01-05T08:30:00.000Z",
                "ended_at": null,
                "plan_id": null,
                "responded_at": null,
                "evidence": null,
                "timeline": [
                  {
                    "at": "2026-01-05T08:30:00.000Z",
                    "step": "opened"
                  }
                ]
              }
            }
        """
        return self._call(actions.PAYMENT_DISPUTE, {"dispute_id": dispute_id})

    def dispute_respond(
        self,
        *,
        dispute_id: str,
        accept: bool | None = None,
        evidence: types.Evidence | None = None,
        idempotency_key: str | None = None,
    ) -> types.DisputeChanged:
        """Accept a dispute, or send evidence against it.

        Responds to a dispute, once: accepts it, or sends evidence against it. A body may have 15 MiB.

        Needs a key of scope `payout`.

        dispute_id: The dispute, by its `dispute_id`. 1 to 100 characters.
        accept: True: the payer is right, and the amount with the fee is taken at once. Leave it out to send
            evidence.
        evidence: Why the payer is wrong. The payer's bank decides on it.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.payment.dispute_respond(
                dispute_id="<dispute_id>",
                evidence={
                    "explanation": "The parcel was handed to the customer on 3 January.",
                    "tracking_number": "NG-7712",
                    "files": [{"name": "receipt.pdf", "content": "JVBERi0xLjQK"}],
                },
            )

            {
              "status": 200,
              "message": "Evidence received: the payer's bank decides",
              "data": {
                "dispute_id": "<dispute_id>",
                "txnRef": "<txnRef>",
                "state": "under_review",
                "reason": "product not received",
                "amount": "100.00",
                "currency": "NGN",
                "fee": "1500.00",
                "vat": "112.50",
                "held": "1712.50",
                "respond_by": "2026-01-12T08:30:00.000Z",
                "opened_at": "2026-01-05T08:30:00.000Z",
                "ended_at": null,
                "plan_id": null
              }
            }
        """
        return self._call(
            actions.PAYMENT_DISPUTE_RESPOND,
            {"dispute_id": dispute_id, "accept": accept, "evidence": evidence},
            idempotency_key,
        )

    def checkout(
        self,
        *,
        amount: types.Amount | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        country: str | None = None,
        user: types.Payer | None = None,
        customer_txnref: str | None = None,
        redirect_url: str | None = None,
        channels: Sequence[
            Literal["account", "bank_transfer", "card", "mobile_money", "phone", "qrpay", "token", "ussd"]
        ]
        | None = None,
        title: str | None = None,
        description: str | None = None,
        bearer: Literal["account", "customer", "merchant"] | None = None,
        split: Sequence[types.SplitPart] | None = None,
        recurrent: types.Recurrence | None = None,
        installment: types.InstallmentSchedule | None = None,
        expires: dt.datetime | str | None = None,
        meta: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> types.CheckoutReply:
        """Open a page on which a payer pays, by any channel.

        Opens a page on which one payer pays one amount, by any of the channels.

        Needs a key of scope `collect`.

        amount: Amount to pay. Required unless `installment` is sent; then it is what the schedule has due today, or
            left out. Digits with at most two decimals, above zero, at most 15 digits.
        currency: Currency of all amounts. Default `NGN`. One of NGN, USD, GHS, KES.
        country: Country of card payments. Default `NG`. A country as two capital letters.
        user: The payer. If it has no `email`, the page asks for one.
        customer_txnref: Your reference of the checkout, which `verify` takes. It need not be unique. 1 to 100
            characters.
        redirect_url: Address to which the payer goes after the receipt, with `txnRef` and `status` added to it. An
            http or https URL of at most 2,048 characters, its host in ASCII.
        channels: Payment types that the page offers, as far as they are served here. Default: all but `token`. With
            `token` the page offers the saved cards of the payer whom `user.email` names. 1 to 8 payment types.
        title: What is paid for, shown on the page and on the receipt. 1 to 100 characters.
        description: Further text about it, shown on the page. At most 1,000 characters.
        bearer: Payer of the fee: `merchant` (also spelled `account`) or `customer`, who sees it on the page.
            Default: your tariff's setting.
        split: Beneficiaries that get a part of the settled amount, as in `initiate`. At least one part, at most 50.
        recurrent: Charges the card again on a schedule after the first charge, as in `initiate`. The page then
            offers cards alone.
        installment: Charges a total in parts on several dates, as in `initiate`, the first today. The page then
            offers cards alone.
        expires: Time until which it can be paid: at least a minute and at most 30 days from now. Default: 24 hours.
            An ISO 8601 time such as 2026-01-05T09:30:00+01:00.
        meta: An object of your own, stored with the payment and returned unchanged. At most 64 KiB.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.payment.checkout(
                amount="1500.00",
                currency="NGN",
                user={"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"},
                customer_txnref="basket-78",
                redirect_url="https://shop.example/thanks",
                title="Two shirts",
            )

            {
              "status": 202,
              "txnRef": "<txnRef>",
              "checkoutURL": "<checkoutURL>",
              "expires": "2026-01-06T08:30:00.000Z",
              "access_code": "<access_code>",
              "message": "Send the customer to checkoutURL"
            }
        """
        return self._call(
            actions.PAYMENT_CHECKOUT,
            {
                "amount": amount,
                "currency": currency,
                "country": country,
                "user": user,
                "customer_txnref": customer_txnref,
                "redirect_url": redirect_url,
                "channels": channels,
                "title": title,
                "description": description,
                "bearer": bearer,
                "split": split,
                "recurrent": recurrent,
                "installment": installment,
                "expires": expires,
                "meta": meta,
            },
            idempotency_key,
        )

    def wait(
        self,
        thing: types.PaymentReply | types.RefundReply | types.PaymentState | str | OutcomeUnknown,
        seconds: float = 60.0,
    ) -> types.PaymentState:
        """Polls `verify` until the transaction is final, and returns its state. Raises StillPending, an
        OutcomeUnknown, if it is not final within so many seconds. `thing` is a reply, a reference, or the
        OutcomeUnknown that the operation raised.
        """
        return self._wait(actions.PAYMENT_VERIFY, thing, seconds)

    def is_paid(self, txn_ref: str, *, amount: types.Amount, currency: str = "NGN") -> bool:
        """Asks `verify` whether a payment is successful and its payer was charged at least this amount in this
        currency. Money that was refunded does not count. False for a reference that is no payment, such as that
        of another event. Use it before you fulfill an order, with your own price.
        """
        price = read_price(amount)
        try:
            found = self.verify(txn_ref=txn_ref)
        except InvalidRequest:
            return False
        return covers(found, price, currency)


class Bills(SyncGroup):
    """The actions of `PUT /bills`."""

    def pull(self, *, category: str | None = None, bills_id: int | None = None) -> types.BillCatalogueReply:
        """The catalogue of bills: all of it, one category, or one bill.

        Selects the whole catalogue, one category or one bill.

        Needs a key of scope `payout` or `read`.

        category: Code of a category, to get its bills alone. 1 to 100 characters.
        bills_id: Number of a bill, to get it and its items alone. With `category`, the bill must be of that
            category. A whole number above zero.

        Example, and the reply that was recorded for it:

            shop.bills.pull(bills_id=14)

            {
              "status": 200,
              "data": {
                "categories": [
                  {
                    "name": "Electricity Tokens",
                    "code": "electricity"
                  }
                ],
                "bills": [
                  {
                    "id": 14,
                    "name": "Ikeja Electric (IKEDC)",
                    "reference": "Meter Number",
                    "category": "electricity"
                  }
                ],
                "items": [
                  {
                    "name": "IKEDC Prepaid",
                    "bills_id": 14,
                    "amount": "0",
                    "discount": 1.5,
                    "fee": 100.0,
                    "paycode": "IfuR3XxiIpxqbZQ",
                    "require_name_query": 1
            …
        """
        return self._call(actions.BILLS_PULL, {"category": category, "bills_id": bills_id})

    def resolve(self, *, paycode: str, reference: str) -> types.BillCustomer:
        """The name behind a customer reference, such as a meter number.

        `reference` is the customer's: a meter, a smartcard or a phone number. A request with an amount or an orderRef
        is refused, because resolve pays nothing.

        Needs a key of scope `payout` or `read`.

        paycode: Code of the item, from `pull`. 1 to 100 characters.
        reference: The customer's reference at the biller, such as a meter, smartcard or telephone number. 1 to 100
            characters.

        Example, and the reply that was recorded for it:

            shop.bills.resolve(paycode="IfuR3XxiIpxqbZQ", reference="45012345678")

            {
              "status": 200,
              "message": "Customer found",
              "custName": "CHIDI SANI",
              "reference": "45012345678",
              "paycode": "IfuR3XxiIpxqbZQ"
            }
        """
        return self._call(actions.BILLS_RESOLVE, {"paycode": paycode, "reference": reference})

    def pay(
        self,
        *,
        paycode: str,
        reference: str,
        amount: types.Amount | None = None,
        currency: Literal["NGN"] | None = None,
        order_ref: str | None = None,
        phonenumber: str | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.BillReply:
        """Pay a bill or top up a phone from the wallet.

        `amount` is required for an item with an open amount; a fixed price may be left out. `currency` may be left out:
        it is always NGN. With `dry_run` the reply says what the bill would cost, and nothing is paid.

        Needs a key of scope `payout`.

        paycode: Code of the item, from `pull`. 1 to 100 characters.
        reference: The customer's reference at the biller, such as a meter, smartcard or telephone number. 1 to 100
            characters.
        amount: Amount to pay, in naira. Required for an item with an open amount; for a fixed price it is that
            price or left out. Fee and VAT are debited on top. Digits with at most two decimals, above zero, at most
            15 digits.
        currency: May be left out: bills are always paid in NGN.
        order_ref: Your reference of the bill. Sent again with the same content it returns the first bill; with
            other content it is refused. 1 to 100 characters. The client makes one if it is left out.
        phonenumber: Telephone number of the customer, for a bill that is not for a telephone: billers send their
            receipts to it. The operator's is given if it is left out. A telephone number of its country, or one
            with + and its country's code.
        dry_run: If true, the reply says what the bill would cost, and nothing is paid.
        idempotency_key: Only needed besides `order_ref` if the same reply must come again, for 24 hours.

        Example, and the reply that was recorded for it:

            shop.bills.pay(paycode="IfuR3XxiIpxqbZQ", reference="45012345678", amount="5000.00", order_ref="bill-1042")

            {
              "status": 200,
              "txnStatus": "successful",
              "txnRef": "<txnRef>",
              "orderRef": "bill-1042",
              "message": "Bill Payment Successful",
              "commission": "75.00",
              "token": "<token>",
              "units": "23.89"
            }
        """
        return self._call(
            actions.BILLS_PAY,
            {
                "paycode": paycode,
                "reference": reference,
                "amount": amount,
                "currency": currency,
                "order_ref": order_ref,
                "phonenumber": phonenumber,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def verify(self, *, txn_ref: str | None = None, order_ref: str | None = None) -> types.BillState:
        """The state of a bill, by its orderRef or txnRef, with its token or PIN.

        The orderRef or txnRef of a bill, sent as `txnRef`. The orderRef may also be sent under its own name.

        Needs a key of scope `payout` or `read`.

        txn_ref: The `txnRef` or `orderRef` of the bill. 1 to 100 characters.
        order_ref: The `orderRef` of the bill. Ignored if `txnRef` is sent. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.bills.verify(txn_ref="bill-1042")

            {
              "status": 200,
              "txnStatus": "successful",
              "txnRef": "<txnRef>",
              "orderRef": "bill-1042",
              "amount": "5000.00",
              "fee": "100.00",
              "vat": "7.50",
              "commission": "75.00",
              "message": "Bill Payment Successful",
              "token": "<token>",
              "units": "23.89"
            }
        """
        return self._call(actions.BILLS_VERIFY, {"txn_ref": txn_ref, "order_ref": order_ref})

    def wait(
        self, thing: types.BillReply | types.BillState | str | OutcomeUnknown, seconds: float = 60.0
    ) -> types.BillState:
        """Polls `verify` until the transaction is final, and returns its state. Raises StillPending, an
        OutcomeUnknown, if it is not final within so many seconds. `thing` is a reply, a reference, or the
        OutcomeUnknown that the operation raised.
        """
        return self._wait(actions.BILLS_VERIFY, thing, seconds)


class Clients(SyncGroup):
    """The actions of `PUT /clients`."""

    def create(
        self,
        *,
        data: types.ClientFields,
        verify_bvn: bool | None = None,
        status: Literal["active", "inactive", "pending_approval"] | None = None,
        idempotency_key: str | None = None,
    ) -> types.ClientReply:
        """Enroll a client, and verify their BVN on request.

        A new client, who may borrow and save once active.

        Needs a key of scope `lend`.

        data: The person.
        verify_bvn: If true, names and date of birth are compared with the BVN register, and the client is refused
            if they differ. It requires `data.bvn`, and `data.dob` and `data.phone` where the register compares
            them. Default false.
        status: Status of the new client. Default `pending_approval`. Only an `active` client may borrow and save.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.clients.create(
                data={
                    "firstname": "Ada",
                    "lastname": "Obi",
                    "middlename": "Grace",
                    "email": "ada.obi@example.com",
                    "gender": "female",
                    "dob": "1990-04-17",
                    "phone": "08031234567",
                    "bvn": "22222222222",
                    "addresses": [
                        {
                            "line1": "12 Marina Road",
                            "line2": "Flat 3",
                            "city": "Lagos",
                            "region": "Lagos",
                            "postcode": "101241",
                            "country": "NG",
                        }
                    ],
                    "bankAccount": {"account_number": "0040000008", "bank_code": "058"},
                    "meta": {"id_card_no": "A1234567"},
                },
                verify_bvn=True,
                status="pending_approval",
            )

            {
              "status": 200,
              "message": "Client created",
              "data": {
                "client_id": "<client_id>",
                "status": "pending_approval",
                "bvn_verified": true,
                "bvn_verification": {
                  "method": "register",
                  "state": "verified",
                  "at": "2026-01-05T08:30:00.000Z"
                },
                "firstname": "Ada",
                "lastname": "Obi",
                "middlename": "Grace",
                "email": "ada.obi@example.com",
                "gender": "female",
                "dob": "1990-04-17",
                "phone": "08031234567",
                "bvn": "222******22",
                "addresses": [
                  {
                    "line1": "12 Marina Road",
                    "line2": "Flat 3",
                    "city": "Lagos",
                    "region": "Lagos",
            …
        """
        return self._call(
            actions.CLIENTS_CREATE, {"data": data, "verify_bvn": verify_bvn, "status": status}, idempotency_key
        )

    def update(
        self,
        *,
        client_id: str,
        data: types.ClientChanges | None = None,
        verify_bvn: bool | None = None,
        status: Literal["active", "blacklisted", "exited", "inactive", "pending_approval", "rejected"] | None = None,
        idempotency_key: str | None = None,
    ) -> types.ClientReply:
        """Change a client: objects are merged, arrays are replaced, and the status can be changed.

        Changes of a client: of the person, of the status, or both.

        Needs a key of scope `lend`.

        client_id: The client to change. 1 to 100 characters.
        data: The fields to change. Fields that are left out keep their values.
        verify_bvn: If true, the updated client is compared with the BVN register, by the new BVN or else the stored
            one, and the update is refused if they differ. Default false.
        status: New status: from `pending_approval` to `inactive`, `active` or `rejected`; from `rejected` to
            `pending_approval`; between `inactive` and `active`, and from both to `exited` or `blacklisted`, which
            are final.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.clients.update(
                client_id="<client_id>",
                data={"meta": {"phone": "08039876543", "extra": {"branch": "Ikeja"}}},
                status="active",
            )

            {
              "status": 200,
              "message": "Client updated",
              "data": {
                "client_id": "<client_id>",
                "status": "active",
                "bvn_verified": true,
                "bvn_verification": {
                  "method": "register",
                  "state": "verified",
                  "at": "2026-01-05T08:30:00.000Z"
                },
                "firstname": "Ada",
                "lastname": "Obi",
                "middlename": "Grace",
                "email": "ada.obi@example.com",
                "gender": "female",
                "dob": "1990-04-17",
                "phone": "08031234567",
                "bvn": "222******22",
                "addresses": [
                  {
                    "line1": "12 Marina Road",
                    "line2": "Flat 3",
                    "city": "Lagos",
                    "region": "Lagos",
            …
        """
        return self._call(
            actions.CLIENTS_UPDATE,
            {"client_id": client_id, "data": data, "verify_bvn": verify_bvn, "status": status},
            idempotency_key,
        )

    def list(
        self,
        *,
        offset: int | None = None,
        limit: int | None = None,
        phone: str | None = None,
        email: str | None = None,
        bvn: str | None = None,
        status: Literal["active", "blacklisted", "exited", "inactive", "pending_approval", "rejected"] | None = None,
    ) -> Page[types.ClientRecord]:
        """All clients, newest first.

        Lists clients, newest first. A client must match every filter exactly, apart from the spelling of a telephone
        number and the case of an email address.

        Needs a key of scope `lend` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        phone: Lists clients with this telephone number, however it is spelled. A telephone number of its country,
            or one with + and its country's code.
        email: Lists clients with this email address, in any case. An email address.
        bvn: Lists clients with this Bank Verification Number. Eleven digits that begin with 22.
        status: Lists clients with this status.

        Example, and the reply that was recorded for it:

            shop.clients.list(offset=0, limit=10)

            {
              "status": 200,
              "data": [
                {
                  "client_id": "<client_id>",
                  "status": "active",
                  "bvn_verified": true,
                  "bvn_verification": {
                    "method": "register",
                    "state": "verified",
                    "at": "2026-01-05T08:30:00.000Z"
                  },
                  "firstname": "Ada",
                  "lastname": "Obi",
                  "middlename": "Grace",
                  "email": "ada.obi@example.com",
                  "gender": "female",
                  "dob": "1990-04-17",
                  "phone": "08031234567",
                  "bvn": "222******22",
                  "addresses": [
                    {
                      "line1": "12 Marina Road",
                      "line2": "Flat 3",
                      "city": "Lagos",
                      "region": "Lagos",
            …
        """
        return self._list(
            actions.CLIENTS_LIST,
            {"offset": offset, "limit": limit, "phone": phone, "email": email, "bvn": bvn, "status": status},
        )

    def view(self, *, client_id: str) -> types.ClientReply:
        """One client.

        Names the client to view.

        Needs a key of scope `lend` or `read`.

        client_id: The client to view. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.clients.view(client_id="<client_id>")

            {
              "status": 200,
              "message": "Client found",
              "data": {
                "client_id": "<client_id>",
                "status": "active",
                "bvn_verified": true,
                "bvn_verification": {
                  "method": "register",
                  "state": "verified",
                  "at": "2026-01-05T08:30:00.000Z"
                },
                "firstname": "Ada",
                "lastname": "Obi",
                "middlename": "Grace",
                "email": "ada.obi@example.com",
                "gender": "female",
                "dob": "1990-04-17",
                "phone": "08031234567",
                "bvn": "222******22",
                "addresses": [
                  {
                    "line1": "12 Marina Road",
                    "line2": "Flat 3",
                    "city": "Lagos",
                    "region": "Lagos",
            …
        """
        return self._call(actions.CLIENTS_VIEW, {"client_id": client_id})


class Loans(SyncGroup):
    """The actions of `PUT /loans`."""

    def request(
        self,
        *,
        client_id: str,
        interest_settings: types.InterestSettings,
        amount: types.Amount,
        period: int,
        officer: str | None = None,
        branch: str | None = None,
        tax_applied: bool | None = None,
        tax_rate: types.Amount | None = None,
        method: Literal["declining_equal_instalments", "equal_principal", "flat"] | None = None,
        charges: Sequence[types.ChargeTerms] | None = None,
        grace: types.GraceTerms | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.LoanReply:
        """Request a loan for an active client; the reply has the schedule it would have from today.

        Requests a loan for an active client. With `dry_run` the reply shows the loan and its schedule, and nothing is
        stored.

        Needs a key of scope `lend`.

        client_id: The client who borrows. The client must be active. 1 to 100 characters.
        officer: Who of your people answers for the loan, in a code of yours. `portfolio` counts by it. 1 to 100
            characters.
        branch: Your branch that makes the loan, in a code of yours. `portfolio` counts by it. 1 to 100 characters.
        interest_settings: The interest rate, and with it the interval between installments.
        amount: Principal of the loan, in naira: what the client receives. Digits with at most two decimals, above
            zero, at most 15 digits.
        period: Number of installments, from 1 to 366: one per interval of `interestFrequency`, one a month if it is
            `annualized`. A whole number, not negative.
        tax_applied: Whether tax on the interest is added to the installments. Default false.
        tax_rate: Tax in percent of the interest, from 0 to 100. Required if `tax_applied` is true. A percentage
            from 0 to 1000 with at most six decimals.
        method: `declining_equal_instalments`: equal installments, interest on the balance. `equal_principal`: equal
            principal, interest on the balance. `flat`: interest on the whole loan. Default: your lending setting.
        charges: Charges besides the interest: amounts or percentages, when the loan is paid out or later. At most 5
            charges.
        grace: A grace period: first installments without principal or interest, or a first due date of its own.
        dry_run: If true, the reply shows the loan and explains its figures, and nothing is stored.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.request(
                client_id="<client_id>",
                interest_settings={"interestRate": "24", "interestFrequency": "annualized"},
                amount="120000.00",
                tax_applied=True,
                tax_rate="7.5",
                period=12,
            )

            {
              "status": 200,
              "message": "Loan Requested",
              "data": {
                "loan_id": "<loan_id>",
                "client_id": "<client_id>",
                "officer": null,
                "branch": null,
                "state": "pending_approval",
                "amount": "120000.00",
                "currency": "NGN",
                "interestSettings": {
                  "interestRate": "24",
                  "interestFrequency": "annualized"
                },
                "method": "declining_equal_instalments",
                "period": 12,
                "tax_applied": true,
                "tax_rate": 7.5,
                "penalty_rate": "0",
                "tolerance_days": 0,
                "outstanding": {
                  "principal": "0.00",
                  "interest": "0.00",
                  "tax": "0.00",
                  "penalty": "0.00",
            …
        """
        return self._call(
            actions.LOANS_REQUEST,
            {
                "client_id": client_id,
                "interest_settings": interest_settings,
                "amount": amount,
                "period": period,
                "officer": officer,
                "branch": branch,
                "tax_applied": tax_applied,
                "tax_rate": tax_rate,
                "method": method,
                "charges": charges,
                "grace": grace,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def process(
        self,
        *,
        loan_id: str,
        status: Literal["approve", "cancel", "reject"],
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.LoanReply:
        """Approve a loan and pay it out to the client's bank account, or reject or cancel it.

        Approves, rejects or cancels a loan. `approve` pays it out to the client's bankAccount, the others close it.

        Needs a key of scope `lend`.

        loan_id: The loan to decide on. 1 to 100 characters.
        status: `approve` pays the loan out to the client's `bankAccount`; `reject` and `cancel` close it. After a
            failed disbursement, `approve` tries again.
        dry_run: If true, the reply says what would happen, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.process(loan_id="<loan_id>", status="approve")

            {
              "status": 200,
              "message": "Loan Disbursed",
              "txnRef": "<txnRef>",
              "txnStatus": "successful",
              "loan_id": "<loan_id>",
              "data": {
                "loan_id": "<loan_id>",
                "client_id": "<client_id>",
                "officer": null,
                "branch": null,
                "state": "active",
                "amount": "120000.00",
                "currency": "NGN",
                "interestSettings": {
                  "interestRate": "24",
                  "interestFrequency": "annualized"
                },
                "method": "declining_equal_instalments",
                "period": 12,
                "tax_applied": true,
                "tax_rate": 7.5,
                "penalty_rate": "0",
                "tolerance_days": 0,
                "outstanding": {
                  "principal": "120000.00",
            …
        """
        return self._call(
            actions.LOANS_PROCESS, {"loan_id": loan_id, "status": status, "dry_run": dry_run}, idempotency_key
        )

    def repay(
        self,
        *,
        loan_id: str,
        payment_method: Literal[
            "account", "bank_transfer", "card", "mobile_money", "phone", "qrpay", "token", "ussd", "wallet"
        ],
        card: types.CardDetails | None = None,
        token: str | None = None,
        account: types.PayerAccount | None = None,
        bank: Literal["gtb", "zenith"] | None = None,
        phonenumber: str | None = None,
        accountnumber: str | None = None,
        business_name: str | None = None,
        type: Literal["ghana", "mpesa", "paga", "paga_connect"] | None = None,
        redirect_url: str | None = None,
        country: str | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        user: types.Payer | None = None,
        ip: str | None = None,
        fingerprint: str | None = None,
        customer_txnref: str | None = None,
        meta: Mapping[str, Any] | None = None,
        amount: types.Amount | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.RepayReply:
        """Repay a loan: what is due, an amount, or all of it.

        Repays a loan. `amount` defaults to all that is due up to and including today, or to the next installment if
        nothing is due. The method `wallet` records money that the merchant has already received from the client: no
        cash moves. Every other method takes the fields of that payment type.

        Needs a key of scope `lend`.

        card: The card to charge. Required for `card`, unless payers enter their cards on the page of a vendor: then
            it must be left out.
        token: The `cardToken` of an earlier successful payment. Required for `token`. 1 to 100 characters.
        account: The bank account to debit. Required for `account`.
        bank: Bank of the payer, whose USSD service is dialed. Required for `ussd`.
        phonenumber: Telephone number of the payer. Required for `phone`, and for `ussd` with `zenith`. A telephone
            number in digits.
        accountnumber: Bank account of the payer. Required for `ussd` with `zenith`. Ten digits.
        business_name: Name that the payer sees with `qrpay` and `bank_transfer`. Default: the merchant's name. At
            most 200 characters.
        type: The mobile-money provider: `paga` or `paga_connect`. Required for `mobile_money`. `ghana` and `mpesa`
            are refused, because loans and savings are kept in NGN.
        redirect_url: Address to which the payer is sent after a page of ours (3-D Secure, paga). Required for paga.
            An http or https URL of at most 2,048 characters, its host in ASCII.
        country: Country of the payment. Default `NG`. It must fit the payment type, as for `charge` of `/payment`.
            A country as two capital letters.
        currency: Currency of the amount. Only `NGN`, which is the default, is accepted. One of NGN, USD, GHS, KES.
        user: The payer.
        ip: IP address of the payer. Kept with the payment and part of the client's data export. At most 200
            characters.
        fingerprint: Fingerprint of the payer's device. Kept with the payment and part of the client's data export.
            At most 200 characters.
        customer_txnref: Your reference of the payment, which `verify` of `/payment` takes. It need not be unique. 1
            to 100 characters.
        meta: An object of your own, stored and returned unchanged, with card numbers in it masked. At most 64 KiB.
        loan_id: The loan to repay. 1 to 100 characters.
        payment_method: How the client pays: a payment type, or `wallet` for money that you have received already.
        amount: Amount to repay, in naira, at most the payoff. Default: all that is due up to and including today,
            or the next installment if nothing is due. Digits with at most two decimals, above zero, at most 15
            digits.
        dry_run: If true, the reply says what the repayment would cover and cost, and nothing is charged.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.repay(
                loan_id="<loan_id>",
                payment_method="card",
                amount="11527.15",
                card={
                    "card_no": "5123450000000008",
                    "expiry_month": "12",
                    "expiry_year": "30",
                    "ccv": "000",
                    "pin": "1234",
                },
            )

            {
              "status": 202,
              "txnRef": "<txnRef>",
              "message": "Validate with the OTP",
              "loan_id": "<loan_id>",
              "auth_type": "OTP",
              "validate": "Enter the OTP that the bank sent to the customer",
              "fraudStatus": "ok"
            }
        """
        return self._call(
            actions.LOANS_REPAY,
            {
                "loan_id": loan_id,
                "payment_method": payment_method,
                "card": card,
                "token": token,
                "account": account,
                "bank": bank,
                "phonenumber": phonenumber,
                "accountnumber": accountnumber,
                "business_name": business_name,
                "type": type,
                "redirect_url": redirect_url,
                "country": country,
                "currency": currency,
                "user": user,
                "ip": ip,
                "fingerprint": fingerprint,
                "customer_txnref": customer_txnref,
                "meta": meta,
                "amount": amount,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def validate(
        self,
        *,
        txn_ref: str,
        otp: str,
        validate: Literal["account", "card"] | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.RepaymentValidateReply:
        """Submit the OTP that the payer's bank sent for a repayment.

        Submits the payer's code. With `dry_run` the request is only checked, and nothing is sent to the payer's bank.

        Needs a key of scope `lend`.

        txn_ref: The payment that awaits an OTP. 1 to 100 characters.
        otp: The code that the payer received. The third wrong one fails the payment. 4 to 8 digits.
        validate: Kind of the payment. May be left out: the payment itself says it.
        dry_run: If true, the request is only checked, and no code is sent to the payer's bank.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.validate(txn_ref="<txnRef>", otp="123456")

            {
              "status": 200,
              "txnRef": "<txnRef>",
              "txnStatus": "successful",
              "message": "Validation Successful",
              "loan_id": "<loan_id>",
              "cardToken": "<cardToken>"
            }
        """
        return self._call(
            actions.LOANS_VALIDATE,
            {"txn_ref": txn_ref, "otp": otp, "validate": validate, "dry_run": dry_run},
            idempotency_key,
        )

    def reverse(
        self, *, txn_ref: str, reason: str, dry_run: bool | None = None, idempotency_key: str | None = None
    ) -> types.ReverseReply:
        """Reverse a repayment that was not honored: the loan is what it would be without it.

        Reverses a repayment that was not honored: its loan becomes what it would be without it. No cash moves. A
        dispute that is lost and a rail that takes a payment back do the same by themselves, unless your lending setting
        says otherwise.

        Needs a key of scope `lend`.

        txn_ref: The repayment to reverse. 1 to 100 characters.
        reason: Why it is reversed, in words. The event of the reversal has it. 1 to 200 characters.
        dry_run: If true, the reply says what the reversal would do, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.reverse(txn_ref="<txnRef>", reason="The transfer was recalled")

            {
              "status": 200,
              "message": "Repayment Reversed",
              "txnRef": "<txnRef>",
              "loan_id": "<loan_id>",
              "amount": "11527.15",
              "refunded_amount": "0.00",
              "allocation": {
                "penalty": "0.00",
                "interest": "0.00",
                "tax": "0.00",
                "principal": "11527.15"
              },
              "reallocated": [],
              "data": {
                "loan_id": "<loan_id>",
                "client_id": "<client_id>",
                "officer": null,
                "branch": null,
                "state": "active",
                "amount": "120000.00",
                "currency": "NGN",
                "interestSettings": {
                  "interestRate": "24",
                  "interestFrequency": "annualized"
                },
            …
        """
        return self._call(
            actions.LOANS_REVERSE, {"txn_ref": txn_ref, "reason": reason, "dry_run": dry_run}, idempotency_key
        )

    def view(self, *, loan_id: str) -> types.LoanReply:
        """One loan with its schedule and what is outstanding today.

        Names the loan to view.

        Needs a key of scope `lend` or `read`.

        loan_id: The loan to view. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.loans.view(loan_id="<loan_id>")

            {
              "status": 200,
              "message": "Loan",
              "data": {
                "loan_id": "<loan_id>",
                "client_id": "<client_id>",
                "officer": null,
                "branch": null,
                "state": "active",
                "amount": "120000.00",
                "currency": "NGN",
                "interestSettings": {
                  "interestRate": "24",
                  "interestFrequency": "annualized"
                },
                "method": "declining_equal_instalments",
                "period": 12,
                "tax_applied": true,
                "tax_rate": 7.5,
                "penalty_rate": "0",
                "tolerance_days": 0,
                "outstanding": {
                  "principal": "120000.00",
                  "interest": "16165.83",
                  "tax": "1212.46",
                  "penalty": "0.00",
            …
        """
        return self._call(actions.LOANS_VIEW, {"loan_id": loan_id})

    def list(
        self,
        *,
        offset: int | None = None,
        limit: int | None = None,
        client_id: str | None = None,
        state: Literal[
            "active",
            "active_in_arrears",
            "approved",
            "closed_rejected",
            "closed_repaid",
            "closed_withdrawn",
            "closed_written_off",
            "disbursing",
            "pending_approval",
        ]
        | None = None,
        product_id: str | None = None,
    ) -> Page[types.LoanSummary]:
        """Loans newest first: all, or a client's, or those in a state; without their schedules.

        Lists loans, newest first. `client_id` and `state` filter.

        Needs a key of scope `lend` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        client_id: Lists the loans of this client alone. 1 to 100 characters.
        state: Lists the loans in this state alone.
        product_id: Lists the loans of this product alone. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.loans.list(offset=0, limit=10)

            {
              "status": 200,
              "data": [
                {
                  "loan_id": "<loan_id>",
                  "client_id": "<client_id>",
                  "officer": null,
                  "branch": null,
                  "state": "active",
                  "amount": "120000.00",
                  "currency": "NGN",
                  "interestSettings": {
                    "interestRate": "24",
                    "interestFrequency": "annualized"
                  },
                  "method": "declining_equal_instalments",
                  "period": 12,
                  "tax_applied": true,
                  "tax_rate": 7.5,
                  "penalty_rate": "0",
                  "tolerance_days": 0,
                  "outstanding": {
                    "principal": "120000.00",
                    "interest": "16165.83",
                    "tax": "1212.46",
                    "penalty": "0.00",
            …
        """
        return self._list(
            actions.LOANS_LIST,
            {"offset": offset, "limit": limit, "client_id": client_id, "state": state, "product_id": product_id},
        )

    def statement(
        self, *, loan_id: str, offset: int | None = None, limit: int | None = None
    ) -> Page[types.LoanStatementLine]:
        """The ledger postings of a loan, newest first.

        Names the loan whose postings are listed, newest first.

        Needs a key of scope `lend` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        loan_id: The loan whose postings are listed. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.loans.statement(loan_id="<loan_id>")

            {
              "status": 200,
              "data": [
                {
                  "dateCreated": "2026-01-05T08:30:00.000Z",
                  "origin": "<origin>",
                  "part": "tax",
                  "narration": "tax by the schedule computed anew",
                  "amount": "116.50",
                  "balance": "1212.46"
                },
                {
                  "dateCreated": "2026-01-05T08:30:00.000Z",
                  "origin": "<origin>",
                  "part": "interest",
                  "narration": "interest by the schedule computed anew",
                  "amount": "1552.90",
                  "balance": "16165.83"
                },
                {
                  "dateCreated": "2026-01-05T08:30:00.000Z",
                  "origin": "<origin>",
                  "part": "principal",
                  "narration": "principal reversed",
                  "amount": "11527.15",
                  "balance": "120000.00"
            …
        """
        return self._list(actions.LOANS_STATEMENT, {"loan_id": loan_id, "offset": offset, "limit": limit})

    def portfolio(
        self, *, as_of: dt.date | str | None = None, by: Literal["branch", "officer", "product"] | None = None
    ) -> types.PortfolioReply:
        """All loans of a day together: by days late, at risk, due and collected, expected, set aside.

        Asks for all loans of a day together.

        Needs a key of scope `lend` or `read`.

        as_of: The day, at whose end the loans are counted. Not later than today. Default: today, as it is now. A
            date such as 2026-01-05.
        by: Counts also by what loans were requested with: `officer`, `branch` or `product`.

        Example, and the reply that was recorded for it:

            shop.loans.portfolio()

            {
              "status": 200,
              "data": {
                "as_of": "2026-01-05",
                "currency": "NGN",
                "loans": 1,
                "principal": "120000.00",
                "buckets": [
                  {
                    "days_late": "0",
                    "loans": 1,
                    "principal": "120000.00",
                    "share": "100.00"
                  },
                  {
                    "days_late": "1-30",
                    "loans": 0,
                    "principal": "0.00",
                    "share": "0.00"
                  },
                  {
                    "days_late": "31-60",
                    "loans": 0,
                    "principal": "0.00",
                    "share": "0.00"
                  },
            …
        """
        return self._call(actions.LOANS_PORTFOLIO, {"as_of": as_of, "by": by})

    def charge(
        self,
        *,
        loan_id: str,
        name: str,
        amount: types.Amount,
        vat: types.Amount | None = None,
        due: dt.date | str | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.LoanReply:
        """Charge a loan that was paid out, with an installment.

        Makes a charge on a loan that was paid out. It is asked for with the installment in whose interval its day lies,
        and paid before interest.

        Needs a key of scope `lend`.

        loan_id: The loan to charge. 1 to 100 characters.
        name: What the charge is called. 1 to 100 characters.
        amount: The charge in naira, without its VAT. Digits with at most two decimals, above zero, at most 15
            digits.
        vat: VAT in percent of the charge, from 0 to 100, on top of it. Default 0. A percentage from 0 to 1000 with
            at most six decimals.
        due: The day from which it is asked for, from today to the last due date. Default: today. A date such as
            2026-01-05.
        dry_run: If true, the reply says what the charge would do, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.charge(loan_id="<loan_id>", name="Returned check", amount="1500.00", vat="7.5")

            {
              "status": 200,
              "message": "Loan Charged",
              "data": {
                "loan_id": "<loan_id>",
                "client_id": "<client_id>",
                "officer": null,
                "branch": null,
                "state": "active",
                "amount": "120000.00",
                "currency": "NGN",
                "interestSettings": {
                  "interestRate": "24",
                  "interestFrequency": "annualized"
                },
                "method": "declining_equal_instalments",
                "period": 12,
                "tax_applied": true,
                "tax_rate": 7.5,
                "penalty_rate": "0",
                "tolerance_days": 0,
                "outstanding": {
                  "principal": "120000.00",
                  "interest": "16165.83",
                  "tax": "1212.46",
                  "penalty": "0.00",
            …
        """
        return self._call(
            actions.LOANS_CHARGE,
            {"loan_id": loan_id, "name": name, "amount": amount, "vat": vat, "due": due, "dry_run": dry_run},
            idempotency_key,
        )

    def waive(
        self,
        *,
        loan_id: str,
        charge_id: str | None = None,
        penalty: bool | None = None,
        interest: bool | None = None,
        amount: types.Amount | None = None,
        reason: str | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.LoanReply:
        """Waive a charge, penalties or interest that is due, whole or in part.

        Waives a charge, penalties or interest that is due: the client does not owe them any more. Name exactly one of
        `charge_id`, `penalty` and `interest`.

        Needs a key of scope `lend`.

        loan_id: The loan. 1 to 100 characters.
        charge_id: Waives this charge of the loan, with its VAT. 1 to 100 characters.
        penalty: If true, waives penalties, the oldest first.
        interest: If true, waives interest that is due up to today with the tax on it, the oldest first.
        amount: What to waive, in naira, with VAT or tax. Default: all that is owed of it. Digits with at most two
            decimals, above zero, at most 15 digits.
        reason: Why it is waived, in words. The event has it. 1 to 200 characters.
        dry_run: If true, the reply says what the waiver would do, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.waive(loan_id="<loan_id>", charge_id="<charge_id>", reason="The bank erred")

            {
              "status": 200,
              "message": "Debt Waived",
              "data": {
                "loan_id": "<loan_id>",
                "client_id": "<client_id>",
                "officer": null,
                "branch": null,
                "state": "active",
                "amount": "120000.00",
                "currency": "NGN",
                "interestSettings": {
                  "interestRate": "24",
                  "interestFrequency": "annualized"
                },
                "method": "declining_equal_instalments",
                "period": 12,
                "tax_applied": true,
                "tax_rate": 7.5,
                "penalty_rate": "0",
                "tolerance_days": 0,
                "outstanding": {
                  "principal": "120000.00",
                  "interest": "16165.83",
                  "tax": "1212.46",
                  "penalty": "0.00",
            …
        """
        return self._call(
            actions.LOANS_WAIVE,
            {
                "loan_id": loan_id,
                "charge_id": charge_id,
                "penalty": penalty,
                "interest": interest,
                "amount": amount,
                "reason": reason,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def reschedule(
        self,
        *,
        loan_id: str,
        reason: str,
        first: dt.date | str | None = None,
        extra_installments: int | None = None,
        interest_rate: types.Amount | None = None,
        grace: types.GraceTerms | None = None,
        capitalize_arrears: bool | None = None,
        first_due: dt.date | str | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.LoanReply:
        """Make the installments of a loan that are not due anew, and capitalize its arrears if wanted.

        Makes the installments of a loan anew that are not due yet and are due on a day or later. What was paid stays,
        and what is due stays due unless it is capitalized.

        Needs a key of scope `lend`.

        loan_id: The loan. 1 to 100 characters.
        first: Installments that are due on this day or later are made anew: a day from today to the last due date.
            Default: today. A date such as 2026-01-05.
        extra_installments: Number of installments to add. A loan has at most 366. Default 0. A whole number, not
            negative.
        interest_rate: The new rate, in percent per interval of the loan's `interestFrequency`. What was earned
            before keeps its rate. Default: the rate stays. A percentage from 0 to 1000 with at most six decimals.
        grace: A grace period of the installments that are made anew, without `first_due`. Default: none.
        capitalize_arrears: Whether interest and charges that are due become principal, with tax and VAT, and the
            principal that is due moves to the new installments. Penalties stay. Default false.
        first_due: The due date of the first installment that is made anew; the others follow it. Default: the dates
            stay. A date such as 2026-01-05.
        reason: Why it is rescheduled, in words. The earlier schedule and the event have it. 1 to 200 characters.
        dry_run: If true, the reply shows the new schedule and explains it, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.reschedule(loan_id="<loan_id>", extra_installments=6, reason="The harvest failed")

            {
              "status": 200,
              "message": "Loan Rescheduled",
              "data": {
                "loan_id": "<loan_id>",
                "client_id": "<client_id>",
                "officer": null,
                "branch": null,
                "state": "active",
                "amount": "120000.00",
                "currency": "NGN",
                "interestSettings": {
                  "interestRate": "24",
                  "interestFrequency": "annualized"
                },
                "method": "declining_equal_instalments",
                "period": 18,
                "tax_applied": true,
                "tax_rate": 7.5,
                "penalty_rate": "0",
                "tolerance_days": 0,
                "outstanding": {
                  "principal": "120000.00",
                  "interest": "24076.58",
                  "tax": "1805.73",
                  "penalty": "0.00",
            …
        """
        return self._call(
            actions.LOANS_RESCHEDULE,
            {
                "loan_id": loan_id,
                "reason": reason,
                "first": first,
                "extra_installments": extra_installments,
                "interest_rate": interest_rate,
                "grace": grace,
                "capitalize_arrears": capitalize_arrears,
                "first_due": first_due,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def top_up(
        self,
        *,
        loan_id: str,
        amount: types.Amount,
        period: int | None = None,
        interest_settings: types.InterestSettings | None = None,
        method: Literal["declining_equal_instalments", "equal_principal", "flat"] | None = None,
        charges: Sequence[types.ChargeTerms] | None = None,
        grace: types.GraceTerms | None = None,
        officer: str | None = None,
        branch: str | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.LoanReply:
        """Pay a loan off with a new one of the same client, and the rest of it out.

        Pays a loan off with a new one of the same client, and the rest of it out, in one commit. The new loan is
        approved at once. Its terms are those of the old one as far as the request names no others.

        Needs a key of scope `lend`.

        loan_id: The loan that is paid off. It must owe something. 1 to 100 characters.
        amount: Principal of the new loan, in naira: at least the payoff of the old one, the deducted charges and
            the least amount of a loan. Digits with at most two decimals, above zero, at most 15 digits.
        period: Number of installments of the new loan, from 1 to 366. Default: that which was agreed with the old
            one. A whole number, not negative.
        interest_settings: The interest of the new loan. Default: that of the old one.
        method: How installments of the new loan are calculated. Default: as those of the old one.
        charges: Charges of the new loan. Default: none. At most 5 charges.
        grace: A grace period of the new loan. Default: none.
        officer: Who of your people answers for the new loan. Default: as of the old one. 1 to 100 characters.
        branch: Your branch that makes the new loan. Default: as of the old one. 1 to 100 characters.
        dry_run: If true, the reply shows the new loan and explains what is paid off and out, and nothing is
            changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.top_up(loan_id="<loan_id>", amount="200000.00", period=12)

            {
              "status": 200,
              "message": "Loan Disbursed",
              "txnRef": "<txnRef>",
              "txnStatus": "successful",
              "loan_id": "<loan_id>",
              "data": {
                "loan_id": "<loan_id>",
                "client_id": "<client_id>",
                "officer": null,
                "branch": null,
                "state": "active",
                "amount": "200000.00",
                "currency": "NGN",
                "interestSettings": {
                  "interestRate": "24",
                  "interestFrequency": "annualized"
                },
                "method": "declining_equal_instalments",
                "period": 12,
                "tax_applied": true,
                "tax_rate": 7.5,
                "penalty_rate": "0",
                "tolerance_days": 0,
                "outstanding": {
                  "principal": "200000.00",
            …
        """
        return self._call(
            actions.LOANS_TOP_UP,
            {
                "loan_id": loan_id,
                "amount": amount,
                "period": period,
                "interest_settings": interest_settings,
                "method": method,
                "charges": charges,
                "grace": grace,
                "officer": officer,
                "branch": branch,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def write_off(
        self,
        *,
        loan_id: str,
        reason: str,
        parts: Sequence[Literal["charge", "interest", "penalty", "principal", "tax"]] | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.LoanReply:
        """Write off a loan, or what is due of some of its parts.

        Writes off what a client will not pay: all of a loan, which closes it, or what is due of some parts, and the
        loan goes on. Above the amount of your policy it waits until another key or person approves it.

        Needs a key of scope `lend`.

        loan_id: The loan to write off. 1 to 100 characters.
        parts: Writes off only what is due of these parts up to today; `charge` is charges with their VAT. Default:
            all that is owed, and the loan is closed. 1 to 5 parts.
        reason: Why it is written off, in words. The event has it. 1 to 200 characters.
        dry_run: If true, the reply says what the write-off would do, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.write_off(loan_id="<loan_id>", reason="The client has died")

            {
              "status": 200,
              "message": "Loan Written Off",
              "data": {
                "loan_id": "<loan_id>",
                "client_id": "<client_id>",
                "officer": null,
                "branch": null,
                "state": "closed_written_off",
                "amount": "200000.00",
                "currency": "NGN",
                "interestSettings": {
                  "interestRate": "24",
                  "interestFrequency": "annualized"
                },
                "method": "declining_equal_instalments",
                "period": 12,
                "tax_applied": true,
                "tax_rate": 7.5,
                "penalty_rate": "0",
                "tolerance_days": 0,
                "outstanding": {
                  "principal": "0.00",
                  "interest": "0.00",
                  "tax": "0.00",
                  "penalty": "0.00",
            …
        """
        return self._call(
            actions.LOANS_WRITE_OFF,
            {"loan_id": loan_id, "reason": reason, "parts": parts, "dry_run": dry_run},
            idempotency_key,
        )

    def decide_write_off(
        self,
        *,
        loan_id: str,
        status: Literal["approve", "reject"],
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.LoanReply:
        """Approve or reject a write-off that waits, with another key than the one that proposed it.

        Approves or rejects a write-off that waits, with another key than the one that proposed it.

        Needs a key of scope `approve`.

        loan_id: The loan whose write-off waits. 1 to 100 characters.
        status: `approve` writes off what is owed by now; `reject` leaves the loan as it is.
        dry_run: If true, the reply says what would happen, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.decide_write_off(loan_id="<loan_id>", status="approve")

            {
              "status": 200,
              "message": "Loan Written Off",
              "data": {
                "loan_id": "<loan_id>",
                "client_id": "<client_id>",
                "officer": null,
                "branch": null,
                "state": "closed_written_off",
                "amount": "120000.00",
                "currency": "NGN",
                "interestSettings": {
                  "interestRate": "24",
                  "interestFrequency": "annualized"
                },
                "method": "declining_equal_instalments",
                "period": 12,
                "tax_applied": true,
                "tax_rate": 7.5,
                "penalty_rate": "0",
                "tolerance_days": 0,
                "outstanding": {
                  "principal": "0.00",
                  "interest": "0.00",
                  "tax": "0.00",
                  "penalty": "0.00",
            …
        """
        return self._call(
            actions.LOANS_DECIDE_WRITE_OFF, {"loan_id": loan_id, "status": status, "dry_run": dry_run}, idempotency_key
        )

    def guarantee(
        self,
        *,
        loan_id: str,
        client_id: str,
        savings_id: str,
        amount: types.Amount,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.GuaranteeReply:
        """Pledge a part of a client's savings for the loan of another client.

        Pledges a part of a client's savings for the loan of another client.

        Needs a key of scope `lend`.

        loan_id: The loan: not yet paid out, or not yet repaid. 1 to 100 characters.
        client_id: The guarantor. The client must be active, and another one than the borrower. 1 to 100 characters.
        savings_id: Savings of the guarantor. 1 to 100 characters.
        amount: What the guarantor answers for at most, in naira. The savings must have it. Digits with at most two
            decimals, above zero, at most 15 digits.
        dry_run: If true, the reply shows the guarantee, and nothing is held.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.guarantee(
                loan_id="<loan_id>", client_id="<client_id>", savings_id="<savings_id>", amount="20000.00"
            )

            {
              "status": 200,
              "message": "Savings Pledged",
              "data": {
                "guarantee_id": "<guarantee_id>",
                "loan_id": "<loan_id>",
                "borrower_id": "<borrower_id>",
                "client_id": "<client_id>",
                "savings_id": "<savings_id>",
                "state": "active",
                "amount": "20000.00",
                "held": "20000.00",
                "called": "0.00",
                "owed": "0.00",
                "shortfall": "0.00",
                "dateCreated": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(
            actions.LOANS_GUARANTEE,
            {
                "loan_id": loan_id,
                "client_id": client_id,
                "savings_id": savings_id,
                "amount": amount,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def guarantees(
        self,
        *,
        offset: int | None = None,
        limit: int | None = None,
        loan_id: str | None = None,
        client_id: str | None = None,
        borrower_id: str | None = None,
    ) -> Page[types.GuaranteeRecord]:
        """Guarantees, newest first: of a loan, or by a client for others, or for a client by others.

        Lists guarantees, newest first. The fields filter.

        Needs a key of scope `lend` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        loan_id: Lists the guarantees of this loan alone. 1 to 100 characters.
        client_id: Lists what this client guarantees for others. 1 to 100 characters.
        borrower_id: Lists what others guarantee for this client. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.loans.guarantees(loan_id="<loan_id>")

            {
              "status": 200,
              "data": [
                {
                  "guarantee_id": "<guarantee_id>",
                  "loan_id": "<loan_id>",
                  "borrower_id": "<borrower_id>",
                  "client_id": "<client_id>",
                  "savings_id": "<savings_id>",
                  "state": "active",
                  "amount": "20000.00",
                  "held": "20000.00",
                  "called": "0.00",
                  "owed": "0.00",
                  "shortfall": "0.00",
                  "dateCreated": "2026-01-05T08:30:00.000Z"
                }
              ],
              "total": 1,
              "offset": 0,
              "limit": 50
            }
        """
        return self._list(
            actions.LOANS_GUARANTEES,
            {"offset": offset, "limit": limit, "loan_id": loan_id, "client_id": client_id, "borrower_id": borrower_id},
        )

    def call_guarantee(
        self,
        *,
        loan_id: str,
        guarantee_id: str | None = None,
        amount: types.Amount | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.CallGuaranteeReply:
        """Pay what is due of a loan in arrears out of the savings that guarantee it.

        Pays what is due of a loan in arrears, or what was written off, out of the savings that guarantee it.

        Needs a key of scope `lend`.

        loan_id: The loan: in arrears, or written off. 1 to 100 characters.
        guarantee_id: Calls this guarantee alone. Default: all of the loan, each in proportion to what it holds. 1
            to 100 characters.
        amount: What to take, in naira: at most what is due, and what the guarantees hold. Default: as much as that.
            Digits with at most two decimals, above zero, at most 15 digits.
        dry_run: If true, the reply says what would happen, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.call_guarantee(loan_id="<loan_id>", amount="5000.00")

            {
              "status": 200,
              "message": "Guarantee Called",
              "txnRef": "<txnRef>",
              "loan_id": "<loan_id>",
              "amount": "5000.00",
              "allocation": {
                "penalty": "0.00",
                "interest": "0.00",
                "tax": "0.00",
                "principal": "5000.00"
              },
              "guarantees": [
                {
                  "guarantee_id": "<guarantee_id>",
                  "loan_id": "<loan_id>",
                  "borrower_id": "<borrower_id>",
                  "client_id": "<client_id>",
                  "savings_id": "<savings_id>",
                  "state": "active",
                  "amount": "20000.00",
                  "held": "15000.00",
                  "called": "5000.00",
                  "owed": "5000.00",
                  "shortfall": "0.00",
                  "dateCreated": "2026-01-05T08:30:00.000Z"
            …
        """
        return self._call(
            actions.LOANS_CALL_GUARANTEE,
            {"loan_id": loan_id, "guarantee_id": guarantee_id, "amount": amount, "dry_run": dry_run},
            idempotency_key,
        )

    def pay_guarantor(
        self,
        *,
        guarantee_id: str,
        amount: types.Amount,
        payment_method: Literal["waived", "wallet"],
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.PayGuarantorReply:
        """Give a guarantor back what was called, or record that the guarantor waives it.

        Gives a guarantor back what was called, in whole or in part, or records that the guarantor waives it.

        Needs a key of scope `lend`.

        guarantee_id: The guarantee that was called. 1 to 100 characters.
        amount: How much, in naira: at most what is owed. Digits with at most two decimals, above zero, at most 15
            digits.
        payment_method: `wallet`: the borrower has paid it to you, and it goes from the wallet into the guarantor's
            savings. `waived`: the guarantor gives it up, and no money moves.
        dry_run: If true, the reply shows the guarantee as it would be, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.pay_guarantor(guarantee_id="<guarantee_id>", amount="1000.00", payment_method="wallet")

            {
              "status": 200,
              "message": "Guarantor Repaid",
              "data": {
                "guarantee_id": "<guarantee_id>",
                "loan_id": "<loan_id>",
                "borrower_id": "<borrower_id>",
                "client_id": "<client_id>",
                "savings_id": "<savings_id>",
                "state": "active",
                "amount": "20000.00",
                "held": "15000.00",
                "called": "5000.00",
                "owed": "4000.00",
                "shortfall": "0.00",
                "dateCreated": "2026-01-05T08:30:00.000Z"
              },
              "txnRef": "<txnRef>",
              "amount": "1000.00"
            }
        """
        return self._call(
            actions.LOANS_PAY_GUARANTOR,
            {"guarantee_id": guarantee_id, "amount": amount, "payment_method": payment_method, "dry_run": dry_run},
            idempotency_key,
        )

    def release_guarantee(
        self, *, guarantee_id: str, dry_run: bool | None = None, idempotency_key: str | None = None
    ) -> types.GuaranteeReply:
        """Release what a guarantee holds on the guarantor's savings, for good.

        Releases what a guarantee holds, for good. What the borrower owes the guarantor stays owed.

        Needs a key of scope `lend`.

        guarantee_id: The guarantee to release. 1 to 100 characters.
        dry_run: If true, the reply shows the guarantee as it would be, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.release_guarantee(guarantee_id="<guarantee_id>")

            {
              "status": 200,
              "message": "Guarantee Released",
              "data": {
                "guarantee_id": "<guarantee_id>",
                "loan_id": "<loan_id>",
                "borrower_id": "<borrower_id>",
                "client_id": "<client_id>",
                "savings_id": "<savings_id>",
                "state": "released",
                "amount": "20000.00",
                "held": "0.00",
                "called": "0.00",
                "owed": "0.00",
                "shortfall": "0.00",
                "dateCreated": "2026-01-05T08:30:00.000Z",
                "dateReleased": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(
            actions.LOANS_RELEASE_GUARANTEE, {"guarantee_id": guarantee_id, "dry_run": dry_run}, idempotency_key
        )

    def collateral(
        self,
        *,
        loan_id: str,
        description: str,
        value: types.Amount,
        documents: Sequence[str] | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.CollateralReply:
        """Record a thing that secures a loan, with its value and the hashes of its documents.

        Records a thing that secures a loan. Its documents stay with you: only their hashes are kept.

        Needs a key of scope `lend`.

        loan_id: The loan: not yet paid out, or not yet repaid. 1 to 100 characters.
        description: What it is, such as a vehicle with its chassis number. 1 to 500 characters.
        value: What it is worth, in naira. Digits with at most two decimals, above zero, at most 15 digits.
        documents: SHA-256 hashes of its documents, in lowercase hexadecimal digits. At most 20 hashes.
        dry_run: If true, the reply shows the collateral, and nothing is stored.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.collateral(
                loan_id="<loan_id>",
                description="Tricycle, chassis MD2A45AZ9DWC00001",
                value="850000.00",
                documents=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
            )

            {
              "status": 200,
              "message": "Collateral Recorded",
              "data": {
                "collateral_id": "<collateral_id>",
                "loan_id": "<loan_id>",
                "client_id": "<client_id>",
                "description": "Tricycle, chassis MD2A45AZ9DWC00001",
                "value": "850000.00",
                "documents": [
                  "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
                ],
                "state": "held",
                "dateCreated": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(
            actions.LOANS_COLLATERAL,
            {
                "loan_id": loan_id,
                "description": description,
                "value": value,
                "documents": documents,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def return_collateral(
        self, *, collateral_id: str, dry_run: bool | None = None, idempotency_key: str | None = None
    ) -> types.CollateralReply:
        """Record that collateral was given back.

        Records that collateral was given back.

        Needs a key of scope `lend`.

        collateral_id: The collateral. 1 to 100 characters.
        dry_run: If true, the reply shows the collateral as it would be, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.return_collateral(collateral_id="<collateral_id>")

            {
              "status": 200,
              "message": "Collateral Returned",
              "data": {
                "collateral_id": "<collateral_id>",
                "loan_id": "<loan_id>",
                "client_id": "<client_id>",
                "description": "A tricycle",
                "value": "850000.00",
                "documents": [],
                "state": "returned",
                "dateCreated": "2026-01-05T08:30:00.000Z",
                "dateReturned": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(
            actions.LOANS_RETURN_COLLATERAL, {"collateral_id": collateral_id, "dry_run": dry_run}, idempotency_key
        )

    def create_product(
        self,
        *,
        name: str,
        code: str,
        ranges: types.ProductRanges,
        interest_frequency: Literal["annualized", "every_day", "every_four_weeks", "every_month", "every_week"],
        method: Literal["declining_equal_instalments", "equal_principal", "flat"] | None = None,
        tax_rate: types.Amount | None = None,
        penalty: types.PenaltyTerms | None = None,
        grace: types.GraceTerms | None = None,
        charges: Sequence[types.ChargeTerms] | None = None,
        allocation: Sequence[Literal["charge", "interest", "penalty", "principal"]] | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.ProductReply:
        """Create a loan product: the terms of its loans, and the ranges within which a request may choose.

        Creates a product: the terms that loans of it have, and the ranges within which a request may choose.

        Needs a key of scope `lend`.

        name: What the product is called. 1 to 100 characters.
        code: Your code of the product. No other product has it, also not a closed one. 1 to 100 characters.
        ranges: What a request may choose.
        interest_frequency: The interval that the rates are for, and with it the interval between installments.
        method: How installments are calculated. Default: your lending setting when the product is created.
        tax_rate: Tax in percent of the interest, from 0 to 100. Default: no tax. A percentage from 0 to 1000 with
            at most six decimals.
        penalty: What lateness costs. Default: your lending setting when a loan is requested.
        grace: A grace period that every loan of the product has. Without `first_due`, which a request may have.
        charges: Charges that every loan of the product has. None on a named day. At most 5 charges.
        allocation: The order in which a repayment covers an installment that is due: `penalty`, `charge` with its
            VAT, `interest` with its tax, `principal`. Default: in this order, and the penalties of all installments
            first. Each of the four parts once.
        dry_run: If true, the reply shows the product and a loan of its defaults, and nothing is stored.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.create_product(
                name="Market women",
                code="MW-12",
                ranges={
                    "amount": {"min": "10000.00", "max": "500000.00", "default": "120000.00"},
                    "period": {"min": 3, "max": 24, "default": 12},
                    "interestRate": {"min": 18, "max": 36, "default": 24},
                },
                interest_frequency="annualized",
                tax_rate="7.5",
                penalty={"rate": "0.1", "tolerance_days": 3},
                grace={"principal": 1},
                charges=[
                    {"name": "Processing fee", "percent": 1, "when": "disbursement", "deduct": True, "vat": "7.5"}
                ],
            )

            {
              "status": 200,
              "message": "Product Created",
              "data": {
                "product_id": "<product_id>",
                "code": "MW-12",
                "name": "Market women",
                "state": "open",
                "ranges": {
                  "amount": {
                    "min": "10000.00",
                    "max": "500000.00",
                    "default": "120000.00"
                  },
                  "period": {
                    "min": 3,
                    "max": 24,
                    "default": 12
                  },
                  "interestRate": {
                    "min": "18",
                    "max": "36",
                    "default": "24"
                  }
                },
                "interestFrequency": "annualized",
            …
        """
        return self._call(
            actions.LOANS_CREATE_PRODUCT,
            {
                "name": name,
                "code": code,
                "ranges": ranges,
                "interest_frequency": interest_frequency,
                "method": method,
                "tax_rate": tax_rate,
                "penalty": penalty,
                "grace": grace,
                "charges": charges,
                "allocation": allocation,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def update_product(
        self,
        *,
        product_id: str,
        name: str | None = None,
        ranges: types.ProductRanges | None = None,
        interest_frequency: Literal["annualized", "every_day", "every_four_weeks", "every_month", "every_week"]
        | None = None,
        method: Literal["declining_equal_instalments", "equal_principal", "flat"] | None = None,
        tax_rate: types.Amount | None = None,
        penalty: types.PenaltyTerms | None = None,
        grace: types.GraceTerms | None = None,
        charges: Sequence[types.ChargeTerms] | None = None,
        allocation: Sequence[Literal["charge", "interest", "penalty", "principal"]] | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.ProductReply:
        """Change a loan product for new loans.

        Changes a product for new loans. Loans that were requested before keep their terms. What is left out stays, and
        one term is named at least.

        Needs a key of scope `lend`.

        product_id: The product. 1 to 100 characters.
        name: What the product is called. 1 to 100 characters.
        ranges: What a request may choose.
        interest_frequency: The interval that the rates are for, and with it the interval between installments.
        method: How installments are calculated.
        tax_rate: Tax in percent of the interest, from 0 to 100. A percentage from 0 to 1000 with at most six
            decimals.
        penalty: What lateness costs.
        grace: The grace period. An empty object ends it.
        charges: The charges. An empty array ends them. At most 5 charges.
        allocation: The order in which a repayment covers an installment that is due. Each of the four parts once.
        dry_run: If true, the reply shows the product as it would be, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.update_product(product_id="<product_id>", tax_rate=0)

            {
              "status": 200,
              "message": "Product Changed",
              "data": {
                "product_id": "<product_id>",
                "code": "MW-12",
                "name": "Market women",
                "state": "open",
                "ranges": {
                  "amount": {
                    "min": "10000.00",
                    "max": "500000.00",
                    "default": "120000.00"
                  },
                  "period": {
                    "min": 3,
                    "max": 24,
                    "default": 12
                  },
                  "interestRate": {
                    "min": "18",
                    "max": "36",
                    "default": "24"
                  }
                },
                "interestFrequency": "annualized",
            …
        """
        return self._call(
            actions.LOANS_UPDATE_PRODUCT,
            {
                "product_id": product_id,
                "name": name,
                "ranges": ranges,
                "interest_frequency": interest_frequency,
                "method": method,
                "tax_rate": tax_rate,
                "penalty": penalty,
                "grace": grace,
                "charges": charges,
                "allocation": allocation,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def list_products(
        self, *, offset: int | None = None, limit: int | None = None, state: Literal["closed", "open"] | None = None
    ) -> Page[types.ProductRecord]:
        """Loan products, newest first, with the numbers of their loans.

        Lists products, newest first.

        Needs a key of scope `lend` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        state: Lists those in this state alone.

        Example, and the reply that was recorded for it:

            shop.loans.list_products(state="open")

            {
              "status": 200,
              "data": [
                {
                  "product_id": "<product_id>",
                  "code": "MW-12",
                  "name": "Market women",
                  "state": "open",
                  "ranges": {
                    "amount": {
                      "min": "10000.00",
                      "max": "500000.00",
                      "default": "120000.00"
                    },
                    "period": {
                      "min": 3,
                      "max": 24,
                      "default": 12
                    },
                    "interestRate": {
                      "min": "18",
                      "max": "36",
                      "default": "24"
                    }
                  },
                  "interestFrequency": "annualized",
            …
        """
        return self._list(actions.LOANS_LIST_PRODUCTS, {"offset": offset, "limit": limit, "state": state})

    def view_product(self, *, product_id: str) -> types.ProductReply:
        """One loan product with the numbers of its loans.

        Names the product to view.

        Needs a key of scope `lend` or `read`.

        product_id: The product. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.loans.view_product(product_id="<product_id>")

            {
              "status": 200,
              "message": "Product",
              "data": {
                "product_id": "<product_id>",
                "code": "MW-12",
                "name": "Market women",
                "state": "open",
                "ranges": {
                  "amount": {
                    "min": "10000.00",
                    "max": "500000.00",
                    "default": "120000.00"
                  },
                  "period": {
                    "min": 3,
                    "max": 24,
                    "default": 12
                  },
                  "interestRate": {
                    "min": "18",
                    "max": "36",
                    "default": "24"
                  }
                },
                "interestFrequency": "annualized",
            …
        """
        return self._call(actions.LOANS_VIEW_PRODUCT, {"product_id": product_id})

    def request_of_product(
        self,
        *,
        client_id: str,
        product_id: str,
        officer: str | None = None,
        branch: str | None = None,
        amount: types.Amount | None = None,
        period: int | None = None,
        interest_settings: types.InterestSettings | None = None,
        grace: types.GraceTerms | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.LoanReply:
        """Request a loan of a product; what is left out comes from the product.

        Requests a loan of a product for an active client. What the request leaves out comes from the product, and what
        is outside its ranges is refused. The terms are copied into the loan.

        Needs a key of scope `lend`.

        client_id: The client who borrows. The client must be active. 1 to 100 characters.
        product_id: The product. It must be open. 1 to 100 characters.
        officer: Who of your people answers for the loan, in a code of yours. `portfolio` counts by it. 1 to 100
            characters.
        branch: Your branch that makes the loan, in a code of yours. `portfolio` counts by it. 1 to 100 characters.
        amount: Principal of the loan, in naira, within the range of the product. Default: as the product says.
            Digits with at most two decimals, above zero, at most 15 digits.
        period: Number of installments, within the range of the product. Default: as the product says. A whole
            number, not negative.
        interest_settings: The interest rate, within the range of the product, for its `interestFrequency`. Default:
            as the product says.
        grace: A grace period with at most as many installments as that of the product, or a first due date.
        dry_run: If true, the reply shows the loan and explains its figures, and nothing is stored.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.request_of_product(client_id="<client_id>", product_id="<product_id>", amount="120000.00")

            {
              "status": 200,
              "message": "Loan Requested",
              "data": {
                "loan_id": "<loan_id>",
                "client_id": "<client_id>",
                "officer": null,
                "branch": null,
                "product_id": "<product_id>",
                "state": "pending_approval",
                "amount": "120000.00",
                "currency": "NGN",
                "interestSettings": {
                  "interestRate": "24",
                  "interestFrequency": "annualized"
                },
                "method": "declining_equal_instalments",
                "period": 12,
                "tax_applied": false,
                "tax_rate": 0,
                "penalty_rate": "0.1",
                "tolerance_days": 3,
                "outstanding": {
                  "principal": "0.00",
                  "interest": "0.00",
                  "tax": "0.00",
            …
        """
        return self._call(
            actions.LOANS_REQUEST_OF_PRODUCT,
            {
                "client_id": client_id,
                "product_id": product_id,
                "officer": officer,
                "branch": branch,
                "amount": amount,
                "period": period,
                "interest_settings": interest_settings,
                "grace": grace,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def close_product(
        self, *, product_id: str, dry_run: bool | None = None, idempotency_key: str | None = None
    ) -> types.ProductReply:
        """Close a loan product: no loan of it can be requested any more.

        Closes a product: no loan of it can be requested any more. Those that were requested go on.

        Needs a key of scope `lend`.

        product_id: The product. 1 to 100 characters.
        dry_run: If true, the reply says what would happen, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.close_product(product_id="<product_id>")

            {
              "status": 200,
              "message": "Product Closed",
              "data": {
                "product_id": "<product_id>",
                "code": "MW-12",
                "name": "Market women",
                "state": "closed",
                "ranges": {
                  "amount": {
                    "min": "10000.00",
                    "max": "500000.00",
                    "default": "120000.00"
                  },
                  "period": {
                    "min": 3,
                    "max": 24,
                    "default": 12
                  },
                  "interestRate": {
                    "min": "18",
                    "max": "36",
                    "default": "24"
                  }
                },
                "interestFrequency": "annualized",
            …
        """
        return self._call(actions.LOANS_CLOSE_PRODUCT, {"product_id": product_id, "dry_run": dry_run}, idempotency_key)

    def auto_repay(
        self,
        *,
        loan_id: str,
        source: Literal["savings", "token", "wallet"],
        token: str | None = None,
        savings_id: str | None = None,
        at: int | None = None,
        retry: Sequence[int] | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.AutoRepayReply:
        """Collect what falls due of a loan: from a saved card, savings or the wallet.

        Agrees on collecting what falls due of a loan, from now on. Sent again, it takes the place of what was agreed
        before, and a collection that was paused or stopped goes on.

        Needs a key of scope `lend`.

        loan_id: The loan. It owes something, or is not paid out yet. 1 to 100 characters.
        source: Where the money comes from. `token`: a saved card is charged. `savings`: savings of the client pay.
            `wallet`: the repayment is recorded out of money that you have received already, such as wages that an
            employer deducted.
        token: The `cardToken` of the card. Required for `token`, and for nothing else. 1 to 100 characters.
        savings_id: The savings that pay. Required for `savings`, and for nothing else. They are the client's own. 1
            to 100 characters.
        at: Hour of the day in Lagos, from 0 to 23, at which it is collected. Default 9. A whole number, not
            negative.
        retry: Days after a due date on which a declined attempt is made again, ascending, each from 1 to 30.
            Default 1, 3 and 7. Empty: never. At most 5 numbers of days.
        dry_run: If true, the reply shows what would be collected and when, and nothing is stored.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.auto_repay(loan_id="<loan_id>", source="savings", savings_id="<savings_id>", retry=[1, 3, 7])

            {
              "status": 200,
              "message": "Automatic Collection Agreed",
              "data": {
                "auto_repay_id": "<auto_repay_id>",
                "loan_id": "<loan_id>",
                "client_id": "<client_id>",
                "state": "active",
                "source": "savings",
                "savings_id": "<savings_id>",
                "at": "09",
                "retry": [
                  1,
                  3,
                  7
                ],
                "next_step": "payout",
                "next_date": "2026-01-06",
                "collect_date": null,
                "attempts": 0,
                "collections": 0,
                "collected": "0.00",
                "missed": 0,
                "dateCreated": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(
            actions.LOANS_AUTO_REPAY,
            {
                "loan_id": loan_id,
                "source": source,
                "token": token,
                "savings_id": savings_id,
                "at": at,
                "retry": retry,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def stop_auto_repay(
        self, *, loan_id: str, dry_run: bool | None = None, idempotency_key: str | None = None
    ) -> types.AutoRepayReply:
        """Stop collecting a loan.

        Stops the automatic collection of a loan. A charge that is in progress goes on, and its repayment counts.

        Needs a key of scope `lend`.

        loan_id: The loan. 1 to 100 characters.
        dry_run: If true, the reply shows the collection as it would be, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.stop_auto_repay(loan_id="<loan_id>")

            {
              "status": 200,
              "message": "Automatic Collection Stopped",
              "data": {
                "auto_repay_id": "<auto_repay_id>",
                "loan_id": "<loan_id>",
                "client_id": "<client_id>",
                "state": "stopped",
                "source": "savings",
                "savings_id": "<savings_id>",
                "at": "09",
                "retry": [
                  1,
                  3,
                  7
                ],
                "next_step": null,
                "next_date": null,
                "collect_date": null,
                "attempts": 0,
                "collections": 0,
                "collected": "0.00",
                "missed": 0,
                "dateCreated": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(actions.LOANS_STOP_AUTO_REPAY, {"loan_id": loan_id, "dry_run": dry_run}, idempotency_key)

    def collections(
        self,
        *,
        offset: int | None = None,
        limit: int | None = None,
        loan_id: str | None = None,
        state: Literal["charging", "collected", "declined"] | None = None,
    ) -> Page[types.CollectionRecord]:
        """Attempts to collect loans, newest first: what was collected and what was declined, and why.

        Lists the attempts to collect loans, newest first.

        Needs a key of scope `lend` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        loan_id: Lists those of this loan alone. 1 to 100 characters.
        state: Lists those in this state alone.

        Example, and the reply that was recorded for it:

            shop.loans.collections(state="declined")

            {
              "status": 200,
              "data": [],
              "total": 0,
              "offset": 0,
              "limit": 50
            }
        """
        return self._list(
            actions.LOANS_COLLECTIONS, {"offset": offset, "limit": limit, "loan_id": loan_id, "state": state}
        )

    def create_group(
        self,
        *,
        name: str,
        members: Sequence[str],
        leader: str,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.GroupReply:
        """Make a group of clients who borrow together and answer for each other.

        Makes a group of clients who borrow together and answer for each other.

        Needs a key of scope `lend`.

        name: What you call the group. 1 to 100 characters.
        members: Its members, by `client_id`. They must be active. 2 to 30 clients.
        leader: The member who leads it, by `client_id`. 1 to 100 characters.
        dry_run: If true, the reply shows the group, and nothing is stored.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.create_group(name="Kasuwa Women", members=["<client_id>", "<member_id>"], leader="<client_id>")

            {
              "status": 200,
              "message": "Group Created",
              "data": {
                "group_id": "<group_id>",
                "name": "Kasuwa Women",
                "state": "active",
                "leader": "<leader>",
                "member_count": 2,
                "loan_count": 0,
                "dateCreated": "2026-01-05T08:30:00.000Z",
                "members": [
                  "<reference>",
                  "<reference>"
                ]
              }
            }
        """
        return self._call(
            actions.LOANS_CREATE_GROUP,
            {"name": name, "members": members, "leader": leader, "dry_run": dry_run},
            idempotency_key,
        )

    def update_group(
        self,
        *,
        group_id: str,
        name: str | None = None,
        add: Sequence[str] | None = None,
        remove: Sequence[str] | None = None,
        leader: str | None = None,
        close: bool | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.GroupReply:
        """Change a group: its name, its members, its leader; or close it.

        Changes a group: its name, its members, its leader; or closes it.

        Needs a key of scope `lend`.

        group_id: The group. 1 to 100 characters.
        name: Its new name. 1 to 100 characters.
        add: Clients who join it, by `client_id`. They must be active. 1 to 30 clients.
        remove: Members who leave it, by `client_id`. A member whose loan of the group is open stays, and so does
            everybody while a loan of the group is in arrears. A leader leaves only if `leader` names another
            member. 1 to 30 clients.
        leader: The member who leads it from now on, by `client_id`. 1 to 100 characters.
        close: If true, the group is closed for good. None of its loans may be open.
        dry_run: If true, the reply shows the group as it would be, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.update_group(group_id="<group_id>", name="Kasuwa Traders")

            {
              "status": 200,
              "message": "Group Changed",
              "data": {
                "group_id": "<group_id>",
                "name": "Kasuwa Traders",
                "state": "active",
                "leader": "<leader>",
                "member_count": 2,
                "loan_count": 0,
                "dateCreated": "2026-01-05T08:30:00.000Z",
                "members": [
                  "<reference>",
                  "<reference>"
                ]
              }
            }
        """
        return self._call(
            actions.LOANS_UPDATE_GROUP,
            {
                "group_id": group_id,
                "name": name,
                "add": add,
                "remove": remove,
                "leader": leader,
                "close": close,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def view_group(self, *, group_id: str) -> types.ViewGroupReply:
        """One group with its standing, its members and its loans.

        Returns a group with its standing, its members and its loans.

        Needs a key of scope `lend` or `read`.

        group_id: The group. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.loans.view_group(group_id="<group_id>")

            {
              "status": 200,
              "data": {
                "group_id": "<group_id>",
                "name": "Weavers",
                "state": "active",
                "leader": "<leader>",
                "member_count": 2,
                "loan_count": 0,
                "dateCreated": "2026-01-05T08:30:00.000Z",
                "standing": {
                  "state": "good",
                  "loans": 0,
                  "outstanding": "0.00",
                  "overdue": "0.00",
                  "days_late": 0,
                  "written_off": "0.00"
                },
                "members": [
                  {
                    "client_id": "<client_id>",
                    "is_leader": true,
                    "loans": 0,
                    "outstanding": "0.00",
                    "overdue": "0.00",
                    "written_off": "0.00",
            …
        """
        return self._call(actions.LOANS_VIEW_GROUP, {"group_id": group_id})

    def list_groups(
        self,
        *,
        offset: int | None = None,
        limit: int | None = None,
        client_id: str | None = None,
        state: Literal["active", "closed"] | None = None,
    ) -> Page[types.GroupSummary]:
        """Groups, newest first: all, or a client's, or those in a state.

        Lists groups, newest first.

        Needs a key of scope `lend` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        client_id: Lists those alone that this client is a member of. 1 to 100 characters.
        state: Lists those in this state alone.

        Example, and the reply that was recorded for it:

            shop.loans.list_groups(state="active")

            {
              "status": 200,
              "data": [
                {
                  "group_id": "<group_id>",
                  "name": "Weavers",
                  "state": "active",
                  "leader": "<leader>",
                  "member_count": 2,
                  "loan_count": 0,
                  "dateCreated": "2026-01-05T08:30:00.000Z"
                },
                {
                  "group_id": "<group_id>",
                  "name": "Weavers",
                  "state": "active",
                  "leader": "<leader>",
                  "member_count": 2,
                  "loan_count": 0,
                  "dateCreated": "2026-01-05T08:30:00.000Z"
                },
                {
                  "group_id": "<group_id>",
                  "name": "Kasuwa Traders",
                  "state": "active",
                  "leader": "<leader>",
            …
        """
        return self._list(
            actions.LOANS_LIST_GROUPS, {"offset": offset, "limit": limit, "client_id": client_id, "state": state}
        )

    def request_group_loan(
        self,
        *,
        group_id: str,
        loans: Sequence[types.GroupLoanPart],
        interest_settings: types.InterestSettings,
        period: int,
        disbursement: Literal["each", "one"] | None = None,
        officer: str | None = None,
        branch: str | None = None,
        tax_applied: bool | None = None,
        tax_rate: types.Amount | None = None,
        method: Literal["declining_equal_instalments", "equal_principal", "flat"] | None = None,
        charges: Sequence[types.ChargeTerms] | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.GroupLoanReply:
        """Request a loan for a group: one for each member who borrows, on the same terms.

        Requests a loan for a group: a loan of each member who borrows, all on the same terms. Each has a schedule of
        its own.

        Needs a key of scope `lend`.

        group_id: The group. 1 to 100 characters.
        loans: What each member borrows. A member has one loan in it. 1 to 30 members.
        disbursement: `one`: the sum goes to the leader's `bankAccount` by one transfer. `each`, the default: each
            member receives one.
        officer: Who of your people answers for the loans, in a code of yours. 1 to 100 characters.
        branch: Your branch that makes the loans, in a code of yours. 1 to 100 characters.
        interest_settings: The interest rate, and with it the interval between installments.
        period: Number of installments of each loan, from 1 to 366. All loans together have at most 2,000
            installments. A whole number, not negative.
        tax_applied: Whether tax on the interest is added to the installments. Default false.
        tax_rate: Tax in percent of the interest, from 0 to 100. Required if `tax_applied` is true. A percentage
            from 0 to 1000 with at most six decimals.
        method: How installments are computed, as in `request`. Default: your lending setting.
        charges: Charges of each loan besides the interest, as in `request`. At most 5 charges.
        dry_run: If true, the reply shows the loans and explains what each owes in all, and nothing is stored.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.request_group_loan(
                group_id="<group_id>",
                loans=[{"client_id": "<client_id>", "amount": "50000.00"}],
                disbursement="one",
                interest_settings={"interestRate": "2", "interestFrequency": "every_week"},
                period=12,
            )

            {
              "status": 200,
              "message": "Group Loan Requested",
              "data": {
                "group_loan_id": "<group_loan_id>",
                "group_id": "<group_id>",
                "disbursement": "one",
                "client_id": "<client_id>",
                "amount": "50000.00",
                "loans": [
                  {
                    "loan_id": "<loan_id>",
                    "client_id": "<client_id>",
                    "amount": "50000.00",
                    "state": "pending_approval"
                  }
                ],
                "dateCreated": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(
            actions.LOANS_REQUEST_GROUP_LOAN,
            {
                "group_id": group_id,
                "loans": loans,
                "interest_settings": interest_settings,
                "period": period,
                "disbursement": disbursement,
                "officer": officer,
                "branch": branch,
                "tax_applied": tax_applied,
                "tax_rate": tax_rate,
                "method": method,
                "charges": charges,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def request_group_loan_of_product(
        self,
        *,
        group_id: str,
        product_id: str,
        loans: Sequence[types.PartOfProduct],
        disbursement: Literal["each", "one"] | None = None,
        officer: str | None = None,
        branch: str | None = None,
        period: int | None = None,
        interest_settings: types.InterestSettings | None = None,
        grace: types.GraceTerms | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.GroupLoanReply:
        """Request a loan of a product for a group; what is left out comes from the product.

        Requests a loan of a product for a group: a loan of each member who borrows, all on the same terms. What the
        request leaves out comes from the product, and what is outside its ranges is refused. The terms are copied into
        the loans.

        Needs a key of scope `lend`.

        group_id: The group. 1 to 100 characters.
        product_id: The product. It must be open. 1 to 100 characters.
        loans: What each member borrows. A member has one loan in it. 1 to 30 members.
        disbursement: `one`: the sum goes to the leader's `bankAccount` by one transfer. `each`, the default: each
            member receives one.
        officer: Who of your people answers for the loans, in a code of yours. 1 to 100 characters.
        branch: Your branch that makes the loans, in a code of yours. 1 to 100 characters.
        period: Number of installments of each loan, within the range of the product. All loans together have at
            most 2,000 installments. Default: as the product says. A whole number, not negative.
        interest_settings: The interest rate, within the range of the product, for its `interestFrequency`. Default:
            as the product says.
        grace: A grace period with at most as many installments as that of the product, or a first due date.
        dry_run: If true, the reply shows the loans and explains what each owes in all, and nothing is stored.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.request_group_loan_of_product(
                group_id="<group_id>",
                product_id="<product_id>",
                loans=[{"client_id": "<client_id>", "amount": "120000.00"}],
                disbursement="one",
            )

            {
              "status": 200,
              "message": "Group Loan Requested",
              "data": {
                "group_loan_id": "<group_loan_id>",
                "group_id": "<group_id>",
                "disbursement": "one",
                "client_id": "<client_id>",
                "amount": "120000.00",
                "loans": [
                  {
                    "loan_id": "<loan_id>",
                    "client_id": "<client_id>",
                    "amount": "120000.00",
                    "state": "pending_approval"
                  }
                ],
                "dateCreated": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(
            actions.LOANS_REQUEST_GROUP_LOAN_OF_PRODUCT,
            {
                "group_id": group_id,
                "product_id": product_id,
                "loans": loans,
                "disbursement": disbursement,
                "officer": officer,
                "branch": branch,
                "period": period,
                "interest_settings": interest_settings,
                "grace": grace,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def process_group_loan(
        self,
        *,
        group_loan_id: str,
        status: Literal["approve", "cancel", "reject"],
        loan_id: str | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.GroupLoanReply:
        """Approve the loan of a group and pay it out, by one transfer or one to each; reject or cancel it.

        Approves, rejects or cancels the loan of a group, or one member's part of it.

        Needs a key of scope `lend`.

        group_loan_id: The loan of the group. 1 to 100 characters.
        status: `approve` pays it out; `reject` and `cancel` close it. After a failed disbursement, `approve` tries
            again what was not paid out.
        loan_id: Only this member's loan. Left out: all of those that the status is possible for. A loan that is
            paid out by one transfer is approved as a whole. 1 to 100 characters.
        dry_run: If true, the reply shows the loans as they would be, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.process_group_loan(group_loan_id="<group_loan_id>", status="approve")

            {
              "status": 200,
              "message": "Loan Disbursed",
              "data": {
                "group_loan_id": "<group_loan_id>",
                "group_id": "<group_id>",
                "disbursement": "one",
                "client_id": "<client_id>",
                "amount": "50000.00",
                "loans": [
                  {
                    "loan_id": "<loan_id>",
                    "client_id": "<client_id>",
                    "amount": "50000.00",
                    "state": "active"
                  }
                ],
                "txnRef": "<txnRef>",
                "dateCreated": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(
            actions.LOANS_PROCESS_GROUP_LOAN,
            {"group_loan_id": group_loan_id, "status": status, "loan_id": loan_id, "dry_run": dry_run},
            idempotency_key,
        )

    def collection_sheet(self, *, group_id: str, date: dt.date | str | None = None) -> types.CollectionSheetReply:
        """What each member of a group is to pay at a meeting, and what was paid on its day.

        Returns what each member of a group is to pay at a meeting, and what was paid on its day.

        Needs a key of scope `lend` or `read`.

        group_id: The group. 1 to 100 characters.
        date: Day of the meeting, at most 366 days before or after today. Default: today. A day as YYYY-MM-DD.

        Example, and the reply that was recorded for it:

            shop.loans.collection_sheet(group_id="<group_id>")

            {
              "status": 200,
              "data": {
                "group_id": "<group_id>",
                "name": "Weavers",
                "leader": "<leader>",
                "date": "2026-01-05",
                "lines": [
                  {
                    "client_id": "<client_id>",
                    "loan_id": "<loan_id>",
                    "arrears": "0.00",
                    "installment": "0.00",
                    "due": "0.00",
                    "collected": "0.00",
                    "outstanding": "50000.00"
                  }
                ],
                "totals": {
                  "arrears": "0.00",
                  "installment": "0.00",
                  "due": "0.00",
                  "collected": "0.00",
                  "outstanding": "50000.00"
                }
              }
            }
        """
        return self._call(actions.LOANS_COLLECTION_SHEET, {"group_id": group_id, "date": date})

    def collect(
        self,
        *,
        group_id: str,
        amounts: Sequence[types.CollectedAmount],
        apply: Literal["all", "each"] | None = None,
        customer_txnref: str | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.CollectReply:
        """Record what a meeting of a group has collected: a repayment of each loan, in one request.

        Records what a meeting has collected, in one request: a repayment of each loan, out of money that you have
        received.

        Needs a key of scope `lend`.

        group_id: The group. 1 to 100 characters.
        amounts: What was paid, by loan. A loan is named once. 1 to 60 amounts.
        apply: `all`, the default: if one amount is refused, none is recorded. `each`: those that are possible are
            recorded, and the reply says why the others are not.
        customer_txnref: Your reference of the meeting, which each of the repayments has. It need not be unique. 1
            to 100 characters.
        dry_run: If true, the reply shows what each amount would cover, and nothing is recorded.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.loans.collect(group_id="<group_id>", amounts=[{"loan_id": "<loan_id>", "amount": "4000.00"}])

            {
              "status": 200,
              "message": "Collected",
              "group_id": "<group_id>",
              "amount": "4000.00",
              "data": [
                {
                  "loan_id": "<loan_id>",
                  "client_id": "<client_id>",
                  "amount": "4000.00",
                  "state": "collected",
                  "txnRef": "<txnRef>",
                  "allocation": {
                    "penalty": "0.00",
                    "interest": "0.00",
                    "tax": "0.00",
                    "principal": "4000.00"
                  },
                  "outstanding": "46000.00"
                }
              ]
            }
        """
        return self._call(
            actions.LOANS_COLLECT,
            {
                "group_id": group_id,
                "amounts": amounts,
                "apply": apply,
                "customer_txnref": customer_txnref,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    @overload
    def wait(
        self, thing: types.RepayReply | types.RepaymentValidateReply, seconds: float = 60.0
    ) -> types.PaymentState: ...

    @overload
    def wait(self, thing: types.LoanReply, seconds: float = 60.0) -> types.TransferState: ...

    def wait(
        self, thing: types.RepayReply | types.RepaymentValidateReply | types.LoanReply, seconds: float = 60.0
    ) -> types.PaymentState | types.TransferState:
        """Polls `verify` until the transaction is final, and returns its state. Raises StillPending, an
        OutcomeUnknown, if it is not final within so many seconds.
        """
        if isinstance(thing, (types.RepayReply, types.RepaymentValidateReply)):
            return self._wait(actions.PAYMENT_VERIFY, thing, seconds)
        return self._wait(actions.DISBURSE_VERIFY, thing, seconds)


class Investments(SyncGroup):
    """The actions of `PUT /investments`."""

    def create_savings(
        self,
        *,
        name: str,
        client_id: str,
        interest_settings: types.InterestSettings,
        tax_applied: bool | None = None,
        tax_rate: types.Amount | None = None,
        period: int | None = None,
        term_days: int | None = None,
        rollover: Literal["all", "none", "principal"] | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.SavingsReply:
        """Open savings for an active client.

        A new savings account of a client.

        Needs a key of scope `lend`.

        name: Name of the savings account, such as its purpose. It is the narration of transfers by `cashout`. 1 to
            200 characters.
        client_id: The client who saves. The client must be active. 1 to 100 characters.
        interest_settings: The interest rate. It may come to at most 1,000 percent a year.
        tax_applied: Whether tax is withheld from the interest. Default false.
        tax_rate: Tax in percent of the interest, from 0 to 100. Default 10. A percentage from 0 to 1000 with at
            most six decimals.
        period: Months until maturity, from 1 to 600. Money taken out earlier forfeits interest; after maturity none
            accrues. Required, unless `term_days` makes it a fixed deposit. A whole number, not negative.
        term_days: Makes it a fixed deposit of a term of so many days, from 1 to 3,650, in place of `period`. Its
            interest is posted when the term ends. A whole number, not negative.
        rollover: Of a fixed deposit: what begins a new term when one ends. `none`, the default: nothing, it
            matures. `principal`: the principal; the interest stays in the savings, earns nothing and can be taken
            out at any time. `all`: both.
        dry_run: If true, the reply shows the savings account, and nothing is stored.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.create_savings(
                name="School fees",
                client_id="<client_id>",
                period=12,
                interest_settings={"interestRate": "12", "interestFrequency": "annualized"},
                tax_applied=True,
                tax_rate=10,
            )

            {
              "status": 200,
              "message": "Savings Created",
              "data": {
                "savings_id": "<savings_id>",
                "client_id": "<client_id>",
                "name": "School fees",
                "state": "pending",
                "balance": "0.00",
                "accrued_interest": "0.00",
                "interestSettings": {
                  "interestRate": "12",
                  "interestFrequency": "annualized"
                },
                "tax_applied": true,
                "tax_rate": "10",
                "period": 12,
                "opened_at": "2026-01-05T08:30:00.000Z",
                "matures_at": "2027-01-04T23:00:00.000Z",
                "plans": [],
                "plans_total": 0
              }
            }
        """
        return self._call(
            actions.INVESTMENTS_CREATE_SAVINGS,
            {
                "name": name,
                "client_id": client_id,
                "interest_settings": interest_settings,
                "tax_applied": tax_applied,
                "tax_rate": tax_rate,
                "period": period,
                "term_days": term_days,
                "rollover": rollover,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def deposit(
        self,
        *,
        savings_id: str,
        payment_method: Literal[
            "account", "bank_transfer", "card", "mobile_money", "phone", "qrpay", "token", "ussd", "wallet"
        ],
        amount: types.Amount,
        card: types.CardDetails | None = None,
        token: str | None = None,
        account: types.PayerAccount | None = None,
        bank: Literal["gtb", "zenith"] | None = None,
        phonenumber: str | None = None,
        accountnumber: str | None = None,
        business_name: str | None = None,
        type: Literal["ghana", "mpesa", "paga", "paga_connect"] | None = None,
        redirect_url: str | None = None,
        country: str | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        user: types.Payer | None = None,
        ip: str | None = None,
        fingerprint: str | None = None,
        customer_txnref: str | None = None,
        meta: Mapping[str, Any] | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.DepositReply:
        """Deposit into savings, by any payment method or from the wallet; dry_run shows what would happen.

        A deposit from the wallet or by any payment method. A payment method takes the fields of that payment type.

        Needs a key of scope `lend`.

        card: The card to charge. Required for `card`, unless payers enter their cards on the page of a vendor: then
            it must be left out.
        token: The `cardToken` of an earlier successful payment. Required for `token`. 1 to 100 characters.
        account: The bank account to debit. Required for `account`.
        bank: Bank of the payer, whose USSD service is dialed. Required for `ussd`.
        phonenumber: Telephone number of the payer. Required for `phone`, and for `ussd` with `zenith`. A telephone
            number in digits.
        accountnumber: Bank account of the payer. Required for `ussd` with `zenith`. Ten digits.
        business_name: Name that the payer sees with `qrpay` and `bank_transfer`. Default: the merchant's name. At
            most 200 characters.
        type: The mobile-money provider: `paga` or `paga_connect`. Required for `mobile_money`. `ghana` and `mpesa`
            are refused, because loans and savings are kept in NGN.
        redirect_url: Address to which the payer is sent after a page of ours (3-D Secure, paga). Required for paga.
            An http or https URL of at most 2,048 characters, its host in ASCII.
        country: Country of the payment. Default `NG`. It must fit the payment type, as for `charge` of `/payment`.
            A country as two capital letters.
        currency: Currency of the amount. Only `NGN`, which is the default, is accepted. One of NGN, USD, GHS, KES.
        user: The payer.
        ip: IP address of the payer. Kept with the payment and part of the client's data export. At most 200
            characters.
        fingerprint: Fingerprint of the payer's device. Kept with the payment and part of the client's data export.
            At most 200 characters.
        customer_txnref: Your reference of the payment, which `verify` of `/payment` takes. It need not be unique. 1
            to 100 characters.
        meta: An object of your own, stored and returned unchanged, with card numbers in it masked. At most 64 KiB.
        savings_id: The savings account that receives the deposit. 1 to 100 characters.
        payment_method: How the deposit is paid: a payment type, or `wallet` to move money from your wallet.
        amount: Amount of the deposit, in naira. All of it reaches the savings: your wallet pays the fee. Digits
            with at most two decimals, above zero, at most 15 digits.
        dry_run: If true, the reply explains what the deposit would bring and cost, and nothing is charged.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.deposit(
                savings_id="<savings_id>",
                payment_method="card",
                amount="100000.00",
                card={
                    "card_no": "5123450000000008",
                    "expiry_month": "12",
                    "expiry_year": "30",
                    "ccv": "000",
                    "pin": "1234",
                },
                ip="102.89.2.1",
                fingerprint="f0e1d2c3",
            )

            {
              "status": 202,
              "txnRef": "<txnRef>",
              "message": "Validate with the OTP",
              "savings_id": "<savings_id>",
              "auth_type": "OTP",
              "validate": "Enter the OTP that the bank sent to the customer",
              "state": "validated",
              "fraudStatus": "ok"
            }
        """
        return self._call(
            actions.INVESTMENTS_DEPOSIT,
            {
                "savings_id": savings_id,
                "payment_method": payment_method,
                "amount": amount,
                "card": card,
                "token": token,
                "account": account,
                "bank": bank,
                "phonenumber": phonenumber,
                "accountnumber": accountnumber,
                "business_name": business_name,
                "type": type,
                "redirect_url": redirect_url,
                "country": country,
                "currency": currency,
                "user": user,
                "ip": ip,
                "fingerprint": fingerprint,
                "customer_txnref": customer_txnref,
                "meta": meta,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def validate(
        self,
        *,
        txn_ref: str,
        otp: str,
        validate: Literal["account", "card"] | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.DepositValidateReply:
        """Submit the OTP that the payer's bank sent for a deposit.

        Submits the payer's code. With `dry_run` the request is only checked, and nothing is sent to the payer's bank.

        Needs a key of scope `lend`.

        txn_ref: The payment that awaits an OTP. 1 to 100 characters.
        otp: The code that the payer received. The third wrong one fails the payment. 4 to 8 digits.
        validate: Kind of the payment. May be left out: the payment itself says it.
        dry_run: If true, the request is only checked, and no code is sent to the payer's bank.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.validate(txn_ref="<txnRef>", otp="123456")

            {
              "status": 200,
              "txnRef": "<txnRef>",
              "txnStatus": "successful",
              "message": "Validation Successful",
              "savings_id": "<savings_id>",
              "cardToken": "<cardToken>"
            }
        """
        return self._call(
            actions.INVESTMENTS_VALIDATE,
            {"txn_ref": txn_ref, "otp": otp, "validate": validate, "dry_run": dry_run},
            idempotency_key,
        )

    def view_savings(self, *, savings_id: str) -> types.SavingsViewReply:
        """One savings account with its balance and interest.

        Names the savings account to view.

        Needs a key of scope `lend` or `read`.

        savings_id: The savings account to view. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.investments.view_savings(savings_id="<savings_id>")

            {
              "status": 200,
              "message": "Savings",
              "data": {
                "savings_id": "<savings_id>",
                "client_id": "<client_id>",
                "name": "School fees",
                "state": "active",
                "balance": "100000.00",
                "accrued_interest": "0.00",
                "interestSettings": {
                  "interestRate": "12",
                  "interestFrequency": "annualized"
                },
                "tax_applied": true,
                "tax_rate": "10",
                "period": 12,
                "opened_at": "2026-01-05T08:30:00.000Z",
                "matures_at": "2027-01-04T23:00:00.000Z",
                "plans": [],
                "plans_total": 0
              },
              "moved": {
                "interest": "0.00",
                "withheld_tax": "0.00",
                "thrift_paid": "0.00",
            …
        """
        return self._call(actions.INVESTMENTS_VIEW_SAVINGS, {"savings_id": savings_id})

    def list_savings(
        self,
        *,
        offset: int | None = None,
        limit: int | None = None,
        client_id: str | None = None,
        state: Literal["active", "closed", "dormant", "matured", "pending"] | None = None,
    ) -> Page[types.SavingsRecord]:
        """All savings, or one client's, newest first.

        Lists savings accounts, newest first.

        Needs a key of scope `lend` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        client_id: Lists the savings of this client alone. 1 to 100 characters.
        state: Lists the savings in this state alone.

        Example, and the reply that was recorded for it:

            shop.investments.list_savings(offset=0)

            {
              "status": 200,
              "data": [
                {
                  "savings_id": "<savings_id>",
                  "client_id": "<client_id>",
                  "name": "School fees",
                  "state": "active",
                  "balance": "100000.00",
                  "accrued_interest": "0.00",
                  "interestSettings": {
                    "interestRate": "12",
                    "interestFrequency": "annualized"
                  },
                  "tax_applied": true,
                  "tax_rate": "10",
                  "period": 12,
                  "opened_at": "2026-01-05T08:30:00.000Z",
                  "matures_at": "2027-01-04T23:00:00.000Z",
                  "plans": [],
                  "plans_total": 0
                }
              ],
              "total": 1,
              "offset": 0,
              "limit": 50
            }
        """
        return self._list(
            actions.INVESTMENTS_LIST_SAVINGS, {"offset": offset, "limit": limit, "client_id": client_id, "state": state}
        )

    def statement(
        self, *, savings_id: str, offset: int | None = None, limit: int | None = None
    ) -> Page[types.SavingsStatementLine]:
        """The ledger postings on savings, newest first, with interest, tax and thrift.

        Names the savings account whose postings are listed, newest first.

        Needs a key of scope `lend` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        savings_id: The savings account whose postings are listed. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.investments.statement(savings_id="<savings_id>")

            {
              "status": 200,
              "data": [
                {
                  "dateCreated": "2026-01-05T08:30:00.000Z",
                  "origin": "<origin>",
                  "narration": "payment",
                  "amount": "100000.00",
                  "balance": "100000.00"
                }
              ],
              "total": 1,
              "offset": 0,
              "limit": 50
            }
        """
        return self._list(actions.INVESTMENTS_STATEMENT, {"savings_id": savings_id, "offset": offset, "limit": limit})

    def cashout(
        self,
        *,
        savings_id: str,
        client_id: str,
        amount: types.Amount,
        method: Literal["cash", "transfer"],
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.CashoutReply:
        """Take money out of savings, in cash or by transfer; dry_run shows what would happen.

        A cash-out in cash or by transfer. `cashcode` is decoded as a CashcodeRequest; it is listed here so that the
        error for an unknown method names it.

        Needs a key of scope `lend`.

        savings_id: The savings account that money is taken from. Required, by this name or as `saving_id`. 1 to 100
            characters.
        client_id: The client who owns the savings. Another one is refused. 1 to 100 characters.
        amount: Amount to take out, in naira. Thrift debts are settled first. 0 closes savings that are empty.
            Digits with at most two decimals, at most 15 digits; zero where nothing is left.
        dry_run: If true, the reply explains what the cash-out would bring and cost, and nothing is paid.
        method: `cash`: you pay it over the counter, and your wallet gets the money. `transfer`: to the client's
            `bankAccount`. `cashcode`: by a code for a cash machine, valid one day.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.cashout(
                savings_id="<savings_id>", client_id="<client_id>", amount="2500.00", method="cash"
            )

            {
              "status": 200,
              "message": "Cashout Successful",
              "txnRef": "<txnRef>",
              "txnStatus": "successful",
              "savings_id": "<savings_id>",
              "balance": "97500.00"
            }
        """
        return self._call(
            actions.INVESTMENTS_CASHOUT,
            {"savings_id": savings_id, "client_id": client_id, "amount": amount, "method": method, "dry_run": dry_run},
            idempotency_key,
        )

    def cashout_cashcode(
        self,
        *,
        savings_id: str,
        client_id: str,
        amount: types.Amount,
        dry_run: bool | None = None,
        pin: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.SavingsCashcodeReply:
        """Take money out of savings at a cash machine, with a code that is shown once.

        A cash-out at a cash machine. Without a `pin`, one is generated.

        Needs a key of scope `lend`.

        savings_id: The savings account that money is taken from. Required, by this name or as `saving_id`. 1 to 100
            characters.
        client_id: The client who owns the savings. Another one is refused. 1 to 100 characters.
        amount: Amount to take out, in naira. Thrift debts are settled first. 0 closes savings that are empty.
            Digits with at most two decimals, at most 15 digits; zero where nothing is left.
        dry_run: If true, the reply explains what the cash-out would bring and cost, and nothing is paid.
        pin: PIN of the cashcode. If left out, one is made and shown in the reply. Four digits.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.cashout_cashcode(savings_id="<savings_id>", client_id="<client_id>", amount="2500.00")

            {
              "status": 200,
              "message": "Cashcode generated; it is shown this once",
              "txnRef": "<txnRef>",
              "savings_id": "<savings_id>",
              "balance": "95000.00",
              "cashcode": "<cashcode>",
              "pin": "<pin>"
            }
        """
        return self._call(
            actions.INVESTMENTS_CASHOUT_CASHCODE,
            {"savings_id": savings_id, "client_id": client_id, "amount": amount, "dry_run": dry_run, "pin": pin},
            idempotency_key,
        )

    def create_plan(
        self,
        *,
        name: str,
        amount: types.Amount,
        start_date: dt.date | str,
        member_required: int,
        frequency: Literal["every_day", "every_four_weeks", "every_month", "every_week"],
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.PlanReply:
        """Create a thrift plan that members can subscribe to.

        A new thrift plan: in each cycle every member contributes, and one member receives the pot.

        Needs a key of scope `lend`.

        name: Name of the plan. 1 to 200 characters.
        amount: Contribution of each member in each cycle, in naira. Digits with at most two decimals, above zero,
            at most 15 digits.
        start_date: First possible day of the first cycle, in Lagos, today or within ten years. The plan starts then
            if it is full, else on the day it fills. A day as YYYY-MM-DD.
        member_required: Number of members, from 2 to 500. It is also the number of cycles. A whole number, not
            negative.
        frequency: Time between two cycles.
        dry_run: If true, the reply shows the plan, and nothing is stored.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.create_plan(
                name="Market women",
                amount="5000.00",
                start_date="2035-12-31",
                member_required=5,
                frequency="every_month",
            )

            {
              "status": 200,
              "message": "Plan Created",
              "data": {
                "thrift_id": "<thrift_id>",
                "name": "Market women",
                "amount": "5000.00",
                "frequency": "every_month",
                "start_date": "2035-12-31",
                "member_required": 5,
                "members": 0,
                "state": "open",
                "cycle": 0,
                "next_date": "2035-12-31"
              }
            }
        """
        return self._call(
            actions.INVESTMENTS_CREATE_PLAN,
            {
                "name": name,
                "amount": amount,
                "start_date": start_date,
                "member_required": member_required,
                "frequency": frequency,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def subscribe(
        self, *, savings_id: str, thrift_id: str, dry_run: bool | None = None, idempotency_key: str | None = None
    ) -> types.SubscriptionReply:
        """Subscribe a client's savings to a thrift plan; dry_run shows what would happen.

        Makes a savings account a member of a thrift plan. Position in the plan is the order of subscription.

        Needs a key of scope `lend`.

        savings_id: The savings account that pays the contributions and receives the pot. 1 to 100 characters.
        thrift_id: The plan to join. It must be open and not full. 1 to 100 characters.
        dry_run: If true, the reply explains what the membership would mean, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.subscribe(savings_id="<savings_id>", thrift_id="<thrift_id>")

            {
              "status": 200,
              "message": "Subscription Successful",
              "data": {
                "savings_id": "<savings_id>",
                "client_id": "<client_id>",
                "position": 1,
                "payout_date": "2035-12-31",
                "contributed": "0.00",
                "received": "0.00",
                "owed": "0.00"
              }
            }
        """
        return self._call(
            actions.INVESTMENTS_SUBSCRIBE,
            {"savings_id": savings_id, "thrift_id": thrift_id, "dry_run": dry_run},
            idempotency_key,
        )

    def subscriptions(
        self, *, thrift_id: str, offset: int | None = None, limit: int | None = None
    ) -> Page[types.SubscriptionRecord]:
        """The members of a thrift plan, in the order in which they receive the pot.

        Lists the members of a plan in the order in which they receive the pot. Without a limit, all of them.

        Needs a key of scope `lend` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of members to return. Default 500, which is all of them. 1 to 500.
        thrift_id: The plan whose members are listed. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.investments.subscriptions(thrift_id="<thrift_id>")

            {
              "status": 200,
              "data": [
                {
                  "savings_id": "<savings_id>",
                  "client_id": "<client_id>",
                  "position": 1,
                  "payout_date": "2035-12-31",
                  "contributed": "0.00",
                  "received": "0.00",
                  "owed": "0.00"
                }
              ],
              "total": 1,
              "offset": 0,
              "limit": 500
            }
        """
        return self._list(actions.INVESTMENTS_SUBSCRIPTIONS, {"thrift_id": thrift_id, "offset": offset, "limit": limit})

    def list_plans(self, *, offset: int | None = None, limit: int | None = None) -> Page[types.PlanRecord]:
        """All thrift plans, newest first.

        Lists thrift plans, newest first.

        Needs a key of scope `lend` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.

        Example, and the reply that was recorded for it:

            shop.investments.list_plans(offset=0)

            {
              "status": 200,
              "data": [
                {
                  "thrift_id": "<thrift_id>",
                  "name": "Market women",
                  "amount": "5000.00",
                  "frequency": "every_month",
                  "start_date": "2035-12-31",
                  "member_required": 5,
                  "members": 1,
                  "state": "open",
                  "cycle": 0,
                  "next_date": "2035-12-31"
                }
              ],
              "total": 1,
              "offset": 0,
              "limit": 10
            }
        """
        return self._list(actions.INVESTMENTS_LIST_PLANS, {"offset": offset, "limit": limit})

    def cancel_plan(
        self, *, thrift_id: str, dry_run: bool | None = None, idempotency_key: str | None = None
    ) -> types.PlanReply:
        """Cancel a thrift plan that has not started.

        Cancels a thrift plan that is not running yet.

        Needs a key of scope `lend`.

        thrift_id: The thrift plan. 1 to 100 characters.
        dry_run: If true, the reply says what would happen, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.cancel_plan(thrift_id="<thrift_id>")

            {
              "status": 200,
              "message": "Plan Cancelled",
              "data": {
                "thrift_id": "<thrift_id>",
                "name": "Market women",
                "amount": "5000.00",
                "frequency": "every_month",
                "start_date": "2035-12-31",
                "member_required": 5,
                "members": 1,
                "state": "cancelled",
                "cycle": 0,
                "next_date": null
              }
            }
        """
        return self._call(
            actions.INVESTMENTS_CANCEL_PLAN, {"thrift_id": thrift_id, "dry_run": dry_run}, idempotency_key
        )

    def set_rollover(
        self,
        *,
        savings_id: str,
        rollover: Literal["all", "none", "principal"],
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.RolloverReply:
        """Change what becomes of a fixed deposit when its term ends; dry_run shows what the end would bring.

        Changes what happens to a fixed deposit when its running term ends.

        Needs a key of scope `lend`.

        savings_id: The fixed deposit. 1 to 100 characters.
        rollover: What begins a new term: `none`, `principal` or `all`, as in `create_savings`.
        dry_run: If true, the reply shows the fixed deposit as it would be, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.set_rollover(savings_id="<savings_id>", rollover="none")

            {
              "status": 200,
              "message": "Rollover Changed",
              "data": {
                "savings_id": "<savings_id>",
                "client_id": "<client_id>",
                "name": "School fees",
                "state": "pending",
                "balance": "0.00",
                "accrued_interest": "0.00",
                "interestSettings": {
                  "interestRate": "12",
                  "interestFrequency": "annualized"
                },
                "tax_applied": true,
                "tax_rate": "10",
                "period": 0,
                "opened_at": "2026-01-05T08:30:00.000Z",
                "matures_at": "2026-04-04T23:00:00.000Z",
                "plans": [],
                "plans_total": 0,
                "term_days": 90,
                "rollover": "none",
                "unlocked": "0.00"
              }
            }
        """
        return self._call(
            actions.INVESTMENTS_SET_ROLLOVER,
            {"savings_id": savings_id, "rollover": rollover, "dry_run": dry_run},
            idempotency_key,
        )

    def certificate(self, *, savings_id: str) -> types.CertificateReply:
        """The certificate of a fixed deposit as a PDF, with a QR code that leads to its proof.

        Names the fixed deposit that a certificate is made of.

        Needs a key of scope `lend` or `read`.

        savings_id: The fixed deposit. It must hold money. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.investments.certificate(savings_id="<savings_id>")

            {
              "status": 200,
              "message": "Certificate",
              "link": "<link>",
              "expires": "2026-01-05T09:30:00.000Z",
              "proof_link": "<proof_link>",
              "proof_expires": "2027-04-04T23:00:00.000Z"
            }
        """
        return self._call(actions.INVESTMENTS_CERTIFICATE, {"savings_id": savings_id})

    def reactivate_savings(
        self, *, savings_id: str, reason: str, dry_run: bool | None = None, idempotency_key: str | None = None
    ) -> types.SavingsReply:
        """Ask that dormant savings are reactivated: another key or person must approve it.

        Asks that a dormant savings account is reactivated without a deposit. Another key or person must approve it.

        Needs a key of scope `lend`.

        savings_id: The dormant savings account. 1 to 100 characters.
        reason: Why it is reactivated, such as how the client was identified. The event has it. 1 to 200 characters.
        dry_run: If true, the reply says whether it could be asked for, and nothing is stored.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.reactivate_savings(savings_id="<savings_id>", reason="The client came with her passport")

            {
              "status": 200,
              "message": "The reactivation waits for the approval of another key or person",
              "data": {
                "savings_id": "<savings_id>",
                "client_id": "<client_id>",
                "name": "Rent",
                "state": "dormant",
                "balance": "500.00",
                "accrued_interest": "0.00",
                "interestSettings": {
                  "interestRate": "0",
                  "interestFrequency": "annualized"
                },
                "tax_applied": false,
                "tax_rate": "10",
                "period": 36,
                "opened_at": "2026-01-07T08:30:00.000Z",
                "matures_at": "2029-01-06T23:00:00.000Z",
                "plans": [],
                "plans_total": 0,
                "dormant_since": "2027-01-08",
                "waiting_reactivation": {
                  "reason": "The client came with her passport",
                  "proposed_by": "<proposed_by>",
                  "proposed_at": "2027-01-09T08:30:00.000Z",
            …
        """
        return self._call(
            actions.INVESTMENTS_REACTIVATE_SAVINGS,
            {"savings_id": savings_id, "reason": reason, "dry_run": dry_run},
            idempotency_key,
        )

    def decide_reactivation(
        self,
        *,
        savings_id: str,
        status: Literal["approve", "reject"],
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.SavingsReply:
        """Approve or reject a reactivation of savings with another key than the one that asked for it.

        Approves or rejects a reactivation that waits, with another key than the one that asked for it.

        Needs a key of scope `approve`.

        savings_id: The savings account whose reactivation waits. 1 to 100 characters.
        status: `approve`: money can be taken out again. `reject`: it stays dormant.
        dry_run: If true, the reply says what would happen, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.decide_reactivation(savings_id="<savings_id>", status="approve")

            {
              "status": 200,
              "message": "Savings Reactivated",
              "data": {
                "savings_id": "<savings_id>",
                "client_id": "<client_id>",
                "name": "Rent",
                "state": "active",
                "balance": "500.00",
                "accrued_interest": "0.00",
                "interestSettings": {
                  "interestRate": "0",
                  "interestFrequency": "annualized"
                },
                "tax_applied": false,
                "tax_rate": "10",
                "period": 36,
                "opened_at": "2026-01-07T08:30:00.000Z",
                "matures_at": "2029-01-06T23:00:00.000Z",
                "plans": [],
                "plans_total": 0
              }
            }
        """
        return self._call(
            actions.INVESTMENTS_DECIDE_REACTIVATION,
            {"savings_id": savings_id, "status": status, "dry_run": dry_run},
            idempotency_key,
        )

    def create_share_class(
        self,
        *,
        name: str,
        price: types.Amount,
        votes: Literal["member", "share"] | None = None,
        tax_rate: types.Amount | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.ShareClassReply:
        """Create a class of shares, with its price and what has a vote.

        A new class of shares.

        Needs a key of scope `lend`.

        name: Name of the class, such as Ordinary. 1 to 200 characters.
        price: Price of one share, in naira. It never changes. Digits with at most two decimals, above zero, at most
            15 digits.
        votes: What has a vote: each `member` with shares, which is the default, or each `share`.
        tax_rate: Tax that is withheld from dividends, in percent of them, from 0 to 100. Default 10. A percentage
            from 0 to 1000 with at most six decimals.
        dry_run: If true, the reply shows the class, and nothing is stored.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.create_share_class(name="Ordinary", price="1000.00", votes="member")

            {
              "status": 200,
              "message": "Share Class Created",
              "data": {
                "class_id": "<class_id>",
                "name": "Ordinary",
                "price": "1000.00",
                "votes": "member",
                "tax_rate": "10",
                "members": 0,
                "shares": 0,
                "capital": "0.00",
                "dateCreated": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(
            actions.INVESTMENTS_CREATE_SHARE_CLASS,
            {"name": name, "price": price, "votes": votes, "tax_rate": tax_rate, "dry_run": dry_run},
            idempotency_key,
        )

    def list_share_classes(
        self, *, offset: int | None = None, limit: int | None = None
    ) -> Page[types.ShareClassRecord]:
        """All classes of shares, newest first.

        Lists classes of shares, newest first.

        Needs a key of scope `lend` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.

        Example, and the reply that was recorded for it:

            shop.investments.list_share_classes(limit=10)

            {
              "status": 200,
              "data": [
                {
                  "class_id": "<class_id>",
                  "name": "Ordinary",
                  "price": "1000.00",
                  "votes": "member",
                  "tax_rate": "10",
                  "members": 0,
                  "shares": 0,
                  "capital": "0.00",
                  "dateCreated": "2026-01-05T08:30:00.000Z"
                }
              ],
              "total": 1,
              "offset": 0,
              "limit": 10
            }
        """
        return self._list(actions.INVESTMENTS_LIST_SHARE_CLASSES, {"offset": offset, "limit": limit})

    def buy_shares(
        self,
        *,
        class_id: str,
        client_id: str,
        shares: int,
        payment_method: Literal["savings", "wallet"],
        savings_id: str | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.HoldingReply:
        """Sell shares to a member, for cash or out of savings; dry_run shows what would happen.

        A purchase of shares by a member.

        Needs a key of scope `lend`.

        class_id: The class. 1 to 100 characters.
        client_id: The member, who must be active. 1 to 100 characters.
        shares: Number of shares, from 1 to 1,000,000. A whole number, not negative.
        payment_method: `wallet`: you have the member's money already, such as in cash, and your wallet brings it.
            `savings`: out of the savings account.
        savings_id: The member's savings account that pays with `savings`, and that receives dividends and what is
            paid for redeemed shares. Required for a member without shares of the class; afterwards it must be the
            same. 1 to 100 characters.
        dry_run: If true, the reply shows the holding as it would be, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.buy_shares(
                class_id="<class_id>",
                client_id="<client_id>",
                shares=5,
                payment_method="wallet",
                savings_id="<savings_id>",
            )

            {
              "status": 200,
              "message": "Shares Bought",
              "amount": "5000.00",
              "data": {
                "holding_id": "<holding_id>",
                "class_id": "<class_id>",
                "client_id": "<client_id>",
                "savings_id": "<savings_id>",
                "shares": 5,
                "reserved": 0,
                "votes": 1,
                "capital": "5000.00",
                "since": "2026-01-05"
              }
            }
        """
        return self._call(
            actions.INVESTMENTS_BUY_SHARES,
            {
                "class_id": class_id,
                "client_id": client_id,
                "shares": shares,
                "payment_method": payment_method,
                "savings_id": savings_id,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def transfer_shares(
        self,
        *,
        class_id: str,
        client_id: str,
        to_client_id: str,
        shares: int,
        savings_id: str | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.TransferSharesReply:
        """Transfer shares to another member; dry_run shows what would happen.

        A transfer of shares to another member. What the other pays for them is not part of it.

        Needs a key of scope `lend`.

        class_id: The class. 1 to 100 characters.
        client_id: The member who gives the shares. 1 to 100 characters.
        to_client_id: The member who gets them, who must be active. 1 to 100 characters.
        shares: Number of shares, from 1 to 1,000,000. A whole number, not negative.
        savings_id: The savings account of the member who gets them, which receives dividends. Required if that
            member has no shares of the class; afterwards it must be the same. 1 to 100 characters.
        dry_run: If true, the reply shows the holdings as they would be, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.transfer_shares(
                class_id="<class_id>",
                client_id="<client_id>",
                to_client_id="<to_client_id>",
                shares=2,
                savings_id="<to_savings_id>",
            )

            {
              "status": 200,
              "message": "Shares Transferred",
              "data": {
                "holding_id": "<holding_id>",
                "class_id": "<class_id>",
                "client_id": "<client_id>",
                "savings_id": "<savings_id>",
                "shares": 8,
                "reserved": 2,
                "votes": 1,
                "capital": "800.00",
                "since": "2026-01-05"
              },
              "to": {
                "holding_id": "<holding_id>",
                "class_id": "<class_id>",
                "client_id": "<client_id>",
                "savings_id": "<savings_id>",
                "shares": 2,
                "reserved": 0,
                "votes": 1,
                "capital": "200.00",
                "since": "2026-01-05"
              }
            }
        """
        return self._call(
            actions.INVESTMENTS_TRANSFER_SHARES,
            {
                "class_id": class_id,
                "client_id": client_id,
                "to_client_id": to_client_id,
                "shares": shares,
                "savings_id": savings_id,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def redeem_shares(
        self,
        *,
        class_id: str,
        client_id: str,
        shares: int,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.RedemptionReply:
        """Ask that a member's shares are paid out: another key or person must approve it.

        Shares that a member gives back. Another party must consent before anything is paid.

        Needs a key of scope `lend`.

        class_id: The class. 1 to 100 characters.
        client_id: The member. 1 to 100 characters.
        shares: Number of shares, from 1 to 1,000,000. A whole number, not negative.
        dry_run: If true, the reply shows the redemption, and nothing is stored.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.redeem_shares(class_id="<class_id>", client_id="<client_id>", shares=2)

            {
              "status": 200,
              "message": "Waiting for Approval",
              "data": {
                "redemption_id": "<redemption_id>",
                "class_id": "<class_id>",
                "client_id": "<client_id>",
                "shares": 2,
                "amount": "2000.00",
                "state": "waiting",
                "requestedBy": "<requestedBy>",
                "dateCreated": "2026-01-05T08:30:00.000Z",
                "expires_at": "2026-02-04T08:30:00.000Z"
              }
            }
        """
        return self._call(
            actions.INVESTMENTS_REDEEM_SHARES,
            {"class_id": class_id, "client_id": client_id, "shares": shares, "dry_run": dry_run},
            idempotency_key,
        )

    def approve_redemption(
        self, *, redemption_id: str, dry_run: bool | None = None, idempotency_key: str | None = None
    ) -> types.RedemptionVerdictReply:
        """Approve a redemption of shares with another key than the one that asked for it.

        Names the redemption that is decided.

        Needs a key of scope `approve`.

        redemption_id: The redemption. 1 to 100 characters.
        dry_run: If true, the reply says what the decision would do, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.approve_redemption(redemption_id="<redemption_id>")

            {
              "status": 200,
              "message": "Redemption Approved",
              "data": {
                "redemption_id": "<redemption_id>",
                "class_id": "<class_id>",
                "client_id": "<client_id>",
                "shares": 2,
                "amount": "200.00",
                "state": "approved",
                "requestedBy": "<requestedBy>",
                "decidedBy": "<decidedBy>",
                "dateCreated": "2026-01-05T08:30:00.000Z",
                "expires_at": "2026-02-04T08:30:00.000Z",
                "dateDecided": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(
            actions.INVESTMENTS_APPROVE_REDEMPTION,
            {"redemption_id": redemption_id, "dry_run": dry_run},
            idempotency_key,
        )

    def reject_redemption(
        self, *, redemption_id: str, dry_run: bool | None = None, idempotency_key: str | None = None
    ) -> types.RedemptionVerdictReply:
        """Reject a redemption of shares: the member keeps them.

        Names the redemption that is decided.

        Needs a key of scope `approve`.

        redemption_id: The redemption. 1 to 100 characters.
        dry_run: If true, the reply says what the decision would do, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.reject_redemption(redemption_id="<redemption_id>")

            {
              "status": 200,
              "message": "Redemption Rejected",
              "data": {
                "redemption_id": "<redemption_id>",
                "class_id": "<class_id>",
                "client_id": "<client_id>",
                "shares": 2,
                "amount": "200.00",
                "state": "rejected",
                "requestedBy": "<requestedBy>",
                "decidedBy": "<decidedBy>",
                "dateCreated": "2026-01-05T08:30:00.000Z",
                "expires_at": "2026-02-04T08:30:00.000Z",
                "dateDecided": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(
            actions.INVESTMENTS_REJECT_REDEMPTION, {"redemption_id": redemption_id, "dry_run": dry_run}, idempotency_key
        )

    def list_redemptions(
        self,
        *,
        offset: int | None = None,
        limit: int | None = None,
        class_id: str | None = None,
        state: Literal["approved", "expired", "rejected", "waiting"] | None = None,
    ) -> Page[types.RedemptionRecord]:
        """Redemptions of shares, newest first.

        Lists redemptions, newest first.

        Needs a key of scope `lend` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        class_id: Lists redemptions of this class. 1 to 100 characters.
        state: Lists redemptions in this state.

        Example, and the reply that was recorded for it:

            shop.investments.list_redemptions(state="waiting")

            {
              "status": 200,
              "data": [
                {
                  "redemption_id": "<redemption_id>",
                  "class_id": "<class_id>",
                  "client_id": "<client_id>",
                  "shares": 2,
                  "amount": "2000.00",
                  "state": "waiting",
                  "requestedBy": "<requestedBy>",
                  "dateCreated": "2026-01-05T08:30:00.000Z",
                  "expires_at": "2026-02-04T08:30:00.000Z"
                }
              ],
              "total": 1,
              "offset": 0,
              "limit": 50
            }
        """
        return self._list(
            actions.INVESTMENTS_LIST_REDEMPTIONS,
            {"offset": offset, "limit": limit, "class_id": class_id, "state": state},
        )

    def list_shareholders(
        self,
        *,
        offset: int | None = None,
        limit: int | None = None,
        class_id: str | None = None,
        client_id: str | None = None,
    ) -> Page[types.HoldingRecord]:
        """The shareholders of a class with shares and votes, or the shares of one client.

        Lists shareholders in the order in which they joined: of a class, or with all holdings of a client.

        Needs a key of scope `lend` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        class_id: Lists the shareholders of this class. 1 to 100 characters.
        client_id: Lists the holdings of this client. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.investments.list_shareholders(class_id="<class_id>", limit=10)

            {
              "status": 200,
              "data": [
                {
                  "holding_id": "<holding_id>",
                  "class_id": "<class_id>",
                  "client_id": "<client_id>",
                  "savings_id": "<savings_id>",
                  "shares": 5,
                  "reserved": 2,
                  "votes": 1,
                  "capital": "5000.00",
                  "since": "2026-01-05",
                  "name": "Ada Obi"
                }
              ],
              "total": 1,
              "offset": 0,
              "limit": 10
            }
        """
        return self._list(
            actions.INVESTMENTS_LIST_SHAREHOLDERS,
            {"offset": offset, "limit": limit, "class_id": class_id, "client_id": client_id},
        )

    def share_register(self, *, class_id: str, format: Literal["csv", "pdf"]) -> types.ShareRegisterReply:
        """The register of members with shares and votes, as CSV or PDF.

        Names the class whose register is made.

        Needs a key of scope `lend` or `read`.

        class_id: The class. 1 to 100 characters.
        format: Format of the file.

        Example, and the reply that was recorded for it:

            shop.investments.share_register(class_id="<class_id>", format="pdf")

            {
              "status": 200,
              "message": "Register",
              "link": "<link>",
              "expires": "2026-01-05T09:30:00.000Z"
            }
        """
        return self._call(actions.INVESTMENTS_SHARE_REGISTER, {"class_id": class_id, "format": format})

    def declare_dividend(
        self,
        *,
        class_id: str,
        rate: types.Amount,
        record_date: dt.date | str,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.DividendReply:
        """Declare a dividend and pay it to every member, less tax; dry_run shows what it would come to.

        A dividend for all who had shares of a class at the end of a day.

        Needs a key of scope `lend`.

        class_id: The class. 1 to 100 characters.
        rate: Dividend in percent of the price of the shares, above 0. A percentage from 0 to 1000 with at most six
            decimals.
        record_date: The day at whose end the shares are counted: before today, and at most 366 days ago. A date
            such as 2026-01-05.
        dry_run: If true, the reply shows the dividend with its figures, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.declare_dividend(class_id="<class_id>", rate="10", record_date="2026-01-05")

            {
              "status": 200,
              "message": "Dividend Declared",
              "data": {
                "dividend_id": "<dividend_id>",
                "class_id": "<class_id>",
                "rate": "10",
                "record_date": "2026-01-05",
                "state": "paying",
                "members": 1,
                "members_paid": 0,
                "gross": "100.00",
                "paid": "0.00",
                "withheld_tax": "0.00",
                "returned": "0.00",
                "dateDeclared": "2026-01-07T08:30:00.000Z"
              }
            }
        """
        return self._call(
            actions.INVESTMENTS_DECLARE_DIVIDEND,
            {"class_id": class_id, "rate": rate, "record_date": record_date, "dry_run": dry_run},
            idempotency_key,
        )

    def list_dividends(
        self, *, offset: int | None = None, limit: int | None = None, class_id: str | None = None
    ) -> Page[types.DividendRecord]:
        """Dividends, newest first, with what was paid and withheld.

        Lists dividends, newest first.

        Needs a key of scope `lend` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        class_id: Lists dividends of this class. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.investments.list_dividends(class_id="<class_id>")

            {
              "status": 200,
              "data": [],
              "total": 0,
              "offset": 0,
              "limit": 50
            }
        """
        return self._list(actions.INVESTMENTS_LIST_DIVIDENDS, {"offset": offset, "limit": limit, "class_id": class_id})

    def standing_order(
        self,
        *,
        source: str,
        target: str,
        amount: types.Amount,
        frequency: Literal["every_day", "every_four_weeks", "every_month", "every_week"],
        from_date: dt.date | str,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.StandingOrderReply:
        """Pay from savings on a schedule: other savings, a loan or a thrift; dry_run shows what it would pay.

        A new standing order: an amount that leaves a client's savings on a schedule.

        Needs a key of scope `lend`.

        source: The savings account that pays, by `savings_id`. It cannot be a fixed deposit. 1 to 100 characters.
        target: What is paid: a `savings_id`, a `loan_id`, or a `thrift_id`, which pays the savings that take part
            in the plan. It must be the same client's. 1 to 100 characters.
        amount: Amount of each payment, in naira. The last one to a loan is what the loan still owes. Digits with at
            most two decimals, above zero, at most 15 digits.
        frequency: Time between two payments.
        from_date: Day of the first payment, in Lagos, today or within ten years. Payments are made at midnight as
            the day begins. A day as YYYY-MM-DD.
        dry_run: If true, the reply shows the standing order and explains what it would pay, and nothing is stored.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.standing_order(
                source="<savings_id>",
                target="<loan_id>",
                amount="5000.00",
                frequency="every_month",
                from_date="2035-12-31",
            )

            {
              "status": 200,
              "message": "Standing Order Created",
              "data": {
                "order_id": "<order_id>",
                "client_id": "<client_id>",
                "savings_id": "<savings_id>",
                "to": "<to>",
                "pays": "loan",
                "amount": "5000.00",
                "frequency": "every_month",
                "from_date": "2035-12-31",
                "state": "active",
                "next_date": "2035-12-31",
                "is_retry": false,
                "payments": 0,
                "paid": "0.00",
                "missed": 0,
                "dateCreated": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(
            actions.INVESTMENTS_STANDING_ORDER,
            {
                "source": source,
                "target": target,
                "amount": amount,
                "frequency": frequency,
                "from_date": from_date,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def change_standing_order(
        self,
        *,
        order_id: str,
        change: Literal["cancel", "pause", "resume"],
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.StandingOrderReply:
        """Pause, resume or cancel a standing order.

        Pauses, resumes or cancels a standing order.

        Needs a key of scope `lend`.

        order_id: The standing order. 1 to 100 characters.
        change: `pause`: nothing is paid until it is resumed. `resume`: it goes on with its next day; the days of
            the pause are left out. `cancel`: it ends for good.
        dry_run: If true, the reply shows the standing order as it would be, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.investments.change_standing_order(order_id="<order_id>", change="pause")

            {
              "status": 200,
              "message": "Standing Order Paused",
              "data": {
                "order_id": "<order_id>",
                "client_id": "<client_id>",
                "savings_id": "<savings_id>",
                "to": "<to>",
                "pays": "loan",
                "amount": "5000.00",
                "frequency": "every_month",
                "from_date": "2035-12-31",
                "state": "paused",
                "next_date": null,
                "is_retry": false,
                "payments": 0,
                "paid": "0.00",
                "missed": 0,
                "dateCreated": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(
            actions.INVESTMENTS_CHANGE_STANDING_ORDER,
            {"order_id": order_id, "change": change, "dry_run": dry_run},
            idempotency_key,
        )

    def list_standing_orders(
        self,
        *,
        offset: int | None = None,
        limit: int | None = None,
        client_id: str | None = None,
        savings_id: str | None = None,
        state: Literal["active", "cancelled", "ended", "paused"] | None = None,
    ) -> Page[types.StandingOrderRecord]:
        """Standing orders, newest first.

        Lists standing orders, newest first.

        Needs a key of scope `lend` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        client_id: Lists those of this client alone. 1 to 100 characters.
        savings_id: Lists those alone that this savings account pays. 1 to 100 characters.
        state: Lists those in this state alone.

        Example, and the reply that was recorded for it:

            shop.investments.list_standing_orders(state="active")

            {
              "status": 200,
              "data": [],
              "total": 0,
              "offset": 0,
              "limit": 50
            }
        """
        return self._list(
            actions.INVESTMENTS_LIST_STANDING_ORDERS,
            {"offset": offset, "limit": limit, "client_id": client_id, "savings_id": savings_id, "state": state},
        )

    @overload
    def wait(
        self, thing: types.DepositReply | types.DepositValidateReply, seconds: float = 60.0
    ) -> types.PaymentState: ...

    @overload
    def wait(self, thing: types.CashoutReply, seconds: float = 60.0) -> types.TransferState: ...

    def wait(
        self, thing: types.DepositReply | types.DepositValidateReply | types.CashoutReply, seconds: float = 60.0
    ) -> types.PaymentState | types.TransferState:
        """Polls `verify` until the transaction is final, and returns its state. Raises StillPending, an
        OutcomeUnknown, if it is not final within so many seconds.
        """
        if isinstance(thing, (types.DepositReply, types.DepositValidateReply)):
            return self._wait(actions.PAYMENT_VERIFY, thing, seconds)
        return self._wait(actions.DISBURSE_VERIFY, thing, seconds)


class Virtualcard(SyncGroup):
    """The actions of `PUT /virtualcard`."""

    def create(
        self,
        *,
        billing: types.CardBilling,
        amount: types.Amount,
        currency: Literal["USD", "NGN"],
        client_id: str | None = None,
        country: str | None = None,
        card_type: str | None = None,
        limits: types.SpendingLimits | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.VirtualCardReply:
        """Create a card with an initial balance from the wallet; the reply has its number and CVV.

        A new card for a customer, with an initial balance from the wallet. With `dry_run` the reply explains what it
        would cost, and no card is made.

        Needs a key of scope `issue`.

        billing: The cardholder and the billing address.
        amount: Initial balance, in the card's currency. The wallet also pays the issuance fee and VAT. Digits with
            at most two decimals, above zero, at most 15 digits.
        client_id: Client whose card it is: the limits of the client's tier then apply to it. Only for cards in NGN.
            1 to 100 characters.
        currency: Currency of the card. A USD card is paid for from the USD wallet if there is one, else from NGN at
            the sell rate.
        country: Country of the cardholder. Default `NG`. A country code such as NG.
        card_type: Card network, such as `visa`. Default: the first network that the service issues. A card network
            such as visa.
        limits: Limits of what may be spent with the card. Left out or empty: no limits.
        dry_run: If true, the reply says what the card would be and cost, and no card is made.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.virtualcard.create(
                billing={
                    "address": "12 Marina Road",
                    "name": "Ada Obi",
                    "city": "Lagos",
                    "state": "Lagos",
                    "postal_code": "101241",
                },
                amount="10.00",
                currency="USD",
                country="NG",
            )

            {
              "status": 200,
              "message": "Created Successfully",
              "card_data": {
                "reference": "<reference>",
                "balance": "10.00",
                "currency": "USD",
                "cardpan": "<cardpan>",
                "maskedpan": "<maskedpan>",
                "city": "Lagos",
                "state": "Lagos",
                "address": "12 Marina Road",
                "postal_code": "101241",
                "cvv": "<cvv>",
                "expiration": "2029-01",
                "card_type": "visa",
                "name_on_card": "Ada Obi",
                "card_owner": "customer",
                "status": "active"
              }
            }
        """
        return self._call(
            actions.VIRTUALCARD_CREATE,
            {
                "billing": billing,
                "amount": amount,
                "currency": currency,
                "client_id": client_id,
                "country": country,
                "card_type": card_type,
                "limits": limits,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def get(self, *, reference: str, reveal: bool | None = None, dry_run: bool | None = None) -> types.VirtualCardReply:
        """Show a card; reveal shows its number and CVV too and is recorded in the audit trail.

        Shows a card. Number and CVV are masked unless `reveal` is true, which is recorded in the audit trail.

        Needs a key of scope `issue`.

        reference: The card, by the `reference` that `create` returned. 1 to 100 characters.
        reveal: If true, the reply has the full number and the CVV, and the audit trail records it. Default false.
        dry_run: If true, number and CVV stay masked, also with `reveal`, and nothing is recorded.

        Example, and the reply that was recorded for it:

            shop.virtualcard.get(reference="<reference>", reveal=True)

            {
              "status": 200,
              "message": "Card found",
              "card_data": {
                "reference": "<reference>",
                "balance": "10.00",
                "currency": "USD",
                "cardpan": "<cardpan>",
                "maskedpan": "<maskedpan>",
                "city": "Lagos",
                "state": "Lagos",
                "address": "12 Marina Road",
                "postal_code": "101241",
                "cvv": "<cvv>",
                "expiration": "2029-01",
                "card_type": "visa",
                "name_on_card": "Ada Obi",
                "card_owner": "customer",
                "status": "active"
              }
            }
        """
        return self._call(actions.VIRTUALCARD_GET, {"reference": reference, "reveal": reveal, "dry_run": dry_run})

    def fund(
        self,
        *,
        reference: str,
        amount: types.Amount,
        currency: Literal["USD", "NGN"] | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.VirtualCardChangedReply:
        """Move money from the wallet to a card.

        Names a card and an amount in its currency. If `currency` is given, it must be that of the card.

        Needs a key of scope `issue`.

        reference: The card, by the `reference` that `create` returned. 1 to 100 characters.
        amount: Amount to move, in the card's currency. The wallet pays a fee with VAT on top, where the tariff has
            one. Digits with at most two decimals, above zero, at most 15 digits.
        currency: The card's currency. May be left out; another one is refused.
        dry_run: If true, the reply explains what would be moved and what it costs, and no money moves.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.virtualcard.fund(reference="<reference>", amount="50")

            {
              "status": 200,
              "message": "Virtual card funded successfully"
            }
        """
        return self._call(
            actions.VIRTUALCARD_FUND,
            {"reference": reference, "amount": amount, "currency": currency, "dry_run": dry_run},
            idempotency_key,
        )

    def withdraw(
        self,
        *,
        reference: str,
        amount: types.Amount,
        currency: Literal["USD", "NGN"] | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.VirtualCardChangedReply:
        """Move money from a card to the wallet.

        Names a card and an amount in its currency. If `currency` is given, it must be that of the card.

        Needs a key of scope `issue`.

        reference: The card, by the `reference` that `create` returned. 1 to 100 characters.
        amount: Amount to move, in the card's currency. The wallet pays a fee with VAT on top, where the tariff has
            one. Digits with at most two decimals, above zero, at most 15 digits.
        currency: The card's currency. May be left out; another one is refused.
        dry_run: If true, the reply explains what would be moved and what it costs, and no money moves.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.virtualcard.withdraw(reference="<reference>", amount="20.00")

            {
              "status": 200,
              "message": "Withdrawal Successful"
            }
        """
        return self._call(
            actions.VIRTUALCARD_WITHDRAW,
            {"reference": reference, "amount": amount, "currency": currency, "dry_run": dry_run},
            idempotency_key,
        )

    def dispute(
        self,
        *,
        reference: str,
        id: str,
        reason: str,
        amount: types.Amount | None = None,
        evidence: types.CardEvidence | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.CardDisputeChanged:
        """Dispute a purchase of a card, in whole or in part, for the cardholder.

        Disputes a purchase of a card, or a part of it, for the cardholder. A body may have 15 MiB.

        Needs a key of scope `issue`.

        reference: The card, by the `reference` that `create` returned. 1 to 100 characters.
        id: The purchase, by its `txnRef`. Of an authorization, the purchase that captured it. 1 to 100 characters.
        reason: The cardholder's reason, such as `fraudulent`, `not received` or `duplicate`. 1 to 200 characters.
        amount: The disputed amount, in the shop's currency. Default: all that was not refunded. Digits with at most
            two decimals, above zero, at most 15 digits.
        evidence: What the cardholder says and shows.
        dry_run: If true, the reply says what would happen, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.virtualcard.dispute(
                reference="<reference>",
                id="<txnRef>",
                reason="not received",
                amount="5.00",
                evidence={"explanation": "The book was due on 3 January and never came."},
            )

            {
              "status": 200,
              "message": "Dispute filed",
              "data": {
                "dispute_id": "<dispute_id>",
                "reference": "<reference>",
                "txnRef": "<txnRef>",
                "state": "submitted",
                "reason": "not received",
                "amount": "5.00",
                "currency": "USD",
                "credited": "0.00",
                "card_currency": "USD",
                "outcome": null,
                "filed_at": "2026-01-05T08:30:00.000Z",
                "ended_at": null,
                "refundRef": "<refundRef>"
              }
            }
        """
        return self._call(
            actions.VIRTUALCARD_DISPUTE,
            {
                "reference": reference,
                "id": id,
                "reason": reason,
                "amount": amount,
                "evidence": evidence,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def disputes(
        self,
        *,
        offset: int | None = None,
        limit: int | None = None,
        reference: str | None = None,
        state: Literal["closed", "lost", "submitted", "withdrawn", "won"] | None = None,
    ) -> Page[types.CardDisputeSummary]:
        """Disputes of card purchases, newest first.

        Lists disputes of card purchases, newest first.

        Needs a key of scope `issue` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        reference: Lists only disputes of this card. 1 to 100 characters.
        state: Lists only disputes in this state.

        Example, and the reply that was recorded for it:

            shop.virtualcard.disputes(reference="<reference>")

            {
              "status": 200,
              "data": [
                {
                  "dispute_id": "<dispute_id>",
                  "reference": "<reference>",
                  "txnRef": "<txnRef>",
                  "state": "submitted",
                  "reason": "not received",
                  "amount": "5.00",
                  "currency": "USD",
                  "credited": "0.00",
                  "card_currency": "USD",
                  "outcome": null,
                  "filed_at": "2026-01-05T08:30:00.000Z",
                  "ended_at": null,
                  "refundRef": "<refundRef>"
                }
              ],
              "total": 1,
              "offset": 0,
              "limit": 50
            }
        """
        return self._list(
            actions.VIRTUALCARD_DISPUTES, {"offset": offset, "limit": limit, "reference": reference, "state": state}
        )

    def view_dispute(self, *, dispute_id: str) -> types.CardDisputeReply:
        """One dispute of a card purchase with its evidence and its steps.

        Names a dispute of a card purchase.

        Needs a key of scope `issue` or `read`.

        dispute_id: The dispute, by its `dispute_id`. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.virtualcard.view_dispute(dispute_id="<dispute_id>")

            {
              "status": 200,
              "data": {
                "dispute_id": "<dispute_id>",
                "reference": "<reference>",
                "txnRef": "<txnRef>",
                "state": "submitted",
                "reason": "not received",
                "amount": "5.00",
                "currency": "USD",
                "credited": "0.00",
                "card_currency": "USD",
                "outcome": null,
                "filed_at": "2026-01-05T08:30:00.000Z",
                "ended_at": null,
                "refundRef": "<refundRef>",
                "evidence": {
                  "explanation": "The book was due on 3 January and never came.",
                  "files": []
                },
                "timeline": [
                  {
                    "at": "2026-01-05T08:30:00.000Z",
                    "step": "submitted"
                  }
                ]
              }
            }
        """
        return self._call(actions.VIRTUALCARD_VIEW_DISPUTE, {"dispute_id": dispute_id})

    def withdraw_dispute(
        self, *, dispute_id: str, dry_run: bool | None = None, idempotency_key: str | None = None
    ) -> types.CardDisputeChanged:
        """Withdraw a dispute of a card purchase that is not decided yet.

        Withdraws a dispute that is not decided yet. The purchase may be disputed again.

        Needs a key of scope `issue`.

        dispute_id: The dispute, by its `dispute_id`. 1 to 100 characters.
        dry_run: If true, the reply says what would happen, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.virtualcard.withdraw_dispute(dispute_id="<dispute_id>")

            {
              "status": 200,
              "message": "Dispute withdrawn",
              "data": {
                "dispute_id": "<dispute_id>",
                "reference": "<reference>",
                "txnRef": "<txnRef>",
                "state": "withdrawn",
                "reason": "not received",
                "amount": "5.00",
                "currency": "USD",
                "credited": "0.00",
                "card_currency": "USD",
                "outcome": "Withdrawn",
                "filed_at": "2026-01-05T08:30:00.000Z",
                "ended_at": "2026-01-05T08:30:00.000Z",
                "refundRef": "<refundRef>"
              }
            }
        """
        return self._call(
            actions.VIRTUALCARD_WITHDRAW_DISPUTE, {"dispute_id": dispute_id, "dry_run": dry_run}, idempotency_key
        )

    def limits(
        self,
        *,
        reference: str,
        limits: types.SpendingLimits,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.SpendingLimitsReply:
        """Set or remove a card's limits: amounts, shops, countries, channels, days, and how often it pays.

        Replaces all limits of a card. An empty object removes them.

        Needs a key of scope `issue`.

        reference: The card, by the `reference` that `create` returned. 1 to 100 characters.
        limits: The new limits. Those that are left out no longer apply: `{}` removes all.
        dry_run: If true, the reply says what would happen, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.virtualcard.limits(
                reference="<reference>",
                limits={"per_transaction": "40.00", "per_day": "100.00", "categories": ["5411", "5812"]},
            )

            {
              "status": 200,
              "message": "Limits set",
              "data": {
                "per_transaction": "40.00",
                "per_day": "100.00",
                "per_month": null,
                "categories": [
                  "5411",
                  "5812"
                ]
              }
            }
        """
        return self._call(
            actions.VIRTUALCARD_LIMITS, {"reference": reference, "limits": limits, "dry_run": dry_run}, idempotency_key
        )

    def decider(
        self,
        *,
        decision_url: str,
        reference: str | None = None,
        on_timeout: Literal["approve", "decline"] | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.DeciderReply:
        """Have a service of yours approve or decline purchases, of one card or of all.

        Has a service of yours decide on purchases, of one card or of all. It is asked after the card's own limits.

        Needs a key of scope `issue`.

        reference: The card, by the `reference` that `create` returned. Left out: all cards that have no decider of
            their own. 1 to 100 characters.
        decision_url: Address that each purchase is sent to, signed as events are. Empty: nobody is asked any more.
            A card without one of its own then has that of all cards. A URL of at most 2,048 characters, with https
            in live, or empty.
        on_timeout: What counts if there is no answer within 2 seconds: `approve` or `decline`. Default `decline`.
        dry_run: If true, the reply says what would happen, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.virtualcard.decider(
                reference="<reference>", decision_url="https://shop.example/cards/decide", on_timeout="decline"
            )

            {
              "status": 200,
              "message": "Purchases are sent there from now on",
              "data": {
                "reference": "<reference>",
                "decision_url": "https://shop.example/cards/decide",
                "on_timeout": "decline"
              }
            }
        """
        return self._call(
            actions.VIRTUALCARD_DECIDER,
            {"decision_url": decision_url, "reference": reference, "on_timeout": on_timeout, "dry_run": dry_run},
            idempotency_key,
        )

    def transactions(
        self,
        *,
        reference: str,
        offset: int | None = None,
        limit: int | None = None,
        from_date: dt.date | str | None = None,
        to_date: dt.date | str | None = None,
    ) -> Page[types.CardTransaction]:
        """The transactions of a card, newest first.

        Lists the transactions of a card. Both dates are included. Without dates, those of the last 30 days. `end_date`
        is an alias of `to_date`.

        Needs a key of scope `issue` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        reference: The card, by the `reference` that `create` returned. 1 to 100 characters.
        from_date: First day to list, in Lagos. Default: 30 days before the last day. A date such as 2026-01-05.
        to_date: Last day to list, in Lagos. Default: today. A date such as 2026-01-05.

        Example, and the reply that was recorded for it:

            shop.virtualcard.transactions(reference="<reference>", from_date="2026-01-01", to_date="2026-01-31")

            {
              "status": 200,
              "reference": "<reference>",
              "data": [
                {
                  "id": "<id>",
                  "amount": 6.0,
                  "fee": 0.0,
                  "narration": "Card Purchase",
                  "description": "Card Purchase",
                  "dateCreated": "2026-01-05T08:30:00.000Z",
                  "status": "Successful",
                  "currency": "USD",
                  "reference": "<reference>",
                  "effect": -6.0,
                  "txnRef": "<txnRef>",
                  "dispute_id": "<dispute_id>"
                },
                {
                  "id": "<id>",
                  "amount": 20.0,
                  "fee": 0.0,
                  "narration": "Card Withdrawal",
                  "description": "Card Withdrawal",
                  "dateCreated": "2026-01-05T08:30:00.000Z",
                  "status": "Successful",
            …
        """
        return self._list(
            actions.VIRTUALCARD_TRANSACTIONS,
            {"reference": reference, "offset": offset, "limit": limit, "from_date": from_date, "to_date": to_date},
        )

    def block(
        self, *, reference: str, dry_run: bool | None = None, idempotency_key: str | None = None
    ) -> types.VirtualCardChangedReply:
        """Stop purchases with a card.

        Names a card by the reference that its creation returned.

        Needs a key of scope `issue`.

        reference: The card, by the `reference` that `create` returned. 1 to 100 characters.
        dry_run: If true, the reply says what would happen, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.virtualcard.block(reference="<reference>")

            {
              "status": 200,
              "message": "Card blocked successfully"
            }
        """
        return self._call(actions.VIRTUALCARD_BLOCK, {"reference": reference, "dry_run": dry_run}, idempotency_key)

    def unblock(
        self, *, reference: str, dry_run: bool | None = None, idempotency_key: str | None = None
    ) -> types.VirtualCardChangedReply:
        """Unblock a card, so that it can pay again.

        Names a card by the reference that its creation returned.

        Needs a key of scope `issue`.

        reference: The card, by the `reference` that `create` returned. 1 to 100 characters.
        dry_run: If true, the reply says what would happen, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.virtualcard.unblock(reference="<reference>")

            {
              "status": 200,
              "message": "Card unblocked successfully"
            }
        """
        return self._call(actions.VIRTUALCARD_UNBLOCK, {"reference": reference, "dry_run": dry_run}, idempotency_key)

    def terminate(
        self, *, reference: str, dry_run: bool | None = None, idempotency_key: str | None = None
    ) -> types.VirtualCardChangedReply:
        """Terminate a card for good; its balance returns to the wallet.

        Names a card by the reference that its creation returned.

        Needs a key of scope `issue`.

        reference: The card, by the `reference` that `create` returned. 1 to 100 characters.
        dry_run: If true, the reply says what would happen, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.virtualcard.terminate(reference="<reference>")

            {
              "status": 200,
              "message": "Card terminated successfully"
            }
        """
        return self._call(actions.VIRTUALCARD_TERMINATE, {"reference": reference, "dry_run": dry_run}, idempotency_key)


class Cashcode(SyncGroup):
    """The actions of `PUT /cashcode`."""

    def generate(
        self,
        *,
        amount: types.Amount,
        pin: str,
        channel: Literal["ATM", "POS", "WEB"],
        order_ref: str | None = None,
        life_time: int | None = None,
        currency: Literal["NGN"] | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.CashcodeReply:
        """A code, shown once, that draws an amount of cash with its PIN.

        A code to be made, which draws an amount of cash with its PIN.

        Needs a key of scope `payout`.

        amount: Cash that the code draws, in naira. Amount, fee and VAT are held in the wallet until the code ends.
            Digits with at most two decimals, above zero, at most 15 digits.
        pin: PIN that is needed to draw the cash. You choose it and tell it to the person who draws. Four digits.
        channel: Place where the code can be used: a cash machine (`ATM`), a terminal (`POS`) or a web page (`WEB`).
            `ATM` pays the exact amount, the others up to it.
        order_ref: Your reference of the code. Sent again with the same content it returns the first code's state,
            without the digits; with other content it is refused. 1 to 100 characters. The client makes one if it is
            left out.
        life_time: Minutes until the code expires, from 5 to 10080. Default 1440, one day. A whole number, not
            negative.
        currency: May be left out: cash is always drawn in NGN.
        dry_run: If true, the reply explains what the code would hold in the wallet, and none is made.
        idempotency_key: Only needed besides `order_ref` if the same reply must come again, for 24 hours.

        Example, and the reply that was recorded for it:

            shop.cashcode.generate(amount="5000.00", pin="2580", channel="ATM", order_ref="cash-1042", life_time=1440)

            {
              "status": 200,
              "orderRef": "cash-1042",
              "cashcode": "<cashcode>",
              "amount": "5000.00",
              "channel": "ATM",
              "expires_at": "2026-01-06T08:30:00.000Z",
              "txnStatus": "pending",
              "message": "Cashcode generated; it is shown this once"
            }
        """
        return self._call(
            actions.CASHCODE_GENERATE,
            {
                "amount": amount,
                "pin": pin,
                "channel": channel,
                "order_ref": order_ref,
                "life_time": life_time,
                "currency": currency,
                "dry_run": dry_run,
            },
            idempotency_key,
        )

    def verify(self, *, order_ref: str) -> types.CashcodeState:
        """The state of a cashcode, by its orderRef.

        A cashcode by the orderRef that it was generated under.

        Needs a key of scope `payout` or `read`.

        order_ref: The `orderRef` that the code was generated under. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.cashcode.verify(order_ref="cash-1042")

            {
              "status": 200,
              "orderRef": "cash-1042",
              "txnStatus": "pending",
              "state": "active",
              "amount": "5000.00",
              "paid": "0.00",
              "fee": "100.00",
              "vat": "7.50",
              "channel": "ATM",
              "expires_at": "2026-01-06T08:30:00.000Z",
              "message": "Cashcode generated; it is shown this once"
            }
        """
        return self._call(actions.CASHCODE_VERIFY, {"order_ref": order_ref})

    def cancel(self, *, order_ref: str, dry_run: bool | None = None) -> types.CashcodeCancelReply:
        """Cancel an unused cashcode and release the money held for it.

        A cashcode by the orderRef that it was generated under.

        Needs a key of scope `payout`.

        order_ref: The `orderRef` that the code was generated under. 1 to 100 characters.
        dry_run: If true, `cancel` says what would be released, and changes nothing. `verify` ignores it.

        Example, and the reply that was recorded for it:

            shop.cashcode.cancel(order_ref="cash-1042")

            {
              "status": 200,
              "orderRef": "cash-1042",
              "txnStatus": "failed",
              "state": "cancelled",
              "message": "The cashcode was cancelled"
            }
        """
        return self._call(actions.CASHCODE_CANCEL, {"order_ref": order_ref, "dry_run": dry_run})

    def wait(
        self, thing: types.CashcodeReply | types.CashcodeState | str | OutcomeUnknown, seconds: float = 60.0
    ) -> types.CashcodeState:
        """Polls `verify` until the transaction is final, and returns its state. Raises StillPending, an
        OutcomeUnknown, if it is not final within so many seconds. `thing` is a reply, a reference, or the
        OutcomeUnknown that the operation raised.
        """
        return self._wait(actions.CASHCODE_VERIFY, thing, seconds)


class Resources(SyncGroup):
    """The actions of `PUT /resources`."""

    def banks(self) -> Mapping[str, str]:
        """Bank codes and names.

        Any key may be used.

        Example, and the reply that was recorded for it:

            shop.resources.banks()

            {
              "000001": "Sterling Bank",
              "000002": "Keystone Bank",
              "000003": "First City Monument Bank",
              "000004": "United Bank for Africa",
              "000005": "Access Bank (Diamond)",
              "…": "…"
            }
        """
        return self._call(actions.RESOURCES_BANKS, {})

    def account_name(self, *, accountnumber: str, bankcode: str) -> types.AccountNameReply:
        """The name on a bank account.

        Asks for the name on a bank account, before money is sent to it.

        Any key may be used.

        accountnumber: Number of the account. Ten digits.
        bankcode: Code of the account's bank, as `banks` lists it. A bank code of 3, 5 or 6 digits.

        Example, and the reply that was recorded for it:

            shop.resources.account_name(accountnumber="0040000008", bankcode="058")

            {
              "status": "success",
              "resolved": true,
              "data": {
                "account_name": "CHIDI EZE"
              }
            }
        """
        return self._call(actions.RESOURCES_ACCOUNT_NAME, {"accountnumber": accountnumber, "bankcode": bankcode})

    def bvn(self, *, bvn: str) -> types.BvnReply:
        """The person with a Bank Verification Number.

        Asks for the person with a Bank Verification Number.

        Needs a key of scope `lend`.

        bvn: Bank Verification Number of the person. Eleven digits that begin with 22.

        Example, and the reply that was recorded for it:

            shop.resources.bvn(bvn="12345678901")

            {
              "status": "success",
              "data": {
                "firstname": "UCHE",
                "lastname": "IDRIS",
                "dob": "1993-08-15",
                "bvn": "12345678901",
                "phone": "08068042297"
              }
            }
        """
        return self._call(actions.RESOURCES_BVN, {"bvn": bvn})

    def card(self, *, card_no: str) -> types.CardFactsReply:
        """The brand, issuer and country of a card, by its first six digits.

        Asks for the issuer of a card.

        Any key may be used.

        card_no: The first six digits of the card. More may be sent; they are dropped. The first six digits of a
            card's number.

        Example, and the reply that was recorded for it:

            shop.resources.card(card_no="539983")

            {
              "status": 200,
              "data": {
                "bin": "539983",
                "brand": "mastercard",
                "type": "debit",
                "issuer": "GTBank",
                "country": "NG"
              }
            }
        """
        return self._call(actions.RESOURCES_CARD, {"card_no": card_no})

    def personalized_account(
        self,
        *,
        name: str,
        reference: str,
        email: str,
        bvn: str | None = None,
        bank: Any | None = None,
        client_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.PersonalizedReply:
        """An account number for one reference, to receive money on.

        `bank` is a preference, by name or code. If that bank cannot issue the number, the merchant's inbound bank does.

        Needs a key of scope `collect`.

        name: Name of the account, which payers see. 1 to 100 characters.
        reference: Your reference of the account, such as a customer number. The same one again returns the first
            account, whatever else is sent. It is the `customer_txnref` of all payments into the account. 1 to 100
            characters, not only spaces.
        email: Email address of the account's owner, shown as `email` of payments into it. An email address.
        bvn: Bank Verification Number of the account's owner. Stored encrypted and not looked up. Eleven digits that
            begin with 22.
        bank: Preferred bank of the account, by name or code. If that bank cannot issue the number, your inbound
            bank does.
        client_id: Client whom the account is for. What comes in is then held if it is above the limits of the
            client's tier. 1 to 100 characters.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.personalized_account(name="Ada Obi", reference="customer-17", email="ada.obi@example.com")

            {
              "status": 200,
              "message": "Personalized account ready",
              "data": {
                "accountNumber": "<accountNumber>",
                "accountName": "Ada Obi",
                "bankName": "Wema Bank",
                "reference": "customer-17"
              }
            }
        """
        return self._call(
            actions.RESOURCES_PERSONALIZED_ACCOUNT,
            {"name": name, "reference": reference, "email": email, "bvn": bvn, "bank": bank, "client_id": client_id},
            idempotency_key,
        )

    def close_personalized_account(
        self, *, reference: str, idempotency_key: str | None = None
    ) -> types.CloseAccountReply:
        """Close the account of a reference, so that nobody can pay into it any more.

        Names the account to close. Closing it again changes nothing.

        Needs a key of scope `collect`.

        reference: Your reference of the account, as it was opened with. 1 to 100 characters, not only spaces.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.close_personalized_account(reference="customer-18")

            {
              "status": 200,
              "message": "The account is closed",
              "data": {
                "reference": "customer-18",
                "state": "closed",
                "accountNumber": "<accountNumber>",
                "accountName": "Bola Ade",
                "bankName": "Wema Bank",
                "dateCreated": "2026-01-05T08:30:00.000Z",
                "dateClosed": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(actions.RESOURCES_CLOSE_PERSONALIZED_ACCOUNT, {"reference": reference}, idempotency_key)

    def accounts(
        self,
        *,
        offset: int | None = None,
        limit: int | None = None,
        state: Literal["closed", "closing", "failed", "open", "opening"] | None = None,
        reference: str | None = None,
    ) -> Page[types.AccountLine]:
        """Personalized accounts and their states, newest first.

        Lists personalized accounts, newest first.

        Needs a key of scope `collect` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        state: Lists accounts in this state.
        reference: Lists only the account with this reference. 1 to 100 characters, not only spaces.

        Example, and the reply that was recorded for it:

            shop.resources.accounts(state="open")

            {
              "status": 200,
              "data": [
                {
                  "reference": "customer-17",
                  "state": "open",
                  "accountNumber": "<accountNumber>",
                  "accountName": "Ada Obi",
                  "bankName": "Wema Bank",
                  "dateCreated": "2026-01-05T08:30:00.000Z"
                }
              ],
              "total": 1,
              "offset": 0,
              "limit": 50
            }
        """
        return self._list(
            actions.RESOURCES_ACCOUNTS, {"offset": offset, "limit": limit, "state": state, "reference": reference}
        )

    def wallet(self) -> types.WalletReply:
        """The merchant's balances.

        Needs a key of scope `payout` or `read`.

        Example, and the reply that was recorded for it:

            shop.resources.wallet()

            {
              "status": 200,
              "data": [
                {
                  "currency": "NGN",
                  "balance": "9704803.89",
                  "available": "9700871.39",
                  "held": "3932.50"
                },
                {
                  "currency": "USD",
                  "balance": "9990.77",
                  "available": "9990.77",
                  "held": "0.00"
                }
              ]
            }
        """
        return self._call(actions.RESOURCES_WALLET, {})

    def events(
        self, *, offset: int | None = None, limit: int | None = None, txn_ref: str | None = None
    ) -> Page[types.EventLine]:
        """The event log, with every attempt to deliver.

        Lists all events, newest first, or those of one transaction.

        Needs a key of scope `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        txn_ref: Lists only the events of this transaction, by its `txnRef`, or the `orderRef` of a transfer, bill
            or cashcode. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.resources.events(limit=5)

            {
              "status": 200,
              "data": [
                {
                  "event_id": "<event_id>",
                  "sequence": 30,
                  "txnRef": "<txnRef>",
                  "kind": "account_closed",
                  "state": "no_endpoint",
                  "dateCreated": "2026-01-05T08:30:00.000Z",
                  "object": "<reference>",
                  "object_sequence": 1,
                  "payload": {
                    "status": 200,
                    "txnStatus": "successful",
                    "txnRef": "<txnRef>",
                    "chargedAmount": "0.00",
                    "paymentMethod": "bank_transfer",
                    "endpoint": "test",
                    "kind": "account_closed",
                    "currency": "NGN",
                    "accountReference": "customer-18",
                    "account": "<account>",
                    "accountDetails": "Bola Ade",
                    "bankname": "Wema Bank"
                  },
            …
        """
        return self._list(actions.RESOURCES_EVENTS, {"offset": offset, "limit": limit, "txn_ref": txn_ref})

    def event_feed(self, *, after: int | None = None, limit: int | None = None) -> Page[types.EventLine]:
        """Events by sequence, for merchants who cannot receive webhooks.

        Lists events by sequence, for merchants who cannot receive webhooks. Send a reply's `last` as `after`.

        Needs a key of scope `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        after: Lists the events whose `sequence` is above this number. Default 0: from the first event. A whole
            number, not negative.
        limit: Largest number of events to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.

        Example, and the reply that was recorded for it:

            shop.resources.event_feed(after=0)

            {
              "status": 200,
              "data": [
                {
                  "event_id": "<event_id>",
                  "sequence": 1,
                  "txnRef": "<txnRef>",
                  "kind": "transfer",
                  "state": "no_endpoint",
                  "dateCreated": "2026-01-05T08:30:00.000Z",
                  "object": "<reference>",
                  "object_sequence": 1,
                  "payload": {
                    "status": 200,
                    "txnStatus": "successful",
                    "txnRef": "<txnRef>",
                    "chargedAmount": "1500.00",
                    "paymentMethod": "transfer",
                    "endpoint": "test",
                    "kind": "transfer",
                    "currency": "NGN",
                    "orderRef": "order-1042"
                  },
                  "attempts": []
                },
                {
            …
        """
        return self._list(actions.RESOURCES_EVENT_FEED, {"after": after, "limit": limit})

    def resend(
        self,
        *,
        event_id: str | None = None,
        first: int | None = None,
        last: int | None = None,
        failed_since: dt.datetime | str | None = None,
    ) -> types.ResendReply:
        """Send one event again, a range of them, or all that failed.

        One event by its id, a range by sequence, both ends included, or all that failed. At most 1,000 at once.

        Needs a key of scope `all`.

        event_id: The event to send again. This, `from` or `failed_since` is required; if several are sent, the
            first of these counts. 1 to 100 characters.
        first: The `sequence` of the first event to send again. A whole number above zero.
        last: The `sequence` of the last event to send again. Default: `from`, so that one event is sent. A whole
            number above zero.
        failed_since: Sends every event again that was created since this time and that your endpoint did not
            accept, oldest first, also those that would be tried again later. An ISO 8601 time such as
            2026-01-05T09:30:00+01:00.

        Example, and the reply that was recorded for it:

            shop.resources.resend(first=1, last=5)

            {
              "status": 200,
              "message": "Sent again",
              "sent": 5,
              "more": false
            }
        """
        return self._call(
            actions.RESOURCES_RESEND, {"event_id": event_id, "first": first, "last": last, "failed_since": failed_since}
        )

    def chargeable_banks(self) -> types.ChargeableBanksReply:
        """The banks whose accounts can be debited.

        Lists the banks whose accounts can be debited.

        Any key may be used.

        Example, and the reply that was recorded for it:

            shop.resources.chargeable_banks()

            {
              "status": 200,
              "data": [
                {
                  "bankname": "Access Bank",
                  "bankcode": "044"
                },
                {
                  "bankname": "Access Bank (Diamond)",
                  "bankcode": "063"
                },
                {
                  "bankname": "Alpha Morgan Bank",
                  "bankcode": "108"
                },
                {
                  "bankname": "Citibank Nigeria",
                  "bankcode": "023"
                },
                {
                  "bankname": "Ecobank Nigeria",
                  "bankcode": "050"
                },
                {
                  "bankname": "Fidelity Bank",
                  "bankcode": "070"
            …
        """
        return self._call(actions.RESOURCES_CHARGEABLE_BANKS, {})

    def charges(
        self,
        *,
        amount: types.Amount,
        card_no: str | None = None,
        type: Literal["account", "bank_transfer", "card", "mobile_money", "phone", "qrpay", "token", "ussd"]
        | None = None,
        country: str | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        bearer: Literal["account", "customer", "merchant"] | None = None,
    ) -> types.ChargesReply:
        """What a payment would cost.

        Asks what a payment would cost, by payment type or by a card's first six digits (or all of them).

        Any key may be used.

        amount: Amount of the payment. Digits with at most two decimals, above zero, at most 15 digits.
        card_no: The first six digits of the card, or all of them: they tell a local from an international card. 6
            to 19 digits.
        type: Payment type. Required unless `card_no` is sent. `card` and `token` without `card_no` are priced as a
            local card.
        country: Country of the payment, as in `charge`. Default `NG`; for mobile money that of the currency. A
            country as two capital letters.
        currency: Currency of the payment, as in `charge`. Default `NGN`. One of NGN, USD, GHS, KES.
        bearer: Payer of the fee, as in `charge`. Default: your tariff's setting, `merchant` unless changed.

        Example, and the reply that was recorded for it:

            shop.resources.charges(card_no="512345", amount="1500.00")

            {
              "status": 200,
              "data": {
                "amount": "1500.00",
                "fee": "22.50",
                "vat": "1.69",
                "total_charge": "1500.00",
                "settled": "1475.81",
                "currency": "NGN",
                "bearer": "merchant"
              }
            }
        """
        return self._call(
            actions.RESOURCES_CHARGES,
            {
                "amount": amount,
                "card_no": card_no,
                "type": type,
                "country": country,
                "currency": currency,
                "bearer": bearer,
            },
        )

    def recurrents(self, *, offset: int | None = None, limit: int | None = None) -> Page[types.RecurrentPlan]:
        """Recurrent payments, newest first.

        Lists recurrent payments, newest first.

        Needs a key of scope `collect` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 200. An array of more than 1 MiB has fewer. 1 to 200.

        Example, and the reply that was recorded for it:

            shop.resources.recurrents()

            [
              {
                "id": "<id>",
                "state": "active",
                "amount": "1500.00",
                "currency": "NGN",
                "frequency": "monthly",
                "value": "30",
                "next_charge": "2026-01-30T08:00:00.000Z",
                "paid": "1500.00",
                "cardToken": "<cardToken>",
                "txnRef": "<txnRef>",
                "email": "ada@example.com",
                "dateCreated": "2026-01-05T08:30:00.000Z"
              }
            ]
        """
        return self._list(actions.RESOURCES_RECURRENTS, {"offset": offset, "limit": limit})

    def recurrent(
        self,
        *,
        id: str,
        status: Literal["start", "stop"] | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.RecurrentChangedReply:
        """One recurrent payment; stop it or start it again.

        Reads one recurrent payment. With `status` it is stopped or started.

        Needs a key of scope `collect`.

        id: The recurrent payment, by the `id` that `recurrents` lists. 1 to 100 characters.
        status: `stop` ends further charges. `start` resumes a stopped or paused one: dates that passed are not
            charged. Left out, the recurrent payment is only read.
        dry_run: If true, the reply shows the recurrent payment as it would be, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.recurrent(id="<id>", status="stop")

            {
              "status": 200,
              "message": "The recurrent payment is stopped",
              "data": {
                "id": "<id>",
                "state": "stopped",
                "amount": "1500.00",
                "currency": "NGN",
                "frequency": "monthly",
                "value": "30",
                "next_charge": null,
                "paid": "1500.00",
                "cardToken": "<cardToken>",
                "txnRef": "<txnRef>",
                "email": "ada@example.com",
                "dateCreated": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(
            actions.RESOURCES_RECURRENT, {"id": id, "status": status, "dry_run": dry_run}, idempotency_key
        )

    def installments(
        self, *, offset: int | None = None, limit: int | None = None, id: str | None = None
    ) -> Page[types.InstallmentPlan]:
        """Installment plans, newest first, finished ones too; or one, by its id.

        Lists installment plans, newest first, or reads the one named. With `status` that one is changed.

        Needs a key of scope `collect` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 200. An array of more than 1 MiB has fewer. 1 to 200.
        id: The plan to read or change. Left out, all plans are listed. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.resources.installments()

            [
              {
                "id": "<id>",
                "state": "active",
                "total": "1500.00",
                "paid": "0.00",
                "currency": "NGN",
                "next_charge": "2030-11-30T08:00:00.000Z",
                "payment_schedule": [
                  {
                    "date": "30-11-2030",
                    "amount": "1000.00",
                    "paid": false
                  },
                  {
                    "date": "31-12-2030",
                    "amount": "500.00",
                    "paid": false
                  }
                ],
                "cardToken": "<cardToken>",
                "txnRef": "<txnRef>",
                "email": "",
                "dateCreated": "2026-01-05T08:30:00.000Z"
              }
            ]
        """
        return self._list(actions.RESOURCES_INSTALLMENTS, {"offset": offset, "limit": limit, "id": id})

    def resume_installments(
        self, *, id: str, dry_run: bool | None = None, idempotency_key: str | None = None
    ) -> types.InstallmentChangedReply:
        """Resume a paused installment plan: what fell due meanwhile is charged at once.

        Resumes, pauses or cancels one installment plan. The action's variant `status` says which.

        Needs a key of scope `collect`.

        id: The installment plan to change. 1 to 100 characters.
        dry_run: If true, the reply shows the plan as it would be, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.resume_installments(id="<id>")

            {
              "status": 200,
              "message": "The installment plan is active",
              "data": {
                "id": "<id>",
                "state": "active",
                "total": "1500.00",
                "paid": "0.00",
                "currency": "NGN",
                "next_charge": "2030-11-30T08:00:00.000Z",
                "payment_schedule": [
                  {
                    "date": "30-11-2030",
                    "amount": "1000.00",
                    "paid": false
                  },
                  {
                    "date": "31-12-2030",
                    "amount": "500.00",
                    "paid": false
                  }
                ],
                "cardToken": "<cardToken>",
                "txnRef": "<txnRef>",
                "email": "",
                "dateCreated": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(actions.RESOURCES_RESUME_INSTALLMENTS, {"id": id, "dry_run": dry_run}, idempotency_key)

    def pause_installments(
        self, *, id: str, dry_run: bool | None = None, idempotency_key: str | None = None
    ) -> types.InstallmentChangedReply:
        """Pause an installment plan.

        Resumes, pauses or cancels one installment plan. The action's variant `status` says which.

        Needs a key of scope `collect`.

        id: The installment plan to change. 1 to 100 characters.
        dry_run: If true, the reply shows the plan as it would be, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.pause_installments(id="<id>")

            {
              "status": 200,
              "message": "The installment plan is paused",
              "data": {
                "id": "<id>",
                "state": "paused",
                "total": "1500.00",
                "paid": "0.00",
                "currency": "NGN",
                "next_charge": null,
                "payment_schedule": [
                  {
                    "date": "30-11-2030",
                    "amount": "1000.00",
                    "paid": false
                  },
                  {
                    "date": "31-12-2030",
                    "amount": "500.00",
                    "paid": false
                  }
                ],
                "cardToken": "<cardToken>",
                "txnRef": "<txnRef>",
                "email": "",
                "dateCreated": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(actions.RESOURCES_PAUSE_INSTALLMENTS, {"id": id, "dry_run": dry_run}, idempotency_key)

    def cancel_installments(
        self, *, id: str, dry_run: bool | None = None, idempotency_key: str | None = None
    ) -> types.InstallmentChangedReply:
        """Cancel an installment plan: nothing more is charged.

        Resumes, pauses or cancels one installment plan. The action's variant `status` says which.

        Needs a key of scope `collect`.

        id: The installment plan to change. 1 to 100 characters.
        dry_run: If true, the reply shows the plan as it would be, and nothing is changed.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.cancel_installments(id="<id>")

            {
              "status": 200,
              "message": "The installment plan is cancelled",
              "data": {
                "id": "<id>",
                "state": "cancelled",
                "total": "1500.00",
                "paid": "0.00",
                "currency": "NGN",
                "next_charge": null,
                "payment_schedule": [
                  {
                    "date": "30-11-2030",
                    "amount": "1000.00",
                    "paid": false
                  },
                  {
                    "date": "31-12-2030",
                    "amount": "500.00",
                    "paid": false
                  }
                ],
                "cardToken": "<cardToken>",
                "txnRef": "<txnRef>",
                "email": "",
                "dateCreated": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(actions.RESOURCES_CANCEL_INSTALLMENTS, {"id": id, "dry_run": dry_run}, idempotency_key)

    def paylink(
        self,
        *,
        title: str,
        description: str | None = None,
        amount: types.Amount | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        type: Literal["one_time", "recurring"] | None = None,
        frequency: Literal["daily", "monthly", "weekly"] | None = None,
        payer_bears_fees: bool | None = None,
        accept_number: bool | None = None,
        custom_link: str | None = None,
        redirect_url: str | None = None,
        custom_message: str | None = None,
        notification_email: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.PaylinkReply:
        """Make a link that anybody may open to pay.

        Makes a link that anybody may open to pay. Optional fields may be null.

        Needs a key of scope `collect`.

        title: What is paid for. Payers see it. 1 to 100 characters.
        description: Further text, which payers see. At most 1,000 characters.
        amount: Amount to pay. Left out or 0: the payer chooses it. Digits with at most two decimals, at most 15
            digits; zero where nothing is left.
        currency: Currency of the amount. Default `NGN`. One of NGN, USD, GHS, KES.
        type: `one_time` (also `onetime`, `single`, `fixed`): each payer pays once. `recurring` (also
            `subscription`): the payer's card is charged again by `frequency`. Default `one_time`. One_time (also
            onetime, single, fixed) or recurring (also subscription).
        frequency: How often the card is charged again. Counts for recurring links alone. Default `monthly`.
        payer_bears_fees: Whether the payer pays the fee on top. Default: your tariff's setting. Also as `yes`,
            `no`, 1 or 0. True or false, also as yes or no, or 1 or 0.
        accept_number: Whether the page asks for the payer's telephone number. Default false. Also as `yes`, `no`, 1
            or 0. True or false, also as yes or no, or 1 or 0.
        custom_link: Last part of the link's address, unique in the deployment. Default: random characters. 3 to 60
            of a-z, 0-9 and -.
        redirect_url: Address to which the payer goes after the receipt, with `txnRef` and `status` added to it. An
            http or https URL of at most 2,048 characters, its host in ASCII.
        custom_message: Shown to the payer after the payment. At most 1,000 characters.
        notification_email: Your address for questions about this link. Stored with it and shown to you. Nothing is
            sent to it. An email address of at most 254 characters.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.paylink(
                title="Cooking class",
                description="Saturday, 10:00, Lekki",
                amount="5000.00",
                currency="NGN",
                type="one_time",
                payer_bears_fees=True,
            )

            {
              "status": 200,
              "message": "Link created",
              "data": {
                "link_id": "<link_id>",
                "link": "<link>",
                "title": "Cooking class",
                "amount": "5000.00",
                "currency": "NGN",
                "type": "one_time",
                "status": "active"
              }
            }
        """
        return self._call(
            actions.RESOURCES_PAYLINK,
            {
                "title": title,
                "description": description,
                "amount": amount,
                "currency": currency,
                "type": type,
                "frequency": frequency,
                "payer_bears_fees": payer_bears_fees,
                "accept_number": accept_number,
                "custom_link": custom_link,
                "redirect_url": redirect_url,
                "custom_message": custom_message,
                "notification_email": notification_email,
            },
            idempotency_key,
        )

    def paylinks(self, *, offset: int | None = None, limit: int | None = None) -> Page[types.PaylinkRecord]:
        """Payment links, newest first.

        Lists payment links, newest first.

        Needs a key of scope `collect` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.

        Example, and the reply that was recorded for it:

            shop.resources.paylinks()

            {
              "status": 200,
              "data": [
                {
                  "link_id": "<link_id>",
                  "link": "<link>",
                  "title": "Cooking class",
                  "amount": "5000.00",
                  "currency": "NGN",
                  "type": "one_time",
                  "status": "active"
                }
              ],
              "total": 1,
              "offset": 0,
              "limit": 50
            }
        """
        return self._list(actions.RESOURCES_PAYLINKS, {"offset": offset, "limit": limit})

    def paylink_detail(self, *, link_id: str) -> types.PaylinkDetailReply:
        """One payment link with its payments and totals.

        Shows one payment link with its payments and totals.

        Needs a key of scope `collect` or `read`.

        link_id: The link to show. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.resources.paylink_detail(link_id="<link_id>")

            {
              "status": 200,
              "message": "Link",
              "data": {
                "link_id": "<link_id>",
                "link": "<link>",
                "title": "Cooking class",
                "amount": "5000.00",
                "currency": "NGN",
                "type": "one_time",
                "status": "active",
                "description": "Saturday, 10:00, Lekki",
                "frequency": null,
                "payer_bears_fees": true,
                "accept_number": false,
                "redirect_url": null,
                "custom_message": null,
                "notification_email": null,
                "created_at": "2026-01-05T08:30:00.000Z",
                "checkouts": 0,
                "paid_count": 0,
                "total": "0.00",
                "payments": []
              }
            }
        """
        return self._call(actions.RESOURCES_PAYLINK_DETAIL, {"link_id": link_id})

    def paylink_disable(self, *, link_id: str, idempotency_key: str | None = None) -> types.PaylinkReply:
        """Disable a payment link: nobody can pay by it any more.

        Disables or enables a payment link. The action's variant `status` says which.

        Needs a key of scope `collect`.

        link_id: The link to switch. 1 to 100 characters.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.paylink_disable(link_id="<link_id>")

            {
              "status": 200,
              "message": "Link disabled",
              "data": {
                "link_id": "<link_id>",
                "link": "<link>",
                "title": "Cooking class",
                "amount": "5000.00",
                "currency": "NGN",
                "type": "one_time",
                "status": "disabled"
              }
            }
        """
        return self._call(actions.RESOURCES_PAYLINK_DISABLE, {"link_id": link_id}, idempotency_key)

    def paylink_enable(self, *, link_id: str, idempotency_key: str | None = None) -> types.PaylinkReply:
        """Enable a payment link again.

        Disables or enables a payment link. The action's variant `status` says which.

        Needs a key of scope `collect`.

        link_id: The link to switch. 1 to 100 characters.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.paylink_enable(link_id="<link_id>")

            {
              "status": 200,
              "message": "Link enabled",
              "data": {
                "link_id": "<link_id>",
                "link": "<link>",
                "title": "Cooking class",
                "amount": "5000.00",
                "currency": "NGN",
                "type": "one_time",
                "status": "active"
              }
            }
        """
        return self._call(actions.RESOURCES_PAYLINK_ENABLE, {"link_id": link_id}, idempotency_key)

    def customer(
        self,
        *,
        name: str,
        email: str | None = None,
        phone: str | None = None,
        address: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.CustomerRegisteredReply:
        """Register a customer, or bring one up to date.

        Registers a person who pays you. The same email address again is the same customer, and so is the same telephone
        number without an email address: the fields that are sent replace the earlier ones.

        Needs a key of scope `collect`.

        name: Name of the customer. 1 to 100 characters.
        email: Email address, in any case. Payments with this `user.email` belong to the customer, earlier ones too.
            Without it the customer is known by the telephone number. An email address.
        phone: Telephone number. Required without an email address, then with its country's code, or Nigerian. A
            telephone number of its country, or one with + and its country's code.
        address: Postal address. At most 300 characters.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.customer(
                name="Ada Obi", email="ada.obi@example.com", phone="08031234567", address="12 Marina Road, Lagos"
            )

            {
              "status": 200,
              "message": "Customer created",
              "data": {
                "customer_id": "<customer_id>",
                "name": "Ada Obi",
                "email": "ada.obi@example.com",
                "phone": "08031234567",
                "address": "12 Marina Road, Lagos",
                "created_at": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(
            actions.RESOURCES_CUSTOMER,
            {"name": name, "email": email, "phone": phone, "address": address},
            idempotency_key,
        )

    def customers(
        self, *, offset: int | None = None, limit: int | None = None, search: str | None = None
    ) -> Page[types.CustomerRecord]:
        """Customers, newest first.

        Lists customers, newest first.

        Needs a key of scope `collect` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        search: Lists only customers with this whole email address or telephone number, or whose name has words that
            begin with each of these words (at least three letters of each). 1 to 254 characters.

        Example, and the reply that was recorded for it:

            shop.resources.customers(search="ada")

            {
              "status": 200,
              "data": [
                {
                  "customer_id": "<customer_id>",
                  "name": "Ada Obi",
                  "email": "ada.obi@example.com",
                  "phone": "08031234567",
                  "address": "12 Marina Road, Lagos",
                  "created_at": "2026-01-05T08:30:00.000Z"
                }
              ],
              "total": 1,
              "offset": 0,
              "limit": 50
            }
        """
        return self._list(actions.RESOURCES_CUSTOMERS, {"offset": offset, "limit": limit, "search": search})

    def customer_detail(self, *, customer_id: str) -> types.CustomerDetailReply:
        """One customer with totals, saved cards and newest payments.

        Shows one customer with payments.

        Needs a key of scope `collect` or `read`.

        customer_id: Identifier of the customer. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.resources.customer_detail(customer_id="<customer_id>")

            {
              "status": 200,
              "message": "Customer",
              "data": {
                "customer_id": "<customer_id>",
                "name": "Ada Obi",
                "email": "ada.obi@example.com",
                "phone": "08031234567",
                "address": "12 Marina Road, Lagos",
                "created_at": "2026-01-05T08:30:00.000Z",
                "totals": [],
                "invoices": [],
                "cards": [],
                "transactions": []
              }
            }
        """
        return self._call(actions.RESOURCES_CUSTOMER_DETAIL, {"customer_id": customer_id})

    def transactions(
        self,
        *,
        kind: Literal[
            "bill",
            "card_authorization",
            "card_purchase",
            "card_refund",
            "cashcode",
            "cashout",
            "deposit",
            "payment",
            "refund",
            "repayment",
            "transfer",
        ]
        | None = None,
        status: Literal["failed", "pending", "processing", "successful"] | None = None,
        first: dt.date | str | None = None,
        last: dt.date | str | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        min_amount: types.Amount | None = None,
        max_amount: types.Amount | None = None,
        customer: str | None = None,
        reference: str | None = None,
        method: Literal["account", "bank_transfer", "card", "mobile_money", "phone", "qrpay", "token", "ussd"]
        | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Page[types.TransactionSummary]:
        """Transactions of every kind, newest first.

        Lists transactions of every kind, newest first. Filters that are sent must all match.

        Needs a key of scope `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        kind: Lists only transactions of this kind.
        status: Lists only transactions with this status.
        first: First day of creation, in Lagos. A date such as 2026-01-05.
        last: Last day of creation, in Lagos. A date such as 2026-01-05.
        currency: Lists only transactions in this currency. One of NGN, USD, GHS, KES.
        min_amount: Lists only transactions of at least this amount, fees not included. Digits with at most two
            decimals, at most 15 digits; zero where nothing is left.
        max_amount: Lists only transactions of at most this amount, fees not included. Digits with at most two
            decimals, at most 15 digits; zero where nothing is left.
        customer: Lists only payments of this customer, by `customer_id` or by the `user.email` of the payments. A
            `customer_id` or an email address.
        reference: Any part of your reference or of ours, in any case. A whole reference finds its transactions at
            once and no others. 3 to 100 characters.
        method: Lists only payments by this payment type.
        limit: Largest number of transactions to return. Default 50. 1 to 100.
        cursor: Continues after the page that had this `next_cursor`. Send the same filters with it. The
            `next_cursor` of a reply.

        Example, and the reply that was recorded for it:

            shop.resources.transactions(kind="transfer", status="successful", limit=2)

            {
              "status": 200,
              "data": [
                {
                  "txnRef": "<txnRef>",
                  "orderRef": "<reference>",
                  "kind": "transfer",
                  "txnStatus": "successful",
                  "currency": "NGN",
                  "amount": "80000.00",
                  "fee": "50.00",
                  "vat": "3.75",
                  "duty": "0.00",
                  "method": null,
                  "message": "Transfer Successful",
                  "dateCreated": "2026-01-05T08:30:00.000Z",
                  "dateEnded": "2026-01-05T08:30:00.000Z"
                },
                {
                  "txnRef": "<txnRef>",
                  "orderRef": "<reference>",
                  "kind": "transfer",
                  "txnStatus": "successful",
                  "currency": "NGN",
                  "amount": "120000.00",
                  "fee": "50.00",
            …
        """
        return self._list(
            actions.RESOURCES_TRANSACTIONS,
            {
                "kind": kind,
                "status": status,
                "first": first,
                "last": last,
                "currency": currency,
                "min_amount": min_amount,
                "max_amount": max_amount,
                "customer": customer,
                "reference": reference,
                "method": method,
                "limit": limit,
                "cursor": cursor,
            },
        )

    def transaction(self, *, reference: str) -> types.FoundReply:
        """Anything that has a reference, with its related references and timeline.

        Finds anything that has a reference, whoever gave it.

        Needs a key of scope `read`.

        reference: A reference of ours or of yours: `txnRef`, `orderRef`, `customer_txnref`, `refundRef`,
            `batchRef`, an event id, the code of a cashcode, or the id of a loan, savings account, thrift plan,
            card, saved card, payment plan, beneficiary, client, customer, personalized account, dispute (of a
            payment or of a card purchase), group of borrowers, loan of such a group, loan product (also its code)
            or settlement. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.resources.transaction(reference="order-1042")

            {
              "status": 200,
              "data": {
                "kind": "transfer",
                "reference": "<reference>",
                "orderRef": "order-1042",
                "state": "successful",
                "message": "Transfer Successful",
                "currency": "NGN",
                "amount": "1500.00",
                "fee": "10.00",
                "vat": "0.75",
                "duty": "0.00",
                "method": null,
                "dateCreated": "2026-01-05T08:30:00.000Z",
                "dateEnded": "2026-01-05T08:30:00.000Z",
                "related": [],
                "timeline": [
                  {
                    "at": "2026-01-05T08:30:00.000Z",
                    "step": "requested",
                    "message": ""
                  },
                  {
                    "at": "2026-01-05T08:30:00.000Z",
                    "step": "successful",
            …
        """
        return self._call(actions.RESOURCES_TRANSACTION, {"reference": reference})

    def statement(
        self,
        *,
        account: Literal["beneficiary", "card", "loan", "savings", "wallet"],
        first: dt.date | str,
        last: dt.date | str,
        id: str | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        format: Literal["csv", "json", "pdf"] | None = None,
        limit: int | None = None,
        proof: bool | None = None,
        cursor: str | None = None,
    ) -> types.Statement:
        """The movements of an account, its balances and totals, in pages or as a file.

        Asks for a statement of account over whole days. The statement of the days that follow begins with the balance
        at which this one ends.

        Needs a key of scope `read`.

        account: Kind of the account: your wallet, a virtual card, a savings account, a loan, or a beneficiary of
            split payments.
        id: The card's `reference`, `savings_id`, `loan_id` or `ref_code` of a beneficiary. Required for all but the
            wallet. 1 to 100 characters.
        currency: Currency of a wallet or beneficiary. Default NGN. Other accounts have one currency. One of NGN,
            USD, GHS, KES.
        first: First day, in Lagos. A date such as 2026-01-05.
        last: Last day, in Lagos. At most 366 days after `from`. A date such as 2026-01-05.
        format: `json`, in pages (default), or a link to a file.
        limit: Largest number of movements on a page. Default 50. 1 to 200.
        proof: Adds the proof of every page to it (`json` only). A page then has the movements among the next
            `limit` postings of your books, which may be few or none.
        cursor: Continues after the page that had this `next_cursor`. Send the other fields with it again. The
            `next_cursor` of a reply.

        Example, and the reply that was recorded for it:

            shop.resources.statement(account="wallet", first="2026-01-01", last="2026-01-31", limit=3)

            {
              "status": 200,
              "message": "Wallet in NGN",
              "currency": "NGN",
              "opening_balance": "0.00",
              "closing_balance": "9704803.89",
              "totals": [
                {
                  "kind": "collected",
                  "amount": "16527.15",
                  "count": 4
                },
                {
                  "kind": "fees",
                  "amount": "-2137.91",
                  "count": 9
                },
                {
                  "kind": "vat",
                  "amount": "-160.35",
                  "count": 9
                },
                {
                  "kind": "refunds",
                  "amount": "-500.00",
                  "count": 1
            …
        """
        return self._call(
            actions.RESOURCES_STATEMENT,
            {
                "account": account,
                "first": first,
                "last": last,
                "id": id,
                "currency": currency,
                "format": format,
                "limit": limit,
                "proof": proof,
                "cursor": cursor,
            },
        )

    def settlements(
        self,
        *,
        offset: int | None = None,
        limit: int | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        first: dt.date | str | None = None,
        last: dt.date | str | None = None,
    ) -> Page[types.SettlementSummary]:
        """What collections did to the wallet, day by day.

        Lists settlements, newest first: one for each day and currency on which collected money moved.

        Needs a key of scope `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        currency: Lists only settlements in this currency. One of NGN, USD, GHS, KES.
        first: First day, in Lagos. Default: 30 days before the last. A date such as 2026-01-05.
        last: Last day, in Lagos. Default: today. At most 92 days after `from`. A date such as 2026-01-05.

        Example, and the reply that was recorded for it:

            shop.resources.settlements(currency="NGN")

            {
              "status": 200,
              "data": [
                {
                  "settlement_id": "ST20260105NGN",
                  "day": "2026-01-05",
                  "currency": "NGN",
                  "state": "open",
                  "gross": "16527.15",
                  "fee": "-1927.91",
                  "vat": "-144.60",
                  "split": "0.00",
                  "refunds": "-500.00",
                  "disputes": "0.00",
                  "reserve": "0.00",
                  "net": "13954.64",
                  "paid_out": "0.00"
                }
              ],
              "total": 1,
              "offset": 0,
              "limit": 50
            }
        """
        return self._list(
            actions.RESOURCES_SETTLEMENTS,
            {"offset": offset, "limit": limit, "currency": currency, "first": first, "last": last},
        )

    def settlement(self, *, settlement_id: str) -> types.SettlementReply:
        """One settlement with its lines.

        Reads one settlement.

        Needs a key of scope `read`.

        settlement_id: The settlement, by its `settlement_id`. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.resources.settlement(settlement_id="<settlement_id>")

            {
              "status": 200,
              "data": {
                "settlement_id": "ST20260105NGN",
                "day": "2026-01-05",
                "currency": "NGN",
                "state": "open",
                "gross": "16527.15",
                "fee": "-1927.91",
                "vat": "-144.60",
                "split": "0.00",
                "refunds": "-500.00",
                "disputes": "0.00",
                "reserve": "0.00",
                "net": "13954.64",
                "paid_out": "0.00",
                "lines": [
                  {
                    "kind": "gross",
                    "amount": "16527.15",
                    "count": 4
                  },
                  {
                    "kind": "fee",
                    "amount": "-1927.91",
                    "count": 5
            …
        """
        return self._call(actions.RESOURCES_SETTLEMENT, {"settlement_id": settlement_id})

    def proof(self, *, reference: str) -> types.ProofReply:
        """The proof that what a transaction posted is in a signed close of the books.

        Asks for the proof of what a transaction posted.

        Needs a key of scope `read`.

        reference: The transaction's `txnRef` or your own reference of it, or a `reference` of a statement. 1 to 100
            characters.

        Example, and the reply that was recorded for it:

            shop.resources.proof(reference="order-1042")

            {
              "status": 200,
              "message": "Pending until the next close",
              "data": [
                {
                  "state": "pending",
                  "first": 3,
                  "last": 5,
                  "start": null,
                  "groups": [],
                  "mark": null,
                  "head": null,
                  "index": null,
                  "path": [],
                  "close": null
                }
              ],
              "format": "kasuwa proof 1"
            }
        """
        return self._call(actions.RESOURCES_PROOF, {"reference": reference})

    def settlement_events(self, *, daily: bool, idempotency_key: str | None = None) -> types.SettlementEventsReply:
        """Turn daily events of settlements on or off.

        Turns daily events of settlements on or off.

        Needs a key of scope `all`.

        daily: true: after the end of each day in Lagos, beginning with today, you get one event for each settlement
            of that day. false: you get none.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.settlement_events(daily=True)

            {
              "status": 200,
              "message": "Daily events of settlements are on",
              "data": {
                "daily": true,
                "next_event": "2026-01-05T23:05:00.000Z",
                "last_day": null
              }
            }
        """
        return self._call(actions.RESOURCES_SETTLEMENT_EVENTS, {"daily": daily}, idempotency_key)

    def daily_settlement_events(self) -> types.SettlementEventsReply:
        """Whether daily events of settlements are on.

        Reads whether daily events of settlements are on.

        Needs a key of scope `read`.

        Example, and the reply that was recorded for it:

            shop.resources.daily_settlement_events()

            {
              "status": 200,
              "message": "Daily events of settlements are on",
              "data": {
                "daily": true,
                "next_event": "2026-01-05T23:05:00.000Z",
                "last_day": null
              }
            }
        """
        return self._call(actions.RESOURCES_DAILY_SETTLEMENT_EVENTS, {})

    def payout_schedule(
        self,
        *,
        frequency: Literal["above", "daily", "monthly", "off", "weekly"],
        least: types.Amount | None = None,
        bankcode: str | None = None,
        accountnumber: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.ScheduleReply:
        """Pay the wallet out to your bank account by a schedule.

        Sets when the NGN wallet is paid out to your own bank account, or ends that.

        Needs a key of scope `payout`.

        frequency: `daily`, `weekly` (Mondays), `monthly` (the first), `above` (every day on which the wallet has at
            least `least`), or `off`. Payouts are made at 09:00 in Lagos.
        least: A smaller balance is not paid out. Required with `above`. Default 0. Digits with at most two
            decimals, at most 15 digits; zero where nothing is left.
        bankcode: Bank of your account. Required with the first schedule; later ones keep it. A bank code of 3, 5 or
            6 digits.
        accountnumber: Number of your account. Required with the first schedule; later ones keep it. Ten digits.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.payout_schedule(
                frequency="weekly", least="10000.00", bankcode="058", accountnumber="0000000000"
            )

            {
              "status": 200,
              "message": "Payouts are scheduled",
              "data": {
                "frequency": "weekly",
                "least": "10000.00",
                "currency": "NGN",
                "bankcode": "058",
                "accountnumber": "0000000000",
                "next_payout": "2026-01-12T08:00:00.000Z",
                "last_payout": null
              }
            }
        """
        return self._call(
            actions.RESOURCES_PAYOUT_SCHEDULE,
            {"frequency": frequency, "least": least, "bankcode": bankcode, "accountnumber": accountnumber},
            idempotency_key,
        )

    def payouts(self) -> types.ScheduleReply:
        """The schedule of payouts.

        Reads the schedule of payouts.

        Needs a key of scope `read`.

        Example, and the reply that was recorded for it:

            shop.resources.payouts()

            {
              "status": 200,
              "message": "Payouts are scheduled",
              "data": {
                "frequency": "weekly",
                "least": "10000.00",
                "currency": "NGN",
                "bankcode": "058",
                "accountnumber": "0000000000",
                "next_payout": "2026-01-12T08:00:00.000Z",
                "last_payout": null
              }
            }
        """
        return self._call(actions.RESOURCES_PAYOUTS, {})

    def keys(self) -> types.KeysReply:
        """The valid API keys, without the keys themselves.

        Needs a key of scope `read`.

        Example, and the reply that was recorded for it:

            shop.resources.keys()

            {
              "status": 200,
              "data": [
                {
                  "key_id": 1,
                  "name": "default",
                  "scopes": [
                    "all"
                  ],
                  "addresses": [],
                  "made_by": "",
                  "made_at": "<made_at>",
                  "expires_at": null,
                  "replaced_by": null,
                  "last_used_at": "<last_used_at>",
                  "last_used_from": "<last_used_from>",
                  "refused_at": null,
                  "refused_from": null,
                  "signs_events": true,
                  "is_this": true
                }
              ]
            }
        """
        return self._call(actions.RESOURCES_KEYS, {})

    def invoice(
        self,
        *,
        customer_id: str,
        items: Sequence[types.ItemFields],
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        date_due: dt.date | str | None = None,
        discount_type: Literal["flat", "percentage"] | None = None,
        discount: types.Amount | None = None,
        shipping: types.Amount | None = None,
        vat: types.Amount | None = None,
        note: str | None = None,
        charge_user: Literal["full", "parts"] | None = None,
        invoice_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.InvoiceReply:
        """Make an invoice for a customer, or change an unpaid one.

        Makes an invoice. With `invoice_id` it replaces the contents of one on which nothing was paid: its number and
        link stay, and every field counts as in a new invoice.

        Needs a key of scope `collect`.

        customer_id: The customer who is to pay, of the action `customer`. 1 to 100 characters.
        items: What the invoice is for. 1 to 100 items.
        currency: Currency of all amounts. Default NGN. One of NGN, USD, GHS, KES.
        date_due: Last day to pay, in Lagos. From the next day on the invoice is overdue. Without it, it never is. A
            date as YYYY-MM-DD or DD-MM-YYYY.
        discount_type: What `discount` is: `flat`, an amount (the default), or `percentage`, of the sum of the
            items. Flat or percentage.
        discount: Subtracted before VAT. At most the sum of the items. Default 0. A number, not negative, with at
            most four decimals.
        shipping: Added after VAT. Default 0. Digits with at most two decimals, at most 15 digits; zero where
            nothing is left.
        vat: VAT in percent, at most 100, of the items less the discount. Default 0. A percentage from 0 to 1000
            with at most six decimals.
        note: Text to the customer, shown on the invoice. At most 1000 characters.
        charge_user: `parts`: the customer may pay in parts of a chosen amount. `full` (the default): one payment of
            the whole amount. Parts (also yes, true or 1) or full (also no, false or 0).
        invoice_id: The invoice to change. Absent: a new one. 1 to 100 characters.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.invoice(
                customer_id="<customer_id>",
                items=[
                    {"description": "Ankara fabric, 6 yards", "quantity": 2, "amount": "12500.00"},
                    {"description": "Tailoring", "amount": "8000.00"},
                ],
                currency="NGN",
                discount_type="percentage",
                discount=10,
                vat="7.5",
                shipping="1500.00",
                note="Thank you, Ada.",
                charge_user="parts",
            )

            {
              "status": 200,
              "message": "Invoice Created",
              "data": {
                "invoice_id": "<invoice_id>",
                "number": "INV-000001",
                "link": "<link>",
                "customer_id": "<customer_id>",
                "currency": "NGN",
                "subtotal": "33000.00",
                "discount": "3300.00",
                "vat": "2227.50",
                "shipping": "1500.00",
                "total": "33427.50",
                "paid": "0.00",
                "refunded": "0.00",
                "outstanding": "33427.50",
                "status": "unpaid",
                "date_due": null,
                "reminders": false,
                "created_at": "2026-01-05T08:30:00.000Z",
                "paid_at": null,
                "items": [
                  {
                    "description": "Ankara fabric, 6 yards",
                    "quantity": 2,
            …
        """
        return self._call(
            actions.RESOURCES_INVOICE,
            {
                "customer_id": customer_id,
                "items": items,
                "currency": currency,
                "date_due": date_due,
                "discount_type": discount_type,
                "discount": discount,
                "shipping": shipping,
                "vat": vat,
                "note": note,
                "charge_user": charge_user,
                "invoice_id": invoice_id,
            },
            idempotency_key,
        )

    def invoices(
        self,
        *,
        offset: int | None = None,
        limit: int | None = None,
        status: Literal["overdue", "paid", "partly_paid", "unpaid"] | None = None,
        customer_id: str | None = None,
    ) -> Page[types.InvoiceSummary]:
        """Invoices, newest first: all, or those in a state or of a customer.

        Lists invoices, newest first.

        Needs a key of scope `collect` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        status: Lists only invoices in this state.
        customer_id: Lists only invoices of this customer. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.resources.invoices(status="unpaid")

            {
              "status": 200,
              "data": [
                {
                  "invoice_id": "<invoice_id>",
                  "number": "INV-000001",
                  "link": "<link>",
                  "customer_id": "<customer_id>",
                  "currency": "NGN",
                  "subtotal": "33000.00",
                  "discount": "3300.00",
                  "vat": "2227.50",
                  "shipping": "1500.00",
                  "total": "33427.50",
                  "paid": "0.00",
                  "refunded": "0.00",
                  "outstanding": "33427.50",
                  "status": "unpaid",
                  "date_due": null,
                  "reminders": false,
                  "created_at": "2026-01-05T08:30:00.000Z",
                  "paid_at": null
                }
              ],
              "total": 1,
              "offset": 0,
              "limit": 50
            }
        """
        return self._list(
            actions.RESOURCES_INVOICES, {"offset": offset, "limit": limit, "status": status, "customer_id": customer_id}
        )

    def invoice_detail(self, *, invoice_id: str) -> types.InvoiceReply:
        """One invoice with its items and payments.

        Shows one invoice.

        Needs a key of scope `collect` or `read`.

        invoice_id: Identifier of the invoice. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.resources.invoice_detail(invoice_id="<invoice_id>")

            {
              "status": 200,
              "message": "Invoice",
              "data": {
                "invoice_id": "<invoice_id>",
                "number": "INV-000001",
                "link": "<link>",
                "customer_id": "<customer_id>",
                "currency": "NGN",
                "subtotal": "33000.00",
                "discount": "3300.00",
                "vat": "2227.50",
                "shipping": "1500.00",
                "total": "33427.50",
                "paid": "0.00",
                "refunded": "0.00",
                "outstanding": "33427.50",
                "status": "unpaid",
                "date_due": null,
                "reminders": false,
                "created_at": "2026-01-05T08:30:00.000Z",
                "paid_at": null,
                "items": [
                  {
                    "description": "Ankara fabric, 6 yards",
                    "quantity": 2,
            …
        """
        return self._call(actions.RESOURCES_INVOICE_DETAIL, {"invoice_id": invoice_id})

    def invoice_send(
        self, *, invoice_id: str, reminders: bool | None = None, idempotency_key: str | None = None
    ) -> types.InvoiceSendReply:
        """Mail an invoice to its customer, with reminders if you like.

        Mails an invoice to its customer, with the link to its page and the one to its PDF file.

        Needs a key of scope `collect`.

        invoice_id: Identifier of the invoice. 1 to 100 characters.
        reminders: Whether the customer is reminded by mail as long as it is not paid: three days before the due
            date, the day after it and a week after it, at 9:00 in Lagos. Default: as it was; at first false.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.invoice_send(invoice_id="<invoice_id>")

            {
              "status": 200,
              "message": "Invoice Sent",
              "data": {
                "invoice_id": "<invoice_id>",
                "number": "INV-000001",
                "mail_id": "<mail_id>",
                "mail_status": "queued",
                "reminders": false,
                "next_reminder": null
              }
            }
        """
        return self._call(
            actions.RESOURCES_INVOICE_SEND, {"invoice_id": invoice_id, "reminders": reminders}, idempotency_key
        )

    def invoice_received(
        self,
        *,
        invoice_id: str,
        amount: types.Amount,
        method: Literal["bank", "cash", "other"],
        reference: str,
        received_on: dt.date | str | None = None,
        idempotency_key: str | None = None,
    ) -> types.InvoiceReply:
        """Record what you received for an invoice yourself, in cash or at your bank.

        Records what you received for an invoice yourself, in cash or at your bank. It moves no money.

        Needs a key of scope `collect`.

        invoice_id: Identifier of the invoice. 1 to 100 characters.
        amount: What you received: at most what is outstanding. Digits with at most two decimals, above zero, at
            most 15 digits.
        method: How you received it.
        reference: Your reference, such as the number of a receipt or a teller. An amount is counted once under it.
            1 to 100 characters.
        received_on: The day on which you received it, in Lagos, not after today. Default: today. A date as
            YYYY-MM-DD or DD-MM-YYYY.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.invoice_received(
                invoice_id="<invoice_id>", amount="5000.00", method="cash", reference="receipt 118"
            )

            {
              "status": 200,
              "message": "Payment Recorded",
              "data": {
                "invoice_id": "<invoice_id>",
                "number": "INV-000001",
                "link": "<link>",
                "customer_id": "<customer_id>",
                "currency": "NGN",
                "subtotal": "33000.00",
                "discount": "3300.00",
                "vat": "2227.50",
                "shipping": "1500.00",
                "total": "33427.50",
                "paid": "5000.00",
                "refunded": "0.00",
                "outstanding": "28427.50",
                "status": "partly_paid",
                "date_due": null,
                "reminders": false,
                "created_at": "2026-01-05T08:30:00.000Z",
                "paid_at": null,
                "items": [
                  {
                    "description": "Ankara fabric, 6 yards",
                    "quantity": 2,
            …
        """
        return self._call(
            actions.RESOURCES_INVOICE_RECEIVED,
            {
                "invoice_id": invoice_id,
                "amount": amount,
                "method": method,
                "reference": reference,
                "received_on": received_on,
            },
            idempotency_key,
        )

    def invoice_not_received(
        self, *, invoice_id: str, reference: str, idempotency_key: str | None = None
    ) -> types.InvoiceReply:
        """Take back what was recorded as received by mistake.

        Takes back what was recorded as received by mistake. The invoice is to be paid again.

        Needs a key of scope `collect`.

        invoice_id: Identifier of the invoice. 1 to 100 characters.
        reference: The reference under which it was recorded. 1 to 100 characters.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.invoice_not_received(invoice_id="<invoice_id>", reference="receipt 118")

            {
              "status": 200,
              "message": "Record Taken Back",
              "data": {
                "invoice_id": "<invoice_id>",
                "number": "INV-000001",
                "link": "<link>",
                "customer_id": "<customer_id>",
                "currency": "NGN",
                "subtotal": "33000.00",
                "discount": "3300.00",
                "vat": "2227.50",
                "shipping": "1500.00",
                "total": "33427.50",
                "paid": "0.00",
                "refunded": "0.00",
                "outstanding": "33427.50",
                "status": "unpaid",
                "date_due": null,
                "reminders": false,
                "created_at": "2026-01-05T08:30:00.000Z",
                "paid_at": null,
                "items": [
                  {
                    "description": "Ankara fabric, 6 yards",
                    "quantity": 2,
            …
        """
        return self._call(
            actions.RESOURCES_INVOICE_NOT_RECEIVED, {"invoice_id": invoice_id, "reference": reference}, idempotency_key
        )

    def invoice_void(self, *, invoice_id: str, idempotency_key: str | None = None) -> types.InvoiceReply:
        """Void an invoice on which nothing was paid.

        Voids an invoice on which nothing was paid. It can then no longer be paid or changed.

        Needs a key of scope `collect`.

        invoice_id: Identifier of the invoice. 1 to 100 characters.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.invoice_void(invoice_id="<invoice_id>")

            {
              "status": 200,
              "message": "Invoice Voided",
              "data": {
                "invoice_id": "<invoice_id>",
                "number": "INV-000001",
                "link": "<link>",
                "customer_id": "<customer_id>",
                "currency": "NGN",
                "subtotal": "33000.00",
                "discount": "3300.00",
                "vat": "2227.50",
                "shipping": "1500.00",
                "total": "33427.50",
                "paid": "0.00",
                "refunded": "0.00",
                "outstanding": "0.00",
                "status": "void",
                "date_due": null,
                "reminders": false,
                "created_at": "2026-01-05T08:30:00.000Z",
                "paid_at": null,
                "items": [
                  {
                    "description": "Ankara fabric, 6 yards",
                    "quantity": 2,
            …
        """
        return self._call(actions.RESOURCES_INVOICE_VOID, {"invoice_id": invoice_id}, idempotency_key)

    def ticket(
        self,
        *,
        title: str,
        ticket_data: Sequence[types.TicketKindFields],
        description: str | None = None,
        amount: types.Amount | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        type: Literal["one_time", "recurring"] | None = None,
        frequency: Literal["daily", "monthly", "weekly"] | None = None,
        payer_bears_fees: bool | None = None,
        accept_number: bool | None = None,
        custom_link: str | None = None,
        redirect_url: str | None = None,
        custom_message: str | None = None,
        notification_email: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.TicketLinkReply:
        """Make a link that sells tickets.

        Makes a link that sells tickets. Its other fields are those of a payment link; `amount` and `frequency` do not
        count, as each kind has its price.

        Needs a key of scope `collect`.

        title: What is paid for. Payers see it. 1 to 100 characters.
        description: Further text, which payers see. At most 1,000 characters.
        amount: Amount to pay. Left out or 0: the payer chooses it. Digits with at most two decimals, at most 15
            digits; zero where nothing is left.
        currency: Currency of the amount. Default `NGN`. One of NGN, USD, GHS, KES.
        type: `one_time` (also `onetime`, `single`, `fixed`): each payer pays once. `recurring` (also
            `subscription`): the payer's card is charged again by `frequency`. Default `one_time`. One_time (also
            onetime, single, fixed) or recurring (also subscription).
        frequency: How often the card is charged again. Counts for recurring links alone. Default `monthly`.
        payer_bears_fees: Whether the payer pays the fee on top. Default: your tariff's setting. Also as `yes`,
            `no`, 1 or 0. True or false, also as yes or no, or 1 or 0.
        accept_number: Whether the page asks for the payer's telephone number. Default false. Also as `yes`, `no`, 1
            or 0. True or false, also as yes or no, or 1 or 0.
        custom_link: Last part of the link's address, unique in the deployment. Default: random characters. 3 to 60
            of a-z, 0-9 and -.
        redirect_url: Address to which the payer goes after the receipt, with `txnRef` and `status` added to it. An
            http or https URL of at most 2,048 characters, its host in ASCII.
        custom_message: Shown to the payer after the payment. At most 1,000 characters.
        notification_email: Your address for questions about this link. Stored with it and shown to you. Nothing is
            sent to it. An email address of at most 254 characters.
        ticket_data: The kinds of tickets that are sold. 1 to 20 kinds of tickets.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.ticket(
                title="Lagos Jazz Night",
                description="Saturday, 20:00, Freedom Park",
                currency="NGN",
                ticket_data=[
                    {"name": "Regular", "amount": "5000.00", "quantity": 200},
                    {"name": "Table for four", "amount": "40000.00", "quantity": 10},
                ],
            )

            {
              "status": 200,
              "message": "Tickets created",
              "data": {
                "link_id": "<link_id>",
                "link": "<link>",
                "title": "Lagos Jazz Night",
                "currency": "NGN",
                "type": "one_time",
                "status": "active",
                "ticket_data": [
                  {
                    "name": "Regular",
                    "amount": "5000.00",
                    "quantity": 200,
                    "sold": 0,
                    "reserved": 0,
                    "used": 0
                  },
                  {
                    "name": "Table for four",
                    "amount": "40000.00",
                    "quantity": 10,
                    "sold": 0,
                    "reserved": 0,
                    "used": 0
            …
        """
        return self._call(
            actions.RESOURCES_TICKET,
            {
                "title": title,
                "ticket_data": ticket_data,
                "description": description,
                "amount": amount,
                "currency": currency,
                "type": type,
                "frequency": frequency,
                "payer_bears_fees": payer_bears_fees,
                "accept_number": accept_number,
                "custom_link": custom_link,
                "redirect_url": redirect_url,
                "custom_message": custom_message,
                "notification_email": notification_email,
            },
            idempotency_key,
        )

    def ticket_links(self, *, offset: int | None = None, limit: int | None = None) -> Page[types.TicketLinkRecord]:
        """Links that sell tickets, newest first, with what each has sold.

        Lists links that sell tickets, newest first.

        Needs a key of scope `collect` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.

        Example, and the reply that was recorded for it:

            shop.resources.ticket_links()

            {
              "status": 200,
              "data": [
                {
                  "link_id": "<link_id>",
                  "link": "<link>",
                  "title": "Lagos Jazz Night",
                  "currency": "NGN",
                  "type": "one_time",
                  "status": "active",
                  "ticket_data": [
                    {
                      "name": "Regular",
                      "amount": "5000.00",
                      "quantity": 200,
                      "sold": 0,
                      "reserved": 0,
                      "used": 0
                    },
                    {
                      "name": "Table for four",
                      "amount": "40000.00",
                      "quantity": 10,
                      "sold": 0,
                      "reserved": 0,
                      "used": 0
            …
        """
        return self._list(actions.RESOURCES_TICKET_LINKS, {"offset": offset, "limit": limit})

    def ticket_sales(
        self, *, link_id: str, offset: int | None = None, limit: int | None = None
    ) -> Page[types.TicketRecord]:
        """A link that sells tickets, with what it sold.

        Shows a link that sells tickets, and what it sold.

        Needs a key of scope `collect` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        link_id: Identifier of the link. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.resources.ticket_sales(link_id="<link_id>")

            {
              "status": 200,
              "sale": {
                "link_id": "<link_id>",
                "link": "<link>",
                "title": "Lagos Jazz Night",
                "currency": "NGN",
                "type": "one_time",
                "status": "active",
                "ticket_data": [
                  {
                    "name": "Regular",
                    "amount": "5000.00",
                    "quantity": 200,
                    "sold": 1,
                    "reserved": 0,
                    "used": 0
                  },
                  {
                    "name": "Table for four",
                    "amount": "40000.00",
                    "quantity": 10,
                    "sold": 0,
                    "reserved": 0,
                    "used": 0
                  }
            …
        """
        return self._list(actions.RESOURCES_TICKET_SALES, {"link_id": link_id, "offset": offset, "limit": limit})

    def ticket_by_code(self, *, code: str) -> types.TicketReply:
        """The ticket of a code.

        Shows the ticket of a code.

        Needs a key of scope `collect` or `read`.

        code: Code of the ticket. A ticket code of 12 characters.

        Example, and the reply that was recorded for it:

            shop.resources.ticket_by_code(code="KZTX-7QH4-M9BG")

            {
              "status": 200,
              "message": "Ticket",
              "data": {
                "code": "<code>",
                "state": "valid",
                "link_id": "<link_id>",
                "title": "Lagos Jazz Night",
                "ticket": "Regular",
                "name": "Ada Obi",
                "email": "ada@example.com",
                "phone": null,
                "txnRef": "<txnRef>",
                "checkoutRef": "<reference>",
                "created_at": "2026-01-05T08:30:00.000Z",
                "used_at": null
              }
            }
        """
        return self._call(actions.RESOURCES_TICKET_BY_CODE, {"code": code})

    def ticket_use(
        self, *, code: str, link_id: str | None = None, idempotency_key: str | None = None
    ) -> types.TicketReply:
        """Admit the holder of a ticket, once.

        Admits the holder of a ticket. A second request with the same code is refused.

        Needs a key of scope `collect`.

        code: Code of the ticket. A ticket code of 12 characters.
        link_id: Admits only a ticket that this link sold. Absent: a ticket of any of your links. 1 to 100
            characters.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.ticket_use(code="KZTX-7QH4-M9BG")

            {
              "status": 200,
              "message": "Admitted",
              "data": {
                "code": "<code>",
                "state": "used",
                "link_id": "<link_id>",
                "title": "Lagos Jazz Night",
                "ticket": "Regular",
                "name": "Ada Obi",
                "email": "ada@example.com",
                "phone": null,
                "txnRef": "<txnRef>",
                "checkoutRef": "<reference>",
                "created_at": "2026-01-05T08:30:00.000Z",
                "used_at": "2026-01-05T08:30:00.000Z"
              }
            }
        """
        return self._call(actions.RESOURCES_TICKET_USE, {"code": code, "link_id": link_id}, idempotency_key)

    def mails(
        self,
        *,
        offset: int | None = None,
        limit: int | None = None,
        status: Literal["bounced", "failed", "queued", "sent", "unknown"] | None = None,
        customer_id: str | None = None,
    ) -> Page[types.MailSummary]:
        """Mails and text messages in your name, newest first: all, or those in a state or to a customer.

        Lists mails and text messages, newest first.

        Needs a key of scope `collect` or `read`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        offset: Number of records to skip. Default 0. A whole number, not negative.
        limit: Largest number of records to return. Default 50. A page of more than 1 MiB has fewer. 1 to 200.
        status: Lists only mails in this state.
        customer_id: Lists only mails to this customer. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.resources.mails()

            {
              "status": 200,
              "data": [
                {
                  "mail_id": "<mail_id>",
                  "purpose": "invoice",
                  "reference": "<reference>",
                  "customer_id": "<customer_id>",
                  "status": "sent",
                  "attempts": 1,
                  "reply_code": "250 2.0.0",
                  "channel": "mail",
                  "to": "ada.obi@example.com",
                  "to_name": "Ada Obi",
                  "subject": "Invoice INV-000001 from Sandbox merchant",
                  "created_at": "2026-01-05T08:30:00.000Z",
                  "changed_at": "2026-01-05T08:30:00.000Z",
                  "sent_at": "2026-01-05T08:30:00.000Z"
                }
              ],
              "total": 1,
              "offset": 0,
              "limit": 50
            }
        """
        return self._list(
            actions.RESOURCES_MAILS, {"offset": offset, "limit": limit, "status": status, "customer_id": customer_id}
        )

    def mail_detail(self, *, mail_id: str) -> types.MailReply:
        """One mail or text message with its text.

        Shows one mail.

        Needs a key of scope `collect` or `read`.

        mail_id: Identifier of the mail. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.resources.mail_detail(mail_id="<mail_id>")

            {
              "status": 200,
              "message": "Mail",
              "data": {
                "mail_id": "<mail_id>",
                "purpose": "invoice",
                "reference": "<reference>",
                "customer_id": "<customer_id>",
                "status": "sent",
                "attempts": 1,
                "reply_code": "250 2.0.0",
                "channel": "mail",
                "to": "ada.obi@example.com",
                "to_name": "Ada Obi",
                "subject": "Invoice INV-000001 from Sandbox merchant",
                "created_at": "2026-01-05T08:30:00.000Z",
                "changed_at": "2026-01-05T08:30:00.000Z",
                "sent_at": "2026-01-05T08:30:00.000Z",
                "sender_name": "Sandbox merchant",
                "reply_to": null,
                "text": "<text>",
                "html": "<html>"
              }
            }
        """
        return self._call(actions.RESOURCES_MAIL_DETAIL, {"mail_id": mail_id})

    def mail(self, *, mail_id: str, idempotency_key: str | None = None) -> types.MailReply:
        """Send a mail or text message again that failed or bounced, or whose outcome is unknown.

        Sends a mail again that failed or bounced, or whose outcome is unknown.

        Needs a key of scope `collect`.

        mail_id: Identifier of the mail. 1 to 100 characters.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.resources.mail(mail_id="<mail_id>")

            {
              "status": 200,
              "message": "The mail is queued again",
              "data": {
                "mail_id": "<mail_id>",
                "purpose": "invoice",
                "reference": "<reference>",
                "customer_id": "<customer_id>",
                "status": "queued",
                "attempts": 1,
                "reply_code": "550 5.1.1",
                "channel": "mail",
                "to": "bounce@example.com",
                "to_name": "Nobody",
                "subject": "Invoice INV-000002 from Sandbox merchant",
                "created_at": "2026-01-05T08:30:00.000Z",
                "changed_at": "2026-01-05T08:30:00.000Z",
                "sent_at": null,
                "sender_name": "Sandbox merchant",
                "reply_to": null,
                "text": "<text>",
                "html": "<html>"
              }
            }
        """
        return self._call(actions.RESOURCES_MAIL, {"mail_id": mail_id}, idempotency_key)


class Sandbox(SyncGroup):
    """The actions of `PUT /sandbox`. They exist in the test environment only."""

    def beneficiary(
        self, *, name: str, bankcode: str, accountnumber: str, idempotency_key: str | None = None
    ) -> types.BeneficiaryReply:
        """Somebody who gets a part of split payments.

        Adds a payee of split payments.

        Needs a key of scope `all`.

        name: Name of the beneficiary. 1 to 200 characters.
        bankcode: Code of the beneficiary's bank, as `banks` of `/resources` lists it. A bank code of 3, 5 or 6
            digits.
        accountnumber: Account of the beneficiary, to which its parts are paid out. Ten digits.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.sandbox.beneficiary(name="Bola Ade", bankcode="058", accountnumber="0000000000")

            {
              "status": 200,
              "ref_code": "<ref_code>"
            }
        """
        return self._call(
            actions.SANDBOX_BENEFICIARY,
            {"name": name, "bankcode": bankcode, "accountnumber": accountnumber},
            idempotency_key,
        )

    def pay_account(
        self,
        *,
        account_number: str,
        amount: types.Amount,
        sender_name: str | None = None,
        rejected: bool | None = None,
        idempotency_key: str | None = None,
    ) -> types.InboundPaymentReply:
        """A customer's bank transfer into an account that was shown.

        Simulates a customer's bank transfer into an account number, in the test environment.

        Needs a key of scope `all`.

        account_number: The account paid into: one that `charge` by bank transfer returned, or a personalized
            account. Ten digits.
        amount: Amount that arrives, in naira. Digits with at most two decimals, above zero, at most 15 digits.
        sender_name: Name of the sender, shown as `fullname` of a payment into a personalized account. At most 200
            characters.
        rejected: If true, the bank sends the transfer back, as banks do with a wrong sum: nothing is booked, and an
            event is sent. Only of an account that `charge` returned. Default false.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.sandbox.pay_account(account_number="0123456789", amount="1000.00")

            {
              "status": 200,
              "txnStatus": "successful",
              "txnRef": "<txnRef>",
              "message": "Paid"
            }
        """
        return self._call(
            actions.SANDBOX_PAY_ACCOUNT,
            {"account_number": account_number, "amount": amount, "sender_name": sender_name, "rejected": rejected},
            idempotency_key,
        )

    def dispute(
        self,
        *,
        txn_ref: str,
        reason: str,
        amount: types.Amount | None = None,
        hours: int | None = None,
        idempotency_key: str | None = None,
    ) -> types.DisputeChanged:
        """The payer's bank disputes a payment.

        Simulates that the payer's bank disputes a payment.

        Needs a key of scope `all`.

        txn_ref: The payment. It must be successful. 1 to 100 characters.
        amount: The disputed amount, in the payment's currency. Default: all that was not refunded or disputed
            before. Digits with at most two decimals, above zero, at most 15 digits.
        reason: The reason that the bank gives, such as `fraudulent` or `product not received`. 1 to 200 characters.
        hours: Hours until the deadline. Default 168. 1 to 2,160.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.sandbox.dispute(txn_ref="<txnRef>", amount="500.00", reason="product not received")

            {
              "status": 200,
              "message": "Dispute opened",
              "data": {
                "dispute_id": "<dispute_id>",
                "txnRef": "<txnRef>",
                "state": "needs_response",
                "reason": "product not received",
                "amount": "500.00",
                "currency": "NGN",
                "fee": "1500.00",
                "vat": "112.50",
                "held": "2112.50",
                "respond_by": "2026-01-12T08:30:00.000Z",
                "opened_at": "2026-01-05T08:30:00.000Z",
                "ended_at": null,
                "plan_id": null
              }
            }
        """
        return self._call(
            actions.SANDBOX_DISPUTE,
            {"txn_ref": txn_ref, "reason": reason, "amount": amount, "hours": hours},
            idempotency_key,
        )

    def dispute_outcome(
        self, *, dispute_id: str, outcome: Literal["lost", "won"], idempotency_key: str | None = None
    ) -> types.DisputeChanged:
        """The payer's bank decides a dispute.

        Simulates the decision of the payer's bank.

        Needs a key of scope `all`.

        dispute_id: The dispute. One that has ended may be decided otherwise: a bank's last word counts. 1 to 100
            characters.
        outcome: `won`: the bank decides for you; `lost`: for the payer.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.sandbox.dispute_outcome(dispute_id="<dispute_id>", outcome="won")

            {
              "status": 200,
              "message": "Dispute won: the money is yours again",
              "data": {
                "dispute_id": "<dispute_id>",
                "txnRef": "<txnRef>",
                "state": "won",
                "reason": "product not received",
                "amount": "500.00",
                "currency": "NGN",
                "fee": "1500.00",
                "vat": "112.50",
                "held": "0.00",
                "respond_by": "2026-01-12T08:30:00.000Z",
                "opened_at": "2026-01-05T08:30:00.000Z",
                "ended_at": "2026-01-05T08:30:00.000Z",
                "plan_id": null
              }
            }
        """
        return self._call(
            actions.SANDBOX_DISPUTE_OUTCOME, {"dispute_id": dispute_id, "outcome": outcome}, idempotency_key
        )

    def card_purchase(
        self,
        *,
        amount: types.Amount,
        reference: str | None = None,
        cardpan: str | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        merchant_name: str | None = None,
        category: str | None = None,
        merchant_id: str | None = None,
        country: str | None = None,
        channel: Literal["atm", "contactless", "online"] | None = None,
        cvv: str | None = None,
        expiry: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.PurchaseReply:
        """A shop charges a virtual card.

        Simulates a shop that charges a card, in the test environment.

        Needs a key of scope `all`.

        reference: The card, by its `reference`. Either this or `cardpan` is required; this one counts if both are
            sent. 1 to 100 characters.
        cardpan: The card, by its number. 12 to 19 digits.
        amount: Amount of the purchase, in `currency`. Digits with at most two decimals, above zero, at most 15
            digits.
        currency: Currency of the shop. Default: the card's. Another one is converted at the operator's rate, if
            there is one. One of NGN, USD, GHS, KES.
        merchant_name: Name of the shop. 1 to 200 characters.
        category: Merchant category code (MCC) of the shop, compared with the card's limits. A category code of four
            digits.
        merchant_id: Identifier of the shop in the card network, compared with the card's limits as the name is. 1
            to 100 characters without a semicolon.
        country: Country of the shop, compared with the card's limits. Left out: not known. A country code of two
            letters such as NG.
        channel: How the card is used. Default `online`.
        cvv: Security code that the payer entered. A wrong one is declined. Left out: not checked. Three digits.
        expiry: Month of expiry that the payer entered, as YYYY-MM. Another one is declined. Left out: not checked.
            A month such as 2029-01.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.sandbox.card_purchase(
                reference="<reference>", amount="7.50", merchant_name="Book Shop", category="5411"
            )

            {
              "status": 200,
              "txnStatus": "successful",
              "txnRef": "<txnRef>",
              "bank_message": "Approved"
            }
        """
        return self._call(
            actions.SANDBOX_CARD_PURCHASE,
            {
                "amount": amount,
                "reference": reference,
                "cardpan": cardpan,
                "currency": currency,
                "merchant_name": merchant_name,
                "category": category,
                "merchant_id": merchant_id,
                "country": country,
                "channel": channel,
                "cvv": cvv,
                "expiry": expiry,
            },
            idempotency_key,
        )

    def card_dispute_outcome(
        self, *, dispute_id: str, outcome: Literal["lost", "won"], idempotency_key: str | None = None
    ) -> types.CardDisputeDecided:
        """The card network decides a dispute of a card purchase.

        Simulates the decision of the card network on a dispute of a card purchase. That of a shop of this deployment is
        decided by `dispute_outcome` of the shop.

        Needs a key of scope `all`.

        dispute_id: The dispute, by its `dispute_id`. 1 to 100 characters.
        outcome: `won`: the network decides for the cardholder; `lost`: for the shop.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.sandbox.card_dispute_outcome(dispute_id="<dispute_id>", outcome="lost")

            {
              "status": 200,
              "message": "Dispute lost: the shop keeps the money",
              "data": {
                "dispute_id": "<dispute_id>",
                "reference": "<reference>",
                "txnRef": "<txnRef>",
                "state": "lost",
                "reason": "not received",
                "amount": "5.00",
                "currency": "USD",
                "credited": "0.00",
                "card_currency": "USD",
                "outcome": "The card network decided for the shop",
                "filed_at": "2026-01-05T08:30:00.000Z",
                "ended_at": "2026-01-05T08:30:00.000Z",
                "refundRef": "<refundRef>"
              }
            }
        """
        return self._call(
            actions.SANDBOX_CARD_DISPUTE_OUTCOME, {"dispute_id": dispute_id, "outcome": outcome}, idempotency_key
        )

    def card_refund(
        self, *, txn_ref: str, amount: types.Amount | None = None, idempotency_key: str | None = None
    ) -> types.PurchaseReply:
        """A shop refunds a purchase, whole or in part.

        Simulates a shop that refunds a purchase, in the test environment.

        Needs a key of scope `all`.

        txn_ref: The purchase to refund. 1 to 100 characters.
        amount: Amount to refund, in the shop's currency. Default: all that is left of the purchase. Digits with at
            most two decimals, above zero, at most 15 digits.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.sandbox.card_refund(txn_ref="<txnRef>", amount="2.50")

            {
              "status": 200,
              "txnStatus": "successful",
              "txnRef": "<txnRef>",
              "bank_message": "Approved"
            }
        """
        return self._call(actions.SANDBOX_CARD_REFUND, {"txn_ref": txn_ref, "amount": amount}, idempotency_key)

    def card_authorize(
        self,
        *,
        amount: types.Amount,
        reference: str | None = None,
        cardpan: str | None = None,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        merchant_name: str | None = None,
        category: str | None = None,
        merchant_id: str | None = None,
        country: str | None = None,
        channel: Literal["atm", "contactless", "online"] | None = None,
        cvv: str | None = None,
        expiry: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.AuthorizeReply:
        """A shop has a virtual card hold an amount, to capture it later.

        Simulates a shop that has a virtual card hold an amount, in the test environment.

        Needs a key of scope `all`.

        reference: The card, by its `reference`. Either this or `cardpan` is required; this one counts if both are
            sent. 1 to 100 characters.
        cardpan: The card, by its number. 12 to 19 digits.
        amount: Amount of the purchase, in `currency`. Digits with at most two decimals, above zero, at most 15
            digits.
        currency: Currency of the shop. Default: the card's. Another one is converted at the operator's rate, if
            there is one. One of NGN, USD, GHS, KES.
        merchant_name: Name of the shop. 1 to 200 characters.
        category: Merchant category code (MCC) of the shop, compared with the card's limits. A category code of four
            digits.
        merchant_id: Identifier of the shop in the card network, compared with the card's limits as the name is. 1
            to 100 characters without a semicolon.
        country: Country of the shop, compared with the card's limits. Left out: not known. A country code of two
            letters such as NG.
        channel: How the card is used. Default `online`.
        cvv: Security code that the payer entered. A wrong one is declined. Left out: not checked. Three digits.
        expiry: Month of expiry that the payer entered, as YYYY-MM. Another one is declined. Left out: not checked.
            A month such as 2029-01.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.sandbox.card_authorize(reference="<reference>", amount="5.00", merchant_name="Hotel", category="7011")

            {
              "status": 200,
              "txnStatus": "pending",
              "txnRef": "<txnRef>",
              "bank_message": "Approved"
            }
        """
        return self._call(
            actions.SANDBOX_CARD_AUTHORIZE,
            {
                "amount": amount,
                "reference": reference,
                "cardpan": cardpan,
                "currency": currency,
                "merchant_name": merchant_name,
                "category": category,
                "merchant_id": merchant_id,
                "country": country,
                "channel": channel,
                "cvv": cvv,
                "expiry": expiry,
            },
            idempotency_key,
        )

    def card_capture(
        self, *, txn_ref: str, amount: types.Amount | None = None, idempotency_key: str | None = None
    ) -> types.PurchaseReply:
        """A shop captures what a card holds for it, in whole, in part or with a tip.

        Simulates a shop that captures an authorization, in the test environment. What is not captured is released.

        Needs a key of scope `all`.

        txn_ref: The authorization to capture. 1 to 100 characters.
        amount: Amount to capture, in the shop's currency, at most 20 percent above what was authorized. Default:
            what was authorized. Digits with at most two decimals, above zero, at most 15 digits.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.sandbox.card_capture(txn_ref="<txnRef>", amount="4.00")

            {
              "status": 200,
              "txnStatus": "successful",
              "txnRef": "<txnRef>",
              "bank_message": "Approved"
            }
        """
        return self._call(actions.SANDBOX_CARD_CAPTURE, {"txn_ref": txn_ref, "amount": amount}, idempotency_key)

    def card_reverse(self, *, txn_ref: str, idempotency_key: str | None = None) -> types.AuthorizeReply:
        """A shop gives up what a card holds for it.

        Simulates a shop that gives an authorization up, in the test environment.

        Needs a key of scope `all`.

        txn_ref: The authorization to reverse. 1 to 100 characters.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.sandbox.card_reverse(txn_ref="<txnRef>")

            {
              "status": 200,
              "txnStatus": "failed",
              "txnRef": "<txnRef>",
              "bank_message": "Reversed by the shop"
            }
        """
        return self._call(actions.SANDBOX_CARD_REVERSE, {"txn_ref": txn_ref}, idempotency_key)

    def redeem_cashcode(
        self, *, cashcode: str, pin: str, amount: types.Amount, channel: Literal["ATM", "POS", "WEB"]
    ) -> types.CashcodeRedeemReply:
        """Simulate drawing cash with a code and its PIN.

        Simulates that cash is drawn with a code, in the test environment.

        Needs a key of scope `all`.

        cashcode: The code, as `generate` returned it. Ten digits.
        pin: The PIN. The third wrong one locks the code. Four digits.
        amount: Cash to draw, in naira: the exact amount by `ATM`, at most the amount by `POS` and `WEB`. Digits
            with at most two decimals, above zero, at most 15 digits.
        channel: Place where the code is used, which must be the one it was generated for.

        Example, and the reply that was recorded for it:

            shop.sandbox.redeem_cashcode(cashcode="0123456789", pin="2580", amount="5000.00", channel="ATM")

            {
              "status": 200,
              "orderRef": "cash-1043",
              "txnStatus": "successful",
              "amount": "5000.00",
              "returned": "0.00",
              "channel": "ATM",
              "message": "Cash was paid"
            }
        """
        return self._call(
            actions.SANDBOX_REDEEM_CASHCODE, {"cashcode": cashcode, "pin": pin, "amount": amount, "channel": channel}
        )

    def new_merchant(
        self,
        *,
        name: str | None = None,
        now: dt.datetime | str | None = None,
        balance: types.Amount | None = None,
        webhook: str | None = None,
        seed: str | None = None,
        terms: Mapping[str, Any] | None = None,
    ) -> types.NewMerchantReply:
        """Create a new, funded merchant, so that each test can have its own.

        A new merchant. With `now`, its clock starts at that time and moves only by `advance`.

        Needs a key of scope `all`.

        name: Name of the merchant, shown to payers. Default `Sandbox merchant`. At most 200 characters.
        now: Business time at which the merchant's clock starts. The clock then moves only by `advance`. Left out:
            the clock runs with the time of day. An ISO 8601 time such as 2026-01-05T09:30:00+01:00.
        balance: Opening balance of the NGN wallet, with no other wallet. Without it, 10,000,000.00 NGN and
            10,000.00 USD. Digits with at most two decimals, at most 15 digits; zero where nothing is left.
        webhook: URL that the events of the merchant are sent to. A URL of at most 2,048 characters, or empty.
        seed: Makes random outcomes the same in every run: whether a `fault` with a `probability` occurs. The same
            requests in the same order then have the same outcomes, on every server. References, tokens and numbers
            stay its own. At most 200 characters.
        terms: Terms of the merchant, as a file of `kasuwa case export` has them: tariff, limits, days of
            settlement, savings, lending and the like. Left out: those of every new merchant. An object of at most
            100 terms.

        Example, and the reply that was recorded for it:

            shop.sandbox.new_merchant(name="Ada Stores")

            {
              "status": 200,
              "mid": "<mid>",
              "key": "<key>"
            }
        """
        return self._call(
            actions.SANDBOX_NEW_MERCHANT,
            {"name": name, "now": now, "balance": balance, "webhook": webhook, "seed": seed, "terms": terms},
        )

    def fund_wallet(
        self,
        *,
        amount: types.Amount,
        currency: Literal["NGN", "USD", "GHS", "KES"] | None = None,
        idempotency_key: str | None = None,
    ) -> types.SandboxReply:
        """Credit the wallet.

        Credits the merchant's own wallet.

        Needs a key of scope `all`.

        amount: Amount to credit. Digits with at most two decimals, above zero, at most 15 digits.
        currency: Currency of the wallet, which is made if there is none. Default `NGN`. One of NGN, USD, GHS, KES.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.sandbox.fund_wallet(currency="NGN", amount="5000.00")

            {
              "status": 200,
              "message": "NGN 5000.00 added to the wallet"
            }
        """
        return self._call(actions.SANDBOX_FUND_WALLET, {"amount": amount, "currency": currency}, idempotency_key)

    def settle(
        self,
        *,
        outcome: Literal["failed", "successful"],
        txn_ref: str | None = None,
        order_ref: str | None = None,
        loan_id: str | None = None,
        savings_id: str | None = None,
        code: str | None = None,
    ) -> types.SettleReply:
        """Simulate the rail's call-back for a pending transaction.

        A simulated call-back for a pending transaction, by its txnRef or orderRef, or by its loan or savings account.

        Needs a key of scope `all`.

        txn_ref: The transaction, by its `txnRef`, or the `orderRef` of a transfer or bill. It counts before the
            other three. 1 to 100 characters.
        order_ref: The transaction, by its `orderRef`. 1 to 100 characters.
        loan_id: A loan, for its open disbursement or repayment. 1 to 100 characters.
        savings_id: A savings account, for its open deposit or cash-out. 1 to 100 characters.
        outcome: The rail's answer. A transaction that is final keeps its status, and an operator is notified of a
            contradiction.
        code: Response code of the answer, such as `51`, whose meaning becomes the message. One that approves is
            refused if the outcome is `failed`, any other if it is `successful`. Default `00` if it is successful,
            `05` if it failed. A response code of two digits or capitals.

        Example, and the reply that was recorded for it:

            shop.sandbox.settle(order_ref="order-1042", outcome="successful")

            {
              "status": 200,
              "txnStatus": "successful",
              "txnRef": "<txnRef>",
              "message": "Transfer Successful"
            }
        """
        return self._call(
            actions.SANDBOX_SETTLE,
            {
                "outcome": outcome,
                "txn_ref": txn_ref,
                "order_ref": order_ref,
                "loan_id": loan_id,
                "savings_id": savings_id,
                "code": code,
            },
        )

    def webhook(self, *, url: str) -> types.SandboxReply:
        """Set the URL that this merchant's events are sent to, or switch them off.

        The URL that this merchant's events are sent to. An empty text switches them off.

        Needs a key of scope `all`.

        url: Address that events are sent to. Loopback addresses are allowed in the test environment. Empty: no
            events are sent. A URL of at most 2,048 characters, or empty.

        Example, and the reply that was recorded for it:

            shop.sandbox.webhook(url="http://127.0.0.1:9999/events")

            {
              "status": 200,
              "message": "Events go there now"
            }
        """
        return self._call(actions.SANDBOX_WEBHOOK, {"url": url})

    def explain(
        self,
        *,
        txn_ref: str | None = None,
        order_ref: str | None = None,
        batch_ref: str | None = None,
        refund_ref: str | None = None,
        customer_txnref: str | None = None,
        loan_id: str | None = None,
        savings_id: str | None = None,
        thrift_id: str | None = None,
        group_id: str | None = None,
        group_loan_id: str | None = None,
        product_id: str | None = None,
        client_id: str | None = None,
        ref_code: str | None = None,
        reference: str | None = None,
    ) -> types.ExplainReply:
        """The timeline of everything that has a reference.

        A reference of any kind. If several are sent, the first field of this list counts.

        Needs a key of scope `all`.

        txn_ref: Reference of a transaction. 1 to 100 characters.
        order_ref: Your reference of a transfer, bill or cashcode. 1 to 100 characters.
        batch_ref: Reference of a bulk transfer. 1 to 100 characters.
        refund_ref: Reference of a refund. 1 to 100 characters.
        customer_txnref: Your reference of a payment. 1 to 100 characters.
        loan_id: A loan. 1 to 100 characters.
        savings_id: A savings account. 1 to 100 characters.
        thrift_id: A thrift plan. 1 to 100 characters.
        group_id: A group of borrowers. 1 to 100 characters.
        group_loan_id: A loan of a group. 1 to 100 characters.
        product_id: A loan product. 1 to 100 characters.
        client_id: A client. 1 to 100 characters.
        ref_code: A beneficiary of split payments. 1 to 100 characters.
        reference: A reference of any kind: also of a virtual card, a saved card, an event, a payment plan or a
            personalized account. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.sandbox.explain(order_ref="order-1042")

            {
              "status": 200,
              "data": [
                {
                  "at": "2026-01-05T08:30:00.000Z",
                  "what": "requested",
                  "said": ""
                },
                {
                  "at": "2026-01-05T08:30:00.000Z",
                  "what": "hold",
                  "said": "1510.75 held on wallet:main:NGN",
                  "account": "wallet:main:NGN",
                  "amount": "1510.75",
                  "state": "posted",
                  "taken": "1510.75"
                },
                {
                  "at": "2026-01-05T08:30:00.000Z",
                  "what": "successful",
                  "said": "Transfer Successful"
                },
                {
                  "at": "2026-01-05T08:30:00.000Z",
                  "what": "posting",
                  "said": "transfer",
            …
        """
        return self._call(
            actions.SANDBOX_EXPLAIN,
            {
                "txn_ref": txn_ref,
                "order_ref": order_ref,
                "batch_ref": batch_ref,
                "refund_ref": refund_ref,
                "customer_txnref": customer_txnref,
                "loan_id": loan_id,
                "savings_id": savings_id,
                "thrift_id": thrift_id,
                "group_id": group_id,
                "group_loan_id": group_loan_id,
                "product_id": product_id,
                "client_id": client_id,
                "ref_code": ref_code,
                "reference": reference,
            },
        )

    def trigger(self, event: str, *, fields: Mapping[str, Any] | None = None, **changes: Any) -> types.TriggerReply:
        """Make an event happen, with all that it is about.

        Makes an event happen, by requests of this merchant that lead to it.

        Needs a key of scope `all`.

        event: Name of the event, such as `dispute.opened`: its kind, and what has become of it. At most 200
            characters.
        fields: Fields of the requests, such as `amount`. Each replaces that of every request that has it, and one
            that none has is sent with the last. An object of at most 50 fields.
        changes: The same fields as arguments, such as `trigger("dispute.opened", amount="900.00")`.

        Example, and the reply that was recorded for it:

            shop.sandbox.trigger(event="dispute.opened", fields={"amount": "900.00"})

            {
              "status": 200,
              "data": {
                "event_id": "<event_id>",
                "sequence": 107,
                "txnRef": "<txnRef>",
                "kind": "dispute",
                "state": "no_endpoint",
                "dateCreated": "2026-01-05T08:30:00.000Z",
                "object": "<reference>",
                "object_sequence": 1,
                "payload": {
                  "status": 200,
                  "txnStatus": "successful",
                  "txnRef": "<txnRef>",
                  "chargedAmount": "900.00",
                  "paymentMethod": "card",
                  "endpoint": "test",
                  "kind": "dispute",
                  "currency": "NGN",
                  "disputeOf": "<reference>",
                  "state": "needs_response",
                  "step": "opened",
                  "reason": "product not received",
                  "fee": "1500.00",
                  "vat": "112.50",
            …
        """
        return self._call(actions.SANDBOX_TRIGGER, {"event": event, "fields": {**(fields or {}), **changes} or None})

    def requests(
        self,
        *,
        search: str | None = None,
        refused: bool | None = None,
        before: int | None = None,
        after: int | None = None,
        limit: int | None = None,
    ) -> Page[types.LoggedRequest]:
        """The requests of this merchant and their replies, also refused ones, with secrets hidden.

        Requests of this merchant and their replies, newest first.

        Needs a key of scope `all`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        search: Only those with this text in path, action, request id, or a body, whatever its capitals. At most 200
            characters.
        refused: Only those that were refused or failed.
        before: Only those whose `number` is below this one. Send a reply's `last` to read on. A whole number, not
            negative.
        after: Lists those whose `number` is above this one, oldest first. Send a reply's `last` to follow the log.
            A whole number, not negative.
        limit: Largest number of requests to return. Default 50. 1 to 200.

        Example, and the reply that was recorded for it:

            shop.sandbox.requests(refused=True, limit=10)

            {
              "status": 200,
              "data": [],
              "last": "<last>",
              "more": false
            }
        """
        return self._list(
            actions.SANDBOX_REQUESTS,
            {"search": search, "refused": refused, "before": before, "after": after, "limit": limit},
        )

    def people_mails(self, *, before: int | None = None, limit: int | None = None) -> Page[types.PeopleMail]:
        """The mails to the people of this merchant: invitations, alerts, and what waits for them.

        Mails to the people of this merchant, newest first.

        Needs a key of scope `all`.

        Iterate the result to read all pages; `limit` is the number of records per page.

        before: Only those whose `number` is below this one. Send a reply's `last` to read on. A whole number, not
            negative.
        limit: Largest number of mails to return. Default 50. 1 to 200.

        Example, and the reply that was recorded for it:

            shop.sandbox.people_mails(limit=10)

            {
              "status": 200,
              "data": [],
              "last": "<last>",
              "more": false
            }
        """
        return self._list(actions.SANDBOX_PEOPLE_MAILS, {"before": before, "limit": limit})

    def clock(self) -> types.ClockReply:
        """This merchant's business time.

        Needs a key of scope `all`.

        Example, and the reply that was recorded for it:

            shop.sandbox.clock()

            {
              "status": 200,
              "now": "2026-01-05T09:30:00.000+01:00"
            }
        """
        return self._call(actions.SANDBOX_CLOCK, {})

    def advance(
        self,
        *,
        seconds: int | None = None,
        minutes: int | None = None,
        hours: int | None = None,
        days: int | None = None,
        until: dt.datetime | str | None = None,
    ) -> types.AdvanceReply:
        """Move business time forward and run everything that falls due on the way.

        Either a duration, whose parts are added up, or the time to go to.

        Needs a key of scope `all`.

        seconds: Seconds to move forward. Seconds, minutes, hours and days are added up. A whole number, not
            negative.
        minutes: Minutes to move forward. A whole number, not negative.
        hours: Hours to move forward. A whole number, not negative.
        days: Days of 24 hours to move forward. A whole number, not negative.
        until: Business time to move to, in Lagos time if it names no zone. Not together with a duration, and not in
            the past. An ISO 8601 time such as 2026-01-05T09:30:00+01:00.

        Example, and the reply that was recorded for it:

            shop.sandbox.advance(days=1)

            {
              "status": 200,
              "now": "2026-01-06T09:30:00.000+01:00",
              "ran": {
                "cashcode": 1,
                "checkout": 1,
                "payment": 14,
                "settlements": 1,
                "webhook": 5
              }
            }
        """
        return self._call(
            actions.SANDBOX_ADVANCE,
            {"seconds": seconds, "minutes": minutes, "hours": hours, "days": days, "until": until},
        )

    def freeze(self, *, frozen: bool | None = None) -> types.ClockReply:
        """Stop this merchant's clock, or let it run again.

        Stops this merchant's clock, or lets it run again.

        Needs a key of scope `all`.

        frozen: True stops the clock, so that only `advance` moves it. False lets it run on from where it stands.

        Example, and the reply that was recorded for it:

            shop.sandbox.freeze()

            {
              "status": 200,
              "now": "2026-01-06T09:30:00.000+01:00"
            }
        """
        return self._call(actions.SANDBOX_FREEZE, {"frozen": frozen})

    def audit(self) -> types.AuditReply:
        """Check the invariants of this merchant's books.

        Needs a key of scope `all`.

        Example, and the reply that was recorded for it:

            shop.sandbox.audit()

            {
              "status": 200,
              "data": []
            }
        """
        return self._call(actions.SANDBOX_AUDIT, {})

    def close(self) -> types.CloseReply:
        """Close the books of the test environment, so that proofs are no longer pending.

        Needs a key of scope `all`.

        Example, and the reply that was recorded for it:

            shop.sandbox.close()

            {
              "status": 200,
              "close_number": "<close_number>",
              "closed_at": "<closed_at>",
              "root": "<root>",
              "public_key": "<public_key>"
            }
        """
        return self._call(actions.SANDBOX_CLOSE, {})

    def fault(
        self,
        *,
        kind: Literal["decline", "none", "reset", "timeout", "unavailable"],
        rail: Literal["bank", "biller", "card", "decider", "identity", "issuer", "mobile"] | None = None,
        on: Literal[
            "accountname",
            "authorize",
            "bvn",
            "charge",
            "initiate",
            "pay",
            "purchase",
            "refund",
            "resolve",
            "transfer",
            "validate",
        ]
        | None = None,
        times: int | None = None,
        probability: types.Amount | None = None,
        code: str | None = None,
        idempotency_key: str | None = None,
    ) -> types.SandboxReply:
        """Make this merchant's next calls to a rail fail.

        Makes this merchant's next calls to a rail fail. Kind `none` clears the planned faults of one rail or of all.

        Needs a key of scope `all`.

        rail: The rail whose calls fail: `card`, `bank` (transfers, account payments, names), `biller`, `mobile`,
            `identity` (BVN), `issuer` (virtual cards) or `decider` (your service that decides on purchases with
            them). Required unless the kind is `none`; then left out for all rails.
        kind: `timeout`: done, but the answer is lost. `reset`: it never arrived. `unavailable`: refused before
            anything was done. `decline`: declined. `none`: clears planned faults.
        on: The operation that the fault is limited to. Left out: every call of the rail. Of `card`: `initiate`,
            `charge`, `validate`, `refund`. Of `bank`: `transfer`, `charge`, `validate`, `refund`, `accountname`. Of
            `biller`: `pay`, `resolve`. Of `mobile`: `charge`, `validate`, `refund`. Of `identity`: `bvn`. Of
            `issuer` and `decider`: `purchase`, `authorize`.
        times: Number of the next calls that the fault applies to. Default 1. 1 to 1,000,000.
        probability: Probability from 0 to 1 with which each of these calls fails. Default 1. A number from 0 to 1.
        code: Response code of a decline, such as `51`. Only for the kind `decline`, and none that approves. Default
            `05`. A response code of two digits or capitals.
        idempotency_key: The request can be sent again with the same key for 24 hours and is not executed twice. The
            client makes one if it is left out.

        Example, and the reply that was recorded for it:

            shop.sandbox.fault(rail="bank", kind="timeout", times=1)

            {
              "status": 200,
              "message": "The next 1 calls of the bank rail: timeout"
            }
        """
        return self._call(
            actions.SANDBOX_FAULT,
            {"kind": kind, "rail": rail, "on": on, "times": times, "probability": probability, "code": code},
            idempotency_key,
        )

    def reset(self) -> types.SandboxReply:
        """Start this mid and key with empty books; the old books are kept.

        Needs a key of scope `all`.

        Example, and the reply that was recorded for it:

            shop.sandbox.reset()

            {
              "status": 200,
              "message": "Fresh books, as on day one"
            }
        """
        return self._call(actions.SANDBOX_RESET, {})

    def snapshot(self, *, name: str) -> types.SnapshotReply:
        """Store everything that this merchant has, as a world that it can be put back to.

        Stores everything that this merchant has, as a world.

        Needs a key of scope `all`.

        name: Name of the world, one that none of the merchant's worlds has. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.sandbox.snapshot(name="before the refund")

            {
              "status": 200,
              "data": {
                "name": "before the refund",
                "rows": "<rows>",
                "bytes": "<bytes>",
                "business_time": "<business_time>",
                "made_at": "<made_at>",
                "made_by": "1.0.0"
              }
            }
        """
        return self._call(actions.SANDBOX_SNAPSHOT, {"name": name})

    def restore(self, *, name: str) -> types.RestoreReply:
        """Make this merchant what it was when a world was stored.

        Makes this merchant what it was when a world was stored.

        Needs a key of scope `all`.

        name: Name of the world. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.sandbox.restore(name="before the refund")

            {
              "status": 200,
              "message": "The merchant is as it was in before the refund",
              "rows": "<rows>"
            }
        """
        return self._call(actions.SANDBOX_RESTORE, {"name": name})

    def fork(self, *, name: str | None = None) -> types.ForkReply:
        """Create a new merchant that is a copy of this one or of a world.

        Makes a new merchant that is a copy of this one.

        Needs a key of scope `all`.

        name: Name of the world to copy. Left out: the merchant as it is now. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.sandbox.fork(name="before the refund")

            {
              "status": 200,
              "mid": "<mid>",
              "key": "<key>"
            }
        """
        return self._call(actions.SANDBOX_FORK, {"name": name})

    def worlds(self) -> types.WorldsReply:
        """The worlds that this merchant has stored.

        Needs a key of scope `all`.

        Example, and the reply that was recorded for it:

            shop.sandbox.worlds()

            {
              "status": 200,
              "data": [
                {
                  "name": "before the refund",
                  "rows": "<rows>",
                  "bytes": "<bytes>",
                  "business_time": "<business_time>",
                  "made_at": "<made_at>",
                  "made_by": "1.0.0"
                }
              ]
            }
        """
        return self._call(actions.SANDBOX_WORLDS, {})

    def compare_worlds(self, *, name: str, other: str) -> types.CompareWorldsReply:
        """What is different in two worlds.

        Two worlds of this merchant.

        Needs a key of scope `all`.

        name: Name of the first world. 1 to 100 characters.
        other: Name of the other world. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.sandbox.compare_worlds(name="before the refund", other="after the refund")

            {
              "status": 200,
              "data": []
            }
        """
        return self._call(actions.SANDBOX_COMPARE_WORLDS, {"name": name, "other": other})

    def export_world(self, *, name: str, passphrase: str) -> types.ExportWorldReply:
        """Write a world to a file, encrypted with a passphrase.

        Writes a world to a file that this deployment, and every other with the same KASUWA_SECRET_KEY, can import.

        Needs a key of scope `all`.

        name: Name of the world. 1 to 100 characters.
        passphrase: Encrypts the file. Whoever imports it sends it again; it is not stored. 12 to 200 characters.

        Example, and the reply that was recorded for it:

            shop.sandbox.export_world(name="before the refund", passphrase="a passphrase of the team")

            {
              "status": 200,
              "data": {
                "name": "before the refund",
                "rows": "<rows>",
                "bytes": "<bytes>",
                "business_time": "<business_time>",
                "made_at": "<made_at>",
                "made_by": "1.0.0"
              },
              "file": "<file>"
            }
        """
        return self._call(actions.SANDBOX_EXPORT_WORLD, {"name": name, "passphrase": passphrase})

    def import_world(self, *, name: str, passphrase: str, file: str) -> types.SnapshotReply:
        """Store the world of a file, which can then be restored or copied.

        Stores the world of a file. The merchant stays as it is until the world is restored.

        Needs a key of scope `all`.

        name: Name of the world here, one that none of the merchant's worlds has. 1 to 100 characters.
        passphrase: The passphrase that the file was written with. 12 to 200 characters.
        file: The file, in base64, as `export_world` returned it. A file of at most 10 MiB in base64, as
            export_world returns it.

        Example, and the reply that was recorded for it:

            shop.sandbox.import_world(name="from the file", passphrase="a passphrase of the team", file="<file>")

            {
              "status": 200,
              "data": {
                "name": "from the file",
                "rows": "<rows>",
                "bytes": "<bytes>",
                "business_time": "<business_time>",
                "made_at": "<made_at>",
                "made_by": "1.0.0"
              }
            }
        """
        return self._call(actions.SANDBOX_IMPORT_WORLD, {"name": name, "passphrase": passphrase, "file": file})

    def delete_world(self, *, name: str) -> types.SandboxReply:
        """Delete a world.

        Deletes a world.

        Needs a key of scope `all`.

        name: Name of the world. 1 to 100 characters.

        Example, and the reply that was recorded for it:

            shop.sandbox.delete_world(name="before the refund")

            {
              "status": 200,
              "message": "before the refund is deleted"
            }
        """
        return self._call(actions.SANDBOX_DELETE_WORLD, {"name": name})

    def new_key(
        self,
        *,
        name: str | None = None,
        scopes: Sequence[str] | None = None,
        addresses: Sequence[str] | None = None,
        expires_at: dt.datetime | str | None = None,
    ) -> types.NewKeyReply:
        """Make a further API key of this merchant, with the scopes that it is to have.

        A key beside those that the merchant has.

        Needs a key of scope `all`.

        name: Name of the key. Default `sandbox`. 1 to 60 printable characters.
        scopes: What the key may be used for: `collect`, `payout`, `issue`, `lend`, `read`, `approve` or `all`.
            Default `all`. A list of scopes.
        addresses: Addresses and CIDR ranges that it may be used from, such as `203.0.113.0/24`. Default: from
            everywhere. A list of at most 50 ranges.
        expires_at: When it stops working, by the wall clock and not by the merchant's. Default: never. An ISO 8601
            time such as 2026-01-05T09:30:00+01:00.

        Example, and the reply that was recorded for it:

            shop.sandbox.new_key(name="payroll", scopes=["payout"])

            {
              "status": 200,
              "key_id": 6,
              "key": "<key>",
              "scopes": [
                "payout"
              ]
            }
        """
        return self._call(
            actions.SANDBOX_NEW_KEY, {"name": name, "scopes": scopes, "addresses": addresses, "expires_at": expires_at}
        )

    def payout_policy(
        self,
        *,
        approve_above: types.Amount | None = None,
        approve_daily_above: types.Amount | None = None,
        approve_new_beneficiary: bool | None = None,
        approve_bulk: bool | None = None,
        limits: types.LimitFields | None = None,
        beneficiary_limits: types.LimitFields | None = None,
        tier_limits: types.TierFields | None = None,
        on_limit: Literal["approve", "refuse"] | None = None,
        approve_write_off_above: types.Amount | None = None,
    ) -> types.PolicyReply:
        """Set which transfers of this merchant wait for approval, and its velocity limits.

        The whole policy for money out: what is left out is not restricted. Without any field there is no policy.

        Needs a key of scope `all`.

        approve_above: Transfers of more than this amount wait for approval, in naira. Digits with at most two
            decimals, at most 15 digits; zero where nothing is left.
        approve_daily_above: Transfers wait that bring the day's total above this amount, in naira. Digits with at
            most two decimals, at most 15 digits; zero where nothing is left.
        approve_new_beneficiary: Whether transfers wait whose beneficiary was never paid before.
        approve_bulk: Whether all orders of a bulk wait.
        limits: Limits of all transfers together.
        beneficiary_limits: Limits of the transfers to each beneficiary.
        tier_limits: Limits of what each client is sent for loans and from savings, by the client's KYC tier.
        on_limit: What becomes of a transfer beyond a limit: it is refused (the default), or waits for approval.
        approve_write_off_above: Write-offs wait that bring what is written off of a loan above this amount, in
            naira. Digits with at most two decimals, at most 15 digits; zero where nothing is left.

        Example, and the reply that was recorded for it:

            shop.sandbox.payout_policy(limits={"daily_amount": "9000000.00"})

            {
              "status": 200,
              "message": "The policy is in force"
            }
        """
        return self._call(
            actions.SANDBOX_PAYOUT_POLICY,
            {
                "approve_above": approve_above,
                "approve_daily_above": approve_daily_above,
                "approve_new_beneficiary": approve_new_beneficiary,
                "approve_bulk": approve_bulk,
                "limits": limits,
                "beneficiary_limits": beneficiary_limits,
                "tier_limits": tier_limits,
                "on_limit": on_limit,
                "approve_write_off_above": approve_write_off_above,
            },
        )

    def client_tiers(
        self, *, is_on: bool, held_days: int | None = None, tiers: Sequence[types.OwnFigures] | None = None
    ) -> types.TiersReply:
        """Set whether the limits by tier apply to the clients of this merchant, and with which figures.

        The whole setting: figures that are left out are the regulator's.

        Needs a key of scope `all`.

        is_on: Whether the limits apply.
        held_days: Days for which money above a limit is held before it goes back. Default 7. 1 to 90.
        tiers: Figures of this merchant. An array of at most 4 tiers.

        Example, and the reply that was recorded for it:

            shop.sandbox.client_tiers(is_on=True, tiers=[{"tier": 1, "daily": "60000.00"}])

            {
              "status": 200,
              "message": "The limits apply"
            }
        """
        return self._call(actions.SANDBOX_CLIENT_TIERS, {"is_on": is_on, "held_days": held_days, "tiers": tiers})

    def checkout_origins(self, *, origins: Sequence[str]) -> types.OriginsReply:
        """Set which sites may show the payers' pages of this merchant in a frame.

        The whole list: what it does not name may not show the pages any more.

        Needs a key of scope `all`.

        origins: Origins of your sites, such as `https://shop.example`. In test also `http://localhost` with any
            port. An array of at most 20 origins.

        Example, and the reply that was recorded for it:

            shop.sandbox.checkout_origins(origins=["http://localhost:5173", "https://shop.example"])

            {
              "status": 200,
              "message": "These sites may show your checkouts",
              "origins": [
                "http://localhost:5173",
                "https://shop.example"
              ]
            }
        """
        return self._call(actions.SANDBOX_CHECKOUT_ORIGINS, {"origins": origins})

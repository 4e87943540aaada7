"""Actions that only the console can run. They follow the API's rules but have no path of their own.

Split beneficiaries are added here. In the test environment the sandbox method can add them as well.
"""

from kasuwa.console.histories import lists
from kasuwa.console.merchant import store, waiting_reads, wire
from kasuwa.core.action import ApiMethod, Read
from kasuwa.methods.payment import actions as payment

CONSOLE = ApiMethod(
    name="console",
    selectors=("action",),
    actions=(
        payment.ADD_BENEFICIARY,
        *lists.ACTIONS,
        Read(
            name="cards",
            request=wire.PageRequest,
            reply=wire.CardsReply,
            read=store.list_cards,
            summary="All virtual cards",
            example={"action": "cards"},
        ),
        Read(
            name="waiting_transfers",
            request=wire.PageRequest,
            reply=wire.WaitingReply,
            read=waiting_reads.list_waiting,
            summary="Transfers that wait for approval",
            example={"action": "waiting_transfers"},
        ),
        Read(
            name="checkouts",
            request=wire.PageRequest,
            reply=wire.CheckoutsReply,
            read=store.list_checkouts,
            summary="All checkouts",
            example={"action": "checkouts"},
        ),
        Read(
            name="checkout",
            request=wire.CheckoutRequest,
            reply=wire.CheckoutReply,
            read=store.show_checkout,
            summary="One checkout with its attempts to pay",
            example={"action": "checkout", "txnRef": "<txnRef>"},
        ),
        Read(
            name="beneficiaries",
            request=wire.PageRequest,
            reply=wire.BeneficiariesReply,
            read=store.list_beneficiaries,
            summary="All beneficiaries of split payments",
            example={"action": "beneficiaries"},
        ),
    ),
)

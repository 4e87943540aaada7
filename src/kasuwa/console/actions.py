"""What only the console can ask for: actions by the same rules as the API's, that have no path of their own.

A merchant makes its split beneficiaries here; the test environment also lets its developers do so by request.
"""

from kasuwa.console import store, wire
from kasuwa.core.action import ApiMethod, Read
from kasuwa.methods.payment import actions as payment

CONSOLE = ApiMethod(
    name="console",
    selectors=("action",),
    actions=(
        payment.ADD_BENEFICIARY,
        Read(
            name="cards",
            request=wire.PageRequest,
            reply=wire.CardsReply,
            read=store.list_cards,
            summary="All virtual cards",
            example={"action": "cards"},
        ),
        Read(
            name="beneficiaries",
            request=wire.PageRequest,
            reply=wire.BeneficiariesReply,
            read=store.list_beneficiaries,
            summary="Those who get a part of split payments",
            example={"action": "beneficiaries"},
        ),
    ),
)

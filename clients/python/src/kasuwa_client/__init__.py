"""Typed Python client of the Kasuwa merchant API.

from kasuwa_client import Kasuwa, InsufficientFunds, OutcomeUnknown

with Kasuwa(mid="GP0000001", key="...", base_url="http://127.0.0.1:8080") as shop:
    transfer = shop.disburse.transfer(amount="1500.00", bankcode="058", accountnumber="0000000000")
    final = shop.disburse.wait(transfer, seconds=60)
"""

from kasuwa_client._client import AsyncKasuwa, Kasuwa
from kasuwa_client._events import AttemptFailed, CallEvent, Hook, ReplyReceived, RequestSent, Retrying
from kasuwa_client._flow import RetryPolicy
from kasuwa_client._pages import AsyncPage, AsyncPager, Page
from kasuwa_client._result import Result
from kasuwa_client._version import __version__
from kasuwa_client.error_codes import ErrorCode, FieldCode
from kasuwa_client.errors import (
    AuthenticationError,
    CallFacts,
    FieldError,
    InsufficientFunds,
    InvalidRequest,
    InvalidSignature,
    KasuwaError,
    MalformedRequest,
    NotValidated,
    OutcomeUnknown,
    RateLimited,
    Refused,
    ServiceError,
    ServiceUnreachable,
    StillPending,
    UnexpectedReply,
    UnknownAction,
    UnreadableAnswer,
    UnreadableOutcome,
)
from kasuwa_client.events import (
    AccountClosedEvent,
    BillEvent,
    CardAuthorizationEvent,
    CardPurchaseEvent,
    CardRefundEvent,
    CashcodeEvent,
    CheckoutEvent,
    DisputeEvent,
    EndpointTestEvent,
    Event,
    FixedDepositEvent,
    InvoiceEvent,
    LoanEvent,
    PaymentEvent,
    PaymentRejectedEvent,
    RefundEvent,
    RepaymentEvent,
    ReversalEvent,
    SavingsMovementEvent,
    SettlementEvent,
    TransferApprovalEvent,
    TransferEvent,
    UnknownEvent,
)
from kasuwa_client.types import Amount
from kasuwa_client.webhooks import verify_event
from kasuwa_client.wsgi import EventApp

__all__ = [
    "AccountClosedEvent",
    "Amount",
    "AsyncKasuwa",
    "AsyncPage",
    "AsyncPager",
    "AttemptFailed",
    "AuthenticationError",
    "BillEvent",
    "CallEvent",
    "CallFacts",
    "CardAuthorizationEvent",
    "CardPurchaseEvent",
    "CardRefundEvent",
    "CashcodeEvent",
    "CheckoutEvent",
    "DisputeEvent",
    "EndpointTestEvent",
    "ErrorCode",
    "Event",
    "EventApp",
    "FieldCode",
    "FieldError",
    "FixedDepositEvent",
    "Hook",
    "InsufficientFunds",
    "InvalidRequest",
    "InvalidSignature",
    "InvoiceEvent",
    "Kasuwa",
    "KasuwaError",
    "LoanEvent",
    "MalformedRequest",
    "NotValidated",
    "OutcomeUnknown",
    "Page",
    "PaymentEvent",
    "PaymentRejectedEvent",
    "RateLimited",
    "RefundEvent",
    "Refused",
    "RepaymentEvent",
    "ReplyReceived",
    "RequestSent",
    "Result",
    "RetryPolicy",
    "Retrying",
    "ReversalEvent",
    "SavingsMovementEvent",
    "ServiceError",
    "ServiceUnreachable",
    "SettlementEvent",
    "StillPending",
    "TransferApprovalEvent",
    "TransferEvent",
    "UnexpectedReply",
    "UnknownAction",
    "UnknownEvent",
    "UnreadableAnswer",
    "UnreadableOutcome",
    "__version__",
    "verify_event",
]

"""The paths of the rail protocol, with the types of their requests and answers."""

from typing import Any, NamedTuple

from kasuwa.rails.remote import messages


class RailPath(NamedTuple):
    """A path below /v1. `is_order` is True if it does something under a key."""

    path: str
    request: type[Any]
    answer: type[Any]
    is_order: bool
    summary: str


PATHS = (
    RailPath("/about", messages.Empty, messages.AboutAnswer, False, "Describe the rail"),
    RailPath("/balance", messages.Empty, messages.BalanceAnswer, False, "Our balance with the rail"),
    RailPath("/transfers", messages.TransferRequest, messages.OrderAnswer, True, "Send money to a bank account"),
    RailPath("/transfers/query", messages.OrderQuery, messages.OrderAnswer, False, "The state of a transfer"),
    RailPath("/names", messages.NameRequest, messages.NameFound, False, "The name on a bank account"),
    RailPath("/bills/catalogue", messages.Empty, messages.CatalogueAnswer, False, "Everything that can be paid"),
    RailPath("/bills/customer", messages.CustomerRequest, messages.NameFound, False, "The name of a biller's customer"),
    RailPath("/bills", messages.BillRequest, messages.OrderAnswer, True, "Pay a bill"),
    RailPath("/bills/query", messages.OrderQuery, messages.OrderAnswer, False, "The state of a bill"),
    RailPath("/payments/begin", messages.PaymentRequest, messages.OrderAnswer, True, "Begin to collect a payment"),
    RailPath("/payments/charge", messages.PaymentRequest, messages.OrderAnswer, True, "Charge a card"),
    RailPath("/payments/validate", messages.ValidateRequest, messages.OrderAnswer, True, "Bring the payer's code"),
    RailPath("/payments/query", messages.PaymentQuery, messages.OrderAnswer, False, "The state of a step of a payment"),
    RailPath("/refunds", messages.RefundRequest, messages.OrderAnswer, True, "Give back a payment"),
    RailPath("/refunds/query", messages.OrderQuery, messages.OrderAnswer, False, "The state of a refund"),
    RailPath(
        "/accounts", messages.AccountRequest, messages.AccountAnswer, True, "Open an account that a customer pays into"
    ),
    RailPath("/accounts/query", messages.OrderQuery, messages.AccountAnswer, False, "The state of an account"),
    RailPath("/accounts/close", messages.OrderQuery, messages.AccountAnswer, True, "Close an account"),
    RailPath(
        "/accounts/credits", messages.CreditsRequest, messages.CreditsAnswer, False, "Money that came in since a time"
    ),
    RailPath("/accounts/credits/query", messages.CreditQuery, messages.CreditAnswer, False, "Money that came in once"),
    RailPath("/identity/consent", messages.ConsentRequest, messages.ConsentAnswer, False, "Begin a person's consent"),
    RailPath("/identity/match", messages.MatchRequest, messages.MatchAnswer, False, "Compare a person"),
    RailPath(
        "/cards/simulate",
        messages.CardSimulation,
        messages.SimulationAnswer,
        False,
        "Test rails: have the card network make a purchase",
    ),
    RailPath("/identity", messages.PersonRequest, messages.PersonAnswer, False, "The person of a BVN"),
)

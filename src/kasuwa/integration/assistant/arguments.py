"""The arguments of the tools. Their schemas are made from these."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kasuwa.core.scenario import FaultKind, FaultOperation, RailName
from kasuwa.wire.fields import END

# Characters that a header may have.
HEADER_TEXT = r"^[!-~]([ -~]*[!-~])?" + END

Mid = Annotated[
    str, Meta(max_length=40, description="the mid of the merchant to act as, by default that of the command")
]
Text = Annotated[str, Meta(max_length=200)]
LongText = Annotated[str, Meta(max_length=2000)]
Count = Annotated[int, Meta(ge=0, le=1_000_000_000, description="a whole number, not negative")]


class Arguments(msgspec.Struct, kw_only=True):
    """Arguments of a tool."""


class MakeMerchant(Arguments):
    name: Annotated[Text, Meta(description="a name that payers are shown, of at most 200 characters")] | None = None
    balance: Annotated[Text, Meta(description='the opening balance of the NGN wallet, such as "5000.00"')] | None = None
    now: (
        Annotated[Text, Meta(description="the time at which its clock stands, such as 2026-03-01T09:00:00Z")] | None
    ) = None
    webhook: Annotated[LongText, Meta(description="the URL that its events are sent to")] | None = None


class ListActions(Arguments):
    path: Annotated[Text, Meta(description="a path, such as disburse, to list its actions alone")] | None = None


class DescribeAction(Arguments):
    action: Annotated[Text, Meta(description="the name of an action, such as `disburse transfer`")]


class CallAction(Arguments):
    action: Annotated[Text, Meta(description="the name of an action, such as `disburse transfer`")]
    fields: Annotated[
        dict[str, Any], Meta(description="an object with the fields of its body, without the one that selects it")
    ] = {}
    merchant: Mid | None = None
    idempotency_key: (
        Annotated[
            str,
            Meta(
                max_length=255,
                pattern=HEADER_TEXT,
                description="1 to 255 ASCII characters that make a repeat return the first reply",
            ),
        ]
        | None
    ) = None
    scenario: (
        Annotated[
            str,
            Meta(
                max_length=200,
                pattern=HEADER_TEXT,
                description="a scenario of the test environment, such as `rr=91;delay=5`",
            ),
        ]
        | None
    ) = None


class AdvanceClock(Arguments):
    merchant: Mid | None = None
    seconds: Count | None = None
    minutes: Count | None = None
    hours: Count | None = None
    days: Count | None = None
    until: Annotated[Text, Meta(description="the time to move to, such as 2026-03-01T09:00:00Z")] | None = None


class PlanFault(Arguments):
    rail: RailName
    kind: FaultKind
    on: FaultOperation | None = None
    times: Count | None = None
    probability: Annotated[float, Meta(ge=0, le=1, description="0 to 1")] | None = None
    merchant: Mid | None = None


class Explain(Arguments):
    reference: Annotated[Text, Meta(description="a reference of any kind, of the service or of the merchant")]
    merchant: Mid | None = None


class SearchDocs(Arguments):
    query: Annotated[Text, Meta(description="words to look for, at most 200 characters")]


class ReadDocs(Arguments):
    page: Annotated[Text, Meta(description="the address of a page, such as reference/disburse.md")]


class Certify(Arguments):
    app: Annotated[LongText, Meta(description="the URL on this machine at which the application receives events")]
    merchant: Mid | None = None
    only: Annotated[list[Text], Meta(max_length=50, description="the ids of the checks to run, by default all")] = []

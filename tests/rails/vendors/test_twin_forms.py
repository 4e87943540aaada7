"""Twins are stricter than their vendors: a call with one thing wrong is refused and changes nothing.

The walk takes the forms of all calls. It sends each call in every way in which it can be wrong, and at last as its form
has it: that succeeds, so that the refusals before were refusals of what was wrong.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import pytest
from aiohttp import ClientSession

from kasuwa.rails.twins.forms import Call, Field
from kasuwa.rails.twins.server import OUTSIDE, Twin
from tests.rails.vendors.prepared_twins import BEFORE, MAKERS, PreparedTwin

CALLS = [(vendor, call) for vendor, make in MAKERS.items() for call in make().rules.facts.calls]
VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE")
JSON = "application/json"
# Wrong values of fields of bodies. An amount in the other unit is one: kobo for naira, naira for kobo.
WRONG_VALUES: dict[str, tuple[Any, ...]] = {
    "text": (7, True, None, [], {}, "", " "),
    "integer": ("1500", Decimal("1500.00"), Decimal("1500.5"), True, None, -1, [], {}),
    "naira": ("1500.00", 150_000, Decimal("1500.5"), Decimal("1500.001"), Decimal("-1.00"), True, None, [], {}),
    "boolean": ("true", 1, None, [], {}),
    "texts": ("card", [], [7], ["enchanted"], None, {}),
    "object": ("{}", 7, None, []),
}
WRONG_PARAMETERS: dict[str, tuple[str, ...]] = {
    "text": ("", " "),
    "integer": ("", "x", "-1", "1.5", "1e3"),
    "boolean": ("", "1", "yes", "True"),
}
# Values of the right type that vendors refuse in words of their own.
OUT_OF_BOUNDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "POST /transfer": {
        "reference": ("kz1-gp-fd-12345", "k" * 51, "KZ1-GP-FD-123456789", "kz1|gp|fd|123456789", "kz1 gp fd 123456789"),
        "amount": (0,),
        "recipient": ("RCP_nobody",),
    },
    "POST /transferrecipient": {"bank_code": ("58",), "account_number": ("012345678", "01234567850")},
    "POST /transaction/initialize": {
        "reference": ("a_b", "a|b", "a b", "k" * 101),
        "email": ("nobody", "a@b", "a b@example.com"),
        "amount": (0, 49_99),
        "currency": ("EUR", "ngn"),
    },
    "POST /transaction/charge_authorization": {"authorization_code": ("AUTH_2",), "email": ("other@example.com",)},
    "POST /refund": {"amount": (0, 150_001), "currency": ("GHS",), "transaction": ("nobody",)},
    "POST /charge": {"amount": (49_99,)},
    "POST /customer": {"email": ("nobody",)},
    "POST /dedicated_account": {"preferred_bank": ("wema-bank", "nobody"), "customer": ("CUS_1",)},
    "PUT /dispute/{id}/resolve": {"refund_amount": (150_001,), "uploaded_filename": ("never-uploaded.pdf",)},
    "POST /api/v2/disbursements/single": {
        "amount": (Decimal("0.00"),),
        "reference": ("k" * 65, "a b"),
        "narration": ("n" * 101, "naïve"),
        "destinationBankCode": ("999",),
        "sourceAccountNumber": ("0000000000",),
    },
    "POST /api/v1/merchant/transactions/init-transaction": {
        "amount": (Decimal("19.99"),),
        "paymentReference": ("k" * 65, "a b"),
        "paymentDescription": ("ab", "d" * 101),
        "contractCode": ("1234567890",),
        "currencyCode": ("USD",),
        "customerEmail": ("nobody",),
    },
    "POST /api/v1/merchant/cards/charge-card-token": {"cardToken": ("MNFY_2",), "apiKey": ("MK_TEST_2",)},
    "POST /api/v1/refunds/initiate-refund": {
        "refundAmount": (Decimal("99.99"), Decimal("1500.01")),
        "refundReason": ("r" * 65,),
        "customerNote": ("n" * 17,),
        "refundReference": ("k" * 65,),
    },
    "POST /api/v2/bank-transfer/reserved-accounts": {
        "accountReference": ("k" * 65,),
        "restrictPaymentSource": (True,),
        "bvn": ("2221234567",),
        "contractCode": ("1234567890",),
    },
    "POST /pay": {
        "request_id": ("202601041200kz2", "20260105120", "202601051200-kz2", "202601051200" + "k" * 33, "kz2026010512"),
        "amount": (0, 499, 2_000_001),
        "variation_code": ("enchanted",),
        "serviceID": ("nobody",),
    },
}
# Calls that take a reference once, and a word of the refusal of the second.
USED_ONCE = {
    "POST /transfer": "already exists",
    "POST /transaction/initialize": "duplicate_reference",
    "POST /transaction/charge_authorization": "duplicate_reference",
    "POST /charge": "duplicate_reference",
    "POST /api/v2/disbursements/single": "D05",
    "POST /api/v1/merchant/transactions/init-transaction": "Duplicate payment reference",
    "POST /api/v1/merchant/cards/charge-card-token": "Duplicate payment reference",
    "POST /api/v1/refunds/initiate-refund": "R9",
    "POST /api/v2/bank-transfer/reserved-accounts": "R42",
    "POST /pay": "014",
}


class Sent(NamedTuple):
    """A request. `what` says what is wrong with it."""

    what: str
    method: str
    path: str
    headers: dict[str, str]
    content: bytes = b""


class Walk:
    """Sends one call to a twin, right and wrong."""

    def __init__(self, twin: Twin, prepared: PreparedTwin, call: str, session: ClientSession) -> None:
        self.twin, self.prepared, self.call, self.session = twin, prepared, call, session
        self.form: Call = prepared.rules.facts.calls[call]
        self.method, template = call.split(" ", 1)
        self.path = quote(prepared.paths.get(template, template), safe="/@")
        chosen = prepared.examples.get(call)
        fields = self.form.query if self.form.body is None else self.form.body
        values = dict(chosen) if chosen else {name: field.example for name, field in fields.items()}
        self.query: dict[str, Any] = values if self.form.body is None else {}
        self.body: dict[str, Any] | None = None if self.form.body is None else values

    def make(self, what: str, query: Any = None, body: Any = None, **changes: Any) -> Sent:
        """Returns the right request with another query, body, method, path, headers or content."""
        shown = self.query if query is None else query
        parameters = [(name, write_parameter(value)) for name, value in dict(shown).items()]
        path = self.path + ("?" + urlencode(parameters) if parameters else "")
        sent = self.body if body is None else body
        headers = {**self.prepared.headers(self.call), **({"Content-Type": JSON} if sent is not None else {})}
        content = b"" if sent is None else write_json(sent).encode()
        return Sent(what, self.method, path, headers, content)._replace(**changes)

    async def send(self, sent: Sent) -> tuple[bool, str]:
        """Returns whether the vendor refused a request, and its words."""
        url = self.twin.url + sent.path
        # An empty body has no type of its own.
        skipped = ["Content-Type"] if "Content-Type" not in sent.headers else []
        async with self.session.request(
            sent.method, url, data=sent.content or None, headers=sent.headers, skip_auto_headers=skipped
        ) as answer:
            text = await answer.text()
            is_json = answer.content_type == JSON
            return self.prepared.is_refused(answer.status, json.loads(text) if is_json else {}), text

    async def expect_refusals(self, requests: Iterator[Sent]) -> None:
        before = self.prepared.state()
        for sent in requests:
            is_refused, text = await self.send(sent)
            assert is_refused, (sent, text)
            assert self.prepared.state() == before, sent.what

    async def expect_success(self) -> None:
        is_refused, text = await self.send(self.make("nothing"))
        assert not is_refused, text


def write_json(value: Any) -> str:
    """Writes JSON with the decimals that an amount has."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(name)}:{write_json(part)}" for name, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(write_json, value)) + "]"
    return str(value) if isinstance(value, Decimal) else json.dumps(value)


def write_parameter(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def walk(vendor: str, call: str, requests: Callable[[Walk], Iterator[Sent]]) -> None:
    """Expects that a twin refuses these requests, and carries out the right one."""

    async def work(walking: Walk) -> None:
        await walking.expect_refusals(requests(walking))
        await walking.expect_success()

    at_twin(vendor, call, work)


def at_twin(vendor: str, call: str, work: Callable[[Walk], Awaitable[None]]) -> None:
    async def run() -> None:
        prepared = MAKERS[vendor]()
        twin = Twin(prepared.rules, *prepared.parts)
        await twin.start()
        try:
            async with ClientSession() as session:
                await work(Walk(twin, prepared, call, session))
        finally:
            await twin.stop()

    asyncio.run(run())


# --- the walk ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("vendor", MAKERS)
def test_every_call_of_a_twin_has_a_form(vendor: str) -> None:
    prepared = MAKERS[vendor]()
    routes = [route for part in (prepared.rules, *prepared.parts) for route in part.routes()]
    served = {f"{route.method} {route.path}" for route in routes if not route.path.startswith(OUTSIDE)}
    assert served == set(prepared.rules.facts.calls)


@pytest.mark.parametrize(("vendor", "call"), CALLS)
def test_unknown_names_are_refused_in_queries_and_bodies(vendor: str, call: str) -> None:
    def requests(walking: Walk) -> Iterator[Sent]:
        yield walking.make("unknown parameter", query={**walking.query, "enchanted": "1"})
        for name in walking.query:
            changed = walking.make("repeated parameter")
            yield changed._replace(path=f"{changed.path}&{name}={quote(write_parameter(walking.query[name]))}")
            yield walking.make("another case", query=rename(walking.query, name))
        if walking.body is None:
            yield walking.make(
                "a body", headers={**walking.prepared.headers(call), "Content-Type": JSON}, content=b"{}"
            )
            return
        yield walking.make("unknown field", body={**walking.body, "enchanted": "1"})
        for name, value in walking.body.items():
            yield walking.make("another case", body=rename(walking.body, name))
            if isinstance(value, dict) and walking.form.body and walking.form.body[name].fields:
                yield walking.make("unknown part", body={**walking.body, name: {**value, "enchanted": "1"}})

    walk(vendor, call, requests)


def rename(values: dict[str, Any], name: str) -> dict[str, Any]:
    return {(key.swapcase() if key == name else key): value for key, value in values.items()}


@pytest.mark.parametrize(("vendor", "call"), CALLS)
def test_wrong_types_and_units_are_refused(vendor: str, call: str) -> None:
    def requests(walking: Walk) -> Iterator[Sent]:
        for name in walking.query:
            field = walking.form.query[name]
            for wrong in (*WRONG_PARAMETERS[field.kind], *wrong_texts(field)):
                yield walking.make(f"{name} {wrong!r}", query={**walking.query, name: wrong})
        for name, value in (walking.body or {}).items():
            assert walking.form.body is not None
            field = walking.form.body[name]
            for wrong in (*WRONG_VALUES[field.kind], *wrong_texts(field)):
                yield walking.make(f"{name} {wrong!r}", body={**walking.body, name: wrong})  # type: ignore[dict-item]
            for part in field.fields:
                if part in value:
                    mixed = {**value, part: 7}
                    yield walking.make(f"{name}.{part}", body={**walking.body, name: mixed})  # type: ignore[dict-item]

    walk(vendor, call, requests)


def wrong_texts(field: Field) -> tuple[str, ...]:
    """Returns a text that no form but that of any text has."""
    return ("§",) if field.kind == "text" and field.form != Field("text", "").form else ()


@pytest.mark.parametrize(("vendor", "call"), CALLS)
def test_missing_fields_are_refused(vendor: str, call: str) -> None:
    def requests(walking: Walk) -> Iterator[Sent]:
        for name, field in walking.form.query.items():
            if field.is_required:
                yield walking.make(name, query={key: value for key, value in walking.query.items() if key != name})
        for name, field in (walking.form.body or {}).items():
            if field.is_required:
                yield walking.make(
                    name, body={key: value for key, value in (walking.body or {}).items() if key != name}
                )
            for part, inner in field.fields.items():
                value = (walking.body or {}).get(name)
                if inner.is_required and value is not None:
                    rest = {key: kept for key, kept in value.items() if key != part}
                    yield walking.make(f"{name}.{part}", body={**(walking.body or {}), name: rest})

    walk(vendor, call, requests)


@pytest.mark.parametrize(("vendor", "call"), CALLS)
def test_wrong_verbs_paths_keys_and_bodies_are_refused(vendor: str, call: str) -> None:
    def requests(walking: Walk) -> Iterator[Sent]:
        template = call.split(" ", 1)[1]
        for verb in VERBS:
            if f"{verb} {template}" not in walking.prepared.rules.facts.calls and not is_other_call(walking, verb):
                yield walking.make(verb, method=verb)
        right = walking.make("path")
        yield right._replace(path=right.path.replace(walking.path, walking.path + "/enchanted/1"))
        for name, value in walking.prepared.headers(call).items():
            kept = {key: kept for key, kept in right.headers.items() if key != name}
            yield right._replace(what=f"without {name}", headers=kept)
            for wrong in (f"{value}x", value.swapcase(), f"Bearer {value}", "x"):
                yield right._replace(what=f"{name}: {wrong}", headers={**kept, name: wrong})
        if walking.body:
            yield right._replace(what="a form", headers={**right.headers, "Content-Type": "text/plain"})
            form = "application/x-www-form-urlencoded"
            yield right._replace(what="a form", headers={**right.headers, "Content-Type": form}, content=b"a=1")
            first = next(iter(walking.body))
            twice = write_json(walking.body)[:-1] + f",{json.dumps(first)}:{write_json(walking.body[first])}}}"
            for content in (b"{", b"[]", b"null", b"\xff", twice.encode(), right.content + b"x"):
                yield right._replace(what=f"{content[:20]!r}", content=content)
            yield right._replace(what="no body", content=b"")

    walk(vendor, call, requests)


def is_other_call(walking: Walk, verb: str) -> bool:
    """Returns whether a path is that of another call with parts, such as /dispute/{id}, under another verb."""
    parts = walking.path.split("/")
    for other in walking.prepared.rules.facts.calls:
        method, template = other.split(" ", 1)
        known = template.split("/")
        is_alike = all(name.startswith("{") or name == part for name, part in zip(known, parts, strict=False))
        if method == verb and len(known) == len(parts) and is_alike:
            return True
    return False


BOUNDED = [(vendor, call) for vendor, call in CALLS if call in OUT_OF_BOUNDS]


@pytest.mark.parametrize(("vendor", "call"), BOUNDED)
def test_values_out_of_bounds_are_refused(vendor: str, call: str) -> None:
    def requests(walking: Walk) -> Iterator[Sent]:
        for name, values in OUT_OF_BOUNDS[call].items():
            for wrong in values:
                yield walking.make(f"{name} {wrong!r}", body={**(walking.body or {}), name: wrong})

    assert len(BOUNDED) == len(OUT_OF_BOUNDS)
    walk(vendor, call, requests)


@pytest.mark.parametrize(("vendor", "call"), [(vendor, call) for vendor, call in CALLS if call in USED_ONCE])
def test_a_reference_is_taken_once(vendor: str, call: str) -> None:
    async def work(walking: Walk) -> None:
        await walking.expect_success()
        before = walking.prepared.state()
        is_refused, text = await walking.send(walking.make("again"))
        assert is_refused
        assert USED_ONCE[call] in text
        assert walking.prepared.state() == before

    at_twin(vendor, call, work)


def test_every_call_with_a_reference_of_ours_is_tried_twice() -> None:
    names = {"reference", "paymentReference", "refundReference", "accountReference", "request_id"}
    asks = {"POST /charge/submit_otp", "POST /requery"}
    for vendor, call in CALLS:
        fields = MAKERS[vendor]().rules.facts.calls[call].body or {}
        assert (call in USED_ONCE) == (bool(names & fields.keys()) and call not in asks), call


# --- facts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("vendor", MAKERS)
def test_where_sources_differ_a_twin_has_a_switch_that_a_test_turns(vendor: str) -> None:
    prepared = MAKERS[vendor]()
    kept = " ".join(prepared.state())
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py") if path != Path(__file__))
    for fact in prepared.rules.facts.facts:
        assert not fact.switch or f"{fact.switch} " in kept, fact.what
        assert fact.switch in tests, fact.what


def test_the_reference_of_what_was_paid_before_is_not_that_of_an_example() -> None:
    for vendor, call in CALLS:
        form = MAKERS[vendor]().rules.facts.calls[call]
        assert BEFORE not in [field.example for field in (form.body or {}).values()]

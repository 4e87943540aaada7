"""The merchant of a test: its client, its events, and control of the outside and of time."""

import contextlib
import hashlib
import itertools
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from kasuwa.core.money import CURRENCIES
from kasuwa.testing.address import ServerAddress
from kasuwa.testing.control import FaultKind, FaultOperation, FrozenClock, PlannedFault, RailName
from kasuwa.testing.events import Events
from kasuwa.testing.golden import DEFAULT_SEED, GOLDEN_NOW, GoldenFiles, render
from kasuwa.testing.payer import APPROVED_CARD, CVV, Authentication, CheckoutPage, Method, Payer
from kasuwa.testing.recorder import Recorder
from kasuwa.testing.timelines import render_timelines
from kasuwa.testing.transport import Scenarios, make_async_http_client, make_http_client
from kasuwa_client import AsyncKasuwa, AuthenticationError, Event, Kasuwa, Refused, sign_event, verify_event
from kasuwa_client._sync_groups import Sandbox
from kasuwa_client.types import ForkReply

P = ParamSpec("P")
T = TypeVar("T")

EVERY_CALL = 1_000_000
# Values that are sent as they are. Others are written as text: an amount, a day.
AS_IT_IS = (bool, int, list, dict)
# NGN in the wallet of a new merchant.
OPENING_BALANCE = "50000.00"


class SandboxAction(Generic[P, T]):
    """A method of the merchant that is the action of the same name of its client's `sandbox`."""

    def __init__(self, method: Callable[Concatenate[Sandbox, P], T]) -> None:
        self._name = method.__name__
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, merchant: None, owner: type) -> "SandboxAction[P, T]": ...

    @overload
    def __get__(self, merchant: "SandboxMerchant", owner: type) -> Callable[P, T]: ...

    def __get__(self, merchant: "SandboxMerchant | None", owner: type) -> "Callable[P, T] | SandboxAction[P, T]":
        if merchant is None:
            return self
        method: Callable[P, T] = getattr(merchant.client.sandbox, self._name)
        return method


@dataclass(frozen=True)
class Advanced:
    """The result of an advance: business time after it, and how many jobs ran, by kind."""

    now: datetime
    ran: dict[str, int]


@dataclass(frozen=True)
class MailInOutbox:
    """A mail or a text message of a test's merchant."""

    mail_id: str
    purpose: str  # what it is for, such as "invoice"
    reference: str  # what it is about
    channel: str  # "mail", or "sms" for a text message
    to: str
    to_name: str
    sender_name: str
    reply_to: str | None
    subject: str
    text: str
    html: str


@dataclass(frozen=True)
class MailToPerson:
    """A mail to a person of a test's merchant."""

    mail_id: str
    purpose: str  # what it is for, such as "invitation"
    status: str
    to: str
    subject: str
    text: str
    html: str


PERSON_MAIL_FIELDS = tuple(MailToPerson.__dataclass_fields__)
MAIL_FIELDS = tuple(MailInOutbox.__dataclass_fields__)
MOST_MAILS = 100


class SandboxMerchant:
    """A merchant of the test environment that belongs to one test."""

    beneficiary = SandboxAction(Sandbox.beneficiary)
    pay_account = SandboxAction(Sandbox.pay_account)
    card_purchase = SandboxAction(Sandbox.card_purchase)
    card_refund = SandboxAction(Sandbox.card_refund)
    card_authorize = SandboxAction(Sandbox.card_authorize)
    card_capture = SandboxAction(Sandbox.card_capture)
    card_reverse = SandboxAction(Sandbox.card_reverse)
    card_dispute_outcome = SandboxAction(Sandbox.card_dispute_outcome)
    redeem_cashcode = SandboxAction(Sandbox.redeem_cashcode)
    redeem = SandboxAction(Sandbox.redeem_cashcode)
    fund_wallet = SandboxAction(Sandbox.fund_wallet)
    settle = SandboxAction(Sandbox.settle)
    webhook = SandboxAction(Sandbox.webhook)
    explain = SandboxAction(Sandbox.explain)
    clock = SandboxAction(Sandbox.clock)
    audit = SandboxAction(Sandbox.audit)
    reset = SandboxAction(Sandbox.reset)
    new_merchant = SandboxAction(Sandbox.new_merchant)
    new_key = SandboxAction(Sandbox.new_key)
    payout_policy = SandboxAction(Sandbox.payout_policy)
    client_tiers = SandboxAction(Sandbox.client_tiers)
    checkout_origins = SandboxAction(Sandbox.checkout_origins)
    requests = SandboxAction(Sandbox.requests)
    people_mails = SandboxAction(Sandbox.people_mails)
    worlds = SandboxAction(Sandbox.worlds)
    compare_worlds = SandboxAction(Sandbox.compare_worlds)
    delete_world = SandboxAction(Sandbox.delete_world)
    dispute = SandboxAction(Sandbox.dispute)
    dispute_outcome = SandboxAction(Sandbox.dispute_outcome)
    close_books = SandboxAction(Sandbox.close)

    def __init__(self, server: ServerAddress, mid: str, key: str, events: Events, golden_files: GoldenFiles) -> None:
        self.server = server
        self.mid = mid
        self.key = key
        self._golden_files = golden_files
        self._scenarios = Scenarios()
        self._recorder = Recorder()
        self._shops: list[SandboxMerchant] = []
        self._world_numbers = itertools.count(1)
        self._is_frozen = False
        self.seed = DEFAULT_SEED  # of the merchant's random outcomes
        self.client = Kasuwa(
            http_client=make_http_client(self._scenarios), **self._client_options, hooks=[self._recorder]
        )
        # Sends what belongs to no scenario: what the plugin itself wants to know.
        self._plain_client = Kasuwa(http_client=make_http_client(Scenarios()), **self._client_options)
        self.events = events
        events.connect(key, self._deliver_due)

    @property
    def _client_options(self) -> dict[str, Any]:
        return {"mid": self.mid, "key": self.key, "base_url": self.server.url}

    @cached_property
    def async_client(self) -> AsyncKasuwa:
        """The merchant's client for asyncio and trio. Needs no closing: it keeps no connections."""
        http_client = make_async_http_client(self._scenarios)
        return AsyncKasuwa(http_client=http_client, **self._client_options, hooks=[self._recorder])

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def environ(self) -> dict[str, str]:
        """Settings of an application that reads its credentials from the environment."""
        return {"KASUWA_URL": self.url, "KASUWA_MID": self.mid, "KASUWA_KEY": self.key}

    @property
    def references(self) -> list[str]:
        """The references in requests and replies of the merchant's clients, and of its events."""
        delivered = [str(delivery.event.raw["txnRef"]) for delivery in self.events.deliveries]
        return list(dict.fromkeys([*self._recorder.references, *delivered]))

    def __repr__(self) -> str:
        return f"SandboxMerchant(mid={self.mid!r}, url={self.url!r})"

    # --- money and merchants --------------------------------------------------------------------------------------

    def wallet(self, currency: str = "NGN") -> Decimal:
        """Returns the balance of a wallet, also what is held of it; 0 if it was never used. Raises ValueError if there
        can be no wallet in this currency."""
        return self._wallet_line(currency, "balance")

    def available(self, currency: str = "NGN") -> Decimal:
        """Returns what can be spent of a wallet: its balance without what is held. Raises as `wallet` does."""
        return self._wallet_line(currency, "available")

    def _wallet_line(self, currency: str, column: str) -> Decimal:
        if currency not in CURRENCIES:
            raise ValueError(f"currency: must be one of {', '.join(CURRENCIES)}, not {currency!r}")
        lines = self._plain_client.resources.wallet().raw["data"]
        amounts = [Decimal(line[column]) for line in lines if line["currency"] == currency]
        return amounts[0] if amounts else Decimal("0.00")

    def shop(
        self,
        *,
        name: str | None = None,
        balance: Decimal | str | int = OPENING_BALANCE,
        now: datetime | str | None = None,
        seed: str | None = None,
    ) -> "SandboxMerchant":
        """Returns another merchant, with `balance` in its NGN wallet. With `now`, its clock starts at that time and
        stands still. `seed` makes random outcomes the same in every run; by default it follows from that of this
        merchant. The books are audited with those of this merchant."""
        chosen = f"{self.seed} {len(self._shops)}" if seed is None else seed
        files = self._golden_files
        shop = open_merchant(self.server, name=name, balance=balance, now=now, seed=chosen, golden_files=files)
        self._shops.append(shop)
        return shop

    # --- the outside ------------------------------------------------------------------------------------------------

    def fault(
        self,
        rail: RailName,
        kind: FaultKind,
        *,
        on: FaultOperation | None = None,
        times: int = EVERY_CALL,
        probability: Decimal | str | None = None,
    ) -> "PlannedFault":
        """Makes the merchant's next calls of a rail fail, `times` at most. As a context manager, it clears the faults
        of the rail at the end of the block.

        kind: "timeout" (done, and the answer is lost), "reset" (never arrived), "unavailable" (refused before anything
        was done) or "decline".
        on: the only operation of the rail whose calls fail, such as "transfer" of "bank"; by default all of them.
        """
        self.client.sandbox.fault(rail=rail, kind=kind, on=on, times=times, probability=probability)
        return PlannedFault(self.client, rail, on)

    @contextlib.contextmanager
    def scenario(
        self, *, rr: str | None = None, delay: int | None = None, http: str | None = None, webhook: str | None = None
    ) -> Iterator[None]:
        """Sends the requests of the block with a scenario (`x-sandbox-scenario`).

        rr: the response code of the rail, such as "91". delay: seconds of business time until the rail answers.
        http: "timeout", "reset", "500" or "unavailable". webhook: "drop", "dup", "late:<seconds>" or "bad-hash".
        """
        parts = {"rr": rr, "delay": delay, "http": http, "webhook": webhook}
        text = ";".join(f"{name}={value}" for name, value in parts.items() if value is not None)
        with self._scenarios.use(text):
            yield

    def trigger(self, event: str, /, **changes: Any) -> Event:
        """Makes an event such as "dispute.opened" or "loan.late" happen, with everything that it is about, and returns
        it after it was delivered. `changes` replace fields of the requests that lead to it, such as amount="900.00".
        Raises an error of the client for an unknown event, or if a request is refused."""
        fields = {name: value if isinstance(value, AS_IT_IS) else str(value) for name, value in changes.items()}
        entry = self._plain_client.sandbox.trigger(event, fields=fields).data
        self._deliver_due()
        signed = sign_event(entry.payload, self.key, event_id=entry.event_id)
        return verify_event(signed.body, signed.headers, self.key)

    def pay_checkout(
        self,
        url: str,
        *,
        method: Method = "card",
        card: str = APPROVED_CARD,
        auth: Authentication = "OTP",
        otp: str = "123456",
        pin: str = "1234",
        amount: Decimal | str | None = None,
        **entered: str,
    ) -> CheckoutPage:
        """Pays a checkout as a payer does on its pages, and returns the page that the payer ends on.

        url: the address that `checkout` returned. method: the way to pay, such as "token" (a saved card), "account",
            "bank_transfer", "ussd", "phone", "qrpay" or "mobile_money".
        card: its number. auth: whether its bank asks for a code ("OTP"), a PIN or on a page of its own ("3DSecure").
        amount: what is transferred, if it is another sum than the page asks for.
        entered: further fields of the page's form by their names, such as email="payer@example.com".
        Raises CheckoutError if the checkout does not offer the method.
        """
        form_values = {"number": card, "cvv": CVV[auth], **entered}
        sandbox = self._plain_client.sandbox
        with make_http_client(Scenarios()) as http_client:

            def pay_account(number: str, page_sum: str) -> object:
                return sandbox.pay_account(account_number=number, amount=page_sum if amount is None else amount)

            def settle(reference: str) -> object:
                return sandbox.settle(txn_ref=reference, outcome="successful")

            return Payer(http_client, self.url, pay_account, settle).pay(url, method, form_values, otp, pin)

    # --- time -------------------------------------------------------------------------------------------------------

    def advance(
        self,
        *,
        seconds: int | None = None,
        minutes: int | None = None,
        hours: int | None = None,
        days: int | None = None,
        until: datetime | str | None = None,
    ) -> Advanced:
        """Moves business time forward. Returns after everything that falls due on the way was done, in order: rails
        were asked, and events were delivered."""
        durations = {"seconds": seconds, "minutes": minutes, "hours": hours, "days": days, "until": until}
        return advance(self.client, {name: value for name, value in durations.items() if value is not None})

    def _deliver_due(self) -> None:
        advance(self._plain_client, {"seconds": 0})

    def freeze(self, at: datetime | str | None = None) -> "FrozenClock":
        """Stops the merchant's clock, at a later time if `at` is given: only `advance` moves it. As a context manager,
        it lets the clock run again at the end of the block."""
        was_frozen, self._is_frozen = self._is_frozen, True
        self.client.sandbox.freeze()
        clock = FrozenClock(self._unfreeze, was_frozen)
        if at is not None:
            try:
                self.advance(until=at)
            except Refused:
                clock.release()
                raise
        return clock

    def _unfreeze(self) -> None:
        self._is_frozen = False
        self.client.sandbox.freeze(frozen=False)

    # --- mail -------------------------------------------------------------------------------------------------------

    @property
    def mail(self) -> "list[MailInOutbox]":
        """The merchant's mails and text messages that were sent, oldest first. None leaves the test environment."""
        lines = self._plain_client.resources.mails(status="sent", limit=MOST_MAILS).raw["data"]
        details = [self._plain_client.resources.mail_detail(mail_id=line["mail_id"]).raw["data"] for line in lines]
        return [MailInOutbox(**{name: mail[name] for name in MAIL_FIELDS}) for mail in reversed(details)]

    @property
    def people_mail(self) -> "list[MailToPerson]":
        """The newest mails to the merchant's people, oldest first. None leaves the test environment."""
        lines = self._plain_client.sandbox.people_mails(limit=MOST_MAILS).raw["data"]
        shown = [line for line in reversed(lines) if line["text"] is not None]
        return [MailToPerson(**{name: line[name] for name in PERSON_MAIL_FIELDS}) for line in shown]

    # --- worlds -----------------------------------------------------------------------------------------------------

    def snapshot(self, name: str | None = None) -> str:
        """Stores everything that the merchant has. Returns the name to restore it by."""
        chosen = f"world {next(self._world_numbers)}" if name is None else name
        self._plain_client.sandbox.snapshot(name=chosen)
        return chosen

    def restore(self, name: str) -> None:
        """Makes the merchant what it was when a world was stored. Events that were received stay received."""
        self._plain_client.sandbox.restore(name=name)

    def export_world(self, name: str, path: "Path | str", *, passphrase: str) -> None:
        """Writes a world to a file, encrypted with a passphrase of at least 12 characters."""
        reply = self._plain_client.sandbox.export_world(name=name, passphrase=passphrase)
        Path(path).write_bytes(b64decode(reply.file))

    def import_world(self, path: "Path | str", *, passphrase: str, name: str | None = None) -> str:
        """Stores the world of a file. Returns the name to restore or fork it by."""
        chosen = f"world {next(self._world_numbers)}" if name is None else name
        file = b64encode(Path(path).read_bytes()).decode()
        self._plain_client.sandbox.import_world(name=chosen, passphrase=passphrase, file=file)
        return chosen

    def fork(self, name: str | None = None) -> "SandboxMerchant":
        """Returns a new merchant that is a copy of a world, or of this merchant as it is now. Its events come to this
        process. The books are audited with those of this merchant."""
        reply = self._plain_client.sandbox.fork(name=name)
        events = Events()
        copy = SandboxMerchant(self.server, reply.mid, self._find_signing_key(reply), events, self._golden_files)
        # Deliveries that were pending in the world go to the address that it has.
        copy._plain_client.sandbox.webhook(url=events.url)
        copy._is_frozen, copy.seed = self._is_frozen, self.seed
        self._shops.append(copy)
        return copy

    def _find_signing_key(self, copy: ForkReply) -> str:
        """Returns the key that signs the events of a copy: the first of the world. One that came by a file has none,
        and the new key signs."""
        probe = Kasuwa(mid=copy.mid, key=self.key, base_url=self.url, http_client=make_http_client(Scenarios()))
        try:
            probe.sandbox.clock()
        except AuthenticationError:
            return copy.key
        return self.key

    # --- golden files -----------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def golden(self, name: str) -> Iterator["SandboxMerchant"]:
        """Runs a scenario on a merchant of its own, whose clock stands still and whose random outcomes follow from the
        seed, and compares all its requests, replies and events with the golden file of that name. Raises
        AssertionError if they differ."""
        __tracebackhide__ = True
        seed = self._golden_files.make_seed(name)
        shop = self.shop(name=f"Golden {name}", now=GOLDEN_NOW, seed=seed)
        yield shop
        shop.events.flush()
        recorded = render(shop._recorder.exchanges, shop.events.deliveries, url=self.url, seed=seed)
        self._golden_files.check(name, recorded)

    # --- after the test ---------------------------------------------------------------------------------------------

    @property
    def merchants(self) -> list["SandboxMerchant"]:
        """This merchant and all its shops."""
        return [self, *(merchant for shop in self._shops for merchant in shop.merchants)]

    def check_books(self) -> None:
        """Audits the books of this merchant and its shops. Raises AssertionError that names every violation."""
        __tracebackhide__ = True
        violations = [
            f"{merchant.mid}: {line['invariant']}: {line['place']}"
            for merchant in self.merchants
            for line in merchant._plain_client.sandbox.audit().raw["data"]
        ]
        assert not violations, "\n".join(["the books violate their invariants:", *violations])

    def timelines(self) -> str:
        """Returns the timelines of all references that this merchant and its shops touched."""
        shown = [(merchant.mid, render_timelines(merchant._explain_all())) for merchant in self.merchants]
        return "\n\n".join(f"merchant {mid}\n\n{text}" for mid, text in shown if text)

    def _explain_all(self) -> dict[str, Any]:
        timelines = {}
        for reference in self.references:
            # A reference may be of something that the service does not know, such as a refused order.
            with contextlib.suppress(Refused):
                timelines[reference] = self._plain_client.sandbox.explain(reference=reference).raw["data"]
        return timelines

    def close(self) -> None:
        """Ends the receivers of this merchant and its shops."""
        for merchant in self.merchants:
            merchant.events.close()


def advance(client: Kasuwa, durations: dict[str, Any]) -> Advanced:
    """Advances a clock to the end, with as many requests as it takes."""
    ran: dict[str, int] = {}
    while True:
        reply = client.sandbox.advance(**durations).raw
        for kind, count in reply["ran"].items():
            ran[kind] = ran.get(kind, 0) + count
        if not reply.get("more"):
            return Advanced(datetime.fromisoformat(reply["now"]), ran)
        durations = {"until": reply["until"]}


def short_seed(seed: str) -> str:
    """Returns a seed of at most 200 characters, the most that the service takes. Names of tests can be longer."""
    return seed if len(seed) <= 200 else hashlib.sha256(seed.encode()).hexdigest()


def open_merchant(
    server: ServerAddress,
    *,
    name: str | None = None,
    balance: Decimal | str | int = OPENING_BALANCE,
    now: datetime | str | None = None,
    seed: str = DEFAULT_SEED,
    golden_files: GoldenFiles | None = None,
    golden_directory: Path | str = "golden",
) -> SandboxMerchant:
    """Creates a merchant on a server, whose events come to this process."""
    events = Events()
    http_client = make_http_client(Scenarios())
    creator = Kasuwa(mid=server.mid, key=server.key, base_url=server.url, http_client=http_client)
    credentials = creator.sandbox.new_merchant(
        name=name, balance=balance, now=now, webhook=events.url, seed=short_seed(seed)
    )
    files = golden_files or GoldenFiles(Path(golden_directory))
    merchant = SandboxMerchant(server, credentials.mid, credentials.key, events, files)
    merchant._is_frozen, merchant.seed = now is not None, seed
    return merchant

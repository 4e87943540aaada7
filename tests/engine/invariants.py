"""Random requests of the toy slice, and the invariants that its books must keep."""

from collections import Counter

from hypothesis import strategies as st

from kasuwa.core.decision import Job
from kasuwa.engine.batch import Submission
from kasuwa.ledger.chart import Account
from tests.engine.memory_database import MemoryDatabase
from tests.engine.toy import FAILING_RULES, MERCHANTS, VALID_RULES, WALLET, Ticket, ToyRequest, submission

keys = st.none() | st.sampled_from(["k1", "k2"])


def asks(verbs: tuple[str, ...], *, claimed: bool = True) -> st.SearchStrategy[ToyRequest]:
    return st.builds(
        ToyRequest,
        st.sampled_from(verbs),
        st.sampled_from(MERCHANTS),
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from([1, 100, 150, 1_000]),
        keys if claimed else st.none(),
    )


anything = asks((*VALID_RULES, "ask_more", *FAILING_RULES))


def submissions(chosen: list[ToyRequest], first: int = 0) -> list[Submission]:
    """Returns submissions, each with its own entropy, which is the same whatever batch decides it."""
    return [submission(ask, (first + n).to_bytes(32, "big")) for n, ask in enumerate(chosen)]


def funded() -> MemoryDatabase:
    database = MemoryDatabase()
    database.run([submission(ToyRequest("fund", merchant_id, amount=500)) for merchant_id in MERCHANTS])
    return database


def check_invariants(database: MemoryDatabase) -> None:
    for merchant_id in MERCHANTS:
        check_balances(database, merchant_id)
        check_numbering(database, merchant_id)
        check_jobs(database, merchant_id)


def check_balances(database: MemoryDatabase, merchant_id: int) -> None:
    accounts: dict[str, Account] = {account.name: account for account in database.all(Account, merchant_id)}
    assert sum(account.posted for account in accounts.values()) == 0
    running: Counter[str] = Counter()
    for posting in database.postings:
        if posting.merchant_id == merchant_id:
            running[posting.debit] -= posting.amount
            running[posting.credit] += posting.amount
            assert posting.debit_after == running[posting.debit]
            assert posting.credit_after == running[posting.credit]
    held: Counter[str] = Counter()
    for ticket in database.all(Ticket, merchant_id):
        held[WALLET] += ticket.amount if ticket.state == "open" else 0
    for name, account in accounts.items():
        assert (account.posted, account.held) == (running[name], held[name])
        assert account.floor is None or account.available >= account.floor
    assert set(running) <= set(accounts)


def check_numbering(database: MemoryDatabase, merchant_id: int) -> None:
    book = database.book(merchant_id)
    postings = [posting.seq for posting in database.postings if posting.merchant_id == merchant_id]
    events = [event.seq for event in database.events if event.merchant_id == merchant_id]
    numbers = [ticket.number for ticket in database.all(Ticket, merchant_id)]
    assert postings == list(range(1, book.last_posting_seq + 1))
    assert events == list(range(1, book.last_event_seq + 1))
    assert len(set(numbers)) == len(numbers)
    assert max(numbers, default=0) <= book.last_number


def check_jobs(database: MemoryDatabase, merchant_id: int) -> None:
    """Asserts that an open ticket has its job, and an ended one none, but exactly one event."""
    jobs = {job.subject for job in database.all(Job, merchant_id)}
    tickets = [ticket for ticket in database.all(Ticket, merchant_id) if not ticket.ref.startswith("more")]
    still_open = {ticket.key for ticket in tickets if ticket.state == "open"}
    assert jobs == still_open
    events = Counter(event.reference for event in database.events if event.merchant_id == merchant_id)
    assert events == Counter(ticket.ref for ticket in tickets if ticket.state != "open")

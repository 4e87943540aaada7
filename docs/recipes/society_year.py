"""The members of the society who join together: shares, standing orders, a dividend, and savings that are dormant.

The story is told by cooperative.py.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from story import Merchant, kobo, naira, percent

T = TypeVar("T")
BANK = {"bank_code": "058", "account_number": "0040000008"}
TAX_RATE = 10
MEMBERS = 200
SHARE_PRICE, SHARES = "1000.00", 5
SAVED = "40000.00"
ORDERED = "1000.00"  # of a standing order, each month
SAVERS, BORROWERS = 60, 10
LOAN, LOAN_MONTHS = "20000.00", 10
DIVIDEND_RATE = 8
AT_ONCE = 4  # requests


def in_parallel(work: Callable[[int], T], count: int) -> list[T]:
    """Returns the results of the same work for many members, in their order."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(work, range(count)))


class Saver:
    """A member with savings that earn nothing, and what this script expects in them."""

    def __init__(self, client_id: str, savings_id: str) -> None:
        self.client_id = client_id
        self.savings_id = savings_id
        self.balance = 0
        self.shares = 0


def open_savings(society: Merchant, client_id: str, name: str) -> str:
    free = {"interestRate": "0", "interestFrequency": "annualized"}
    fields = {"name": name, "client_id": client_id, "interestSettings": free, "period": 60}
    return str(society.put("investments", action="create_savings", **fields)["data"]["savings_id"])


def join(society: Merchant, number: int) -> Saver:
    """A member joins and brings cash to the meeting."""
    person = {
        "firstname": f"Member {number + 4}",
        "lastname": "Unity",
        "phone": f"0803{number:07}",
        "bankAccount": BANK,
    }
    client = society.put("clients", action="create", data=person, status="active")["data"]
    saver = Saver(client["client_id"], open_savings(society, client["client_id"], "Savings"))
    fields = {"savings_id": saver.savings_id, "payment_method": "wallet", "amount": SAVED}
    society.put("investments", action="deposit", **fields)
    saver.balance += kobo(SAVED)
    return saver


def sell_shares(society: Merchant, class_id: str, saver: Saver) -> None:
    """The savings pay for the shares."""
    fields = {"class_id": class_id, "client_id": saver.client_id, "savings_id": saver.savings_id, "shares": SHARES}
    society.put("investments", action="buy_shares", payment_method="savings", **fields)
    saver.shares += SHARES
    saver.balance -= SHARES * kobo(SHARE_PRICE)


def grow(society: Merchant) -> tuple[str, list[Saver]]:
    """Returns the class of shares and the members who are not among the first three."""
    made = society.put("investments", action="create_share_class", name="Ordinary", price=SHARE_PRICE, votes="member")
    class_id = str(made["data"]["class_id"])
    savers = in_parallel(lambda number: join(society, number), MEMBERS - 3)
    society.wallet -= len(savers) * kobo(SAVED)
    in_parallel(lambda number: sell_shares(society, class_id, savers[number]), len(savers))
    record = society.put("investments", action="list_share_classes")["data"][0]
    society.same("members with shares, and their shares", (197, 985), (record["members"], record["shares"]))
    return class_id, savers


# --- standing orders ----------------------------------------------------------------------------------------


def order(society: Merchant, saver: Saver, target: str, amount: str, day: str) -> Any:
    fields = {"from": saver.savings_id, "to": target, "amount": amount, "frequency": "every_month", "from_date": day}
    return society.put("investments", action="standing_order", **fields)["data"]


def put_aside(society: Merchant, savers: list[Saver]) -> list[Saver]:
    """Each of the members saves for Christmas by a standing order. Returns the savings that are paid."""

    def begin(number: int) -> Saver:
        target = Saver(savers[number].client_id, open_savings(society, savers[number].client_id, "Christmas"))
        order(society, savers[number], target.savings_id, ORDERED, "2026-02-01")
        return target

    return in_parallel(begin, len(savers))


def borrow(society: Merchant, saver: Saver) -> tuple[str, list[str]]:
    """The member borrows, and a standing order pays each installment. Returns the loan and its installments."""
    terms = {"interestRate": "1", "interestFrequency": "every_month"}
    fields = {"client_id": saver.client_id, "interestSettings": terms, "amount": LOAN, "period": LOAN_MONTHS}
    loan = society.put("loans", action="request", **fields)["data"]
    society.put("loans", action="process", loan_id=loan["loan_id"], status="approve")
    events = society.put("resources", inquire="events", limit=10)["data"]
    event = next(line for line in events if line["kind"] == "transfer")
    transfer = society.put("disburse", action="verify", txnRef=event["txnRef"])
    society.wallet -= sum(kobo(transfer[name]) for name in ("amount", "fee", "vat"))
    totals = [str(line["total"]) for line in loan["schedule"]]
    order(society, saver, loan["loan_id"], totals[0], loan["schedule"][0]["due"])
    return str(loan["loan_id"]), totals


def list_orders(society: Merchant, state: str) -> list[Any]:
    return list(society.put("investments", action="list_standing_orders", state=state, limit=200)["data"])


class Year(NamedTuple):
    """The members who are not among the first three, and their standing orders of January."""

    class_id: str
    savers: list[Saver]
    christmas: list[Saver]  # for Christmas, of the first of the savers
    loans: list[tuple[str, list[str]]]  # with their installments, of the first of the savers


def begin_year(society: Merchant) -> Year:
    society.step("197 more members join: each brings 40,000 in cash, and buys five shares of 1,000 out of it")
    class_id, savers = grow(society)
    society.step("Sixty save for Christmas by standing orders, ten borrow and repay by them, and one orders too much")
    christmas = put_aside(society, savers[:SAVERS])
    loans = [borrow(society, saver) for saver in savers[:BORROWERS]]
    bicycle = open_savings(society, savers[-3].client_id, "Bicycle")
    show_order(society, order(society, savers[-3], bicycle, "90000.00", "2026-12-01"))
    return Year(class_id, savers, christmas, loans)


def show_order(society: Merchant, record: Any) -> None:
    society.show(record, "pays", "amount", "frequency", "next_date", "payments", "missed", "reason")


def check_orders(society: Merchant, year: Year) -> None:
    """Eleven payments to each Christmas account, every installment of each loan, and one member who is short."""
    months, savers, christmas, loans = 11, year.savers, year.christmas, year.loans
    for saver, target in zip(savers, christmas, strict=False):
        saver.balance -= months * kobo(ORDERED)
        target.balance += months * kobo(ORDERED)
    for saver, (_, totals) in zip(savers, loans, strict=False):
        repaid = sum(kobo(total) for total in totals)
        saver.balance -= repaid
        society.wallet += repaid
    states = [society.put("loans", action="view", loan_id=loan_id)["data"]["state"] for loan_id, _ in loans]
    society.same("loans repaid by standing orders", len(loans), states.count("closed_repaid"))
    ended, active = list_orders(society, "ended"), list_orders(society, "active")
    society.same("standing orders that ended with their loan", len(loans), len(ended))
    society.same("standing orders that go on", len(christmas) + 1, len(active))
    [late] = [line for line in active if line["missed"]]
    show_order(society, late)
    held = society.put("investments", action="list_savings", client_id=savers[0].client_id)["data"]
    expected = sorted(naira(one.balance) for one in (savers[0], christmas[0]))
    society.same("what a borrower has", expected, sorted(naira(kobo(line["balance"])) for line in held))


# --- the end of the year ------------------------------------------------------------------------------------


def pay_dividend(society: Merchant, class_id: str, savers: list[Saver]) -> None:
    """Eight percent on every share, less tax, to every member at once."""
    each = percent(SHARES * kobo(SHARE_PRICE), DIVIDEND_RATE)
    tax = percent(each, TAX_RATE)
    fields = {"class_id": class_id, "rate": str(DIVIDEND_RATE), "record_date": "2026-12-30"}
    for figure in society.put("investments", action="declare_dividend", dry_run=True, **fields)["explained"]:
        society.show(figure, "what", "amount", "how")
    society.put("investments", action="declare_dividend", **fields)
    society.advance("2026-12-31T10:01:00+01:00")
    [paid] = society.put("investments", action="list_dividends", class_id=class_id)["data"]
    for saver in savers:
        saver.balance += each - tax
    society.wallet -= each * len(savers)
    society.same("the dividend", naira(each * len(savers)), naira(kobo(paid["paid"])))
    society.same("tax withheld from it", naira(tax * len(savers)), naira(kobo(paid["withheld_tax"])))


def leave(society: Merchant, class_id: str, saver: Saver) -> None:
    """A member gives the shares back, which another key consents to, takes all money out and leaves."""
    fields = {"class_id": class_id, "client_id": saver.client_id, "shares": saver.shares}
    asked = society.put("investments", action="redeem_shares", **fields)["data"]
    board = find_board(society)
    board.put("investments", action="approve_redemption", redemption_id=asked["redemption_id"])
    saver.balance += saver.shares * kobo(SHARE_PRICE)
    cash = {"savings_id": saver.savings_id, "client_id": saver.client_id, "method": "cash"}
    taken = society.put("investments", action="cashout", amount=f"{saver.balance / 100:.2f}", **cash)
    society.wallet += saver.balance
    society.tell(f"{naira(saver.balance)} in cash; {taken['balance']} is left")
    left = society.put("clients", action="update", client_id=saver.client_id, status="exited")["data"]
    society.same("the member", "exited", left["status"])


def find_board(society: Merchant) -> Merchant:
    """Returns the society with another key, of scope approve."""
    key = society.put("sandbox", action="new_key", name="board", scopes=["approve"])["key"]
    return Merchant(society.address, society.mid, key)


def count_dormant(society: Merchant) -> int:
    return int(society.put("investments", action="list_savings", state="dormant", limit=1)["total"])


def pay_by_transfer(society: Merchant, saver: Saver, amount: str) -> None:
    """The member transfers money into the account number of a payment. The society bears its fee."""
    fee = society.put("resources", inquire="charges", type="bank_transfer", amount=amount)["data"]
    fields = {"savings_id": saver.savings_id, "payment_method": "bank_transfer", "amount": amount}
    shown = society.put("investments", 202, action="deposit", **fields)
    society.put("sandbox", action="pay_account", accountNumber=shown["accountNumber"], amount=amount)
    society.wallet -= kobo(fee["fee"]) + kobo(fee["vat"])


def wake(society: Merchant, year: Year, others: int) -> None:
    """Savings that nobody moved for a year are dormant: a standing order is no movement of the member's own. One member
    comes back with a transfer, another with her passport. `others` have dormant savings too."""
    expected = others + len(year.savers) - 1 + len(year.christmas)
    society.same("dormant savings", expected, count_dormant(society))
    first, second = year.savers[-1], year.savers[-2]
    cash = {"savings_id": first.savings_id, "client_id": first.client_id, "method": "cash", "amount": "100.00"}
    society.show(society.put("investments", 104, action="cashout", **cash), "code", "message")
    pay_by_transfer(society, first, "500.00")
    reason = "came to the meeting with her passport"
    asked = society.put("investments", action="reactivate_savings", savings_id=second.savings_id, reason=reason)
    society.show(asked, "message")
    decided = find_board(society).put(
        "investments", action="decide_reactivation", savings_id=second.savings_id, status="approve"
    )
    society.show(decided, "message")
    society.same("dormant savings after that", expected - 2, count_dormant(society))

"""The model of savings and loans: interest day by day in fractions, and a schedule of installments."""

from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction

from tests.simulate.model_books import (
    FAILED,
    INSUFFICIENT_FUNDS,
    MAX_AMOUNT,
    MIN_AMOUNT,
    SUCCESSFUL,
    WALLET,
    Id,
    Reply,
    Txn,
    add_months,
    money,
    refuse,
)
from tests.simulate.model_cards import Cards
from tests.simulate.model_loans import Loan, half_up
from tests.simulate.model_rails import BY_ACCOUNT, DECLINED, PAYER_CARDS, WRONG_PINS

INTERVALS_A_YEAR = {"annualized": 1, "every_month": 12, "every_four_weeks": 13, "every_week": 52, "every_day": 365}

# Bank accounts of the clients: paid at once, declined, paid later.
CLIENTS = ("0000000000", "0000005100", "0000000900")

PENDING, ACTIVE, MATURED, CLOSED = "pending", "active", "matured", "closed"
CODE_MINUTES = 1440


@dataclass
class Savings:
    key: str
    client: int
    opened_on: date
    period: int
    annual: Fraction
    tax: Fraction
    is_open: bool = True
    had_money: bool = False
    is_maturity_reported: bool = False
    months: int = 0
    # Each deposit and what it has earned since the last posting; the newest is last.
    deposits: list[tuple[int, Fraction]] = field(default_factory=list)
    due_interest: int = 0
    due_tax: int = 0
    # What money has earned since the last posting that has left without forfeiting it: contributions to a thrift plan.
    kept: Fraction = Fraction(0)

    @property
    def account(self) -> str:
        return f"savings:{self.key}:NGN"

    @property
    def accrued(self) -> Fraction:
        return sum((earned for _, earned in self.deposits), self.kept)

    @property
    def unpaid(self) -> int:
        """Interest that has been earned and not been paid."""
        return self.due_interest + half_up(self.accrued)

    def record_deposit(self, balance: int) -> None:
        """Adds money that has come in to the savings."""
        came = balance - sum(amount for amount, _ in self.deposits)
        assert came >= 0, "what leaves is taken"
        if came:
            self.deposits.append((came, Fraction(0)))

    def take(self, amount: int, *, forfeits: bool = True) -> None:
        """Removes an amount, newest deposits first, with the interest that they earned if that is forfeited."""
        while amount:
            piece, earned = self.deposits.pop()
            part = min(piece, amount)
            if part < piece:
                self.deposits.append((piece - part, earned * (piece - part) / piece))
            self.kept += 0 if forfeits else earned * part / piece
            amount -= part

    @property
    def matures_on(self) -> date:
        return add_months(self.opened_on, self.period)

    def state_on(self, day: date) -> str:
        if not self.is_open:
            return CLOSED
        if day >= self.matures_on:
            return MATURED
        return ACTIVE if self.had_money else PENDING


class Clients(Cards):
    def __init__(self, now: datetime) -> None:
        super().__init__(now)
        self.savings: dict[str, Savings] = {}
        self.loans: dict[str, Loan] = {}
        self.is_interest_due = False

    # --- savings -------------------------------------------------------------------------------------------------

    def open_savings(self, key: str, client: int, rate: str, frequency: str, period: int, tax: str) -> Reply:
        annual = Fraction(rate) / 100 * INTERVALS_A_YEAR[frequency]
        self.savings[key] = Savings(key, client, self.today, period, annual, Fraction(tax) / 100)
        return {"status": 200}

    def deposit(self, key: str, amount: int) -> Reply:
        """Deposits from the wallet."""
        savings = self.savings[key]
        if not savings.is_open:
            return refuse(104, CLOSED)
        if self.available(WALLET) < amount:
            return INSUFFICIENT_FUNDS
        self.move((WALLET, savings.account, amount))
        self.add_event("deposit", "", SUCCESSFUL, amount, method="wallet", savings_id=Id(key))
        self.receive(savings, amount)
        return {"status": 200, "txnStatus": SUCCESSFUL, "balance": money(self.available(savings.account))}

    def receive(self, savings: Savings, amount: int) -> None:
        """Called after savings have got money: pending ones are active."""
        assert savings.is_open
        savings.had_money = True

    def deposit_by_card(self, key: str, of: str, amount: int, number: str, pin: str) -> Reply:
        """Deposits by card. The savings get the whole amount; the wallet pays the fee."""
        savings = self.savings[of]
        if not savings.is_open:
            return refuse(104, CLOSED)
        outcome = DECLINED if pin in WRONG_PINS else PAYER_CARDS[number].charge
        fee = self.card_fee(amount, "NGN", PAYER_CARDS[number].local)
        moves = (("rail:card:NGN", savings.account, amount), *self.fee_moves(WALLET, "collection", "NGN", fee))
        holds, vat = {WALLET: fee + self.vat(fee)}, self.vat(fee)
        txn = Txn(key, "deposit", amount, fee, vat, self.now, outcome, (), holds, moves, of)
        return {"status": 200, "txnStatus": txn.status} if self.begin(txn) else INSUFFICIENT_FUNDS

    def cash_out(self, key: str, of: str, client: int, amount: int, method: str, pin: str) -> Reply:
        savings = self.savings[of]
        if amount > MAX_AMOUNT["NGN"]:
            return refuse(104, "amount")
        if client != savings.client:
            return refuse(104, "client_id")
        if not savings.is_open:
            return refuse(104, CLOSED)
        if amount < MIN_AMOUNT["NGN"] and amount != self.available(savings.account):
            return refuse(104, "amount")
        if method == "cash":
            if self.available(savings.account) < amount:
                return INSUFFICIENT_FUNDS
            self.take(savings, amount)
            self.move((savings.account, WALLET, amount))
            self.add_event("cashout", key, SUCCESSFUL, amount, method="cash", savings_id=Id(of))
        elif method == "transfer":
            txn = self.new_transfer(key, amount, savings.account, BY_ACCOUNT[CLIENTS[client]], of)
            if not self.begin(txn):
                return INSUFFICIENT_FUNDS
            return {"status": 200, "txnStatus": txn.status, "balance": money(self.available(savings.account))}
        elif not self.new_code(key, amount, pin, "ATM", CODE_MINUTES, savings.account, purpose=of):
            return INSUFFICIENT_FUNDS
        return {"status": 200, "balance": money(self.available(savings.account))}

    def take(self, savings: Savings, amount: int) -> None:
        """Cashes out an amount. It loses what it earned this month. Savings without a balance are closed."""
        had = self.posted[savings.account]
        savings.record_deposit(had)
        savings.take(amount)
        if had == amount and self.is_closable(savings):
            savings.is_open = False

    def is_closable(self, savings: Savings) -> bool:
        """Returns whether savings that are empty can be closed."""
        awaits_deposit = any(
            txn.kind == "deposit" and txn.purpose == savings.key and not txn.is_final for txn in self.txns.values()
        )
        return not savings.unpaid and not awaits_deposit

    def close_savings(self, key: str) -> Reply:
        """Closes empty savings, by taking nothing out. Contract: investments#close"""
        savings = self.savings[key]
        if not savings.is_open:
            return refuse(104, CLOSED)
        if self.posted[savings.account] or not self.is_closable(savings):
            return refuse(104, "amount")
        savings.is_open = False
        self.reached["empty savings closed"] += 1
        return {"status": 200, "balance": money(0)}

    def end(self, txn: Txn, status: str) -> None:
        """Ends a transaction. Savings accrue interest on the balance before the money leaves."""
        if status == SUCCESSFUL and txn.purpose in self.savings and txn.kind != "deposit":
            self.take(self.savings[txn.purpose], txn.amount)
        super().end(txn, status)

    def expected_savings(self, key: str) -> Reply:
        savings = self.savings[key]
        return {
            "state": savings.state_on(self.today),
            "balance": money(self.available(savings.account)),
            "accrued_interest": money(savings.unpaid),
        }

    def accrue_day(self) -> None:
        """Ends a day: accrues its interest on the closing balance. A month that ends is rounded and becomes due."""
        self.is_interest_due = True
        for savings in self.savings.values():
            savings.record_deposit(self.posted[savings.account])
            if savings.months < savings.period:
                savings.deposits = [(sum_, earned + sum_ * savings.annual / 365) for sum_, earned in savings.deposits]
                if add_months(savings.opened_on, savings.months + 1) == self.today:
                    interest = half_up(savings.accrued)
                    savings.deposits, savings.kept = [(sum_, Fraction(0)) for sum_, _ in savings.deposits], Fraction(0)
                    savings.months += 1
                    savings.due_interest += interest
                    savings.due_tax += half_up(interest * savings.tax)
                    self.close_if_over(savings)

    def pay_interest(self) -> None:
        """Posts the interest that is due, as far as the wallet covers it, with an event. Another tells of savings that
        mature, or the same if both come together."""
        self.is_interest_due = False
        for savings in self.savings.values():
            interest, tax = savings.due_interest, savings.due_tax
            is_paid = 0 < interest <= self.available(WALLET)
            if is_paid:
                self.move((WALLET, savings.account, interest))
                self.move((savings.account, "tax:withholding:NGN", tax))
                savings.due_interest = savings.due_tax = 0
            matures = savings.state_on(self.today) == MATURED and not savings.is_maturity_reported
            savings.is_maturity_reported |= matures
            if is_paid or matures:
                self.add_event(
                    "savings",
                    savings.key,
                    SUCCESSFUL,
                    interest - tax if is_paid else 0,
                    method="wallet",
                    savings_id=Id(savings.key),
                    client_id=Id(f"client {savings.client}"),
                    step="matured" if matures else "interest_posted",
                    interest=money(interest),
                    tax=money(tax),
                )

    def close_if_over(self, savings: Savings) -> None:
        is_empty = not self.posted[savings.account] and self.is_closable(savings)
        if self.today >= savings.matures_on and is_empty:
            savings.is_open = False

    # --- loans ---------------------------------------------------------------------------------------------------

    def request_loan(
        self, key: str, client: int, amount: int, rate: str, frequency: str, period: int, method: str, tax: str
    ) -> Reply:
        if amount < MIN_AMOUNT["NGN"]:
            return refuse(104, "amount")
        each = Fraction(rate) / 100 / (12 if frequency == "annualized" else 1)
        self.loans[key] = Loan(key, client, amount, each, frequency, period, method, Fraction(tax) / 100)
        return {"status": 200, "message": "Loan Requested"}

    def process(self, key: str, loan_key: str, step: str) -> Reply:
        loan = self.loans[loan_key]
        allowed = ("pending_approval",) if step == "reject" else ("pending_approval", "approved")
        if loan.state not in allowed:
            return refuse(104, self.loan_state(loan))
        if step == "approve":
            was, loan.state = loan.state, "disbursing"
            if not self.begin(self.new_transfer(key, loan.amount, WALLET, BY_ACCOUNT[CLIENTS[loan.client]], loan_key)):
                loan.state = was
                return INSUFFICIENT_FUNDS
        else:
            loan.state = "closed_rejected" if step == "reject" else "closed_withdrawn"
        return {"status": 200}

    def end_disbursement(self, loan: Loan, status: str) -> None:
        if status == FAILED:
            loan.state = "approved"
            return
        loan.pay_out(self.today)
        self.move(("lending:principal:NGN", loan.account("principal"), loan.amount))
        for part in ("interest", "tax"):
            self.move((f"lending:{part}_agreed:NGN", loan.account(part), loan.owed(part)))

    def payoff(self, loan: Loan) -> int:
        return loan.payoff(self.today)

    def default_repayment(self, loan: Loan) -> int:
        return loan.default_repayment(self.today)

    def repay(self, key: str, amount: int | None, number: str = "", pin: str = "") -> Reply:
        """Repays a loan. From the wallet, only the claim is posted, because the merchant has the money already. A card
        payment also brings the money, less its fee."""
        loan = self.loans[key]
        if not loan.is_owed:
            return refuse(104, self.loan_state(loan))
        amount = self.default_repayment(loan) if amount is None else amount
        payoff = self.payoff(loan)
        if amount > payoff:
            return refuse(104, "closes the loan")
        if number:
            is_declined = pin in WRONG_PINS or PAYER_CARDS[number].charge == DECLINED
            status = FAILED if is_declined else SUCCESSFUL
            self.add_event("payment", "", status, amount, method="card", loan_id=Id(key))
            if is_declined:
                return {"status": 200, "txnStatus": FAILED}
            fee = self.card_fee(amount, "NGN", PAYER_CARDS[number].local)
            self.move(("rail:card:NGN", WALLET, amount), *self.fee_moves(WALLET, "collection", "NGN", fee))
        else:
            self.add_event("repayment", "", SUCCESSFUL, amount, method="wallet", loan_id=Id(key), orderRef=Id(""))
        self.credit(loan, amount)
        return {"status": 200, "txnStatus": SUCCESSFUL, "chargedAmount": money(amount)}

    def credit(self, loan: Loan, amount: int) -> None:
        paid = loan.repay(amount, self.today)
        loan.is_in_arrears = loan.is_owed and loan.is_late(self.today)
        self.move((loan.account("principal"), "lending:principal:NGN", paid.principal))
        for part, earned, change in (
            ("interest", paid.interest, paid.interest_change),
            ("tax", paid.tax, paid.tax_change),
        ):
            self.move((loan.account(part), f"lending:{part}_earned:NGN", earned))
            self.move((loan.account(part), f"lending:{part}_agreed:NGN", -change))

    def become_late(self, loan: Loan) -> None:
        """Puts a loan into arrears, with the event that tells what is late. Contract: loans#events"""
        loan.is_in_arrears = True
        late = sum(line.owed for line in loan.lines if line.due < self.today)
        self.add_event(
            "loan",
            loan.key,
            SUCCESSFUL,
            late,
            loan_id=Id(loan.key),
            client_id=Id(f"client {loan.client}"),
            step="late",
            state=self.loan_state(loan),
            outstanding=money(sum(line.owed for line in loan.lines)),
        )

    def loan_state(self, loan: Loan) -> str:
        return "active_in_arrears" if loan.is_owed and loan.is_late(self.today) else loan.state

    def expected_loan(self, key: str) -> Reply:
        loan = self.loans[key]
        owed = loan.is_owed
        figures = {part: loan.owed(part) for part in ("principal", "interest", "tax")}
        figures["total"] = sum(figures.values())
        figures["payoff"] = self.payoff(loan) if owed else 0
        return {"state": self.loan_state(loan), "outstanding": {name: money(value) for name, value in figures.items()}}

    # --- what ends -----------------------------------------------------------------------------------------------

    def on_end(self, txn: Txn) -> None:
        if txn.kind == "deposit":
            if txn.status == SUCCESSFUL:
                self.receive(self.savings[txn.purpose], txn.amount)
            else:
                self.close_if_over(self.savings[txn.purpose])
        elif txn.purpose in self.loans:
            self.end_disbursement(self.loans[txn.purpose], txn.status)
        else:
            super().on_end(txn)

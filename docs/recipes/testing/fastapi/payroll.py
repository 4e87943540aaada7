"""A payroll service: pays salaries, and learns from events which have arrived."""

import os
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Request, Response
from pydantic import BaseModel

from kasuwa_client import AsyncKasuwa, InsufficientFunds, InvalidSignature, OutcomeUnknown, TransferEvent, verify_event

app = FastAPI()


class Salary(BaseModel):
    """A salary to pay. Its id is the orderRef: a request that is sent again does not pay again."""

    id: str
    amount: Decimal
    bankcode: str
    accountnumber: str


@dataclass
class Payroll:
    """The client, the key that events are signed with, and the states of the salaries by id."""

    client: AsyncKasuwa
    key: str
    states: dict[str, str] = field(default_factory=dict)

    def set_state(self, salary_id: str, state: str) -> None:
        """Sets the state of a salary, unless it is final."""
        if self.states.get(salary_id) not in ("successful", "failed"):
            self.states[salary_id] = state


def get_payroll(request: Request) -> Payroll:
    """Returns the payroll of the process. Tests override this dependency."""
    if not hasattr(request.app.state, "payroll"):
        key = os.environ["KASUWA_KEY"]
        client = AsyncKasuwa(mid=os.environ["KASUWA_MID"], key=key, base_url=os.environ["KASUWA_URL"])
        request.app.state.payroll = Payroll(client, key)
    payroll: Payroll = request.app.state.payroll
    return payroll


PayrollDependency = Annotated[Payroll, Depends(get_payroll)]


@app.post("/salaries", status_code=202)
async def pay_salary(salary: Salary, payroll: PayrollDependency) -> dict[str, str]:
    payroll.set_state(salary.id, "processing")
    try:
        sent = await payroll.client.disburse.transfer(
            amount=salary.amount,
            bankcode=salary.bankcode,
            accountnumber=salary.accountnumber,
            order_ref=salary.id,
        )
    except InsufficientFunds:
        payroll.set_state(salary.id, "failed")
        raise HTTPException(402, "the wallet does not cover this salary") from None
    except OutcomeUnknown:
        return {"state": "processing"}
    payroll.set_state(salary.id, sent.txn_status)
    return {"state": payroll.states[salary.id]}


@app.get("/salaries/{salary_id}")
async def read_salary(salary_id: str, payroll: PayrollDependency) -> dict[str, str]:
    if salary_id not in payroll.states:
        raise HTTPException(404)
    return {"state": payroll.states[salary_id]}


@app.post("/webhooks/kasuwa")
async def receive_event(request: Request, payroll: PayrollDependency) -> Response:
    try:
        event = verify_event(await request.body(), request.headers, payroll.key)
    except InvalidSignature:
        return Response(status_code=400)
    if isinstance(event, TransferEvent) and event.order_ref in payroll.states:
        payroll.set_state(event.order_ref, event.txn_status)
    return Response()

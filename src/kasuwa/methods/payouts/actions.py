"""Rows of `PUT /resources` about payouts by schedule, the step of their job, and the purpose of their transfers."""

from kasuwa.core.action import PAY, FieldRule, Read, Step, Write
from kasuwa.methods.payouts import model, rules, store, wire
from kasuwa.rails.ports.orders import call_no_rail

RESOURCES = (
    Write(
        name="payout_schedule",
        scope="payout",
        selector="request",
        request=wire.ScheduleRequest,
        reply=wire.ScheduleReply,
        rules=(
            FieldRule(("bank_code",), rules.check_optional_bank),
            FieldRule(("bank_code", "account_number"), rules.check_optional_account),
        ),
        needs=rules.need_schedule,
        decide=rules.decide_schedule,
        permission=PAY,
        summary="Pay the wallet out to your bank account by a schedule",
        example={
            "request": "payout_schedule",
            "frequency": "weekly",
            "least": "10000.00",
            "bankcode": "058",
            "accountnumber": "0000000000",
        },
    ),
    Read(
        name="payout_schedule",
        scope="read",
        title="payouts",
        request=wire.ScheduleReadRequest,
        reply=wire.ScheduleReply,
        read=store.read_schedule,
        summary="The schedule of payouts",
        example={"inquire": "payout_schedule"},
    ),
)

PURPOSES = (rules.PAYOUT_PURPOSE_RULES,)

STEPS = (Step(model.PAY_OUT, model.LANE, call_no_rail, rules.need_payout, rules.decide_payout, accepts_callback=False),)

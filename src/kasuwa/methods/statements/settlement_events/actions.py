"""Rows of `PUT /resources` about daily events of settlements, and the step of their job."""

from kasuwa.core.action import INTEGRATE, Read, Step, Write
from kasuwa.methods.statements.settlement_events import model, rules, store, wire
from kasuwa.rails.ports.orders import call_no_rail

RESOURCES = (
    Write(
        name="settlement_events",
        selector="request",
        request=wire.SettlementEventsRequest,
        reply=wire.SettlementEventsReply,
        needs=rules.need_setting,
        decide=rules.decide_setting,
        permission=INTEGRATE,
        summary="Turn daily events of settlements on or off",
        example={"request": "settlement_events", "daily": True},
    ),
    Read(
        name="settlement_events",
        scope="read",
        title="daily_settlement_events",
        request=wire.SettlementEventsReadRequest,
        reply=wire.SettlementEventsReply,
        read=store.read_setting,
        summary="Whether daily events of settlements are on",
        example={"inquire": "settlement_events"},
    ),
)

STEPS = (
    Step(
        model.REPORT_DAY,
        model.LANE,
        call_no_rail,
        rules.need_day,
        rules.decide_day,
        accepts_callback=False,
        read=store.read_ended_day,
    ),
)

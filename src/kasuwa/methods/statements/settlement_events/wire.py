"""Requests and replies of `resources` about daily events of settlements. Contract: resources#settlement-events"""

from typing import Literal

import msgspec


class SettlementEventsRequest(msgspec.Struct, kw_only=True):
    """Turns daily events of settlements on or off."""

    daily: bool
    """true: after the end of each day in Lagos, beginning with today, you get one event for each settlement of that
    day. false: you get none."""


class SettlementEventsReadRequest(msgspec.Struct, kw_only=True):
    """Reads whether daily events of settlements are on."""


class SettlementEventsState(msgspec.Struct, kw_only=True):
    """Whether you get daily events of settlements."""

    daily: bool
    "Whether they are on."
    next_event: str | None
    "When the settlements of the next day to report are sent, in UTC. Null if daily events are off."
    last_day: str | None
    "The last day whose settlements were reported, in Lagos. Null before the first."


class SettlementEventsReply(msgspec.Struct, kw_only=True):
    """Whether you get daily events of settlements."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."
    data: SettlementEventsState
    "The setting."

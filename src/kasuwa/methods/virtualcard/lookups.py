"""Asks the merchant's decider about a purchase with one of its cards."""

from kasuwa.core.decision import Merchant
from kasuwa.core.scenario import Scenario
from kasuwa.rails.ports.all_rails import Rails
from kasuwa.rails.ports.decider import DeciderAnswer, DeciderQuestion


async def ask_decider(question: DeciderQuestion, merchant: Merchant, rails: Rails, scenario: Scenario) -> DeciderAnswer:
    return await rails.decider.ask(question, merchant, scenario)

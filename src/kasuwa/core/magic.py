"""What the values of a payment tell the test environment: the codes in a card number, the PIN, the payer's code.

The sandbox rails keep nothing. So that a question after a lost answer can be answered as the lost step would have been,
what the values tell is read off before the rail is called and kept with the job: which codes the card carries and
whether the payer's proof is right. The values themselves (CVV, PIN, OTP) are not kept. In live nothing is read.
(data/magic_values)
"""

from typing import Literal

import msgspec

APPROVED = "00"

MAGIC_BINS = frozenset({"411111", "512345", "506099"})
# BIN(6) RR SS FF NNN C: the charge, later charges by token, the refund.
CHARGE_CODE, TOKEN_CODE, REFUND_CODE = slice(6, 8), slice(8, 10), slice(10, 12)

# The card that the READMEs of public clients show; it is good with any expiry. Contract: payment#charge
SAMPLE_CARD = "5438898014560229"

AUTH_BY_CVV = {"000": "OTP", "100": "PIN", "200": "3DSecure"}
DEFAULT_AUTH = "OTP"

RIGHT_OTP, EXPIRED_OTP, UNKNOWN_OTP = "123456", "111111", "999999"
PIN_CODES = {"0000": "55", "9999": "75"}

# How the payer has proved who they are. `lost`: right, and the rail's answer to it is lost.
Proof = Literal["", "right", "wrong", "expired", "lost", "declined"]


class SandboxOutcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the values sent tell the sandbox. `proof` is the payer's code in `validate`, `pin` the response code that a
    wrong PIN gets and 00 for a right one; both are empty where none was brought."""

    charge: str = APPROVED
    refund: str = APPROVED
    auth: str = ""
    pin: str = ""
    proof: Proof = ""


DEFAULT_OUTCOME = SandboxOutcome()


def card_outcome_codes(number: str) -> tuple[str, str, str]:
    """RR, SS and FF of a card number."""
    if number[:6] not in MAGIC_BINS:
        return APPROVED, APPROVED, APPROVED
    return number[CHARGE_CODE], number[TOKEN_CODE], number[REFUND_CODE]


def outcome_of_card(number: str, cvv: str, pin: str) -> SandboxOutcome:
    charge, _, refund = card_outcome_codes(number)
    auth = AUTH_BY_CVV.get(cvv, DEFAULT_AUTH)
    return SandboxOutcome(charge=charge, refund=refund, auth=auth, pin=PIN_CODES.get(pin, APPROVED) if pin else "")


def proof_of(otp: str | None) -> Proof:
    """`None` where the payer declined; the empty text is an approval without a code, on a wallet's page."""
    if otp is None:
        return "declined"
    named: dict[str, Proof] = {"": "right", RIGHT_OTP: "right", EXPIRED_OTP: "expired", UNKNOWN_OTP: "lost"}
    return named.get(otp, "wrong")

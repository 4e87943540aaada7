"""Magic values of payments in the test environment: codes in a card number, the CVV, the PIN and the payer's OTP.

The sandbox rails store nothing. The outcome that the values select is computed before the rail is called and stored
with the job, so that a later query gets the same answer. The values themselves (CVV, PIN, OTP) are not stored. In live
they have no meaning. Data: data/magic_values.json. Contract: sandbox#magic
"""

from typing import Literal

import msgspec

APPROVED = "00"

MAGIC_BINS = frozenset({"411111", "512345", "506099"})
# A magic card number is BIN(6) RR SS FF NNN C: response codes of the charge, of later token charges, of the refund.
CHARGE_CODE, TOKEN_CODE, REFUND_CODE = slice(6, 8), slice(8, 10), slice(10, 12)

# The card in the READMEs of public clients. It is valid with any expiry date. Contract: payment#charge
SAMPLE_CARD = "5438898014560229"

AUTH_BY_CVV = {"000": "OTP", "100": "PIN", "200": "3DSecure"}
DEFAULT_AUTH = "OTP"

RIGHT_OTP, EXPIRED_OTP, UNKNOWN_OTP = "123456", "111111", "999999"
PIN_CODES = {"0000": "55", "9999": "75"}

# Result of the payer's authentication. `lost`: right, but the rail's answer is lost.
Proof = Literal["", "right", "wrong", "expired", "lost", "declined"]


class SandboxOutcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """The outcome that the values of a test payment select. Stored with the job."""

    charge: str = APPROVED  # response code of the charge
    refund: str = APPROVED  # response code of a refund
    auth: str = ""  # authentication required: OTP, PIN or 3DSecure
    pin: str = ""  # response code of the PIN; empty if none was sent
    proof: Proof = ""  # result of the OTP sent in `validate`; empty if none was sent


DEFAULT_OUTCOME = SandboxOutcome()


def card_outcome_codes(number: str) -> tuple[str, str, str]:
    """Returns the charge, token and refund codes of a card number. All are approved for ordinary cards."""
    if number[:6] not in MAGIC_BINS:
        return APPROVED, APPROVED, APPROVED
    return number[CHARGE_CODE], number[TOKEN_CODE], number[REFUND_CODE]


def outcome_of_card(number: str, cvv: str, pin: str) -> SandboxOutcome:
    """Returns the outcome that a card number, CVV and PIN select. An empty PIN was not sent."""
    charge, _, refund = card_outcome_codes(number)
    auth = AUTH_BY_CVV.get(cvv, DEFAULT_AUTH)
    return SandboxOutcome(charge=charge, refund=refund, auth=auth, pin=PIN_CODES.get(pin, APPROVED) if pin else "")


def choose_proof(otp: str | None) -> Proof:
    """Returns the authentication result of an OTP. None: the payer declined. Empty: approved without a code."""
    if otp is None:
        return "declined"
    named: dict[str, Proof] = {"": "right", RIGHT_OTP: "right", EXPIRED_OTP: "expired", UNKNOWN_OTP: "lost"}
    return named.get(otp, "wrong")

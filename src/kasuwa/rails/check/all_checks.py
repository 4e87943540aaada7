"""All checks of the conformance kit, in the order in which they run."""

from kasuwa.rails.check import card_checks, collection_checks, further_checks, signature_checks, transfer_checks
from kasuwa.rails.check.run import Check

ALL_CHECKS: dict[str, Check] = {
    **signature_checks.CHECKS,
    **transfer_checks.CHECKS,
    **further_checks.CHECKS,
    **collection_checks.CHECKS,
    **card_checks.CHECKS,
}

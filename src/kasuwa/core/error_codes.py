"""The codes of errors: what is wrong, for programs. Contract: errors

A refusal has its code where it is declared (`Refusal.error_code`), and a fault of a field where it is found
(`FieldError.code`). The codes below are those of faults that no constant stands for. A code never changes its meaning.
"""

# Of a refusal that was made without a code. No source makes one: a test says so.
UNNAMED = "request_refused"

FIELD_INVALID = "field_invalid"
FIELD_REQUIRED = "field_required"
FIELD_WRONG_TYPE = "field_wrong_type"
FIELD_NOT_A_CHOICE = "field_not_a_choice"
FIELD_NUL = "field_has_nul"
HEADER_INVALID = "header_invalid"
AMOUNT_SEPARATORS = "amount_has_separators"
AMOUNT_CURRENCY = "amount_has_currency"
AMOUNT_NEGATIVE = "amount_negative"
AMOUNT_ZERO = "amount_zero"
AMOUNT_DECIMALS = "amount_too_precise"
AMOUNT_EXPONENT = "amount_has_exponent"
AMOUNT_DIGITS = "amount_too_large"
AMOUNT_NO_NUMBER = "amount_not_a_number"
DAY_IN_THE_PAST = "day_in_the_past"
DAY_OUTSIDE_LOAN = "day_outside_loan"
FIRST_DUE_NOT_POSSIBLE = "first_due_not_possible"
CHARGE_NOT_OF_PRODUCT = "charge_not_of_product"
BELOW_PAYOFF = "below_payoff"
DISPUTE_TOO_LARGE = "dispute_too_large"

# What each code of a field means.
FIELD_MEANINGS = {
    FIELD_INVALID: "the value is not one that the field takes; `reason` says which it takes",
    FIELD_REQUIRED: "the field is missing, null or empty",
    FIELD_WRONG_TYPE: "the value is of another JSON type than the field, such as a number where a text is expected",
    FIELD_NOT_A_CHOICE: "the value is none of those that `reason` lists",
    FIELD_NUL: "the text or its name contains U+0000",
    HEADER_INVALID: "the value of the header cannot be read; `field` names the header",
    AMOUNT_SEPARATORS: "the amount has separators: send `1500.00`, not `1,500.00`",
    AMOUNT_CURRENCY: "the amount has a sign or code of a currency: send `1500.00`, not `NGN 1500.00`",
    AMOUNT_NEGATIVE: "the amount is below zero",
    AMOUNT_ZERO: "the amount is zero",
    AMOUNT_DECIMALS: "the amount has more than two decimals, such as `1500.005`",
    AMOUNT_EXPONENT: "the amount has an exponent: send `1000`, not `1e3`",
    AMOUNT_DIGITS: "the amount has more than 15 digits",
    AMOUNT_NO_NUMBER: "the amount is no number",
    DAY_IN_THE_PAST: "the day is before today in Lagos",
    DAY_OUTSIDE_LOAN: "the day is before today in Lagos, or after the last installment of the loan",
    FIRST_DUE_NOT_POSSIBLE: "the first due date is too early or too far off; `reason` says which days are possible",
    CHARGE_NOT_OF_PRODUCT: "the charge of a product falls on a named day: a product has no days, only its loans have",
    BELOW_PAYOFF: "the loan pays off another, and too little of its amount is left to pay out; `reason` says the limit",
    DISPUTE_TOO_LARGE: "the amount is above what can be disputed of the purchase: what of it was not refunded",
}

# The page of the codes, as a path of this service. The server puts its address before it.
ERRORS_PAGE = "/docs/reference/errors.html"


def make_doc_path(code: str) -> str:
    return f"{ERRORS_PAGE}#{code}"

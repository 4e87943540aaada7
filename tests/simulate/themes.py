"""The themes of the sequences of the model test: which rules each of them has."""

# Rules of sequences about one theme, so that what needs several steps and time is reached. Others may have all rules.
ALWAYS = ("pass_a_moment", "pass_days", "fund_wallet", "settle", "pass_to_due_time", "pass_several_due_times")
THEMES = {
    "all": (),
    "plans": ("recur", "pay_installments", "change_plan", "schedule_with_fault", "refund", "dispute"),
    "thrift": ("thrift", "save", "redeem", "meet_fault"),
    "accounts": ("card", "cashcode", "redeem", "save", "loan", "meet_fault"),
    "payments": (
        "pay_by_pin",
        "pay",
        "inbound",
        "validate",
        "refund",
        "pay_elsewhere",
        "pay_by_phone",
        "pay_split",
        "transfer",
        "bill",
        "meet_fault",
        "schedule_with_fault",
        "dispute",
        "end_dispute",
    ),
}

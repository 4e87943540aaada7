"""The floors of the product: which parts may import each other. source_rules.py has the rules that compare imports with
it."""

# The packages from the bottom to the top. A package imports itself and those before it.
FLOORS = (
    "observe",
    "concurrency",
    "core",
    "terms",
    "transactions",
    "wire",
    "http",
    "outbound",
    "postgres",
    "ledger",
    "engine",
    "authority",
    "people",
    "cluster",
    "merchants",
    "webhooks",
    "settings",
    "audit",
    "privacy",
    "projections",
    "rails",
    "jobs",
    "methods",
    "reconciliation",
    "accounting",
    "sandbox",
    "api",
    "pages",
    "documentation",
    "console",
    "evidence",
    "boot",
    "doctor",
    "testing",
    "commands",
    "__main__",
)

# Parts of packages that may import less than their floor allows: only these packages and modules.
NARROWER = {
    "observe": {"observe"},
    "cluster": {"cluster", "observe", "concurrency", "postgres", "engine"},
    "rails.twins": {"rails.twins"},
    "rails.check": {"rails.check", "rails.remote", "rails.catalogue.catalogue", "rails.ports"},
    "rails.vendors": {"rails", "core", "wire", "transactions", "terms"},
    "rails.remote": {"rails", "core", "wire", "transactions", "terms"},
    "audit.verify": set(),
    "testing": {"testing", "core.money", "postgres.embedded"},
    "documentation": {"documentation", "core", "wire", "api.openapi"},
    "api": {
        *(
            "api",
            "http",
            "cluster",
            "observe",
            "concurrency",
            "core",
            "terms",
            "transactions",
            "wire",
            "postgres",
            "engine",
        ),
        *("authority", "merchants", "webhooks", "privacy", "rails.ports", "sandbox", "jobs", "people"),
    },
}
# What slices import besides each other: no slice knows the engine, the database or a rail, but ports and pure parts.
SLICES_MAY_IMPORT = {
    *("core", "terms", "transactions", "wire", "privacy.erasure", "rails.ports", "rails.catalogue.catalogue"),
    *("ledger.chart", "ledger.open_transactions", "ledger.settlement_lines", "audit.merkle", "audit.close_tree"),
    *("merchants.merchant_settings", "webhooks.signatures", "rails.sandbox.magic"),
}
# Background work of slices, which reads and writes by itself.
WORK_OF_SLICES = {"answers_task", "evidence_reads", "hand_ins"}
# Modules of methods/ that collect what all slices have.
REGISTRIES = {"methods.tables", "methods.coded_tables", "methods.sealed_columns"}
# Slices do not import each other, but these may use the others' models, rules and wire types.
SLICE_IMPORTS = {
    "payment": {"disburse"},
    "loans": {"payment", "disburse", "clients"},
    "investments": {"payment", "disburse", "cashcode", "clients"},
    "references": {
        *("cashcode", "checkout", "clients", "customers", "disburse", "disputes", "investments", "invoices", "loans"),
        *("payment", "statements", "virtualcard"),
    },
    "customers": {"payment"},
    "checkout": {"payment"},
    "disputes": {"payment"},
    "virtualcard": {"disputes"},
    "payouts": {"disburse"},
    "invoices": {"checkout", "customers", "payment"},
    "tickets": {"checkout", "payment"},
}

BORROWED_MODULES = {
    *("model", "rules", "wire", "wire_reply", "plan_model", "settlement_model", "settlements", "thrift_model"),
    "payer_model",
}

"""Every action of the API.

Written by `python -m clients.generate` from the action tables of the service. Do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping

from kasuwa_client import types
from kasuwa_client._action import Action

DISBURSE_TRANSFER: Action[types.TransferReply] = Action(
    name="disburse.transfer",
    path="disburse",
    selectors={"action": "transfer"},
    fields={
        "amount": ("amount", "amount"),
        "currency": ("currency", "choice"),
        "bankcode": ("bankcode", "text"),
        "accountnumber": ("accountnumber", "text"),
        "sender_name": ("sender_name", "text"),
        "narration": ("narration", "text"),
        "order_ref": ("orderRef", "text"),
    },
    reply="TransferReply",
    writes=True,
    repeat="order_ref",
    accepts_idempotency_key=True,
)
DISBURSE_TRANSFER_BULK: Action[types.BulkTransferReply] = Action(
    name="disburse.transfer_bulk",
    path="disburse",
    selectors={"action": "transfer", "type": "bulk"},
    fields={"data": ("data", "[TransferOrder]")},
    reply="BulkTransferReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
DISBURSE_APPROVE: Action[types.ApprovalReply] = Action(
    name="disburse.approve",
    path="disburse",
    selectors={"action": "approve"},
    fields={"txn_ref": ("txnRef", "text")},
    reply="ApprovalReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
DISBURSE_REJECT: Action[types.ApprovalReply] = Action(
    name="disburse.reject",
    path="disburse",
    selectors={"action": "reject"},
    fields={"txn_ref": ("txnRef", "text")},
    reply="ApprovalReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
DISBURSE_VERIFY: Action[types.TransferState] = Action(
    name="disburse.verify",
    path="disburse",
    selectors={"action": "verify"},
    fields={"txn_ref": ("txnRef", "text"), "order_ref": ("orderRef", "text"), "batch_ref": ("batchRef", "text")},
    reply="TransferState",
)
PAYMENT_INITIATE_CARD: Action[types.PaymentReply] = Action(
    name="payment.initiate_card",
    path="payment",
    selectors={"action": "initiate", "paymentType": "card"},
    fields={
        "user": ("user", "Payer"),
        "country": ("country", "text"),
        "currency": ("currency", "choice"),
        "customer_txnref": ("customer_txnref", "text"),
        "redirect_url": ("redirect_url", "text"),
        "meta": ("meta", "document"),
        "bearer": ("bearer", "choice"),
        "split": ("split", "[SplitPart]"),
        "is_recurring": ("is_recurring", "boolean"),
        "recurrent": ("recurrent", "Recurrence"),
        "installment": ("installment", "InstallmentSchedule"),
        "card": ("card", "CardDetails"),
        "amount": ("amount", "amount"),
    },
    reply="PaymentReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
PAYMENT_CHARGE_CARD: Action[types.PaymentReply] = Action(
    name="payment.charge_card",
    path="payment",
    selectors={"action": "charge", "paymentType": "card"},
    fields={
        "user": ("user", "Payer"),
        "country": ("country", "text"),
        "currency": ("currency", "choice"),
        "customer_txnref": ("customer_txnref", "text"),
        "redirect_url": ("redirect_url", "text"),
        "meta": ("meta", "document"),
        "bearer": ("bearer", "choice"),
        "split": ("split", "[SplitPart]"),
        "is_recurring": ("is_recurring", "boolean"),
        "recurrent": ("recurrent", "Recurrence"),
        "installment": ("installment", "InstallmentSchedule"),
        "card": ("card", "CardDetails"),
        "amount": ("amount", "amount"),
        "txn_ref": ("txnRef", "text"),
        "auth_type": ("auth_type", "choice"),
    },
    reply="PaymentReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
PAYMENT_CHARGE_ACCOUNT: Action[types.PaymentReply] = Action(
    name="payment.charge_account",
    path="payment",
    selectors={"action": "charge", "paymentType": "account"},
    fields={
        "user": ("user", "Payer"),
        "country": ("country", "text"),
        "currency": ("currency", "choice"),
        "customer_txnref": ("customer_txnref", "text"),
        "redirect_url": ("redirect_url", "text"),
        "meta": ("meta", "document"),
        "bearer": ("bearer", "choice"),
        "split": ("split", "[SplitPart]"),
        "is_recurring": ("is_recurring", "boolean"),
        "recurrent": ("recurrent", "Recurrence"),
        "installment": ("installment", "InstallmentSchedule"),
        "amount": ("amount", "amount"),
        "account": ("account", "PayerAccount"),
    },
    reply="PaymentReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
PAYMENT_VALIDATE: Action[types.PaymentReply] = Action(
    name="payment.validate",
    path="payment",
    selectors={"action": "validate"},
    fields={"txn_ref": ("txnRef", "text"), "otp": ("otp", "text"), "validate": ("validate", "choice")},
    reply="PaymentReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
PAYMENT_CHARGE_USSD: Action[types.PaymentReply] = Action(
    name="payment.charge_ussd",
    path="payment",
    selectors={"action": "charge", "paymentType": "ussd"},
    fields={
        "user": ("user", "Payer"),
        "country": ("country", "text"),
        "currency": ("currency", "choice"),
        "customer_txnref": ("customer_txnref", "text"),
        "redirect_url": ("redirect_url", "text"),
        "meta": ("meta", "document"),
        "bearer": ("bearer", "choice"),
        "split": ("split", "[SplitPart]"),
        "is_recurring": ("is_recurring", "boolean"),
        "recurrent": ("recurrent", "Recurrence"),
        "installment": ("installment", "InstallmentSchedule"),
        "amount": ("amount", "amount"),
        "bank": ("bank", "choice"),
        "phonenumber": ("phonenumber", "text"),
        "accountnumber": ("accountnumber", "text"),
    },
    reply="PaymentReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
PAYMENT_CHARGE_PHONE: Action[types.PaymentReply] = Action(
    name="payment.charge_phone",
    path="payment",
    selectors={"action": "charge", "paymentType": "phone"},
    fields={
        "user": ("user", "Payer"),
        "country": ("country", "text"),
        "currency": ("currency", "choice"),
        "customer_txnref": ("customer_txnref", "text"),
        "redirect_url": ("redirect_url", "text"),
        "meta": ("meta", "document"),
        "bearer": ("bearer", "choice"),
        "split": ("split", "[SplitPart]"),
        "is_recurring": ("is_recurring", "boolean"),
        "recurrent": ("recurrent", "Recurrence"),
        "installment": ("installment", "InstallmentSchedule"),
        "amount": ("amount", "amount"),
        "phonenumber": ("phonenumber", "text"),
    },
    reply="PaymentReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
PAYMENT_CHARGE_QRPAY: Action[types.PaymentReply] = Action(
    name="payment.charge_qrpay",
    path="payment",
    selectors={"action": "charge", "paymentType": "qrpay"},
    fields={
        "user": ("user", "Payer"),
        "country": ("country", "text"),
        "currency": ("currency", "choice"),
        "customer_txnref": ("customer_txnref", "text"),
        "redirect_url": ("redirect_url", "text"),
        "meta": ("meta", "document"),
        "bearer": ("bearer", "choice"),
        "split": ("split", "[SplitPart]"),
        "is_recurring": ("is_recurring", "boolean"),
        "recurrent": ("recurrent", "Recurrence"),
        "installment": ("installment", "InstallmentSchedule"),
        "amount": ("amount", "amount"),
        "business_name": ("business_name", "text"),
    },
    reply="PaymentReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
PAYMENT_CHARGE_BANK_TRANSFER: Action[types.PaymentReply] = Action(
    name="payment.charge_bank_transfer",
    path="payment",
    selectors={"action": "charge", "paymentType": "bank_transfer"},
    fields={
        "user": ("user", "Payer"),
        "country": ("country", "text"),
        "currency": ("currency", "choice"),
        "customer_txnref": ("customer_txnref", "text"),
        "redirect_url": ("redirect_url", "text"),
        "meta": ("meta", "document"),
        "bearer": ("bearer", "choice"),
        "split": ("split", "[SplitPart]"),
        "is_recurring": ("is_recurring", "boolean"),
        "recurrent": ("recurrent", "Recurrence"),
        "installment": ("installment", "InstallmentSchedule"),
        "amount": ("amount", "amount"),
        "business_name": ("business_name", "text"),
    },
    reply="PaymentReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
PAYMENT_CHARGE_MOBILE_MONEY: Action[types.PaymentReply] = Action(
    name="payment.charge_mobile_money",
    path="payment",
    selectors={"action": "charge", "paymentType": "mobile_money"},
    fields={
        "user": ("user", "Payer"),
        "country": ("country", "text"),
        "currency": ("currency", "choice"),
        "customer_txnref": ("customer_txnref", "text"),
        "redirect_url": ("redirect_url", "text"),
        "meta": ("meta", "document"),
        "bearer": ("bearer", "choice"),
        "split": ("split", "[SplitPart]"),
        "is_recurring": ("is_recurring", "boolean"),
        "recurrent": ("recurrent", "Recurrence"),
        "installment": ("installment", "InstallmentSchedule"),
        "amount": ("amount", "amount"),
        "type": ("type", "choice"),
        "phonenumber": ("phonenumber", "text"),
        "network": ("network", "text"),
    },
    reply="PaymentReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
PAYMENT_CHARGE_TOKEN: Action[types.PaymentReply] = Action(
    name="payment.charge_token",
    path="payment",
    selectors={"action": "charge", "paymentType": "token"},
    fields={
        "user": ("user", "Payer"),
        "country": ("country", "text"),
        "currency": ("currency", "choice"),
        "customer_txnref": ("customer_txnref", "text"),
        "redirect_url": ("redirect_url", "text"),
        "meta": ("meta", "document"),
        "bearer": ("bearer", "choice"),
        "split": ("split", "[SplitPart]"),
        "is_recurring": ("is_recurring", "boolean"),
        "recurrent": ("recurrent", "Recurrence"),
        "installment": ("installment", "InstallmentSchedule"),
        "token": ("token", "text"),
        "amount": ("amount", "amount"),
    },
    reply="PaymentReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
PAYMENT_VERIFY: Action[types.PaymentState] = Action(
    name="payment.verify",
    path="payment",
    selectors={"action": "verify"},
    fields={
        "txn_ref": ("txnRef", "text"),
        "customer_txnref": ("customer_txnref", "text"),
        "refund_ref": ("refundRef", "text"),
    },
    reply="PaymentState",
)
PAYMENT_REFUND: Action[types.RefundReply] = Action(
    name="payment.refund",
    path="payment",
    selectors={"action": "refund"},
    fields={"txn_ref": ("txnRef", "text"), "amount": ("amount", "amount"), "comment": ("comment", "text")},
    reply="RefundReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
PAYMENT_DISPUTES: Action[types.DisputeSummary] = Action(
    name="payment.disputes",
    path="payment",
    selectors={"action": "disputes"},
    fields={
        "offset": ("offset", "integer"),
        "limit": ("limit", "integer"),
        "state": ("state", "choice"),
        "txn_ref": ("txnRef", "text"),
    },
    reply="DisputesReply",
    record="DisputeSummary",
    paging="offset",
    newest_first=True,
)
PAYMENT_DISPUTE: Action[types.DisputeReply] = Action(
    name="payment.dispute",
    path="payment",
    selectors={"action": "dispute"},
    fields={"dispute_id": ("dispute_id", "text")},
    reply="DisputeReply",
)
PAYMENT_DISPUTE_RESPOND: Action[types.DisputeChanged] = Action(
    name="payment.dispute_respond",
    path="payment",
    selectors={"action": "dispute_respond"},
    fields={
        "dispute_id": ("dispute_id", "text"),
        "accept": ("accept", "boolean"),
        "evidence": ("evidence", "Evidence"),
    },
    reply="DisputeChanged",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
PAYMENT_CHECKOUT: Action[types.CheckoutReply] = Action(
    name="payment.checkout",
    path="payment",
    selectors={"action": "checkout"},
    fields={
        "amount": ("amount", "amount"),
        "currency": ("currency", "choice"),
        "country": ("country", "text"),
        "user": ("user", "Payer"),
        "customer_txnref": ("customer_txnref", "text"),
        "redirect_url": ("redirect_url", "text"),
        "channels": ("channels", "[choice]"),
        "title": ("title", "text"),
        "description": ("description", "text"),
        "bearer": ("bearer", "choice"),
        "split": ("split", "[SplitPart]"),
        "recurrent": ("recurrent", "Recurrence"),
        "installment": ("installment", "InstallmentSchedule"),
        "expires": ("expires", "time"),
        "meta": ("meta", "document"),
    },
    reply="CheckoutReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
BILLS_PULL: Action[types.BillCatalogueReply] = Action(
    name="bills.pull",
    path="bills",
    selectors={"action": "pull"},
    fields={"category": ("category", "text"), "bills_id": ("bills_id", "integer")},
    reply="BillCatalogueReply",
)
BILLS_RESOLVE: Action[types.BillCustomer] = Action(
    name="bills.resolve",
    path="bills",
    selectors={"action": "resolve"},
    fields={"paycode": ("paycode", "text"), "reference": ("reference", "text")},
    reply="BillCustomer",
)
BILLS_PAY: Action[types.BillReply] = Action(
    name="bills.pay",
    path="bills",
    selectors={"action": "pay"},
    fields={
        "paycode": ("paycode", "text"),
        "reference": ("reference", "text"),
        "amount": ("amount", "amount"),
        "currency": ("currency", "choice"),
        "order_ref": ("orderRef", "text"),
        "phonenumber": ("phonenumber", "text"),
        "dry_run": ("dry_run", "boolean"),
    },
    reply="BillReply",
    writes=True,
    repeat="order_ref",
    accepts_idempotency_key=True,
)
BILLS_VERIFY: Action[types.BillState] = Action(
    name="bills.verify",
    path="bills",
    selectors={"action": "verify"},
    fields={"txn_ref": ("txnRef", "text"), "order_ref": ("orderRef", "text")},
    reply="BillState",
)
CLIENTS_CREATE: Action[types.ClientReply] = Action(
    name="clients.create",
    path="clients",
    selectors={"action": "create"},
    fields={"data": ("data", "ClientFields"), "verify_bvn": ("verify_bvn", "boolean"), "status": ("status", "choice")},
    reply="ClientReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
CLIENTS_UPDATE: Action[types.ClientReply] = Action(
    name="clients.update",
    path="clients",
    selectors={"action": "update"},
    fields={
        "client_id": ("client_id", "text"),
        "data": ("data", "ClientChanges"),
        "verify_bvn": ("verify_bvn", "boolean"),
        "status": ("status", "choice"),
    },
    reply="ClientReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
CLIENTS_LIST: Action[types.ClientRecord] = Action(
    name="clients.list",
    path="clients",
    selectors={"action": "list"},
    fields={
        "offset": ("offset", "integer"),
        "limit": ("limit", "integer"),
        "phone": ("phone", "text"),
        "email": ("email", "text"),
        "bvn": ("bvn", "text"),
        "status": ("status", "choice"),
    },
    reply="ClientPage",
    record="ClientRecord",
    paging="offset",
    newest_first=True,
)
CLIENTS_VIEW: Action[types.ClientReply] = Action(
    name="clients.view",
    path="clients",
    selectors={"action": "view"},
    fields={"client_id": ("client_id", "text")},
    reply="ClientReply",
)
LOANS_REQUEST: Action[types.LoanReply] = Action(
    name="loans.request",
    path="loans",
    selectors={"action": "request"},
    fields={
        "client_id": ("client_id", "text"),
        "interest_settings": ("interestSettings", "InterestSettings"),
        "amount": ("amount", "amount"),
        "period": ("period", "integer"),
        "tax_applied": ("tax_applied", "boolean"),
        "tax_rate": ("tax_rate", "decimal"),
        "method": ("method", "choice"),
        "dry_run": ("dry_run", "boolean"),
    },
    reply="LoanReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
LOANS_PROCESS: Action[types.LoanReply] = Action(
    name="loans.process",
    path="loans",
    selectors={"action": "process"},
    fields={"loan_id": ("loan_id", "text"), "status": ("status", "choice"), "dry_run": ("dry_run", "boolean")},
    reply="LoanReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
LOANS_REPAY: Action[types.RepayReply] = Action(
    name="loans.repay",
    path="loans",
    selectors={"action": "repay"},
    fields={
        "card": ("card", "CardDetails"),
        "token": ("token", "text"),
        "account": ("account", "PayerAccount"),
        "bank": ("bank", "choice"),
        "phonenumber": ("phonenumber", "text"),
        "accountnumber": ("accountnumber", "text"),
        "business_name": ("business_name", "text"),
        "type": ("type", "choice"),
        "redirect_url": ("redirect_url", "text"),
        "country": ("country", "text"),
        "currency": ("currency", "choice"),
        "user": ("user", "Payer"),
        "ip": ("ip", "text"),
        "fingerprint": ("fingerprint", "text"),
        "customer_txnref": ("customer_txnref", "text"),
        "meta": ("meta", "document"),
        "loan_id": ("loan_id", "text"),
        "payment_method": ("payment_method", "choice"),
        "amount": ("amount", "amount"),
        "dry_run": ("dry_run", "boolean"),
    },
    reply="RepayReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
LOANS_VALIDATE: Action[types.RepaymentValidateReply] = Action(
    name="loans.validate",
    path="loans",
    selectors={"action": "validate"},
    fields={
        "txn_ref": ("txnRef", "text"),
        "otp": ("otp", "text"),
        "validate": ("validate", "choice"),
        "dry_run": ("dry_run", "boolean"),
    },
    reply="RepaymentValidateReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
LOANS_VIEW: Action[types.LoanReply] = Action(
    name="loans.view",
    path="loans",
    selectors={"action": "view"},
    fields={"loan_id": ("loan_id", "text")},
    reply="LoanReply",
)
LOANS_LIST: Action[types.LoanSummary] = Action(
    name="loans.list",
    path="loans",
    selectors={"action": "list"},
    fields={
        "offset": ("offset", "integer"),
        "limit": ("limit", "integer"),
        "client_id": ("client_id", "text"),
        "state": ("state", "choice"),
    },
    reply="LoanPage",
    record="LoanSummary",
    paging="offset",
    newest_first=True,
)
LOANS_STATEMENT: Action[types.LoanStatementLine] = Action(
    name="loans.statement",
    path="loans",
    selectors={"action": "statement"},
    fields={"offset": ("offset", "integer"), "limit": ("limit", "integer"), "loan_id": ("loan_id", "text")},
    reply="LoanStatementPage",
    record="LoanStatementLine",
    paging="offset",
    newest_first=True,
)
INVESTMENTS_CREATE_SAVINGS: Action[types.SavingsReply] = Action(
    name="investments.create_savings",
    path="investments",
    selectors={"action": "create_savings"},
    fields={
        "name": ("name", "text"),
        "client_id": ("client_id", "text"),
        "interest_settings": ("interestSettings", "InterestSettings"),
        "tax_applied": ("tax_applied", "boolean"),
        "tax_rate": ("tax_rate", "decimal"),
        "period": ("period", "integer"),
        "dry_run": ("dry_run", "boolean"),
    },
    reply="SavingsReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
INVESTMENTS_DEPOSIT: Action[types.DepositReply] = Action(
    name="investments.deposit",
    path="investments",
    selectors={"action": "deposit"},
    fields={
        "card": ("card", "CardDetails"),
        "token": ("token", "text"),
        "account": ("account", "PayerAccount"),
        "bank": ("bank", "choice"),
        "phonenumber": ("phonenumber", "text"),
        "accountnumber": ("accountnumber", "text"),
        "business_name": ("business_name", "text"),
        "type": ("type", "choice"),
        "redirect_url": ("redirect_url", "text"),
        "country": ("country", "text"),
        "currency": ("currency", "choice"),
        "user": ("user", "Payer"),
        "ip": ("ip", "text"),
        "fingerprint": ("fingerprint", "text"),
        "customer_txnref": ("customer_txnref", "text"),
        "meta": ("meta", "document"),
        "savings_id": ("savings_id", "text"),
        "payment_method": ("payment_method", "choice"),
        "amount": ("amount", "amount"),
        "dry_run": ("dry_run", "boolean"),
    },
    reply="DepositReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
INVESTMENTS_VALIDATE: Action[types.DepositValidateReply] = Action(
    name="investments.validate",
    path="investments",
    selectors={"action": "validate"},
    fields={
        "txn_ref": ("txnRef", "text"),
        "otp": ("otp", "text"),
        "validate": ("validate", "choice"),
        "dry_run": ("dry_run", "boolean"),
    },
    reply="DepositValidateReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
INVESTMENTS_VIEW_SAVINGS: Action[types.SavingsViewReply] = Action(
    name="investments.view_savings",
    path="investments",
    selectors={"action": "view_savings"},
    fields={"savings_id": ("savings_id", "text")},
    reply="SavingsViewReply",
)
INVESTMENTS_LIST_SAVINGS: Action[types.SavingsRecord] = Action(
    name="investments.list_savings",
    path="investments",
    selectors={"action": "list_savings"},
    fields={"offset": ("offset", "integer"), "limit": ("limit", "integer"), "client_id": ("client_id", "text")},
    reply="SavingsPage",
    record="SavingsRecord",
    paging="offset",
    newest_first=True,
)
INVESTMENTS_STATEMENT: Action[types.SavingsStatementLine] = Action(
    name="investments.statement",
    path="investments",
    selectors={"action": "statement"},
    fields={"offset": ("offset", "integer"), "limit": ("limit", "integer"), "savings_id": ("savings_id", "text")},
    reply="SavingsStatementPage",
    record="SavingsStatementLine",
    paging="offset",
    newest_first=True,
)
INVESTMENTS_CASHOUT: Action[types.CashoutReply] = Action(
    name="investments.cashout",
    path="investments",
    selectors={"action": "cashout"},
    fields={
        "savings_id": ("savings_id", "text"),
        "client_id": ("client_id", "text"),
        "amount": ("amount", "amount"),
        "dry_run": ("dry_run", "boolean"),
        "method": ("method", "choice"),
    },
    reply="CashoutReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
INVESTMENTS_CASHOUT_CASHCODE: Action[types.SavingsCashcodeReply] = Action(
    name="investments.cashout_cashcode",
    path="investments",
    selectors={"action": "cashout", "method": "cashcode"},
    fields={
        "savings_id": ("savings_id", "text"),
        "client_id": ("client_id", "text"),
        "amount": ("amount", "amount"),
        "dry_run": ("dry_run", "boolean"),
        "pin": ("pin", "text"),
    },
    reply="SavingsCashcodeReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
INVESTMENTS_CREATE_PLAN: Action[types.PlanReply] = Action(
    name="investments.create_plan",
    path="investments",
    selectors={"action": "create_plan"},
    fields={
        "name": ("name", "text"),
        "amount": ("amount", "amount"),
        "start_date": ("start_date", "date"),
        "member_required": ("member_required", "integer"),
        "frequency": ("frequency", "choice"),
        "dry_run": ("dry_run", "boolean"),
    },
    reply="PlanReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
INVESTMENTS_SUBSCRIBE: Action[types.SubscriptionReply] = Action(
    name="investments.subscribe",
    path="investments",
    selectors={"action": "subscribe"},
    fields={
        "savings_id": ("savings_id", "text"),
        "thrift_id": ("thrift_id", "text"),
        "dry_run": ("dry_run", "boolean"),
    },
    reply="SubscriptionReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
INVESTMENTS_SUBSCRIPTIONS: Action[types.SubscriptionRecord] = Action(
    name="investments.subscriptions",
    path="investments",
    selectors={"action": "subscriptions"},
    fields={"offset": ("offset", "integer"), "limit": ("limit", "integer"), "thrift_id": ("thrift_id", "text")},
    reply="SubscriptionPage",
    record="SubscriptionRecord",
    paging="offset",
    newest_first=False,
)
INVESTMENTS_LIST_PLANS: Action[types.PlanRecord] = Action(
    name="investments.list_plans",
    path="investments",
    selectors={"action": "list_plans"},
    fields={"offset": ("offset", "integer"), "limit": ("limit", "integer")},
    reply="PlanPage",
    record="PlanRecord",
    paging="offset",
    newest_first=True,
)
INVESTMENTS_CANCEL_PLAN: Action[types.PlanReply] = Action(
    name="investments.cancel_plan",
    path="investments",
    selectors={"action": "cancel_plan"},
    fields={"thrift_id": ("thrift_id", "text"), "dry_run": ("dry_run", "boolean")},
    reply="PlanReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
VIRTUALCARD_CREATE: Action[types.VirtualCardReply] = Action(
    name="virtualcard.create",
    path="virtualcard",
    selectors={"action": "create"},
    fields={
        "billing": ("billing", "CardBilling"),
        "amount": ("amount", "amount"),
        "currency": ("currency", "choice"),
        "country": ("country", "text"),
        "card_type": ("card_type", "text"),
        "limits": ("limits", "SpendingLimits"),
    },
    reply="VirtualCardReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
VIRTUALCARD_GET: Action[types.VirtualCardReply] = Action(
    name="virtualcard.get",
    path="virtualcard",
    selectors={"action": "get"},
    fields={"reference": ("reference", "text"), "reveal": ("reveal", "boolean")},
    reply="VirtualCardReply",
    writes=True,
)
VIRTUALCARD_FUND: Action[types.VirtualCardChangedReply] = Action(
    name="virtualcard.fund",
    path="virtualcard",
    selectors={"action": "fund"},
    fields={"reference": ("reference", "text"), "amount": ("amount", "amount"), "currency": ("currency", "choice")},
    reply="VirtualCardChangedReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
VIRTUALCARD_WITHDRAW: Action[types.VirtualCardChangedReply] = Action(
    name="virtualcard.withdraw",
    path="virtualcard",
    selectors={"action": "withdraw"},
    fields={"reference": ("reference", "text"), "amount": ("amount", "amount"), "currency": ("currency", "choice")},
    reply="VirtualCardChangedReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
VIRTUALCARD_LIMITS: Action[types.SpendingLimitsReply] = Action(
    name="virtualcard.limits",
    path="virtualcard",
    selectors={"action": "limits"},
    fields={"reference": ("reference", "text"), "limits": ("limits", "SpendingLimits")},
    reply="SpendingLimitsReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
VIRTUALCARD_TRANSACTIONS: Action[types.CardTransaction] = Action(
    name="virtualcard.transactions",
    path="virtualcard",
    selectors={"action": "transactions"},
    fields={
        "offset": ("offset", "integer"),
        "limit": ("limit", "integer"),
        "reference": ("reference", "text"),
        "from_date": ("from_date", "date"),
        "to_date": ("to_date", "date"),
    },
    reply="CardTransactionPage",
    record="CardTransaction",
    paging="offset",
    newest_first=True,
)
VIRTUALCARD_BLOCK: Action[types.VirtualCardChangedReply] = Action(
    name="virtualcard.block",
    path="virtualcard",
    selectors={"action": "block"},
    fields={"reference": ("reference", "text")},
    reply="VirtualCardChangedReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
VIRTUALCARD_UNBLOCK: Action[types.VirtualCardChangedReply] = Action(
    name="virtualcard.unblock",
    path="virtualcard",
    selectors={"action": "unblock"},
    fields={"reference": ("reference", "text")},
    reply="VirtualCardChangedReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
VIRTUALCARD_TERMINATE: Action[types.VirtualCardChangedReply] = Action(
    name="virtualcard.terminate",
    path="virtualcard",
    selectors={"action": "terminate"},
    fields={"reference": ("reference", "text")},
    reply="VirtualCardChangedReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
CASHCODE_GENERATE: Action[types.CashcodeReply] = Action(
    name="cashcode.generate",
    path="cashcode",
    selectors={"action": "generate"},
    fields={
        "amount": ("amount", "amount"),
        "pin": ("pin", "text"),
        "channel": ("channel", "choice"),
        "order_ref": ("orderRef", "text"),
        "life_time": ("life_time", "integer"),
        "currency": ("currency", "choice"),
    },
    reply="CashcodeReply",
    writes=True,
    repeat="order_ref",
    accepts_idempotency_key=True,
)
CASHCODE_VERIFY: Action[types.CashcodeState] = Action(
    name="cashcode.verify",
    path="cashcode",
    selectors={"action": "verify"},
    fields={"order_ref": ("orderRef", "text")},
    reply="CashcodeState",
)
CASHCODE_CANCEL: Action[types.CashcodeCancelReply] = Action(
    name="cashcode.cancel",
    path="cashcode",
    selectors={"action": "cancel"},
    fields={"order_ref": ("orderRef", "text")},
    reply="CashcodeCancelReply",
    writes=True,
    repeat="never",
)
RESOURCES_BANKS: Action[Mapping[str, str]] = Action(
    name="resources.banks", path="resources", selectors={"inquire": "banks"}, fields={}, reply="{text}"
)
RESOURCES_ACCOUNT_NAME: Action[types.AccountNameReply] = Action(
    name="resources.account_name",
    path="resources",
    selectors={"inquire": "accountname"},
    fields={"accountnumber": ("accountnumber", "text"), "bankcode": ("bankcode", "text")},
    reply="AccountNameReply",
)
RESOURCES_BVN: Action[types.BvnReply] = Action(
    name="resources.bvn",
    path="resources",
    selectors={"inquire": "bvn"},
    fields={"bvn": ("bvn", "text")},
    reply="BvnReply",
)
RESOURCES_CARD: Action[types.CardFactsReply] = Action(
    name="resources.card",
    path="resources",
    selectors={"inquire": "card"},
    fields={"card_no": ("card_no", "text")},
    reply="CardFactsReply",
)
RESOURCES_PERSONALIZED_ACCOUNT: Action[types.PersonalizedReply] = Action(
    name="resources.personalized_account",
    path="resources",
    selectors={"request": "personalized-accounts"},
    fields={
        "name": ("name", "text"),
        "reference": ("reference", "text"),
        "email": ("email", "text"),
        "bvn": ("bvn", "text"),
        "bank": ("bank", "any"),
    },
    reply="PersonalizedReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
RESOURCES_CLOSE_PERSONALIZED_ACCOUNT: Action[types.CloseAccountReply] = Action(
    name="resources.close_personalized_account",
    path="resources",
    selectors={"request": "close_personalized_account"},
    fields={"reference": ("reference", "text")},
    reply="CloseAccountReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
RESOURCES_ACCOUNTS: Action[types.AccountLine] = Action(
    name="resources.accounts",
    path="resources",
    selectors={"inquire": "accounts"},
    fields={
        "offset": ("offset", "integer"),
        "limit": ("limit", "integer"),
        "state": ("state", "choice"),
        "reference": ("reference", "text"),
    },
    reply="AccountsReply",
    record="AccountLine",
    paging="offset",
    newest_first=True,
)
RESOURCES_WALLET: Action[types.WalletReply] = Action(
    name="resources.wallet", path="resources", selectors={"inquire": "wallet"}, fields={}, reply="WalletReply"
)
RESOURCES_EVENTS: Action[types.EventLine] = Action(
    name="resources.events",
    path="resources",
    selectors={"inquire": "events"},
    fields={"offset": ("offset", "integer"), "limit": ("limit", "integer"), "txn_ref": ("txnRef", "text")},
    reply="EventPage",
    record="EventLine",
    paging="offset",
    newest_first=True,
)
RESOURCES_EVENT_FEED: Action[types.EventLine] = Action(
    name="resources.event_feed",
    path="resources",
    selectors={"inquire": "event_feed"},
    fields={"after": ("after", "integer"), "limit": ("limit", "integer")},
    reply="EventFeedPage",
    record="EventLine",
    paging="feed",
    newest_first=False,
)
RESOURCES_RESEND: Action[types.ResendReply] = Action(
    name="resources.resend",
    path="resources",
    selectors={"request": "resend"},
    fields={
        "event_id": ("event_id", "text"),
        "first": ("from", "integer"),
        "last": ("to", "integer"),
        "failed_since": ("failed_since", "time"),
    },
    reply="ResendReply",
    writes=True,
    repeat="never",
)
RESOURCES_CHARGEABLE_BANKS: Action[types.ChargeableBanksReply] = Action(
    name="resources.chargeable_banks",
    path="resources",
    selectors={"inquire": "supported_chargable_banks"},
    fields={},
    reply="ChargeableBanksReply",
)
RESOURCES_CHARGES: Action[types.ChargesReply] = Action(
    name="resources.charges",
    path="resources",
    selectors={"inquire": "charges"},
    fields={
        "amount": ("amount", "amount"),
        "card_no": ("card_no", "text"),
        "type": ("type", "choice"),
        "country": ("country", "text"),
        "currency": ("currency", "choice"),
        "bearer": ("bearer", "choice"),
    },
    reply="ChargesReply",
)
RESOURCES_RECURRENTS: Action[types.RecurrentPlan] = Action(
    name="resources.recurrents",
    path="resources",
    selectors={"inquire": "recurrents"},
    fields={"offset": ("offset", "integer"), "limit": ("limit", "integer")},
    reply="[RecurrentPlan]",
    record="RecurrentPlan",
    paging="array",
    newest_first=True,
)
RESOURCES_RECURRENT: Action[types.RecurrentChangedReply] = Action(
    name="resources.recurrent",
    path="resources",
    selectors={"inquire": "recurrent"},
    fields={"id": ("id", "text"), "status": ("status", "choice"), "dry_run": ("dry_run", "boolean")},
    reply="RecurrentChangedReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
RESOURCES_INSTALLMENTS: Action[types.InstallmentPlan] = Action(
    name="resources.installments",
    path="resources",
    selectors={"inquire": "installments"},
    fields={"offset": ("offset", "integer"), "limit": ("limit", "integer"), "id": ("id", "text")},
    reply="[InstallmentPlan]",
    record="InstallmentPlan",
    paging="array",
    newest_first=True,
)
RESOURCES_RESUME_INSTALLMENTS: Action[types.InstallmentChangedReply] = Action(
    name="resources.resume_installments",
    path="resources",
    selectors={"inquire": "installments", "status": "resume"},
    fields={"id": ("id", "text"), "dry_run": ("dry_run", "boolean")},
    reply="InstallmentChangedReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
RESOURCES_PAUSE_INSTALLMENTS: Action[types.InstallmentChangedReply] = Action(
    name="resources.pause_installments",
    path="resources",
    selectors={"inquire": "installments", "status": "pause"},
    fields={"id": ("id", "text"), "dry_run": ("dry_run", "boolean")},
    reply="InstallmentChangedReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
RESOURCES_CANCEL_INSTALLMENTS: Action[types.InstallmentChangedReply] = Action(
    name="resources.cancel_installments",
    path="resources",
    selectors={"inquire": "installments", "status": "cancel"},
    fields={"id": ("id", "text"), "dry_run": ("dry_run", "boolean")},
    reply="InstallmentChangedReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
RESOURCES_PAYLINK: Action[types.PaylinkReply] = Action(
    name="resources.paylink",
    path="resources",
    selectors={"request": "paylink"},
    fields={
        "title": ("title", "text"),
        "description": ("description", "text"),
        "amount": ("amount", "amount"),
        "currency": ("currency", "choice"),
        "type": ("type", "choice"),
        "frequency": ("frequency", "choice"),
        "payer_bears_fees": ("payer_bears_fees", "boolean"),
        "accept_number": ("accept_number", "boolean"),
        "custom_link": ("custom_link", "text"),
        "redirect_url": ("redirect_url", "text"),
        "custom_message": ("custom_message", "text"),
        "notification_email": ("notification_email", "text"),
    },
    reply="PaylinkReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
RESOURCES_PAYLINKS: Action[types.PaylinkRecord] = Action(
    name="resources.paylinks",
    path="resources",
    selectors={"inquire": "paylink"},
    fields={"offset": ("offset", "integer"), "limit": ("limit", "integer")},
    reply="PaylinksReply",
    record="PaylinkRecord",
    paging="offset",
    newest_first=True,
)
RESOURCES_PAYLINK_DETAIL: Action[types.PaylinkDetailReply] = Action(
    name="resources.paylink_detail",
    path="resources",
    selectors={"inquire": "paylink_detail"},
    fields={"link_id": ("link_id", "text")},
    reply="PaylinkDetailReply",
)
RESOURCES_PAYLINK_DISABLE: Action[types.PaylinkReply] = Action(
    name="resources.paylink_disable",
    path="resources",
    selectors={"inquire": "paylink", "status": "disable"},
    fields={"link_id": ("link_id", "text")},
    reply="PaylinkReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
RESOURCES_PAYLINK_ENABLE: Action[types.PaylinkReply] = Action(
    name="resources.paylink_enable",
    path="resources",
    selectors={"inquire": "paylink", "status": "enable"},
    fields={"link_id": ("link_id", "text")},
    reply="PaylinkReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
RESOURCES_CUSTOMER: Action[types.CustomerRegisteredReply] = Action(
    name="resources.customer",
    path="resources",
    selectors={"request": "customer"},
    fields={
        "name": ("name", "text"),
        "email": ("email", "text"),
        "phone": ("phone", "text"),
        "address": ("address", "text"),
    },
    reply="CustomerRegisteredReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
RESOURCES_CUSTOMERS: Action[types.CustomerRecord] = Action(
    name="resources.customers",
    path="resources",
    selectors={"inquire": "customer"},
    fields={"offset": ("offset", "integer"), "limit": ("limit", "integer"), "search": ("search", "text")},
    reply="CustomerPage",
    record="CustomerRecord",
    paging="offset",
    newest_first=True,
)
RESOURCES_CUSTOMER_DETAIL: Action[types.CustomerDetailReply] = Action(
    name="resources.customer_detail",
    path="resources",
    selectors={"inquire": "customer_detail"},
    fields={"customer_id": ("customer_id", "text")},
    reply="CustomerDetailReply",
)
RESOURCES_TRANSACTIONS: Action[types.TransactionSummary] = Action(
    name="resources.transactions",
    path="resources",
    selectors={"inquire": "transactions"},
    fields={
        "kind": ("kind", "choice"),
        "status": ("status", "choice"),
        "first": ("from", "date"),
        "last": ("to", "date"),
        "currency": ("currency", "choice"),
        "min_amount": ("min_amount", "amount"),
        "max_amount": ("max_amount", "amount"),
        "customer": ("customer", "text"),
        "reference": ("reference", "text"),
        "method": ("method", "choice"),
        "limit": ("limit", "integer"),
        "cursor": ("cursor", "text"),
    },
    reply="TransactionPage",
    record="TransactionSummary",
    paging="cursor",
    newest_first=True,
)
RESOURCES_TRANSACTION: Action[types.FoundReply] = Action(
    name="resources.transaction",
    path="resources",
    selectors={"inquire": "transaction"},
    fields={"reference": ("reference", "text")},
    reply="FoundReply",
)
RESOURCES_STATEMENT: Action[types.Statement] = Action(
    name="resources.statement",
    path="resources",
    selectors={"inquire": "statement"},
    fields={
        "account": ("account", "choice"),
        "id": ("id", "text"),
        "currency": ("currency", "choice"),
        "first": ("from", "date"),
        "last": ("to", "date"),
        "format": ("format", "choice"),
        "limit": ("limit", "integer"),
        "proof": ("proof", "boolean"),
        "cursor": ("cursor", "text"),
    },
    reply="Statement",
)
RESOURCES_SETTLEMENTS: Action[types.SettlementSummary] = Action(
    name="resources.settlements",
    path="resources",
    selectors={"inquire": "settlements"},
    fields={
        "offset": ("offset", "integer"),
        "limit": ("limit", "integer"),
        "currency": ("currency", "choice"),
        "first": ("from", "date"),
        "last": ("to", "date"),
    },
    reply="SettlementsReply",
    record="SettlementSummary",
    paging="offset",
    newest_first=True,
)
RESOURCES_SETTLEMENT: Action[types.SettlementReply] = Action(
    name="resources.settlement",
    path="resources",
    selectors={"inquire": "settlement"},
    fields={"settlement_id": ("settlement_id", "text")},
    reply="SettlementReply",
)
RESOURCES_PROOF: Action[types.ProofReply] = Action(
    name="resources.proof",
    path="resources",
    selectors={"inquire": "proof"},
    fields={"reference": ("reference", "text")},
    reply="ProofReply",
)
RESOURCES_SETTLEMENT_EVENTS: Action[types.SettlementEventsReply] = Action(
    name="resources.settlement_events",
    path="resources",
    selectors={"request": "settlement_events"},
    fields={"daily": ("daily", "boolean")},
    reply="SettlementEventsReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
RESOURCES_DAILY_SETTLEMENT_EVENTS: Action[types.SettlementEventsReply] = Action(
    name="resources.daily_settlement_events",
    path="resources",
    selectors={"inquire": "settlement_events"},
    fields={},
    reply="SettlementEventsReply",
)
RESOURCES_PAYOUT_SCHEDULE: Action[types.ScheduleReply] = Action(
    name="resources.payout_schedule",
    path="resources",
    selectors={"request": "payout_schedule"},
    fields={
        "frequency": ("frequency", "choice"),
        "least": ("least", "amount"),
        "bankcode": ("bankcode", "text"),
        "accountnumber": ("accountnumber", "text"),
    },
    reply="ScheduleReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
RESOURCES_PAYOUTS: Action[types.ScheduleReply] = Action(
    name="resources.payouts",
    path="resources",
    selectors={"inquire": "payout_schedule"},
    fields={},
    reply="ScheduleReply",
)
RESOURCES_KEYS: Action[types.KeysReply] = Action(
    name="resources.keys", path="resources", selectors={"inquire": "keys"}, fields={}, reply="KeysReply"
)
RESOURCES_INVOICE: Action[types.InvoiceReply] = Action(
    name="resources.invoice",
    path="resources",
    selectors={"request": "invoice"},
    fields={
        "customer_id": ("customer_id", "text"),
        "items": ("items", "[ItemFields]"),
        "currency": ("currency", "choice"),
        "date_due": ("date_due", "date"),
        "discount_type": ("discount_type", "choice"),
        "discount": ("discount", "decimal"),
        "shipping": ("shipping", "amount"),
        "vat": ("vat", "decimal"),
        "note": ("note", "text"),
        "charge_user": ("charge_user", "choice"),
        "invoice_id": ("invoice_id", "text"),
    },
    reply="InvoiceReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
RESOURCES_INVOICES: Action[types.InvoiceSummary] = Action(
    name="resources.invoices",
    path="resources",
    selectors={"inquire": "invoice"},
    fields={
        "offset": ("offset", "integer"),
        "limit": ("limit", "integer"),
        "status": ("status", "choice"),
        "customer_id": ("customer_id", "text"),
    },
    reply="InvoicePage",
    record="InvoiceSummary",
    paging="offset",
    newest_first=True,
)
RESOURCES_INVOICE_DETAIL: Action[types.InvoiceReply] = Action(
    name="resources.invoice_detail",
    path="resources",
    selectors={"inquire": "invoice"},
    fields={"invoice_id": ("invoice_id", "text")},
    reply="InvoiceReply",
)
RESOURCES_INVOICE_VOID: Action[types.InvoiceReply] = Action(
    name="resources.invoice_void",
    path="resources",
    selectors={"inquire": "invoice", "status": "void"},
    fields={"invoice_id": ("invoice_id", "text")},
    reply="InvoiceReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
RESOURCES_TICKET: Action[types.TicketLinkReply] = Action(
    name="resources.ticket",
    path="resources",
    selectors={"request": "ticket"},
    fields={
        "title": ("title", "text"),
        "description": ("description", "text"),
        "amount": ("amount", "amount"),
        "currency": ("currency", "choice"),
        "type": ("type", "choice"),
        "frequency": ("frequency", "choice"),
        "payer_bears_fees": ("payer_bears_fees", "boolean"),
        "accept_number": ("accept_number", "boolean"),
        "custom_link": ("custom_link", "text"),
        "redirect_url": ("redirect_url", "text"),
        "custom_message": ("custom_message", "text"),
        "notification_email": ("notification_email", "text"),
        "ticket_data": ("ticket_data", "[TicketKindFields]"),
    },
    reply="TicketLinkReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
RESOURCES_TICKET_LINKS: Action[types.TicketLinkRecord] = Action(
    name="resources.ticket_links",
    path="resources",
    selectors={"inquire": "ticket"},
    fields={"offset": ("offset", "integer"), "limit": ("limit", "integer")},
    reply="TicketLinksReply",
    record="TicketLinkRecord",
    paging="offset",
    newest_first=True,
)
RESOURCES_TICKET_SALES: Action[types.TicketRecord] = Action(
    name="resources.ticket_sales",
    path="resources",
    selectors={"inquire": "ticket"},
    fields={"offset": ("offset", "integer"), "limit": ("limit", "integer"), "link_id": ("link_id", "text")},
    reply="TicketSalesReply",
    record="TicketRecord",
    paging="offset",
    newest_first=True,
)
RESOURCES_TICKET_BY_CODE: Action[types.TicketReply] = Action(
    name="resources.ticket_by_code",
    path="resources",
    selectors={"inquire": "ticket"},
    fields={"code": ("code", "text")},
    reply="TicketReply",
)
RESOURCES_TICKET_USE: Action[types.TicketReply] = Action(
    name="resources.ticket_use",
    path="resources",
    selectors={"request": "ticket_use"},
    fields={"code": ("code", "text"), "link_id": ("link_id", "text")},
    reply="TicketReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
SANDBOX_BENEFICIARY: Action[types.BeneficiaryReply] = Action(
    name="sandbox.beneficiary",
    path="sandbox",
    selectors={"action": "beneficiary"},
    fields={"name": ("name", "text"), "bankcode": ("bankcode", "text"), "accountnumber": ("accountnumber", "text")},
    reply="BeneficiaryReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
SANDBOX_PAY_ACCOUNT: Action[types.InboundPaymentReply] = Action(
    name="sandbox.pay_account",
    path="sandbox",
    selectors={"action": "pay_account"},
    fields={
        "account_number": ("accountNumber", "text"),
        "amount": ("amount", "amount"),
        "sender_name": ("sender_name", "text"),
        "rejected": ("rejected", "boolean"),
    },
    reply="InboundPaymentReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
SANDBOX_DISPUTE: Action[types.DisputeChanged] = Action(
    name="sandbox.dispute",
    path="sandbox",
    selectors={"action": "dispute"},
    fields={
        "txn_ref": ("txnRef", "text"),
        "amount": ("amount", "amount"),
        "reason": ("reason", "text"),
        "hours": ("hours", "integer"),
    },
    reply="DisputeChanged",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
SANDBOX_DISPUTE_OUTCOME: Action[types.DisputeChanged] = Action(
    name="sandbox.dispute_outcome",
    path="sandbox",
    selectors={"action": "dispute_outcome"},
    fields={"dispute_id": ("dispute_id", "text"), "outcome": ("outcome", "choice")},
    reply="DisputeChanged",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
SANDBOX_CARD_PURCHASE: Action[types.PurchaseReply] = Action(
    name="sandbox.card_purchase",
    path="sandbox",
    selectors={"action": "card_purchase"},
    fields={
        "reference": ("reference", "text"),
        "cardpan": ("cardpan", "text"),
        "amount": ("amount", "amount"),
        "currency": ("currency", "choice"),
        "merchant_name": ("merchant_name", "text"),
        "category": ("category", "text"),
        "cvv": ("cvv", "text"),
        "expiry": ("expiry", "text"),
    },
    reply="PurchaseReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
SANDBOX_CARD_REFUND: Action[types.PurchaseReply] = Action(
    name="sandbox.card_refund",
    path="sandbox",
    selectors={"action": "card_refund"},
    fields={"txn_ref": ("txnRef", "text"), "amount": ("amount", "amount")},
    reply="PurchaseReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
SANDBOX_REDEEM_CASHCODE: Action[types.CashcodeRedeemReply] = Action(
    name="sandbox.redeem_cashcode",
    path="sandbox",
    selectors={"action": "redeem_cashcode"},
    fields={
        "cashcode": ("cashcode", "text"),
        "pin": ("pin", "text"),
        "amount": ("amount", "amount"),
        "channel": ("channel", "choice"),
    },
    reply="CashcodeRedeemReply",
    writes=True,
    repeat="never",
)
SANDBOX_NEW_MERCHANT: Action[types.NewMerchantReply] = Action(
    name="sandbox.new_merchant",
    path="sandbox",
    selectors={"action": "new_merchant"},
    fields={
        "name": ("name", "text"),
        "now": ("now", "time"),
        "balance": ("balance", "amount"),
        "webhook": ("webhook", "text"),
        "seed": ("seed", "text"),
    },
    reply="NewMerchantReply",
    writes=True,
    repeat="never",
)
SANDBOX_FUND_WALLET: Action[types.SandboxReply] = Action(
    name="sandbox.fund_wallet",
    path="sandbox",
    selectors={"action": "fund_wallet"},
    fields={"amount": ("amount", "amount"), "currency": ("currency", "choice")},
    reply="SandboxReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
SANDBOX_SETTLE: Action[types.SettleReply] = Action(
    name="sandbox.settle",
    path="sandbox",
    selectors={"action": "settle"},
    fields={
        "txn_ref": ("txnRef", "text"),
        "order_ref": ("orderRef", "text"),
        "loan_id": ("loan_id", "text"),
        "savings_id": ("savings_id", "text"),
        "outcome": ("outcome", "choice"),
    },
    reply="SettleReply",
    writes=True,
    repeat="never",
)
SANDBOX_WEBHOOK: Action[types.SandboxReply] = Action(
    name="sandbox.webhook",
    path="sandbox",
    selectors={"action": "webhook"},
    fields={"url": ("url", "text")},
    reply="SandboxReply",
    writes=True,
    repeat="never",
)
SANDBOX_EXPLAIN: Action[types.ExplainReply] = Action(
    name="sandbox.explain",
    path="sandbox",
    selectors={"action": "explain"},
    fields={
        "txn_ref": ("txnRef", "text"),
        "order_ref": ("orderRef", "text"),
        "batch_ref": ("batchRef", "text"),
        "refund_ref": ("refundRef", "text"),
        "customer_txnref": ("customer_txnref", "text"),
        "loan_id": ("loan_id", "text"),
        "savings_id": ("savings_id", "text"),
        "thrift_id": ("thrift_id", "text"),
        "client_id": ("client_id", "text"),
        "ref_code": ("ref_code", "text"),
        "reference": ("reference", "text"),
    },
    reply="ExplainReply",
)
SANDBOX_CLOCK: Action[types.ClockReply] = Action(
    name="sandbox.clock", path="sandbox", selectors={"action": "clock"}, fields={}, reply="ClockReply"
)
SANDBOX_ADVANCE: Action[types.AdvanceReply] = Action(
    name="sandbox.advance",
    path="sandbox",
    selectors={"action": "advance"},
    fields={
        "seconds": ("seconds", "integer"),
        "minutes": ("minutes", "integer"),
        "hours": ("hours", "integer"),
        "days": ("days", "integer"),
        "until": ("until", "time"),
    },
    reply="AdvanceReply",
    writes=True,
    repeat="never",
)
SANDBOX_FREEZE: Action[types.ClockReply] = Action(
    name="sandbox.freeze",
    path="sandbox",
    selectors={"action": "freeze"},
    fields={"frozen": ("frozen", "boolean")},
    reply="ClockReply",
    writes=True,
    repeat="never",
)
SANDBOX_AUDIT: Action[types.AuditReply] = Action(
    name="sandbox.audit", path="sandbox", selectors={"action": "audit"}, fields={}, reply="AuditReply"
)
SANDBOX_CLOSE: Action[types.CloseReply] = Action(
    name="sandbox.close",
    path="sandbox",
    selectors={"action": "close"},
    fields={},
    reply="CloseReply",
    writes=True,
    repeat="never",
)
SANDBOX_FAULT: Action[types.SandboxReply] = Action(
    name="sandbox.fault",
    path="sandbox",
    selectors={"action": "fault"},
    fields={
        "rail": ("rail", "choice"),
        "kind": ("kind", "choice"),
        "times": ("times", "integer"),
        "probability": ("probability", "decimal"),
    },
    reply="SandboxReply",
    writes=True,
    repeat="idempotency_key",
    accepts_idempotency_key=True,
)
SANDBOX_RESET: Action[types.SandboxReply] = Action(
    name="sandbox.reset",
    path="sandbox",
    selectors={"action": "reset"},
    fields={},
    reply="SandboxReply",
    writes=True,
    repeat="never",
)
SANDBOX_SNAPSHOT: Action[types.SnapshotReply] = Action(
    name="sandbox.snapshot",
    path="sandbox",
    selectors={"action": "snapshot"},
    fields={"name": ("name", "text")},
    reply="SnapshotReply",
    writes=True,
    repeat="never",
)
SANDBOX_RESTORE: Action[types.RestoreReply] = Action(
    name="sandbox.restore",
    path="sandbox",
    selectors={"action": "restore"},
    fields={"name": ("name", "text")},
    reply="RestoreReply",
    writes=True,
    repeat="never",
)
SANDBOX_FORK: Action[types.ForkReply] = Action(
    name="sandbox.fork",
    path="sandbox",
    selectors={"action": "fork"},
    fields={"name": ("name", "text")},
    reply="ForkReply",
    writes=True,
    repeat="never",
)
SANDBOX_WORLDS: Action[types.WorldsReply] = Action(
    name="sandbox.worlds", path="sandbox", selectors={"action": "worlds"}, fields={}, reply="WorldsReply"
)
SANDBOX_COMPARE_WORLDS: Action[types.CompareWorldsReply] = Action(
    name="sandbox.compare_worlds",
    path="sandbox",
    selectors={"action": "compare_worlds"},
    fields={"name": ("name", "text"), "other": ("other", "text")},
    reply="CompareWorldsReply",
)
SANDBOX_DELETE_WORLD: Action[types.SandboxReply] = Action(
    name="sandbox.delete_world",
    path="sandbox",
    selectors={"action": "delete_world"},
    fields={"name": ("name", "text")},
    reply="SandboxReply",
    writes=True,
    repeat="never",
)
SANDBOX_NEW_KEY: Action[types.NewKeyReply] = Action(
    name="sandbox.new_key",
    path="sandbox",
    selectors={"action": "new_key"},
    fields={
        "name": ("name", "text"),
        "scopes": ("scopes", "[text]"),
        "addresses": ("addresses", "[text]"),
        "expires_at": ("expires_at", "time"),
    },
    reply="NewKeyReply",
    writes=True,
    repeat="never",
)
SANDBOX_PAYOUT_POLICY: Action[types.PolicyReply] = Action(
    name="sandbox.payout_policy",
    path="sandbox",
    selectors={"action": "payout_policy"},
    fields={
        "approve_above": ("approve_above", "amount"),
        "approve_daily_above": ("approve_daily_above", "amount"),
        "approve_new_beneficiary": ("approve_new_beneficiary", "boolean"),
        "approve_bulk": ("approve_bulk", "boolean"),
        "beneficiary_limits": ("beneficiary_limits", "LimitFields"),
        "tier_limits": ("tier_limits", "TierFields"),
        "on_limit": ("on_limit", "choice"),
    },
    reply="PolicyReply",
    writes=True,
    repeat="never",
)

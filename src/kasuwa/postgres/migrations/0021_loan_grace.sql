-- Grace periods and reschedules of loans.

-- An installment whose interval is not that of the terms, and one that leaves out principal or interest.
alter table loan_installment add column starts date;
comment on column loan_installment.starts is 'first day of its interval if the due dates of the terms do not say it';
alter table loan_installment add column span bigint not null default 0 check (span >= 0);
comment on column loan_installment.span is 'days that the rate of an interval is for, if its interval is a longer or shorter one';
alter table loan_installment add column grace text not null default '' check (grace in ('', 'principal', 'spread', 'capitalize'));
comment on column loan_installment.grace is 'what is left out of it; empty if nothing is';
alter table loan_installment add column grown bigint not null default 0 check (grown >= 0);
comment on column loan_installment.grown is 'interest of its interval that later installments ask for';
alter table loan_installment add column deferred bigint not null default 0 check (deferred >= 0);
comment on column loan_installment.deferred is 'part of its interest that grew in earlier intervals';
alter table loan_installment add column pending bigint not null default 0 check (pending >= 0);
comment on column loan_installment.pending is 'interest that becomes principal of later installments on the due date';
alter table loan_installment add column pending_tax bigint not null default 0 check (pending_tax >= 0);
comment on column loan_installment.pending_tax is 'tax on it';
alter table loan_installment add column capital_interest bigint not null default 0 check (capital_interest >= 0);
comment on column loan_installment.capital_interest is 'interest that became principal of later installments';
alter table loan_installment add column capital_tax bigint not null default 0 check (capital_tax >= 0);
comment on column loan_installment.capital_tax is 'tax that did';
alter table loan_installment add column capital_charge bigint not null default 0 check (capital_charge >= 0);
comment on column loan_installment.capital_charge is 'charges that did';
alter table loan_installment add column capital_vat bigint not null default 0 check (capital_vat >= 0);
comment on column loan_installment.capital_vat is 'VAT on charges that did';

-- The kinds of postings (ledger/posting_kinds.py), with those of what is capitalized. They need not be read again.
alter table posting drop constraint posting_kind;
alter table posting add constraint posting_kind check (kind in (
        -- collections
        'payment', 'settlement', 'collection fee', 'collection VAT', 'split', 'refund', 'reserve', 'reserve released',
        -- disputes
        'dispute', 'dispute fee', 'dispute VAT', 'dispute advance', 'dispute debt',
        -- money that came in otherwise than a payment asked for it
        'inbound transfer', 'applied', 'paid after the payment had failed', 'paid more than was asked for',
        'returned to the payer', 'received for nobody known', 'assigned from suspense', 'returned from suspense',
        -- transfers, and payouts by schedule
        'transfer', 'payout', 'transfer fee', 'transfer VAT', 'stamp duty',
        -- bills and cashcodes
        'bill', 'bill fee', 'bill VAT', 'bill commission', 'cash drawn', 'cashcode fee', 'cashcode VAT',
        -- cards
        'card purchase', 'card refund', 'card refund taken back', 'card funding', 'card withdrawal', 'card termination',
        'card issuance fee', 'card funding fee', 'card withdrawal fee', 'card termination fee', 'card monthly fee',
        'card VAT', 'USD bought', 'USD sold', 'GHS bought', 'GHS sold', 'KES bought', 'KES sold',
        -- loans
        'principal agreed', 'interest agreed', 'tax agreed', 'penalty agreed', 'charge agreed', 'vat agreed',
        'principal by the schedule computed anew', 'interest by the schedule computed anew',
        'tax by the schedule computed anew', 'penalty by the schedule computed anew',
        'charge by the schedule computed anew', 'vat by the schedule computed anew', 'principal repaid',
        'interest repaid', 'tax repaid', 'penalty repaid', 'charge repaid', 'vat repaid', 'principal deducted',
        'interest deducted', 'tax deducted', 'penalty deducted', 'charge deducted', 'vat deducted',
        'principal not used', 'interest not used', 'tax not used', 'penalty not used', 'charge not used',
        'vat not used', 'principal waived', 'interest waived', 'tax waived', 'penalty waived', 'charge waived',
        'vat waived', 'principal written off', 'interest written off', 'tax written off', 'penalty written off',
        'charge written off', 'vat written off', 'principal recovered', 'interest recovered', 'tax recovered',
        'penalty recovered', 'charge recovered', 'vat recovered', 'principal reversed', 'interest reversed',
        'tax reversed', 'penalty reversed', 'charge reversed', 'vat reversed', 'principal for lateness',
        'interest for lateness', 'tax for lateness', 'penalty for lateness', 'charge for lateness', 'vat for lateness',
        'principal capitalized', 'interest capitalized', 'tax capitalized', 'penalty capitalized', 'charge capitalized',
        'vat capitalized', 'principal refinanced', 'interest refinanced', 'tax refinanced', 'penalty refinanced',
        'charge refinanced', 'vat refinanced',
        'paid too much', 'paid back', 'credit used', 'provision raised', 'provision released',
        -- guarantees of loans
        'guarantee called', 'owed to a guarantor', 'guarantor repaid', 'claim of a guarantor waived',
        -- savings
        'savings deposit', 'savings cash-out', 'savings closed meanwhile', 'interest', 'withholding tax',
        'thrift contribution', 'thrift payout', 'thrift debt',
        -- deposits above the limits of a client
        'deposit held', 'deposit released', 'deposit sent back', 'deposit kept for a dispute',
        -- shares and dividends
        'shares bought', 'shares transferred', 'shares redeemed', 'dividend declared', 'dividend', 'dividend tax',
        'dividend returned',
        -- the operator
        'wallet funding', 'manual posting', 'write-off', 'reversed by the rail', 'paid by the rail',
        'reconciliation: fee of the bank or rail', 'reconciliation: unknown: keep it in suspense',
        'reconciliation: write it off', 'reconciliation: the merchant''s: its wallet'
    )) not valid;

-- Reschedules and top-ups are acts on a loan, as repayments are. The kinds of before are a part of these.
alter table loan_act drop constraint loan_act_kind_check;
alter table loan_act add constraint loan_act_kind_check check (
    kind in ('repayment', 'guarantee', 'charge', 'waiver', 'write_off', 'reschedule', 'top_up')) not valid;
alter table loan add column renewed text not null default '';
comment on column loan.renewed is 'terms since its newest reschedule, as JSON; empty if there was none';
alter table loan add column extra bigint not null default 0 check (extra >= 0);
comment on column loan.extra is 'number of installments that reschedules have added';
alter table loan add column reschedules bigint not null default 0 check (reschedules >= 0);
comment on column loan.reschedules is 'number of its rows in loan_schedule';
alter table loan add column topped_up_by text not null default '';
comment on column loan.topped_up_by is 'the newest loan that is to pay it off; empty if there is none';

-- Refuses any change but that of the reason, which is erased with the client's personal data.
create function refuse_change_but_reason() returns trigger language plpgsql as $$
begin
    if to_jsonb(new) - 'reason' <> to_jsonb(old) - 'reason' then
        raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;

-- The schedules that loans had until they were rescheduled. Append-only but for the reason.
create table loan_schedule (
    key bytea not null,                       -- row key
    merchant_id bigint not null,              -- the merchant
    loan_id text not null,                    -- the loan
    n bigint not null check (n > 0),          -- place among those of the loan, from 1
    until timestamptz not null,               -- when the loan was rescheduled
    rate text not null,                       -- interest rate that it had
    reason text not null,                     -- why it was rescheduled; erased with the client's personal data
    lines text not null,                      -- its installments as JSON, as replies show them
    primary key (key, merchant_id)
) with (fillfactor = 100);
create trigger loan_schedule_append_only before update on loan_schedule
    for each row execute function refuse_change_but_reason();
create trigger loan_schedule_no_delete before delete on loan_schedule
    for each statement execute function refuse_change();
create trigger loan_schedule_no_truncate before truncate on loan_schedule
    for each statement execute function refuse_change();
create unique index loan_schedule_of on loan_schedule (merchant_id, loan_id, n);

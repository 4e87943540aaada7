-- Depth of lending: the acts on a loan, so that a repayment can be taken out of its history.

-- Loans count their acts and their events. A loan that was repaid before has no acts of that time.
alter table loan add column acts bigint not null default 0 check (acts >= 0);
comment on column loan.acts is 'number of its rows in loan_act';
alter table loan add column events bigint not null default 0 check (events >= 0);
comment on column loan.events is 'number of events about the loan itself';

-- An act on a loan that was paid out. With the terms of the loan, its acts in their order give its installments: they are
-- replayed without a repayment that was not honored.
create table loan_act (
    key bytea not null,                                        -- row key
    merchant_id bigint not null,                               -- the merchant
    loan_id text not null,                                     -- the loan
    n bigint not null check (n > 0),                           -- place among the acts of the loan, from 1
    kind text not null check (kind in ('repayment', 'write_off')), -- what was done
    day date not null,                                         -- the business day on which the loan counts it
    made_at timestamptz not null,                              -- when it was made
    reference text not null,                                   -- the transaction of a repayment; otherwise empty
    amount bigint not null check (amount >= 0),                -- of a repayment
    -- the part of the repayment that the loan was given
    applied bigint not null check (applied between 0 and amount),
    lost bigint not null default 0 check (lost between 0 and amount), -- the part of it that disputes and rails took back
    is_reversed boolean not null default false,                -- whether the merchant reversed it
    constraint loan_act_honored check (applied + lost <= amount and (applied = 0 or not is_reversed)),
    primary key (key, merchant_id)
) with (fillfactor = 90);
create unique index loan_act_of on loan_act (merchant_id, loan_id, n);

-- The kinds of postings (ledger/posting_kinds.py), with those of a reversed repayment. The rows of before have kinds of the
-- list of before, which is a part of this one: they need not be read again.
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
        'principal agreed', 'interest agreed', 'tax agreed', 'penalty agreed', 'principal by the schedule computed anew',
        'interest by the schedule computed anew', 'tax by the schedule computed anew',
        'penalty by the schedule computed anew', 'principal repaid', 'interest repaid', 'tax repaid', 'penalty repaid',
        'principal not used', 'interest not used', 'tax not used', 'penalty not used', 'principal written off',
        'interest written off', 'tax written off', 'penalty written off', 'principal recovered', 'interest recovered',
        'tax recovered', 'penalty recovered', 'principal reversed',
        'interest reversed', 'tax reversed', 'penalty reversed', 'penalty for lateness', 'paid too much', 'paid back',
        'credit used',
        -- savings
        'savings deposit', 'savings cash-out', 'savings closed meanwhile', 'interest', 'withholding tax',
        'thrift contribution', 'thrift payout', 'thrift debt',
        -- the operator
        'wallet funding', 'manual posting', 'write-off', 'reversed by the rail', 'paid by the rail',
        'reconciliation: fee of the bank or rail', 'reconciliation: unknown: keep it in suspense',
        'reconciliation: write it off', 'reconciliation: the merchant''s: its wallet'
    )) not valid;

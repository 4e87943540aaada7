-- Loans whose principal is paid ahead, savings that know when their money came, and the look-ups of both.

-- Principal that is paid ahead lowers the schedule within an interval. `accrued` is the interest that the interval had
-- earned by `accrued_on`, the last day on which that happened; the days after it earn the rest of `interest`.
alter table loan_line
    add column accrued bigint not null default 0 check (accrued >= 0),
    add column accrued_on date;

-- Loans are listed by client too.
create index loan_client on loan (merchant_id, client_id, number);

-- What a cash-out before maturity forfeits is what that money earned, last in first out. `stood` is the balance when the
-- row was last written, null for rows of before; `layers` is what came in since the last posting, by day: [["2026-01-31", 500]].
alter table savings
    add column stood bigint,
    add column layers text not null default '[]';

-- The statement of savings is its postings, as a loan's is.
create index posting_savings_credit on posting (merchant_id, split_part(credit, ':', 2), seq)
    where starts_with(credit, 'savings:');
create index posting_savings_debit on posting (merchant_id, split_part(debit, ':', 2), seq)
    where starts_with(debit, 'savings:');

-- Payments that were made for a loan or savings are found by its id.
create index payment_purpose on payment (merchant_id, (detail -> 'errand' ->> 'reference'))
    where detail -> 'errand' ->> 'reference' is not null;

-- Repayments and deposits from the wallet are found by the merchant's own reference, as payments are.
create index transaction_wallet_order on transaction (merchant_id, order_ref) where kind in ('repayment', 'deposit');

-- Payments: the refunds of one payment are found by it, so that verify can tell them, failed ones included.
create index transaction_refund_of on transaction (merchant_id, (detail ->> 'payment')) where kind = 'refund';

-- An installment plan says how it ended: `finished` with its whole total collected, `incomplete` with a part of it,
-- `unpaid` with none, `cancelled` by its merchant. Plans that had finished before keep that word.
alter table plan drop constraint plan_state_check;
alter table plan add constraint plan_state_check
    check (state in ('active', 'paused', 'stopped', 'finished', 'incomplete', 'unpaid', 'cancelled'));

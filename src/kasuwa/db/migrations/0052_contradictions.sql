-- A notice that a rail contradicts the end of a transaction is open until two operators have decided whether its correction is booked
-- (docs/decisions/0079). Versions that do not know the column write notices without it.
alter table operator_notice add column is_contradiction boolean not null default false;
create index operator_notice_contradiction on operator_notice (merchant_id, reference) where is_contradiction;

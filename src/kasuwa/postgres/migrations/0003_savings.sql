-- Fixed deposits.

-- ------------------------------------------------------------------------------------------------------------------------
-- Clients, loans and savings
-- ------------------------------------------------------------------------------------------------------------------------

-- The term of a fixed deposit, in days; 0 for other savings, whose term is `period` months. `period` of a fixed deposit counts
-- its terms, the running one included, and `months` those that have ended.
alter table savings add column term_days bigint not null default 0 check (term_days between 0 and 3650);
-- What begins a new term when one ends: nothing, the principal, or all with the interest.
alter table savings add column rollover text not null default 'none' check (rollover in ('none', 'principal', 'all'));
-- Interest of earlier terms that stayed out of the new one: it earns nothing, and can be taken out without a forfeit.
alter table savings add column unlocked bigint not null default 0 check (unlocked >= 0);
-- Number of the last term whose end an event has reported.
alter table savings add column reported_terms bigint not null default 0 check (reported_terms >= 0);
-- Events of the account that were written: each has a number.
alter table savings add column event_count bigint not null default 0 check (event_count >= 0);
alter table savings add constraint savings_rollover check (rollover = 'none' or term_days > 0);
comment on column savings.period is 'months of its term; of a fixed deposit, its terms up to the running one';

-- The term of fixed deposits that were opened on that day, in days; 0 for other savings.
alter table interest_batch add column term_days bigint not null default 0 check (term_days >= 0);

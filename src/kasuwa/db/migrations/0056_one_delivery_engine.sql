-- One engine of deliveries: a delivery to any endpoint of a merchant is a job, and its attempts are in one table. The endpoint with
-- number 1 is the setting `webhook_url`; the others are rows of webhook_endpoint, numbered from 2 (docs/decisions/0084).

-- The endpoints that a merchant's events are sent to, by number, each with the kinds of events that it gets (none: every kind), as
-- JSON. Rules write one delivery for each. db/webhook_endpoints.py keeps it equal to the settings and the endpoints.
alter table merchant_state add column endpoints text not null default '{}';
update merchant_state set endpoints = '{"1":[]}' where has_webhook;
drop view book;
alter table merchant_state drop column has_webhook;

-- The endpoint of a delivery; 0 for every other job.
alter table scheduled_job add column endpoint_id bigint not null default 0;
update scheduled_job set endpoint_id = 1 where lane = 'webhook';
alter table scheduled_job add constraint scheduled_job_endpoint check ((lane = 'webhook') = (endpoint_id > 0));
drop index scheduled_job_deliveries;
-- Deliveries of each endpoint in the order of their times.
create index scheduled_job_deliveries on scheduled_job (merchant_id, endpoint_id, run_at, due, seq) where lane = 'webhook';

alter table delivery_attempt add column endpoint_id bigint not null default 1;
alter table delivery_attempt alter column endpoint_id drop default;
alter table delivery_attempt drop constraint delivery_attempt_pkey;
alter table delivery_attempt add primary key (merchant_id, endpoint_id, event_seq, number);

-- Events whose last delivery attempt at an endpoint failed. Rows of an endpoint that was removed stay: readers leave them out.
alter table undelivered_event add column endpoint_id bigint not null default 1;
alter table undelivered_event alter column endpoint_id drop default;
alter table undelivered_event drop constraint undelivered_event_pkey;
alter table undelivered_event add primary key (merchant_id, event_seq, endpoint_id);
create or replace function record_undelivered() returns trigger language plpgsql security definer set search_path = public as $$
begin
    if new.http between 200 and 299 then
        delete from undelivered_event where merchant_id = new.merchant_id and event_seq = new.event_seq
            and endpoint_id = new.endpoint_id;
    else
        insert into undelivered_event (merchant_id, event_seq, endpoint_id)
        values (new.merchant_id, new.event_seq, new.endpoint_id) on conflict do nothing;
    end if;
    return null;
end $$;

-- An endpoint while it fails: since when, and from when on it is disabled, both in business time.
alter table endpoint rename to failing_endpoint;
alter index endpoint_pkey rename to failing_endpoint_pkey;
alter table failing_endpoint add column endpoint_id bigint not null default 1;
alter table failing_endpoint alter column endpoint_id drop default;
alter table failing_endpoint drop constraint failing_endpoint_pkey;
alter table failing_endpoint add primary key (merchant_id, endpoint_id);

alter table webhook_endpoint drop column listed_seq, drop column failing_since, drop column off_at;
drop table endpoint_delivery, endpoint_attempt, endpoint_undelivered;
drop function record_endpoint_undelivered();

-- Mails that are sent in a merchant's name.

-- One row for each mail. Its job sends it.
create table mail (
    key bytea not null,                -- row key
    merchant_id bigint not null,       -- the merchant
    mail_id text not null,             -- its id
    purpose text not null,             -- what it is for, such as invoice or invoice_reminder
    reference text not null,           -- what it is about
    customer_id text not null,         -- who gets it
    -- queued, sent, failed, or unknown: the mail system may have it
    status text not null check (status in ('queued', 'sent', 'failed', 'unknown')),
    attempts bigint not null,          -- how often it was given to the mail system
    reply_code text not null,          -- the code of the mail system's last reply; empty if there was none
    content_sealed bytea,              -- recipient, subject and text, encrypted; null once erased
    created_at timestamptz not null,   -- when it was made
    changed_at timestamptz not null,   -- when its status changed last
    sent_at timestamptz,               -- when the mail system took it
    primary key (key, merchant_id)
) with (fillfactor = 80);
create index mail_newest on mail (merchant_id, created_at, key);
create index mail_status on mail (merchant_id, status, created_at, key);
create index mail_customer on mail (merchant_id, customer_id, created_at);

-- From when on the next mail of a merchant may leave: its share of the mail system.
create table mail_share (
    key bytea not null,             -- row key
    merchant_id bigint not null,    -- the merchant
    free_at timestamptz not null,   -- business time
    primary key (key, merchant_id)
) with (fillfactor = 50);

-- How an invoice is mailed: whether its customer is reminded of it.
alter table invoice add column reminders boolean not null default false;
comment on column invoice.reminders is 'whether its customer is reminded of it by mail';

-- Mails to the people of the console: links, alerts, and what waits for them.

-- One row for each mail. The worker sends it (jobs/people_mails.py).
create table person_mail (
    number bigint generated always as identity primary key,  -- order of insertion
    mail_id text not null unique,                            -- its id: a hash of its occasion, which has one mail
    user_id bigint not null references console_user,         -- who gets it
    mid text,                                                -- the merchant of the person; null for operators
    purpose text not null,                                   -- what it is for (people/mails.py)
    -- queued, sent, failed, or unknown: the mail system may have it
    status text not null check (status in ('queued', 'sent', 'failed', 'unknown')),
    attempts bigint not null default 0,                      -- how often it was given to the mail system
    reply_code text not null default '',                     -- the code of the mail system's last reply, or why it was not sent
    content_sealed bytea,                                    -- recipient, subject and text, encrypted; in live null once it has ended
    created_at timestamptz not null default now(),           -- when it was made
    changed_at timestamptz not null default now(),           -- when its status changed last
    sent_at timestamptz,                                     -- when the mail system took it
    due_at timestamptz not null default now(),               -- when it is tried next
    claims bigint not null default 0,                        -- of the current try; above 1 if a process that claimed it has died
    leased_until timestamptz                                 -- until when the process that claimed it may answer; null if none has
);
create index person_mail_due on person_mail (due_at, number) where status = 'queued';
create index person_mail_mid on person_mail (mid, number);
create index person_mail_user on person_mail (user_id, purpose, created_at);

-- Mails that a person has turned off.
create table person_mail_off (
    user_id bigint not null references console_user,  -- the person
    purpose text not null,                            -- what they are for
    primary key (user_id, purpose)
);

-- From where somebody signed in last in this browser: the hash of a network. Null until the next time.
alter table console_device add column network bytea;
comment on column console_device.network is 'hash of the network of the last sign-in';

-- Receipts are mailed to payers, who need not be customers: they are found by their payment.
create index mail_reference on mail (merchant_id, reference) where customer_id = '';

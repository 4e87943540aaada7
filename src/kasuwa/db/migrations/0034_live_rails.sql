-- Accounts that are closed at their bank, and what the register of Bank Verification Numbers said of a client.

-- An account is `closing` until its rail has confirmed that nobody can pay into it any more.
alter table personalized_account drop constraint personalized_account_state_check;
alter table personalized_account add constraint personalized_account_state_check
    check (state in ('opening', 'open', 'failed', 'closing', 'closed'));
alter table personalized_account add column closed_at timestamptz;
create index personalized_account_list on personalized_account (merchant_id, created_at, key);

-- How a client's BVN was verified, or the page on which the person must consent first: an encrypted JSON object.
alter table client add column bvn_check_sealed bytea;

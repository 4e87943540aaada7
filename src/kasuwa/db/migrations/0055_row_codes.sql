-- The authentication code of a row: made and checked by the service, over the table, the merchant, the key and the columns that
-- decide where money goes (docs/decisions/0076). It begins with the version of its key. Null in rows of the release before, which get
-- theirs while the service is prepared and serves.
alter table merchant add column row_code bytea;
alter table merchant_key add column row_code bytea;
alter table console_user add column row_code bytea;
alter table console_session add column row_code bytea;
alter table console_link add column row_code bytea;
alter table webhook_endpoint add column row_code bytea;
alter table exchange_rate add column row_code bytea;
alter table approval add column row_code bytea;
alter table authority_policy add column row_code bytea;
alter table transaction add column row_code bytea;
alter table scheduled_job add column row_code bytea;
alter table beneficiary add column row_code bytea;
alter table personalized_account add column row_code bytea;
alter table payout_schedule add column row_code bytea;
alter table payout_counter add column row_code bytea;
alter table transfer_approval add column row_code bytea;
alter table token_index add column row_code bytea;

-- A rate, or a policy, is append-only but for its code, which is made after the row, and anew when a key is replaced.
create function refuse_change_but_code() returns trigger language plpgsql as $$
begin
    if to_jsonb(new) - 'row_code' <> to_jsonb(old) - 'row_code' then
        raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
    end if;
    return new;
end $$;
drop trigger exchange_rate_append_only on exchange_rate;
create trigger exchange_rate_append_only before update on exchange_rate for each row execute function refuse_change_but_code();
create trigger exchange_rate_no_delete before delete on exchange_rate for each statement execute function refuse_change();
drop trigger authority_policy_append_only on authority_policy;
create trigger authority_policy_append_only before update on authority_policy
    for each row execute function refuse_change_but_code();
create trigger authority_policy_no_delete before delete on authority_policy for each statement execute function refuse_change();

-- Who decides is checked when somebody decides, and not when the code is made anew.
drop trigger approval_decider on approval;
create trigger approval_decider before update of state, decided_by, proposed_by, first_approved_by on approval
    for each row execute function approval_decider();

-- Until then rows may lack a code, or have one of what they were before: a process of the release before may still change them.
-- `uncoded_permit` is the service's keyed hash of that time, so that nobody else can prolong it. Null: no row may.
alter table deployment add column uncoded_until timestamptz;
alter table deployment add column uncoded_permit bytea;

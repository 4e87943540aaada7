-- People of the console: who vouches for whom, how they are slowed down, and when they last showed who they are.

-- `joined_at`: when somebody first came in by their link. Before that an address is only what somebody typed, and says
-- nothing of whether it is used elsewhere: addresses are unique among those who joined, and within one place.
-- `made_by`: the operator who proposed that this operator be made, reset, promoted or let in again; the two never
-- decide each other's proposals. `approves_from`: not before then may such an operator approve anything.
alter table console_user add column joined_at timestamptz;
update console_user u set joined_at = u.created_at
where u.password is not null or u.totp_sealed is not null
    or exists (select 1 from console_session s where s.user_id = u.user_id);
alter table console_user add column made_by bigint references console_user;
alter table console_user add column approves_from timestamptz;
drop index console_user_email;
create unique index console_user_email on console_user (lower(email)) where joined_at is not null;
create unique index console_user_place on console_user (coalesce(mid, ''), lower(email));

-- Operators themselves are proposed and approved: made, reset, given another role, let in again.
alter table approval drop constraint approval_kind_check;
alter table approval add constraint approval_kind_check
    check (kind in ('posting', 'write_off', 'tariff', 'rate', 'person'));
alter table approval drop constraint approval_of_merchant;
alter table approval add constraint approval_of_merchant check ((mid is null) = (kind in ('rate', 'person')));

-- Whoever approves is another person indeed: not one whom the proposer let in, nor the one who let the proposer in, and
-- nobody who was let in just now.
create function approval_decider() returns trigger language plpgsql as $$
begin
    if new.state = 'approved' and exists (
        select 1 from console_user d, console_user p
        where d.user_id = new.decided_by and p.user_id = new.proposed_by
            and (d.made_by = p.user_id or p.made_by = d.user_id or d.approves_from > now()
                or d.disabled_at is not null))
    then
        raise exception 'approval % cannot be approved by this person', new.approval_id;
    end if;
    return new;
end $$;
create trigger approval_decider before update on approval for each row execute function approval_decider();

-- When the person at this browser last gave a password or a code: what matters most asks for it anew.
alter table console_session add column verified_at timestamptz;
update console_session set verified_at = created_at;
alter table console_session alter column verified_at set default now();
alter table console_session alter column verified_at set not null;

-- Wrong passwords and codes, by address and by where they came from: a network, or a browser that signed in before.
-- `source` is a hash; that of nothing counts an address everywhere. The table sign_in_failure is used no more: it stays
-- until no process of the version before can run.
create table sign_in_throttle (
    email_hash bytea not null,
    source bytea not null,
    failures bigint not null,
    locked_until timestamptz,
    last_at timestamptz not null,
    primary key (email_hash, source)
);
create index sign_in_throttle_last on sign_in_throttle (last_at);

-- Browsers in which somebody signed in before, by the hash of a token that only they have.
create table console_device (
    token_hash bytea primary key,
    user_id bigint not null references console_user,
    seen_at timestamptz not null
);
create index console_device_user on console_device (user_id);

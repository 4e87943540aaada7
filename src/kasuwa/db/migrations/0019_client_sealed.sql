-- What a merchant told of a person is encrypted (`detail_sealed`) and found by keyed hashes of the telephone and the
-- e-mail address. Rows of earlier versions are encrypted when the service is prepared to serve (db/subject_access.py); until
-- then, and while a process of an earlier version still writes, a row may hold its `detail` in clear.
alter table client add column detail_sealed bytea;
alter table client add column phone_hash bytea;
alter table client add column email_hash bytea;
create index client_phone_hash on client (merchant_id, phone_hash, number) where phone_hash is not null;
create index client_email_hash on client (merchant_id, email_hash, number) where email_hash is not null;
create index client_in_clear on client (merchant_id, number) where detail::text <> '{}';

-- A process of an earlier version does not see what is encrypted. It must not write its own idea of a client beside it:
-- such an update is refused, and answered as an error that changed nothing.
create function refuse_client_in_clear() returns trigger language plpgsql as $$
begin
    if old.detail_sealed is not null and new.detail_sealed is not distinct from old.detail_sealed
        and new.detail::text <> '{}' then
        raise exception 'client % is encrypted: a process of an earlier version cannot change it', old.client_id;
    end if;
    return new;
end $$;
create trigger client_in_clear before update on client for each row execute function refuse_client_in_clear();

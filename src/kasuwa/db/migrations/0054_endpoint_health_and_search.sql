-- Events whose last delivery attempt at one of the further endpoints failed, as undelivered_event has those of the first. A
-- trigger keeps them, so that they are right whichever version records an attempt. Rows of an endpoint that was removed stay:
-- whoever reads them leaves removed endpoints out.
create table endpoint_undelivered (
    merchant_id bigint not null,
    event_seq bigint not null,
    endpoint_id bigint not null,
    primary key (merchant_id, event_seq, endpoint_id)
);
create function record_endpoint_undelivered() returns trigger language plpgsql security definer set search_path = public as $$
begin
    if new.http between 200 and 299 then
        delete from endpoint_undelivered where merchant_id = new.merchant_id and event_seq = new.event_seq
            and endpoint_id = new.endpoint_id;
    else
        insert into endpoint_undelivered (merchant_id, event_seq, endpoint_id)
        values (new.merchant_id, new.event_seq, new.endpoint_id) on conflict do nothing;
    end if;
    return null;
end $$;
create trigger endpoint_attempt_undelivered after insert on endpoint_attempt
    for each row when (new.number > 1 or new.http is null or new.http not between 200 and 299)
    execute function record_endpoint_undelivered();
insert into endpoint_undelivered (merchant_id, event_seq, endpoint_id)
select distinct a.merchant_id, a.event_seq, a.endpoint_id from endpoint_attempt a
where (a.http is null or a.http not between 200 and 299) and not exists (
    select 1 from endpoint_attempt b where b.merchant_id = a.merchant_id and b.endpoint_id = a.endpoint_id
        and b.event_seq = a.event_seq and b.number > a.number and b.http between 200 and 299);

-- Final payments by the words of the payer's name and by the last four digits of the card or account, each as a keyed hash
-- (docs/decisions/0081). The worker adds them from the log of events (db/payment_words.py), up to the mark of the merchant.
create table payment_word (
    merchant_id bigint not null,
    word bytea not null,
    event_seq bigint not null,          -- of the payment's end
    txn_ref text not null,
    primary key (merchant_id, word, event_seq)
);
create table payment_word_mark (
    merchant_id bigint primary key,
    event_seq bigint not null
);
-- The words of a payer who is erased are removed in the same commit. No other update sets the column.
create function forget_payment_words() returns trigger language plpgsql security definer set search_path = public as $$
begin
    delete from payment_word where merchant_id = new.merchant_id and txn_ref = new.txn_ref;
    return null;
end $$;
create trigger payment_words_forgotten after update of payer_sealed on payment
    for each row when (old.payer_sealed is not null and new.payer_sealed is null)
    execute function forget_payment_words();

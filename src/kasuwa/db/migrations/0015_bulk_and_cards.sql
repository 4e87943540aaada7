-- A bulk transfer that was taken in, found by its batchRef. `detail` lists its orders in the order in which they were
-- sent: each names the transfer that stands for it, or says why there is none. Never changed, never deleted.
create table transfer_batch (
    key bytea not null,
    merchant_id bigint not null,
    batch_ref text not null,
    detail json not null,
    created_at timestamptz not null,
    primary key (key, merchant_id)
);
create trigger transfer_batch_append_only before update or delete on transfer_batch
    for each statement execute function refuse_change();
create trigger transfer_batch_no_truncate before truncate on transfer_batch
    for each statement execute function refuse_change();

-- The VAT on a card's monthly fee is a line of its own, so that a card's lines add up to its balance. The lines that
-- earlier versions left out are made from the postings; their ids are beyond those that are given out. Where a clock
-- stood still, several fees of a card have one time: their lines and their postings are in the same order.
insert into card_record (
    key, merchant_id, card, number, shown_id, txn_ref, narration, status, currency, amount, fee, refunded, refunds,
    created_at)
with fee as (
    select r.*, row_number() over (partition by r.merchant_id, r.card, r.created_at order by r.number) as place
    from card_record r where r.narration = 'Monthly Fee' and r.status = 'Successful'),
tax as (
    select p.*, row_number() over (partition by p.merchant_id, p.reference, p.debit, p.at order by p.seq) as place
    from posting p where p.kind = 'VAT on fee' and starts_with(p.debit, 'card:'))
select substr(sha256(r.key || 'VAT on Monthly Fee'::bytea), 1, 16), r.merchant_id, r.card, r.number - 1,
    r.shown_id + 1000000000, null, 'VAT on Monthly Fee', r.status, r.currency, p.amount, 0, 0, 0, r.created_at
from fee r
join card c on c.key = r.card and c.merchant_id = r.merchant_id
join tax p on p.merchant_id = r.merchant_id and p.reference = c.reference and p.at = r.created_at
    and p.debit = 'card:' || c.short_id || ':' || c.currency and p.place = r.place;

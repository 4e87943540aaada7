-- Books that prove themselves: hash chains over postings and events, and signed closes over all chains (docs/proofs.md).

-- The chain's value after a group, on the group's last posting, and after an event. Null in rows of versions that had no
-- chain: the next value that is there covers them too.
alter table posting add column hash bytea;
alter table event add column hash bytea;

-- The newest values, and how far they reach. They reach less far than the counters while rows of such a version are to
-- be added to the chain (db/chains.py).
alter table merchant_state add column posting_head bytea not null default decode(repeat('00', 32), 'hex');
alter table merchant_state add column chained_posting_seq bigint not null default 0;
alter table merchant_state add column event_head bytea not null default decode(repeat('00', 32), 'hex');
alter table merchant_state add column chained_event_seq bigint not null default 0;

-- Values of chains at rows that were written without one. Never changed, never deleted.
create table chain_checkpoint (
    merchant_id bigint not null,
    chain text not null check (chain in ('posting', 'event')),
    seq bigint not null,
    hash bytea not null,
    at timestamptz not null default now(),
    primary key (merchant_id, chain, seq)
);

-- A close: the root of a Merkle tree over the heads of all merchants and of the operators' audit trail, signed.
-- `previous` is the hash of the close before. `members` are the merchants of the tree's leaves in their order, eight
-- bytes each. Never changed, never deleted.
create table book_close (
    number bigint primary key check (number > 0),
    closed_at timestamptz not null,
    tree_size bigint not null,
    root bytea not null,
    previous bytea not null,
    public_key bytea not null,
    signature bytea not null,
    members bytea not null
);
alter table book_close alter column members set storage external;

-- The head of a merchant at a close, only where it differs from that of the close before. Merchant 0 is the operators'
-- audit trail. Never changed, never deleted.
create table book_close_head (
    merchant_id bigint not null,
    close_number bigint not null,
    posting_seq bigint not null,
    posting_head bytea not null,
    mark_count bigint not null,
    mark_root bytea not null,
    event_seq bigint not null,
    event_head bytea not null,
    audit_seq bigint not null,
    audit_head bytea not null,
    primary key (merchant_id, close_number)
);
create index book_close_head_number on book_close_head (close_number);

-- Values of a merchant's chain of postings at every 256th posting or shortly after, in the tree of the close that follows
-- (mark_root): the proof of a posting needs the groups up to the next mark. Never changed, never deleted.
create table book_close_mark (
    merchant_id bigint not null,
    seq bigint not null,
    hash bytea not null,
    primary key (merchant_id, seq)
);

-- The hashes of a close's tree, level by level from the leaves up, 32 bytes each: an inclusion proof reads one of each.
create table book_close_level (
    close_number bigint not null,
    level bigint not null,
    hashes bytea not null,
    primary key (close_number, level)
);
alter table book_close_level alter column hashes set storage external;

do $$
declare
    name text;
begin
    foreach name in array array['chain_checkpoint', 'book_close', 'book_close_head', 'book_close_mark',
        'book_close_level'] loop
        execute format('create trigger %I before update or delete on %I for each statement execute function refuse_change()',
            name || '_append_only', name);
        execute format('create trigger %I before truncate on %I for each statement execute function refuse_change()',
            name || '_no_truncate', name);
    end loop;
end $$;

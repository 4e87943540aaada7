-- Versions of the keys that encrypt (`seal`) and of those whose hashes find personal data (`index`). Version 1 of both is
-- derived from the root secret in `deployment`; later ones are random. Ciphertexts name their version in a header; those
-- of earlier releases have none and are of version 1. See docs/decisions/0061.
create table data_key (
    purpose text not null check (purpose in ('seal', 'index')),
    version integer not null check (version > 0),
    merchant_id bigint,
    created_at timestamptz not null default now(),
    active_from timestamptz not null,
    moves_from timestamptz not null,
    refuses_from timestamptz not null,
    moved_at timestamptz,
    finished_at timestamptz,
    retired_at timestamptz,
    dropped_at timestamptz,
    created_by text not null default '',
    primary key (purpose, version)
);
comment on column data_key.merchant_id is 'null: of all merchants';
comment on column data_key.active_from is 'from then on processes encrypt with it; they have all read it by then';
comment on column data_key.moves_from is 'from then on no process encrypts with the versions before it, and their rows are rewritten';
comment on column data_key.refuses_from is 'the versions before it decrypt at least until then: links and forms that are outside of the database have them';
comment on column data_key.moved_at is 'when all rows of the versions before it were rewritten';
comment on column data_key.finished_at is 'when the versions that it replaces were retired';
comment on column data_key.retired_at is 'when it was replaced: it is refused since';
comment on column data_key.dropped_at is 'when its wrapped key was deleted';

-- Data keys, and the root as version 0, encrypted with a key-encryption key. While that is replaced there are two rows for each key.
create table wrapped_key (
    purpose text not null check (purpose in ('root', 'seal', 'index')),
    version integer not null,
    kek text not null,
    wrapped bytea not null,
    created_at timestamptz not null default now(),
    primary key (purpose, version, kek)
);
comment on column wrapped_key.kek is 'the name of the key-encryption key: a hash of it';

-- How far the rewriting of rows for a version has come, so that it goes on after a crash.
create table key_move (
    purpose text not null,
    version integer not null,
    place text not null default '',
    position json not null default '[]',
    rewritten bigint not null default 0,
    rewritten_in_pass bigint not null default 0,
    unreadable_in_pass bigint not null default 0,
    unreadable bigint not null default 0,
    primary key (purpose, version)
);
comment on column key_move.place is 'the column that is being rewritten; empty before the first one';
comment on column key_move.position is 'the primary key of the last row that was looked at';
comment on column key_move.unreadable is 'ciphertexts that no key opened, in the last pass that ended';

-- How long processes may take to read a new version, in seconds; and when ciphertexts begin to name their version. Until then
-- a process of the release before may still run, which cannot read a header.
alter table deployment add column key_update_seconds integer not null default 60 check (key_update_seconds > 0);
alter table deployment add column names_versions_from timestamptz not null default now() + interval '1 hour';
insert into data_key (purpose, version, created_at, active_from, moves_from, refuses_from, moved_at, finished_at)
select purpose, 1, created_at, created_at, created_at, created_at, created_at, created_at
from deployment, (values ('seal'), ('index')) p (purpose);

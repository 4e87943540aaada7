-- What operators do about notices: who looks into one, and how it ended. The notices themselves are append-only.
create table notice_handling (
    merchant_id bigint not null,   -- of the notice
    notice_id bigint not null,     -- the notice
    assigned_to text not null,     -- email address of the operator who looks into it; empty for nobody
    closed_at timestamptz,         -- when it was closed; null while it is open
    closed_by text not null,       -- email address of who closed it; empty while it is open
    comment text not null,         -- what was found, in the words of who closed it
    changed_at timestamptz not null,  -- when any of it was changed last
    primary key (merchant_id, notice_id)
);
create index notice_handling_open on notice_handling (assigned_to, notice_id) where closed_at is null;

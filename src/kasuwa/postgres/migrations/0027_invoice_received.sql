-- Payments of invoices outside of the books: in cash, or to a bank account of the merchant's own.
alter table invoice add column received_outside bigint not null default 0 check (received_outside between 0 and paid);
comment on column invoice.received_outside is 'how much of what was paid the merchant received itself: nothing of it is in the books';
alter table invoice add column receipts json not null default '[]';
comment on column invoice.receipts is 'what the merchant recorded as received, as JSON (methods/invoices/rules/receive.py)';

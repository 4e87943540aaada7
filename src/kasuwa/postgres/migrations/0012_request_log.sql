-- The request log of the test environment has bodies, and ten thousand requests of each merchant.
alter table request_record add column sealed bytea;  -- the bodies of request and reply, encrypted; null in older rows
create index request_record_at on request_record (at);

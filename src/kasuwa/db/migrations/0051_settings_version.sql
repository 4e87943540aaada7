-- How often the merchant's settings were changed. A request that was received under earlier settings is decided again under those
-- of its commit (docs/decisions/0078). An earlier version that is still serving leaves it as it is.
alter table merchant_state add column settings_version bigint not null default 0;

-- +goose Up

-- history_days: how many days of history a tenant keeps; null: as many as the installation. What is counted over 30 days must be there.
alter table tenants
    add column history_days smallint,
    add constraint tenants_history_days_range check (history_days between 30 and 3650);

-- Grants that nobody has renewed for a while, the longest first.
create index credentials_idle_idx on credentials (updated_at, id) where type = 'oauth2' and status in ('active', 'refresh_failed');

-- +goose Down
drop index credentials_idle_idx;
alter table tenants drop column history_days;

-- +goose Up

-- history_days: how many days of history a tenant keeps; null: as many as the installation. What is counted over 30 days must be there.
alter table tenants
    add column history_days smallint,
    add constraint tenants_history_days_range check (history_days between 30 and 3650);

-- Which definitions a change still shows: what nothing refers to any more is swept.
create index tool_changes_before_idx on tool_changes (tenant_id, before_hash) where before_hash is not null;
create index tool_changes_after_idx on tool_changes (tenant_id, after_hash) where after_hash is not null;

-- Grants that nobody has renewed for a while, the longest first.
create index credentials_idle_idx on credentials (updated_at, id) where type = 'oauth2' and status in ('active', 'refresh_failed');

-- +goose Down
drop index credentials_idle_idx;
drop index tool_changes_after_idx;
drop index tool_changes_before_idx;
alter table tenants drop column history_days;

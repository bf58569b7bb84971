-- +goose Up

-- default_…: what an agent or a connector begins with where whoever makes it says nothing else. They are what every one began with until now.
alter table tenants
    add column default_approval         text    not null default 'always_ask',
    add column default_sync_interval_s  integer not null default 900,
    add column default_definition_age_s integer not null default 900,
    add column default_tool_changes     text    not null default 'hold_risky',
    add column default_listen           text    not null default 'auto',
    add constraint tenants_default_approval_known check (default_approval in ('auto', 'always_ask', 'trusted_only')),
    add constraint tenants_default_sync_interval_bounds check (default_sync_interval_s = 0 or default_sync_interval_s between 60 and 31536000),
    add constraint tenants_default_definition_age_bounds check (default_definition_age_s = 0 or default_definition_age_s between 60 and 86400),
    add constraint tenants_default_tool_changes_known check (default_tool_changes in ('auto', 'hold_risky', 'hold_all')),
    add constraint tenants_default_listen_known check (default_listen in ('auto', 'off'));

-- +goose Down
alter table tenants
    drop column default_listen,
    drop column default_tool_changes,
    drop column default_definition_age_s,
    drop column default_sync_interval_s,
    drop column default_approval;

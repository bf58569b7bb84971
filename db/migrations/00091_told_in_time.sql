-- +goose Up

-- When a failing connector counts as down: after so many failed syncs in a row, or at a further failure so many minutes
-- after the first.
alter table tenants
    add column down_after_failures integer not null default 3,
    add column down_after_minutes  integer not null default 10;
alter table tenants
    add constraint tenants_down_after_range
        check (down_after_failures between 1 and 100 and down_after_minutes between 1 and 10080) not valid;

-- Whether a connector's failures in a row count as down by its tenant's settings. checked_at: the end of the last sync.
-- +goose StatementBegin
create function connector_is_down(failures integer, failing_since timestamptz, checked_at timestamptz, after_failures integer, after_minutes integer)
    returns boolean
    language sql stable
as $$ select failing_since is not null
          and (failures >= after_failures or failures > 1 and checked_at >= failing_since + make_interval(mins => after_minutes)) $$;
-- +goose StatementEnd

-- Whether a connector waits for a person who stores a credential. stored, ended: its credentials, and those of them
-- that expired or were revoked. Tokens of machines are fetched when needed.
-- +goose StatementBegin
create function connector_needs_credential(auth_type text, stored bigint, ended bigint) returns boolean
    language sql immutable
as $$ select auth_type <> 'none' and (ended > 0 or stored = 0 and auth_type in ('bearer', 'api_key', 'basic', 'oauth2')) $$;
-- +goose StatementEnd

-- A connector's status, from the status of its syncs and the state of its credentials.
-- +goose StatementBegin
create function connector_status(of_syncs text, needs_credential boolean) returns text
    language sql immutable
as $$ select case when of_syncs in ('ok', 'error') and needs_credential then 'needs_auth' else of_syncs end $$;
-- +goose StatementEnd

-- A loss of tools that no person has acknowledged, since a sync without all or most of the tools before it.
-- vanished_of: the tools before it. vanished_tools: those of them that are still missing. Null: none.
alter table connector_clock
    add column vanished_at    timestamptz,
    add column vanished_tools integer,
    add column vanished_of    integer;
alter table connector_clock
    add constraint connector_clock_vanished_whole
        check ((vanished_at is null) = (vanished_tools is null) and (vanished_at is null) = (vanished_of is null)) not valid;

-- +goose Down
alter table connector_clock
    drop constraint connector_clock_vanished_whole,
    drop column vanished_at,
    drop column vanished_tools,
    drop column vanished_of;
drop function connector_status(text, boolean);
drop function connector_needs_credential(text, bigint, bigint);
drop function connector_is_down(integer, timestamptz, timestamptz, integer, integer);
alter table tenants
    drop constraint tenants_down_after_range,
    drop column down_after_failures,
    drop column down_after_minutes;

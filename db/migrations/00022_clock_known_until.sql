-- +goose Up

-- known_until: until then a server whose requests each say all need not be asked what it is before a scheduled sync; null, or past: it
-- is to be asked. It is forgotten where the connector is changed: its address may be another.
alter table connector_clock add column known_until timestamptz;

-- +goose StatementBegin
create or replace function set_clock() returns trigger
language plpgsql as $$
begin
    insert into connector_clock (tenant_id, connector_id, due_at)
    values (new.tenant_id, new.id, case when new.enabled then now() + make_interval(secs => nullif(new.sync_interval_s, 0)) end)
    on conflict on constraint connector_clock_pkey do update set due_at = excluded.due_at, known_until = null;
    return null;
end $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
create or replace function set_clock() returns trigger
language plpgsql as $$
begin
    insert into connector_clock (tenant_id, connector_id, due_at)
    values (new.tenant_id, new.id, case when new.enabled then now() + make_interval(secs => nullif(new.sync_interval_s, 0)) end)
    on conflict on constraint connector_clock_pkey do update set due_at = excluded.due_at;
    return null;
end $$;
-- +goose StatementEnd
alter table connector_clock drop column known_until;

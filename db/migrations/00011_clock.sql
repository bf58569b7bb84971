-- +goose Up

-- When each connector is synced by itself, who is at it, and what came of it lately. The row is small and hot: what a sync changes
-- each time stands together, and nothing of it but due_at is in an index.
-- due_at null: never by itself. claimed_by: the process that syncs the connector now, whoever asked for it; one that is not in
-- instances has died, and its claim counts for nothing. claimed_at tells a claim from the next one of the same process.
-- run_id: the newest row of sync_runs, while later scheduled syncs came to the same and are counted in checks instead of having
-- rows of their own. hour: the running hour, of which hour_ok to hour_max_ms are counted.
create table connector_clock (
    tenant_id     uuid        not null,
    connector_id  uuid        not null,
    shard         smallint    not null generated always as (get_byte(uuid_send(tenant_id), 15) % 16) stored,
    failures      integer     not null default 0,
    failing_since timestamptz,
    run_id        uuid,
    hour          timestamptz not null default '-infinity',
    due_at        timestamptz,
    claimed_by    uuid,
    claimed_at    timestamptz,
    checked_at    timestamptz,
    ok_at         timestamptz,
    checks        integer     not null default 0,
    hour_ok       integer     not null default 0,
    hour_failed   integer     not null default 0,
    hour_ms       bigint      not null default 0,
    hour_max_ms   bigint      not null default 0,
    constraint connector_clock_pkey primary key (tenant_id, connector_id),
    constraint connector_clock_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint connector_clock_claim_whole check ((claimed_by is null) = (claimed_at is null)),
    constraint connector_clock_failing_whole check ((failures = 0) = (failing_since is null))
) with (fillfactor = 50);
create index connector_clock_due_idx on connector_clock (shard, due_at);

-- Past hours of a connector: how often it was synced, and how long that took.
create table connector_health (
    tenant_id    uuid        not null,
    connector_id uuid        not null,
    hour         timestamptz not null,
    ok           integer     not null,
    failed       integer     not null,
    ms_sum       bigint      not null,
    ms_max       bigint      not null,
    constraint connector_health_pkey primary key (tenant_id, connector_id, hour),
    constraint connector_health_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade
);

-- When it was last looked what is due, by any process: one row.
create table clock_turn (
    one boolean     not null default true,
    at  timestamptz not null default '-infinity',
    constraint clock_turn_pkey primary key (one),
    constraint clock_turn_one check (one)
);
insert into clock_turn default values;

-- repeats: how often scheduled syncs after this one came to the same; repeated_at: the last of them.
alter table sync_runs
    add column repeats     integer not null default 0,
    add column repeated_at timestamptz,
    add constraint sync_runs_repeats_whole check ((repeats > 0) = (repeated_at is not null));

-- steady_since: since when the beats came without a gap, as far as is known. A process that could not beat itself lately says
-- nothing of the others' silence.
alter table instances
    add column steady_since timestamptz not null default pg_postmaster_start_time();

-- Where the hour turns, what was counted in the past one is put aside.
-- +goose StatementBegin
create function keep_hour() returns trigger
language plpgsql as $$
begin
    insert into connector_health (tenant_id, connector_id, hour, ok, failed, ms_sum, ms_max)
    values (old.tenant_id, old.connector_id, old.hour, old.hour_ok, old.hour_failed, old.hour_ms, old.hour_max_ms)
    on conflict on constraint connector_health_pkey do nothing;
    return null;
end $$;
-- +goose StatementEnd
create trigger keep_hour after update of hour on connector_clock for each row
    when (new.hour > old.hour and old.hour_ok + old.hour_failed > 0) execute function keep_hour();

alter table connector_clock enable row level security;
alter table connector_clock force row level security;
create policy tenant_rows on connector_clock using (tenant_id = tenant() or system_scope()) with check (tenant_id = tenant() or system_scope());
alter table connector_health enable row level security;
alter table connector_health force row level security;
create policy tenant_rows on connector_health using (tenant_id = tenant() or system_scope()) with check (tenant_id = tenant() or system_scope());

grant select, insert, update, delete on connector_clock, connector_health to patchbay_app;
grant select, update on clock_turn to patchbay_app;

-- Each connector has its clock. A changed one is due after one interval, as a new one is; without an interval, or disabled, never.
-- +goose StatementBegin
create function set_clock() returns trigger
language plpgsql as $$
begin
    insert into connector_clock (tenant_id, connector_id, due_at)
    values (new.tenant_id, new.id, case when new.enabled then now() + make_interval(secs => nullif(new.sync_interval_s, 0)) end)
    on conflict on constraint connector_clock_pkey do update set due_at = excluded.due_at;
    return null;
end $$;
-- +goose StatementEnd
create trigger set_new_clock after insert on connectors for each row execute function set_clock();
create trigger set_clock after update of version on connectors for each row
    when (new.version <> old.version) execute function set_clock();

-- One that waits for a person has no time, and gets one when its credential changes.
-- +goose StatementBegin
create function resume_clock() returns trigger
language plpgsql as $$
begin
    update connector_clock
    set due_at = now() + make_interval(secs => least(connectors.sync_interval_s, 60))
    from connectors
    where connector_clock.tenant_id = new.tenant_id and connector_clock.connector_id = new.connector_id and connector_clock.due_at is null
      and connectors.tenant_id = new.tenant_id and connectors.id = new.connector_id and connectors.enabled and connectors.sync_interval_s > 0;
    return null;
end $$;
-- +goose StatementEnd
create trigger resume_clock after insert or update of version on credentials
    for each row when (new.status = 'active') execute function resume_clock();
create trigger resume_clock after insert or update on connector_envs
    for each row execute function resume_clock();

insert into connector_clock (tenant_id, connector_id, due_at, ok_at)
select tenant_id, id,
       case when enabled and sync_interval_s > 0 and status <> 'needs_auth'
            then coalesce(next_sync_at, now() + make_interval(secs => sync_interval_s * random())) end,
       tools_last_synced_at
from connectors;

comment on column connectors.next_sync_at is 'Not used any more: connector_clock.due_at is.';

-- +goose Down
drop trigger resume_clock on connector_envs;
drop trigger resume_clock on credentials;
drop trigger set_clock on connectors;
drop trigger set_new_clock on connectors;
drop table connector_health;
drop table connector_clock;
drop table clock_turn;
drop function resume_clock();
drop function set_clock();
drop function keep_hour();
alter table sync_runs drop column repeats, drop column repeated_at;
alter table instances drop column steady_since;
comment on column connectors.next_sync_at is null;

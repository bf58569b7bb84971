-- +goose Up

-- A tenant's calls that ended, hour by hour, so that figures cost the same however many calls there are, and outlive the calls. bucket: how
-- long the server took, as latency_bucket has it; -1: it says nothing of a server, for the call was not sent, waited for a person, or is a
-- task. failed: calls with the status error. other: denied and cancelled ones.
create table call_hours (
    tenant_id uuid        not null references tenants (id) on delete cascade,
    hour      timestamptz not null,
    bucket    smallint    not null,
    ok        integer     not null,
    failed    integer     not null,
    other     integer     not null,
    constraint call_hours_pkey primary key (tenant_id, hour, bucket),
    constraint call_hours_bucket_known check (bucket between -1 and 80)
) with (fillfactor = 70);
create index call_hours_age_idx on call_hours (hour);

-- The bucket of a latency: four to a doubling from 125 µs on, so that one is at most a fifth wider than its lower end. The last takes all
-- from 109 s. connectors.LatencyBucket is the same.
-- +goose StatementBegin
create function latency_bucket(us bigint) returns smallint
language sql immutable as $$
    select case when us is null then -1 else least(80, greatest(0, ceil(4 * log(greatest(us, 1) / 125.0::float8) / log(2.0::float8)))) end::smallint
$$;
-- +goose StatementEnd

-- Counts calls in the hour in which they ended: their arrays are of one length; a duration, or all of them, is null where the bucket is -1. Rows are
-- taken in one order, so that processes that count at once do not wait for each other in a circle.
-- +goose StatementBegin
create function count_calls(tenants uuid[], ended_at timestamptz[], statuses text[], took_us bigint[]) returns bigint
language plpgsql as $$
begin
    insert into call_hours (tenant_id, hour, bucket, ok, failed, other)
    select ended.tenant_id, date_trunc('hour', ended.at, 'UTC'), latency_bucket(ended.us),
           count(*) filter (where ended.status = 'success'), count(*) filter (where ended.status = 'error'),
           count(*) filter (where ended.status in ('denied', 'cancelled'))
    from unnest(tenants, ended_at, statuses, took_us) as ended (tenant_id, at, status, us)
    group by 1, 2, 3
    order by 1, 2, 3
    on conflict on constraint call_hours_pkey do update
    set ok = call_hours.ok + excluded.ok,
        failed = call_hours.failed + excluded.failed,
        other = call_hours.other + excluded.other;
    return coalesce(cardinality(tenants), 0);
end $$;
-- +goose StatementEnd

-- A tenant's syncs, hour by hour: the sums of connector_health, put together off the syncs' way. rolled: this row is in them. tools: how
-- many there were when the hour was last added to; null: that was before this was noted.
create table sync_hours (
    tenant_id uuid        not null references tenants (id) on delete cascade,
    hour      timestamptz not null,
    ok        integer     not null,
    failed    integer     not null,
    tools     integer,
    constraint sync_hours_pkey primary key (tenant_id, hour)
);
create index sync_hours_age_idx on sync_hours (hour);
alter table connector_health add column rolled boolean not null default true;
alter table connector_health alter column rolled set default false;
create index connector_health_unrolled_idx on connector_health (tenant_id, hour) where not rolled;

alter table call_hours enable row level security;
alter table call_hours force row level security;
create policy tenant_rows on call_hours using (tenant_id = tenant() or system_scope()) with check (tenant_id = tenant() or system_scope());
alter table sync_hours enable row level security;
alter table sync_hours force row level security;
create policy tenant_rows on sync_hours using (tenant_id = tenant() or system_scope()) with check (tenant_id = tenant() or system_scope());
grant select, insert, update, delete on call_hours, sync_hours to patchbay_app;

-- What there is already.
insert into call_hours (tenant_id, hour, bucket, ok, failed, other)
select tenant_id, date_trunc('hour', completed_at, 'UTC'),
       latency_bucket(case when outcome in ('ok', 'tool_error', 'rpc_error', 'transport') and approved_by = '' and task is null then duration_us end),
       count(*) filter (where status = 'success'), count(*) filter (where status = 'error'), count(*) filter (where status in ('denied', 'cancelled'))
from tool_calls
where completed_at > now() - interval '90 days'
group by 1, 2, 3;
insert into sync_hours (tenant_id, hour, ok, failed)
select tenant_id, hour, sum(ok), sum(failed)
from connector_health
where hour > now() - interval '90 days'
group by 1, 2;

-- +goose Down
drop index connector_health_unrolled_idx;
alter table connector_health drop column rolled;
drop table sync_hours;
drop function count_calls(uuid[], timestamptz[], text[], bigint[]);
drop table call_hours;
drop function latency_bucket(bigint);

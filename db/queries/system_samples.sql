-- The past of sample tenants.

-- name: AddSampleRuns :exec
-- A week of scheduled runs of a connector, six hours apart, with their hours. Of a connector that works, the ninth failed.
-- The ids are version 7 UUIDs of that time.
with past as (
    select tenants.id as tenant_id, now() - make_interval(hours => 6 * n, secs => 17 * n) as at, n, 150 + (n * 37) % 400 as ms, @failing::boolean or n = 9 as failed
    from tenants, generate_series(1, 27) n
    where tenants.id = @tenant_id and tenants.sample
), hours as (
    insert into connector_health (tenant_id, connector_id, hour, ok, failed, ms_sum, ms_max)
    select past.tenant_id, @connector_id, date_trunc('hour', past.at), case when past.failed then 0 else 1 end, case when past.failed then 1 else 0 end,
           past.ms, past.ms
    from past
    on conflict on constraint connector_health_pkey do nothing
)
insert into sync_runs (tenant_id, id, connector_id, trigger, state, queued_at, started_at, finished_at, tools_total, protocol_version, error_code, error_message)
select past.tenant_id,
       (lpad(to_hex((extract(epoch from past.at) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3)
           || '8' || substr(md5(random()::text), 1, 15))::uuid,
       @connector_id, 'schedule', case when past.failed then 'error' else 'ok' end, past.at, past.at, past.at + make_interval(secs => past.ms / 1000.0),
       case when past.failed then 0 else @tools::integer end, '2025-11-25',
       case when past.failed then @error_code::text end, case when past.failed then @error_message::text end
from past;

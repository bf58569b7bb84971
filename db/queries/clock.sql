-- name: ConnectorHealth :many
-- Oldest first. connector_clock has the current hour.
select past.hour, past.ok, past.failed, past.ms_sum, past.ms_max
from connector_health past
where past.tenant_id = @tenant_id and past.connector_id = @connector_id and past.hour >= @since
union all
select clock.hour, clock.hour_ok as ok, clock.hour_failed as failed, clock.hour_ms as ms_sum, clock.hour_max_ms as ms_max
from connector_clock clock
where clock.tenant_id = @tenant_id and clock.connector_id = @connector_id and clock.hour >= @since and clock.hour_ok + clock.hour_failed > 0
order by hour;

-- name: Clock :one
select due_at, failures, failing_since, checked_at, ok_at
from connector_clock
where tenant_id = @tenant_id and connector_id = @connector_id;

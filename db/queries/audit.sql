-- What happened, by whom.

-- name: AuditEvents :many
-- The newest first. Ids grow with time, so that from_id bounds how far back is read; at says it exactly.
select id, at, actor_type, actor_id, actor_name, action, target, detail, request_id, ip
from audit_events
where audit_events.tenant_id = @tenant_id
  and (sqlc.narg(before_id)::uuid is null or id < sqlc.narg(before_id))
  and (sqlc.narg(from_id)::uuid is null or id >= sqlc.narg(from_id))
  and (sqlc.narg(since)::timestamptz is null or at >= sqlc.narg(since))
  and (sqlc.narg(until)::timestamptz is null or at < sqlc.narg(until))
  and (@actor::text = '' or actor_name ilike @actor)
  and (@target::text = '' or audit_events.target ilike @target)
  and (@action::text = '' or action = @action or starts_with(action, @action || '.'))
order by id desc
limit @max_rows;

-- The outcomes of calls: as the hash chain recorded them, and as the rows have them now.

-- name: OutcomeHead :one
-- The end of the chain and the result of its last check. first 0: the chain is empty.
select places, calls, records, hash, checked_at, checked_calls, checked_bad, checked_reason, checked_call,
       coalesce((select call_outcomes.n from call_outcomes where call_outcomes.tenant_id = @tenant_id order by call_outcomes.n limit 1), 0)::bigint as first
from call_outcome_heads
where tenant_id = @tenant_id;

-- name: OutcomeLinks :many
-- Links in chain order. The page ends with the link that reaches max_calls.
select links.n, links.at, links.kind, links.calls, links.body, links.hash
from (
    select few.n, few.at, few.kind, few.calls, few.body, few.hash, sum(few.calls) over (order by few.n, few.at) - few.calls as before
    from (
        select call_outcomes.n, call_outcomes.at, call_outcomes.kind, call_outcomes.calls, call_outcomes.body, call_outcomes.hash
        from call_outcomes
        where call_outcomes.tenant_id = @tenant_id and call_outcomes.n > @after and call_outcomes.n <= @until
        order by call_outcomes.n, call_outcomes.at
        limit @max_rows
    ) few
) links
where links.before < @max_calls::bigint
order by links.n, links.at;

-- name: CallEnds :many
-- Columns are in the binary form of the chain (function note_calls). internal/store/outcome_body.go names them.
select id, array[
    uuid_send(id), uuid_send(agent_id), textsend(agent_slug), uuid_send(connector_id), textsend(connector_slug), textsend(kind), textsend(tool),
    textsend(source), textsend(caller), uuid_send(token_id), uuid_send(credential_id), definition_hash, textsend(status), textsend(outcome),
    textsend(error_code), boolsend(is_error), textsend(approved_by), int8send(request_bytes), int8send(response_bytes),
    timestamptz_send(started_at), timestamptz_send(completed_at), int8send(duration_us), textsend(address), textsend(request_id)]::bytea[] as columns
from tool_calls
where tenant_id = @tenant_id and id = any(@ids::uuid[]);

-- name: SetOutcomesChecked :exec
update call_outcome_heads
set checked_at = now(), checked_calls = @calls, checked_bad = sqlc.narg(bad), checked_reason = sqlc.narg(reason), checked_call = sqlc.narg(call)
where tenant_id = @tenant_id;

-- name: OutcomeCuts :many
-- Audit events that record a deletion of the links up to @places, newest first.
select detail
from audit_events
where audit_events.tenant_id = @tenant_id and action = 'audit.cut' and detail -> 'calls' ->> 'places' = @places::text
order by id desc
limit 10;

-- name: LastOutcomeBefore :one
-- The last link older than @before. No row: none is older. Links are in the order of their times.
select n, hash
from call_outcomes
where tenant_id = @tenant_id and at < @before
order by n desc
limit 1;

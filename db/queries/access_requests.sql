-- name: CreateAccessRequest :exec
-- Each insert deletes requests that ended 90 days ago, so that no sweeper is needed.
with swept as (
    delete from access_requests
    where access_requests.tenant_id = @tenant_id and access_requests.decided_at < now() - interval '90 days'
)
insert into access_requests (tenant_id, id, agent_id, connector_id, all_tools, tools, reason, until, asker, asked_by)
values (@tenant_id, @id, @agent_id, @connector_id, @all_tools, @tools, @reason, sqlc.narg(until), @asker, @asked_by);

-- name: CountOpenAccessRequests :one
select count(*) as open, count(*) filter (where asker = @asker) as own
from access_requests
where tenant_id = @tenant_id and state = 'open';

-- name: AccessRequest :one
select sqlc.embed(r), agents.slug as agent, agents.name as agent_name, connectors.slug as connector, connectors.name as connector_name
from access_requests r
join agents on agents.tenant_id = r.tenant_id and agents.id = r.agent_id
join connectors on connectors.tenant_id = r.tenant_id and connectors.id = r.connector_id
where r.tenant_id = @tenant_id and r.id = @id;

-- name: AccessRequests :many
-- Newest first. asker selects those of one person or key.
select sqlc.embed(r), agents.slug as agent, agents.name as agent_name, connectors.slug as connector, connectors.name as connector_name
from access_requests r
join agents on agents.tenant_id = r.tenant_id and agents.id = r.agent_id
join connectors on connectors.tenant_id = r.tenant_id and connectors.id = r.connector_id
where r.tenant_id = @tenant_id
  and (@state::text = '' or r.state = @state)
  and (sqlc.narg(asker)::uuid is null or r.asker = sqlc.narg(asker))
  and (sqlc.narg(before_id)::uuid is null or r.id < sqlc.narg(before_id))
order by r.id desc
limit @max_rows;

-- name: DecideAccessRequest :execrows
update access_requests
set state = @state, decided_by = @decided_by, decided_at = now(), note = @note
where tenant_id = @tenant_id and id = @id and state = 'open';

-- name: WithdrawAccessRequestsOf :exec
update access_requests
set state = 'withdrawn', decided_at = now()
where tenant_id = @tenant_id and asker = @asker and state = 'open';

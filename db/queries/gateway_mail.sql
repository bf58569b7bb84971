-- Messages between processes, stored for minutes.

-- name: PutMail :execrows
-- The limits bound what a client can store in the mailboxes of its agent. urgent: no limit, for messages that no client
-- caused. Results of tasks and whole answers have limits of their own. A message that is put again, because its reply was
-- lost, is stored and announced once.
insert into gateway_mail (tenant_id, id, agent_id, box, sealed, expires_at)
select @tenant_id, @id::uuid, @agent_id, @box::text, @sealed::bytea, @expires_at::timestamptz
from (
    select count(*) as number, coalesce(sum(length(there.sealed)), 0) as bytes
    from gateway_mail there
    where there.tenant_id = @tenant_id and there.agent_id = @agent_id and there.id <> @id and there.expires_at > now()
      and (there.box like 'task-%') = (@box::text like 'task-%')
      and (there.box like 'result-%') = (@box::text like 'result-%')
) lies
where @urgent::boolean
   or lies.number < @most::bigint and lies.bytes < @most_bytes::bigint
on conflict (tenant_id, id) do update set expires_at = excluded.expires_at;

-- name: PutAnswer :one
-- Stores a whole answer if its agent is enabled and its tenant keeps a history. Both rows are locked: a change of one waits, and
-- its trigger then deletes the answer. recount: the answers of the tenant are counted and bounded; otherwise both figures are 0,
-- and only the agent's bound holds.
with counted as materialized (
    select count(*) as number, coalesce(sum(length(kept.sealed)), 0)::bigint as bytes
    from gateway_mail kept
    where @recount::boolean and kept.tenant_id = @tenant_id and kept.connector_id is not null
      and kept.id <> @id and kept.expires_at > now()
), lies as (
    select count(*) as number, coalesce(sum(length(there.sealed)), 0) as bytes
    from gateway_mail there
    where there.tenant_id = @tenant_id and there.agent_id = @agent_id and there.id <> @id and there.expires_at > now()
      and there.box like 'result-%'
), allowed as materialized (
    select agents.id
    from tenants
    join agents on agents.tenant_id = tenants.id
    where tenants.id = @tenant_id and tenants.call_history <> 'none' and agents.id = @agent_id and agents.enabled
    for share
), stored as (
    insert into gateway_mail (tenant_id, id, agent_id, box, sealed, expires_at, connector_id)
    select @tenant_id, @id::uuid, allowed.id, @box::text, @sealed::bytea, @expires_at::timestamptz, @connector_id::uuid
    from allowed, counted, lies
    where lies.number < @most::bigint and lies.bytes < @most_bytes::bigint
      and counted.number < @most_answers::bigint and counted.bytes < @most_answer_bytes::bigint
    on conflict (tenant_id, id) do update set sealed = excluded.sealed, expires_at = excluded.expires_at
    returning gateway_mail.id
)
select counted.number, counted.bytes, exists (select from allowed) as is_allowed, exists (select from stored) as is_stored
from counted;

-- name: Mail :many
-- Messages in the order of arrival.
select id, agent_id, box, sealed
from gateway_mail
where tenant_id = @tenant_id and agent_id = @agent_id and box = @box and expires_at > now()
  and (sqlc.narg(after_id)::uuid is null or id > sqlc.narg(after_id))
order by id
limit @max_rows;

-- name: ConsumeMail :many
-- A message is delivered once. Rows are returned in no order.
delete from gateway_mail
where tenant_id = @tenant_id and agent_id = @agent_id and box = @box and expires_at > now()
returning id, agent_id, box, sealed;

-- name: DeleteMail :exec
delete from gateway_mail
where tenant_id = @tenant_id and agent_id = @agent_id and box = @box;

-- What one process keeps for another, for minutes.

-- name: PutMail :execrows
-- An agent's client can put as much as it likes: what lies there of one agent is bounded. urgent: it is not the client's.
insert into gateway_mail (tenant_id, id, agent_id, box, sealed, expires_at)
select @tenant_id, @id::uuid, @agent_id, @box::text, @sealed::bytea, @expires_at::timestamptz
from (
    select count(*) as number, coalesce(sum(length(there.sealed)), 0) as bytes
    from gateway_mail there
    where there.tenant_id = @tenant_id and there.agent_id = @agent_id and there.expires_at > now()
) lies
where @urgent::boolean or lies.number < @most::bigint and lies.bytes < @most_bytes::bigint;

-- name: Mail :many
-- In the order in which it came.
select id, agent_id, box, sealed
from gateway_mail
where tenant_id = @tenant_id and agent_id = @agent_id and box = @box and expires_at > now()
  and (sqlc.narg(after_id)::uuid is null or id > sqlc.narg(after_id))
order by id
limit @max_rows;

-- name: TakeMail :many
-- A message is taken once; the order is the caller's to make.
delete from gateway_mail
where tenant_id = @tenant_id and agent_id = @agent_id and box = @box and expires_at > now()
returning id, agent_id, box, sealed;

-- name: DropMail :exec
delete from gateway_mail
where tenant_id = @tenant_id and agent_id = @agent_id and box = @box;

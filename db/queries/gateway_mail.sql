-- What one process keeps for another, for minutes.

-- name: PutMail :exec
insert into gateway_mail (tenant_id, id, agent_id, box, sealed, expires_at)
values (@tenant_id, @id, @agent_id, @box, @sealed, @expires_at);

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

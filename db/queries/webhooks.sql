-- Webhooks and their deliveries.

-- name: CreateWebhook :one
insert into webhooks (tenant_id, id, name, url, format, kinds, sealed)
values (@tenant_id, @id, @name, @url, @format, @kinds, @sealed)
returning *;

-- name: CountWebhooks :one
select count(*)
from webhooks
where tenant_id = @tenant_id;

-- name: Webhooks :many
select webhooks.*
from webhooks
where tenant_id = @tenant_id
  and (sqlc.narg(after_id)::uuid is null or id > sqlc.narg(after_id))
order by id
limit @max_rows;

-- name: Webhook :one
select webhooks.*
from webhooks
where tenant_id = @tenant_id and id = @id;

-- name: UpdateWebhook :one
-- A new URL, or a webhook that is enabled again, resets the failure counts.
update webhooks
set name = @name,
    url = @url,
    format = @format,
    kinds = @kinds,
    enabled = @enabled,
    disabled_why = case when @enabled then '' else disabled_why end,
    failures = case when url <> @url or @enabled and not enabled then 0 else failures end,
    failing_since = case when url <> @url or @enabled and not enabled then null else failing_since end,
    updated_at = now()
where tenant_id = @tenant_id and id = @id
returning *;

-- name: SetWebhookSecrets :one
update webhooks
set sealed = @sealed,
    rotating_until = @rotating_until,
    updated_at = now()
where tenant_id = @tenant_id and id = @id
returning *;

-- name: DeleteWebhook :execrows
delete from webhooks
where tenant_id = @tenant_id and id = @id;

-- name: DisableWebhook :execrows
update webhooks
set enabled = false,
    disabled_why = @disabled_why,
    updated_at = now()
where tenant_id = @tenant_id and id = @id and enabled;

-- name: CancelDeliveries :exec
update webhook_deliveries
set state = 'cancelled',
    next_at = null
where tenant_id = @tenant_id and webhook_id = @webhook_id and state = 'waiting';

-- name: WebhooksForKind :many
select id
from webhooks
where tenant_id = @tenant_id and enabled and (cardinality(kinds) = 0 or @kind::text = any(kinds))
order by id;

-- name: WebhooksNamingKind :many
-- Without those that are told of all notices.
select id
from webhooks
where tenant_id = @tenant_id and enabled and @kind::text = any(kinds)
order by id;

-- name: InsertDelivery :exec
insert into webhook_deliveries (tenant_id, id, webhook_id, notice_id, kind, body, next_at)
values (@tenant_id, @id, @webhook_id, @notice_id, @kind, @body, now());

-- name: DeleteOldestDeliveries :exec
-- The newest @newest deliveries of the webhook stay, whatever their state. At most 100 rows a statement.
delete from webhook_deliveries
where webhook_deliveries.tenant_id = @tenant_id
  and webhook_deliveries.id in (
      select old.id
      from webhook_deliveries old
      where old.tenant_id = @tenant_id and old.webhook_id = @webhook_id
        and old.id <= (
            select edge.id
            from webhook_deliveries edge
            where edge.tenant_id = @tenant_id and edge.webhook_id = @webhook_id
            order by edge.id desc
            offset @newest::integer
            limit 1)
      order by old.id
      limit 100
      for update skip locked);

-- name: Deliveries :many
select webhook_deliveries.*
from webhook_deliveries
where tenant_id = @tenant_id and webhook_id = @webhook_id
  and (sqlc.narg(before_id)::uuid is null or id < sqlc.narg(before_id))
order by id desc
limit @max_rows;

-- name: Delivery :one
select webhook_deliveries.*
from webhook_deliveries
where tenant_id = @tenant_id and id = @id;

-- name: ClaimDelivery :one
-- next_at is the end of the claim: another process may retry after it.
update webhook_deliveries
set attempts = attempts + 1,
    tries = tries + 1,
    tried_at = now(),
    next_at = now() + make_interval(secs => @seconds::double precision)
where tenant_id = @tenant_id and id = @id and state = 'waiting' and next_at <= now()
returning *;

-- name: EndDelivery :execrows
-- tries is compared: a later attempt wins. wait null: no further attempt.
update webhook_deliveries
set state = @state,
    status = sqlc.narg(status),
    error = @error,
    duration_ms = @duration_ms,
    next_at = now() + make_interval(secs => sqlc.narg(wait)::double precision)
where tenant_id = @tenant_id and id = @id and state = 'waiting' and tries = @tries;

-- name: RecordDelivered :exec
update webhooks
set failures = 0,
    failing_since = null,
    delivered_at = now()
where tenant_id = @tenant_id and id = @id;

-- name: RecordUndelivered :one
update webhooks
set failures = failures + 1,
    failing_since = coalesce(failing_since, now())
where tenant_id = @tenant_id and id = @id
returning *;

-- name: RequeueDelivery :one
-- Due at once, with the attempts reset. The id stays.
update webhook_deliveries
set state = 'waiting',
    attempts = 0,
    next_at = now()
where tenant_id = @tenant_id and webhook_id = @webhook_id and id = @id
returning *;

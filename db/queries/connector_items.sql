-- name: ConnectorItems :many
select kind, key, raw
from connector_items
where tenant_id = @tenant_id and connector_id = @connector_id
order by kind, position;

-- name: ConnectorItemPage :many
-- The items of one kind, in the server's order. All items of a connector together have at most 8 MiB.
select position, key, raw, first_seen_at, changed_at
from connector_items
where tenant_id = @tenant_id and connector_id = @connector_id and kind = @kind and position > @after_position::integer
order by position
limit sqlc.narg(max_rows)::integer;

-- name: ConnectorItemNumbers :many
select kind, count(*)::integer as items
from connector_items
where tenant_id = @tenant_id and connector_id = @connector_id
group by kind;

-- name: ItemStates :many
-- What the next list is compared with.
select kind, key, sha256(raw) as hash, first_seen_at, changed_at
from connector_items
where tenant_id = @tenant_id and connector_id = @connector_id;

-- name: SetItemsHash :execrows
update connectors
set items_hash = @items_hash
where tenant_id = @tenant_id and id = @id;

-- name: DeleteItems :exec
delete from connector_items
where tenant_id = @tenant_id and connector_id = @connector_id;

-- name: InsertItems :exec
insert into connector_items (tenant_id, connector_id, kind, position, key, raw, first_seen_at, changed_at)
select @tenant_id, @connector_id, new.kind, new.position, new.key, new.raw, new.first_seen_at, new.changed_at
from (select unnest(@kinds::text[]) as kind,
             unnest(@positions::integer[]) as position,
             unnest(@keys::text[]) as key,
             unnest(@raws::bytea[]) as raw,
             unnest(@first_seen_ats::timestamptz[]) as first_seen_at,
             unnest(@changed_ats::timestamptz[]) as changed_at) new;

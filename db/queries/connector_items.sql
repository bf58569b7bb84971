-- name: ConnectorItems :many
select kind, key, raw
from connector_items
where tenant_id = @tenant_id and connector_id = @connector_id
order by kind, position;

-- name: SetItemsHash :execrows
update connectors
set items_hash = @items_hash
where tenant_id = @tenant_id and id = @id;

-- name: DeleteItems :exec
delete from connector_items
where tenant_id = @tenant_id and connector_id = @connector_id;

-- name: InsertItems :exec
insert into connector_items (tenant_id, connector_id, kind, position, key, raw)
select @tenant_id, @connector_id, new.kind, new.position, new.key, new.raw
from (select unnest(@kinds::text[]) as kind,
             unnest(@positions::integer[]) as position,
             unnest(@keys::text[]) as key,
             unnest(@raws::bytea[]) as raw) new;

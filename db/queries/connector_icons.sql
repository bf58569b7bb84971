-- name: ConnectorIcon :one
select media_type, picture
from connector_icons
where tenant_id = @tenant_id and connector_id = @connector_id;

-- name: ConnectorIcons :many
select connector_id, media_type, picture
from connector_icons
where tenant_id = @tenant_id and connector_id = any(@connector_ids::uuid[]);

-- name: ConnectorMarks :many
select slug, url, icon_hash
from connectors
where tenant_id = @tenant_id and slug = any(@slugs::text[]);

-- name: SetIconHash :execrows
update connectors
set icon_hash = @icon_hash
where tenant_id = @tenant_id and id = @id;

-- name: PutIcon :exec
insert into connector_icons (tenant_id, connector_id, media_type, picture)
values (@tenant_id, @connector_id, @media_type, @picture)
on conflict on constraint connector_icons_pkey do update
set media_type = excluded.media_type,
    picture = excluded.picture;

-- name: DeleteIcon :exec
delete from connector_icons
where tenant_id = @tenant_id and connector_id = @connector_id;

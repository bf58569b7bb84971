-- +goose Up

-- The icon that a connector's server sent with its last handshake. It is apart from the connector, whose rows are read in
-- many places; icon_hash says there whether an icon is stored, and which.
create table connector_icons (
    tenant_id    uuid not null,
    connector_id uuid not null,
    media_type   text not null,
    picture      bytea not null,
    constraint connector_icons_pkey primary key (tenant_id, connector_id),
    constraint connector_icons_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint connector_icons_media_type_known check (media_type in ('image/png', 'image/jpeg', 'image/webp')),
    constraint connector_icons_size check (length(picture) between 1 and 16384)
);
create policy tenant_rows on connector_icons using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
alter table connector_icons enable row level security;
alter table connector_icons force row level security;
grant select, insert, update, delete on connector_icons to patchbay_app;

alter table connectors add column icon_hash bytea;
alter table connectors add constraint connectors_icon_hash_length check (length(icon_hash) = 32) not valid;

-- +goose Down
alter table connectors drop column icon_hash;
drop table connector_icons;

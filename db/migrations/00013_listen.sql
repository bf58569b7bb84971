-- +goose Up

-- listen: whether a stream may be held on which the server says that its lists have changed.
alter table connectors
    add column listen text not null default 'auto',
    add constraint connectors_listen_known check (listen in ('auto', 'off'));

-- A row for each connector whose server says that it tells of changes. One process at most holds the stream: instance_id; it is free
-- again where that process ends, or dies. state: of the stream, since when; it is what it was where a process died. due_at: from when on a
-- process may take a free one; null: not before a person says so. reason: a code of why it is off, or waits. version: of the connector's
-- settings, and credential_*: what the stream was opened with. failures: in a row; vain: how often in a row the lists were not
-- changed after all; notified: how often the server said that they were.
create table upstream_listeners (
    tenant_id          uuid        not null,
    connector_id       uuid        not null,
    instance_id        uuid,
    state              text        not null default 'waiting',
    since              timestamptz not null default now(),
    due_at             timestamptz default now(),
    reason             text        not null default '',
    version            integer     not null,
    credential_id      uuid,
    credential_version integer     not null default 0,
    failures           integer     not null default 0,
    vain               integer     not null default 0,
    notified           bigint      not null default 0,
    last_notified_at   timestamptz,
    constraint upstream_listeners_pkey primary key (tenant_id, connector_id),
    constraint upstream_listeners_connector_fkey foreign key (tenant_id, connector_id)
        references connectors (tenant_id, id) on delete cascade,
    constraint upstream_listeners_instance_fkey foreign key (instance_id) references instances (id) on delete set null,
    constraint upstream_listeners_state_known check (state in ('waiting', 'listening', 'off')),
    constraint upstream_listeners_off_has_reason check (state <> 'off' or reason <> ''),
    constraint upstream_listeners_off_is_free check (state <> 'off' or instance_id is null),
    constraint upstream_listeners_counts_positive check (failures >= 0 and vain >= 0 and notified >= 0)
);
create index upstream_listeners_due_idx on upstream_listeners (due_at) where instance_id is null;
create index upstream_listeners_instance_idx on upstream_listeners (instance_id);

alter table upstream_listeners enable row level security;
alter table upstream_listeners force row level security;
create policy tenant_rows on upstream_listeners using (tenant_id = tenant() or system_scope())
    with check (tenant_id = tenant() or system_scope());
grant select, insert, update, delete on upstream_listeners to patchbay_app;

-- +goose Down
drop table upstream_listeners;
alter table connectors drop column listen;

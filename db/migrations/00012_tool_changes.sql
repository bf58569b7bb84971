-- +goose Up

-- max_definition_age_s: how old the last successful sync may be before a call that may destroy something waits for another one; 0: any
-- age will do.
alter table connectors
    add column max_definition_age_s integer not null default 900,
    add constraint connectors_definition_age_bounds check (max_definition_age_s = 0 or max_definition_age_s between 60 and 86400);

-- What syncs met after the first one: tools that came, changed or went. before_hash is the definition that agents were served, null: none;
-- after_hash null: removed. Both are rows of tool_definitions, which live as long as a change shows them. kinds and risk are package
-- toolchange's. state: waiting for a person, and then accepted or rejected by one; automatic, as the connector's policy has it;
-- superseded, where the server changed the tool again before anybody decided. sync_run_id may be gone.
create table tool_changes (
    tenant_id    uuid        not null,
    id           uuid        not null,
    connector_id uuid        not null,
    tool         text        not null,
    sync_run_id  uuid,
    seen_at      timestamptz not null default now(),
    before_hash  bytea,
    after_hash   bytea,
    kinds        text[]      not null,
    risk         text        not null,
    state        text        not null,
    decided_by   text        not null default '',
    decided_at   timestamptz,
    constraint tool_changes_pkey primary key (tenant_id, id),
    constraint tool_changes_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint tool_changes_risk_known check (risk in ('none', 'low', 'high')),
    constraint tool_changes_state_known check (state in ('waiting', 'accepted', 'rejected', 'automatic', 'superseded')),
    constraint tool_changes_decided check ((state in ('accepted', 'rejected')) = (decided_at is not null)),
    constraint tool_changes_has_definition check (after_hash is not null or before_hash is not null),
    constraint tool_changes_waiting_has_definition check (state <> 'waiting' or after_hash is not null)
);
create index tool_changes_tool_idx on tool_changes (tenant_id, connector_id, tool, id desc);
create index tool_changes_waiting_idx on tool_changes (tenant_id, id desc) where state = 'waiting';
-- One change of a tool waits: the newest.
create unique index tool_changes_one_waits_key on tool_changes (tenant_id, connector_id, tool) where state = 'waiting';

alter table tool_changes enable row level security;
alter table tool_changes force row level security;
create policy tenant_rows on tool_changes using (tenant_id = tenant() or system_scope())
    with check (tenant_id = tenant() or system_scope());
grant select, insert, update, delete on tool_changes to patchbay_app;

-- What waited before changes were kept: of which kind, nobody noted.
insert into tool_changes (tenant_id, id, connector_id, tool, seen_at, before_hash, after_hash, kinds, risk, state)
select tenant_id,
       -- a UUIDv7 of the time at which it changed
       (lpad(to_hex((extract(epoch from changed_at) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3)
        || '8' || substr(md5(random()::text), 1, 15))::uuid,
       connector_id, name, changed_at, accepted_hash, current_hash, '{}', 'high', 'waiting'
from tools
where review in ('changed', 'new') and removed_at is null;

-- +goose Down
drop table tool_changes;
alter table connectors drop column max_definition_age_s;

-- +goose Up

-- What an admin says of a tool towards agents, in place of its server. alias: the name that agents see; empty: the server's. agent_text:
-- the description that they read, likewise. Neither changes what was accepted, nor what the server is asked for. tags are for people.
alter table tools
    add column alias text not null default '',
    add column agent_text text not null default '',
    add column tags text[] not null default '{}',
    add constraint tools_alias_spelling check (alias = '' or alias ~ '^[A-Za-z0-9_.-]{1,128}$'),
    add constraint tools_agent_text_length check (length(agent_text) <= 4000),
    add constraint tools_tags_few check (cardinality(tags) <= 20);
-- Two tools of a connector never have one alias.
create unique index tools_alias_key on tools (tenant_id, connector_id, alias) where alias <> '';

-- The requests of a sync that has a row, and only of one that found something, failed, or that a person asked for: a JSON array, bounded by
-- package connectors.
create table sync_run_requests (
    tenant_id uuid  not null,
    run_id    uuid  not null,
    requests  jsonb not null,
    constraint sync_run_requests_pkey primary key (tenant_id, run_id),
    constraint sync_run_requests_run_fkey foreign key (tenant_id, run_id) references sync_runs (tenant_id, id) on delete cascade,
    constraint sync_run_requests_few check (jsonb_typeof(requests) = 'array' and jsonb_array_length(requests) <= 64)
);
alter table sync_run_requests enable row level security;
alter table sync_run_requests force row level security;
create policy tenant_rows on sync_run_requests using (tenant_id = tenant() or system_scope())
    with check (tenant_id = tenant() or system_scope());
grant select, insert, update, delete on sync_run_requests to patchbay_app;

-- +goose Down
drop table sync_run_requests;
drop index tools_alias_key;
alter table tools drop column tags, drop column agent_text, drop column alias;

-- +goose Up

-- Connectors that are HTTP APIs: Patchbay makes their tools, of a document and of endpoints that people write.
alter table connectors drop constraint connectors_transport_known;
alter table connectors add constraint connectors_transport_known
    check (transport in ('streamable_http', 'sse', 'http', 'stdio', 'api')) not valid;

-- The document of an API, as it was read last.
create table api_documents (
    tenant_id    uuid        not null,
    connector_id uuid        not null,
    is_fetched   boolean     not null, -- from the connector's URL; else a person uploaded it
    etag         text        not null default '',
    hash         bytea       not null,
    body         bytea       not null,
    read_at      timestamptz not null default now(),
    constraint api_documents_pkey primary key (tenant_id, connector_id),
    constraint api_documents_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint api_documents_hash_length check (length(hash) = 32),
    constraint api_documents_size check (length(body) <= 16777216),
    constraint api_documents_etag_length check (length(etag) <= 1024)
);
create policy tenant_rows on api_documents using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
alter table api_documents enable row level security;
alter table api_documents force row level security;
grant select, insert, update, delete on api_documents to patchbay_app;

-- What is a tool: operations of the document that a person picked, and endpoints.
create table api_tools (
    tenant_id    uuid        not null,
    connector_id uuid        not null,
    key          text        not null, -- method and path of an operation, or name of an endpoint
    endpoint     jsonb,                -- null: an operation of the document
    filter       text        not null default '', -- jq
    max_pages    integer     not null default 0,  -- that are followed; 0: one
    created_at   timestamptz not null default now(),
    constraint api_tools_pkey primary key (tenant_id, connector_id, key),
    constraint api_tools_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint api_tools_key_length check (length(key) between 1 and 4096),
    constraint api_tools_filter_length check (length(filter) <= 4096),
    constraint api_tools_max_pages_bounds check (max_pages between 0 and 20)
);
create policy tenant_rows on api_tools using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
alter table api_tools enable row level security;
alter table api_tools force row level security;
grant select, insert, update, delete on api_tools to patchbay_app;

-- +goose Down
drop table api_tools;
drop table api_documents;
alter table connectors drop constraint connectors_transport_known;
alter table connectors add constraint connectors_transport_known
    check (transport in ('streamable_http', 'sse', 'http', 'stdio')) not valid;

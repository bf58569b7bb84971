-- +goose Up

-- Skills of MCP servers (SEP-2640). A definition is a skill's frontmatter and the digests of its files: agents get the accepted
-- one, and files with its digests. As of tools, changes are in tool_changes, there with the tool skill:<uri>.
create table skills (
    tenant_id     uuid not null,
    connector_id  uuid not null,
    uri           text not null,
    current_hash  bytea not null,
    accepted_hash bytea,
    review        text not null,
    first_seen_at timestamptz not null default now(),
    changed_at    timestamptz not null default now(),
    removed_at    timestamptz,
    constraint skills_pkey primary key (tenant_id, connector_id, uri),
    constraint skills_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint skills_uri_length check (octet_length(uri) between 1 and 1024),
    constraint skills_review_known check (review in ('accepted', 'changed', 'new', 'rejected')),
    constraint skills_accepted_is_current check (review <> 'accepted' or accepted_hash = current_hash),
    constraint skills_changed_keeps_accepted check (review <> 'changed' or accepted_hash is not null),
    constraint skills_new_has_no_accepted check (review <> 'new' or accepted_hash is null)
);
create policy tenant_rows on skills using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
alter table skills enable row level security;
alter table skills force row level security;
grant select, insert, update, delete on skills to patchbay_app;
create trigger say_changed_skills after update on skills referencing new table as changed
    for each statement execute function say_changed_tools();
create trigger say_gone_skills after delete on skills referencing old table as changed
    for each statement execute function say_changed_tools();
create trigger say_new_skills after insert on skills referencing new table as changed
    for each statement execute function say_changed_tools();

-- Of the skills that the server last listed.
alter table connectors add column skills_hash bytea;
alter table connectors add constraint connectors_skills_hash_length check (length(skills_hash) = 32) not valid;

-- +goose Down
alter table connectors drop column skills_hash;
drop table skills;

-- +goose Up

-- A list that differs is told once, not once for each of its tools: a row's trigger cost more than the row.
-- +goose StatementBegin
create function say_changed_tools() returns trigger
language plpgsql as $$
begin
    perform pg_notify('patchbay_changes', 'connector ' || said.tenant_id || ' ' || said.connector_id)
    from (select distinct changed.tenant_id, changed.connector_id from changed) said;
    return null;
end $$;
-- +goose StatementEnd
drop trigger say_tool_change on tools;
create trigger say_new_tools after insert on tools
    referencing new table as changed for each statement execute function say_changed_tools();
create trigger say_changed_tools after update on tools
    referencing new table as changed for each statement execute function say_changed_tools();
create trigger say_gone_tools after delete on tools
    referencing old table as changed for each statement execute function say_changed_tools();

-- Definitions and changes are written without a key to their parent: that cost as much as the row, and had all syncs of a tenant meet at its
-- row. Whoever writes them holds the lock of their connector, which has its own key to the tenant, until the transaction ends
-- (FinishRun, EndClaimedRun, LockTool), so that no parent goes meanwhile; and one that goes takes them along.
alter table tool_definitions drop constraint tool_definitions_tenant_id_fkey;
alter table tool_changes drop constraint tool_changes_connector_fkey;
-- +goose StatementBegin
create function leave_definitions() returns trigger
language plpgsql as $$
begin
    case tg_table_name
        when 'connectors' then
            delete from tool_changes using gone where tool_changes.tenant_id = gone.tenant_id and tool_changes.connector_id = gone.id;
        when 'tenants' then -- its tools would go a moment later
            delete from tools using gone where tools.tenant_id = gone.id;
            delete from tool_definitions using gone where tool_definitions.tenant_id = gone.id;
    end case;
    return null;
end $$;
-- +goose StatementEnd
create trigger leave_changes after delete on connectors referencing old table as gone for each statement execute function leave_definitions();
create trigger leave_definitions after delete on tenants referencing old table as gone for each statement execute function leave_definitions();

-- Nor has a tool keys to its definitions, and the indexes that these need: they were a fifth of what a changed list cost PostgreSQL, and an
-- update of a tool that changes no index stays on its page. A definition that a tool gets is stored or locked in the same transaction
-- (InsertDefinitions), and one is forgotten under a lock, when no tool has it (DropDefinitions).
alter table tools drop constraint tools_current_fkey, drop constraint tools_accepted_fkey;
drop index tools_current_hash_idx;
drop index tools_accepted_hash_idx;

-- A page that is as full as this is looked through for old versions at each update. Half full, as it was, each found one, and wrote that to the log.
alter table connector_clock set (fillfactor = 75);

-- +goose Down
create index tools_accepted_hash_idx on tools (tenant_id, accepted_hash);
create index tools_current_hash_idx on tools (tenant_id, current_hash);
alter table tools
    add constraint tools_current_fkey foreign key (tenant_id, current_hash) references tool_definitions (tenant_id, hash),
    add constraint tools_accepted_fkey foreign key (tenant_id, accepted_hash) references tool_definitions (tenant_id, hash);
alter table connector_clock set (fillfactor = 50);
drop trigger leave_definitions on tenants;
drop trigger leave_changes on connectors;
drop function leave_definitions();
alter table tool_changes
    add constraint tool_changes_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade;
alter table tool_definitions
    add constraint tool_definitions_tenant_id_fkey foreign key (tenant_id) references tenants (id) on delete cascade;
drop trigger say_gone_tools on tools;
drop trigger say_changed_tools on tools;
drop trigger say_new_tools on tools;
drop function say_changed_tools();
create trigger say_tool_change after insert or update or delete on tools
    for each row execute function say_change('connector', 'tenant_id', 'connector_id');

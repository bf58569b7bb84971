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

-- Nothing asks for the tools of a definition, and definitions live as long as their tenant. Without these two, and with as much room in a page as
-- all of a connector's tools need once more, a changed tool is a HOT update: no index is written at all.
drop index tools_current_hash_idx;
drop index tools_accepted_hash_idx;
alter table tools set (fillfactor = 45);

-- +goose Down
alter table tools set (fillfactor = 85);
create index tools_accepted_hash_idx on tools (tenant_id, accepted_hash);
create index tools_current_hash_idx on tools (tenant_id, current_hash);
drop trigger say_gone_tools on tools;
drop trigger say_changed_tools on tools;
drop trigger say_new_tools on tools;
drop function say_changed_tools();
create trigger say_tool_change after insert or update or delete on tools
    for each row execute function say_change('connector', 'tenant_id', 'connector_id');

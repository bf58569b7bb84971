-- +goose Up

-- A call's row is written without foreign keys: their checks, three a row, were half of what it cost PostgreSQL. What they held is held
-- once a statement: who writes calls locks the tenants, agents and connectors that they name (db/queries/system_calls.sql), and what goes
-- takes its traces along.
alter table tool_calls
    drop constraint tool_calls_tenant_id_fkey,
    drop constraint tool_calls_agent_fkey,
    drop constraint tool_calls_connector_fkey;

-- +goose StatementBegin
create function leave_calls() returns trigger
language plpgsql as $$
begin
    case tg_table_name
        when 'agents' then
            update tool_calls set agent_id = null from gone where tool_calls.tenant_id = gone.tenant_id and tool_calls.agent_id = gone.id;
        when 'connectors' then
            update tool_calls set connector_id = null from gone where tool_calls.tenant_id = gone.tenant_id and tool_calls.connector_id = gone.id;
        when 'tenants' then
            delete from tool_calls using gone where tool_calls.tenant_id = gone.id;
    end case;
    return null;
end $$;
-- +goose StatementEnd
create trigger leave_calls after delete on agents referencing old table as gone for each statement execute function leave_calls();
create trigger leave_calls after delete on connectors referencing old table as gone for each statement execute function leave_calls();
create trigger leave_calls after delete on tenants referencing old table as gone for each statement execute function leave_calls();

-- Contents of some kilobytes are compressed: by lz4 in half the time that pglz takes, where PostgreSQL was built with it.
-- +goose StatementBegin
do $$
begin
    alter table tool_calls
        alter column arguments set compression lz4,
        alter column content set compression lz4,
        alter column structured set compression lz4;
exception when feature_not_supported then
    null;
end $$;
-- +goose StatementEnd

-- +goose Down
alter table tool_calls
    alter column arguments set compression default,
    alter column content set compression default,
    alter column structured set compression default;
drop trigger leave_calls on tenants;
drop trigger leave_calls on connectors;
drop trigger leave_calls on agents;
drop function leave_calls();
alter table tool_calls
    add constraint tool_calls_tenant_id_fkey foreign key (tenant_id) references tenants (id) on delete cascade,
    add constraint tool_calls_agent_fkey foreign key (tenant_id, agent_id) references agents (tenant_id, id) on delete set null (agent_id),
    add constraint tool_calls_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete set null (connector_id);

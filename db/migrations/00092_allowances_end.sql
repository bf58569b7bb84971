-- +goose Up

-- An allowance ends with its grant, and when the grant no longer covers the tool or another approval mode is set.
alter table tool_allowances add constraint tool_allowances_grant_fkey
    foreign key (tenant_id, agent_id, connector_id) references agent_grants (tenant_id, agent_id, connector_id) on delete cascade not valid;

select set_config('app.system', 'on', true);
delete from tool_allowances a
where not exists (
    select 1 from agent_grants g
    where g.tenant_id = a.tenant_id and g.agent_id = a.agent_id and g.connector_id = a.connector_id
      and (g.all_tools or a.tool = any(g.tools)));
alter table tool_allowances validate constraint tool_allowances_grant_fkey;

-- +goose StatementBegin
create function end_allowances_of_grant() returns trigger
    language plpgsql
as $$
begin
    delete from tool_allowances a
    where a.tenant_id = new.tenant_id and a.agent_id = new.agent_id and a.connector_id = new.connector_id
      and (old.approval is distinct from new.approval or not (new.all_tools or a.tool = any(new.tools)));
    return null;
end $$;
-- +goose StatementEnd
create trigger end_allowances after update on agent_grants
    for each row when ((old.approval, old.all_tools, old.tools) is distinct from (new.approval, new.all_tools, new.tools))
    execute function end_allowances_of_grant();

-- A grant with an approval mode of its own does not follow the agent's.
-- +goose StatementBegin
create function end_allowances_of_agent() returns trigger
    language plpgsql
as $$
begin
    delete from tool_allowances a
    using agent_grants g
    where a.tenant_id = new.tenant_id and a.agent_id = new.id
      and g.tenant_id = a.tenant_id and g.agent_id = a.agent_id and g.connector_id = a.connector_id and g.approval is null;
    return null;
end $$;
-- +goose StatementEnd
create trigger end_allowances after update on agents
    for each row when (old.approval is distinct from new.approval)
    execute function end_allowances_of_agent();

-- +goose Down
drop trigger end_allowances on agents;
drop function end_allowances_of_agent();
drop trigger end_allowances on agent_grants;
drop function end_allowances_of_grant();
alter table tool_allowances drop constraint tool_allowances_grant_fkey;

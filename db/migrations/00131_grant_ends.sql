-- +goose Up

-- until: when the grant ends; null: never. tool_ends: tools that are granted in addition, each with its own end, by the
-- upstream's name: {"tool": "2027-01-31T12:00:00Z"}; null: never.
alter table agent_grants add column until timestamptz;
alter table agent_grants add column tool_ends jsonb not null default '{}';
alter table agent_grants add constraint agent_grants_tool_ends_object check (jsonb_typeof(tool_ends) = 'object') not valid;

-- +goose StatementBegin
-- A grant that ended and is granted again leaves no allowance from before.
create or replace function end_allowances_of_grant() returns trigger language plpgsql as $$
begin
    delete from tool_allowances a
    where a.tenant_id = new.tenant_id and a.agent_id = new.agent_id and a.connector_id = new.connector_id
      and (old.approval is distinct from new.approval or old.until <= now() or (old.tool_ends ->> a.tool)::timestamptz <= now()
          or not case a.kind
          when 'tool' then new.all_tools or a.tool = any(new.tools) or new.tool_ends ? a.tool
          when 'prompt' then new.prompts = 'listed'
          else new.resources = 'listed_and_templates' or new.resources = 'listed' and exists (
              select from connector_items i
              where i.tenant_id = a.tenant_id and i.connector_id = a.connector_id and i.kind = 'resource' and i.key = a.tool)
          end);
    return null;
end $$;
-- +goose StatementEnd

-- safe: the trigger is made again in this transaction
drop trigger end_allowances on agent_grants;
create trigger end_allowances after update on agent_grants
    for each row when (old.approval is distinct from new.approval or old.all_tools is distinct from new.all_tools
        or old.tools is distinct from new.tools or old.prompts is distinct from new.prompts or old.resources is distinct from new.resources
        or old.until is distinct from new.until or old.tool_ends is distinct from new.tool_ends)
    execute function end_allowances_of_grant();

-- +goose Down
drop trigger end_allowances on agent_grants;
-- +goose StatementBegin
create or replace function end_allowances_of_grant() returns trigger language plpgsql as $$
begin
    delete from tool_allowances a
    where a.tenant_id = new.tenant_id and a.agent_id = new.agent_id and a.connector_id = new.connector_id
      and (old.approval is distinct from new.approval or not case a.kind
          when 'tool' then new.all_tools or a.tool = any(new.tools)
          when 'prompt' then new.prompts = 'listed'
          else new.resources = 'listed_and_templates' or new.resources = 'listed' and exists (
              select from connector_items i
              where i.tenant_id = a.tenant_id and i.connector_id = a.connector_id and i.kind = 'resource' and i.key = a.tool)
          end);
    return null;
end $$;
-- +goose StatementEnd
create trigger end_allowances after update on agent_grants
    for each row when (old.approval is distinct from new.approval or old.all_tools is distinct from new.all_tools
        or old.tools is distinct from new.tools or old.prompts is distinct from new.prompts or old.resources is distinct from new.resources)
    execute function end_allowances_of_grant();
alter table agent_grants drop column tool_ends;
alter table agent_grants drop column until;

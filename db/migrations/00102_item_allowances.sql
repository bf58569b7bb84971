-- +goose Up

-- An allowance is for a tool, a prompt or a resource. Then tool is its name or URI, and it has no definition.
alter table tool_allowances add column kind text not null default 'tool';
alter table tool_allowances add constraint tool_allowances_kind_known check (kind in ('tool', 'prompt', 'resource')) not valid;
alter table tool_allowances add constraint tool_allowances_item check (kind = 'tool' or (definition_hash is null and octet_length(tool) <= 2000)) not valid;
-- An allowance lasts a day at most, so that the table is small and its new index made at once.
alter table tool_allowances drop constraint tool_allowances_pkey;
alter table tool_allowances add constraint tool_allowances_pkey primary key (tenant_id, agent_id, connector_id, kind, tool);

-- An allowance ends when the grant no longer covers what it is about, or another approval mode is set.
-- +goose StatementBegin
create or replace function end_allowances_of_grant() returns trigger
    language plpgsql
as $$
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
create or replace trigger end_allowances after update on agent_grants
    for each row when ((old.approval, old.all_tools, old.tools, old.prompts, old.resources)
        is distinct from (new.approval, new.all_tools, new.tools, new.prompts, new.resources))
    execute function end_allowances_of_grant();

-- +goose Down
select set_config('app.system', 'on', true);
delete from tool_allowances where kind <> 'tool';
-- +goose StatementBegin
create or replace function end_allowances_of_grant() returns trigger
    language plpgsql
as $$
begin
    delete from tool_allowances a
    where a.tenant_id = new.tenant_id and a.agent_id = new.agent_id and a.connector_id = new.connector_id
      and (old.approval is distinct from new.approval or not (new.all_tools or a.tool = any(new.tools)));
    return null;
end $$;
-- +goose StatementEnd
create or replace trigger end_allowances after update on agent_grants
    for each row when ((old.approval, old.all_tools, old.tools) is distinct from (new.approval, new.all_tools, new.tools))
    execute function end_allowances_of_grant();
alter table tool_allowances drop constraint tool_allowances_pkey;
alter table tool_allowances drop constraint tool_allowances_item;
alter table tool_allowances drop constraint tool_allowances_kind_known;
alter table tool_allowances drop column kind;
alter table tool_allowances add constraint tool_allowances_pkey primary key (tenant_id, agent_id, connector_id, tool);

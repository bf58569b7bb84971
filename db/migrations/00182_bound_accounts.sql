-- +goose Up

select set_config('app.system', 'on', true);

-- The name of the owner's account that the agent uses at the connector; empty: the owner's only one.
alter table agent_grants add column accounts text[] not null default '{}';
alter table agent_grants add constraint agent_grants_one_account check (cardinality(accounts) <= 1) not valid;
-- The name of the account that is connected; empty: the owner's only one.
alter table oauth_flows add column account text not null default '';
alter table connect_links add column account text not null default '';
-- The account that had the name then: no other one is replaced. Null: none had it.
alter table oauth_flows add column account_id uuid;
alter table connect_links add column account_id uuid;
-- The account that an approved call is for; null: it needs none, or a process of the previous release stored it.
alter table approvals add column account_id uuid;
-- The account that the call's arguments are sealed for, so that it cannot be another one. Null: for none, as in the previous release.
alter table approvals add column sealed_account_id uuid;
update approvals
set account_id = credentials.id
from connectors, credentials
where approvals.state in ('waiting', 'approved')
  and connectors.tenant_id = approvals.tenant_id and connectors.id = approvals.connector_id and connectors.auth_type <> 'none'
  and credentials.tenant_id = approvals.tenant_id and credentials.connector_id = approvals.connector_id
  and credentials.agent_id is not distinct from case when connectors.credential_mode = 'per_agent' then approvals.agent_id end;
-- Processes that know names. A second account is refused while one runs that does not.
alter table instances add column account_names boolean not null default false;

-- What was allowed for one account is not allowed for another.
create or replace trigger end_allowances after update on agent_grants
    for each row when (
        old.approval is distinct from new.approval or old.all_tools is distinct from new.all_tools or old.tools is distinct from new.tools
        or old.prompts is distinct from new.prompts or old.resources is distinct from new.resources
        or old.until is distinct from new.until or old.tool_ends is distinct from new.tool_ends or old.accounts is distinct from new.accounts)
    execute function end_allowances_of_grant();
-- +goose StatementBegin
create or replace function end_allowances_of_grant() returns trigger language plpgsql as $function$
begin
    delete from tool_allowances a
    where a.tenant_id = new.tenant_id and a.agent_id = new.agent_id and a.connector_id = new.connector_id
      and (old.approval is distinct from new.approval or old.accounts is distinct from new.accounts
          or old.until <= now() or (old.tool_ends ->> a.tool)::timestamptz <= now()
          or not case a.kind
          when 'tool' then new.all_tools or a.tool = any(new.tools) or new.tool_ends ? a.tool
          when 'prompt' then new.prompts = 'listed'
          else new.resources = 'listed_and_templates' or new.resources = 'listed' and exists (
              select from connector_items i
              where i.tenant_id = a.tenant_id and i.connector_id = a.connector_id and i.kind = 'resource' and i.key = a.tool)
          end);
    return null;
end $function$;
-- +goose StatementEnd

-- What was allowed for an account ends with it, also if another one takes its name.
-- +goose StatementBegin
create function end_allowances_of_account() returns trigger language plpgsql as $function$
begin
    if tg_op = 'UPDATE' and new.id = old.id then
        return null;
    end if;
    if old.agent_id is null then -- two statements, so that an agent's own account is found by its index
        delete from tool_allowances a
        using agent_grants g
        where a.tenant_id = old.tenant_id and a.connector_id = old.connector_id
          and g.tenant_id = a.tenant_id and g.connector_id = a.connector_id and g.agent_id = a.agent_id
          and (g.accounts = '{}' or old.name = any(g.accounts));
    else
        delete from tool_allowances a
        using agent_grants g
        where a.tenant_id = old.tenant_id and a.connector_id = old.connector_id and a.agent_id = old.agent_id
          and g.tenant_id = old.tenant_id and g.connector_id = old.connector_id and g.agent_id = old.agent_id
          and (g.accounts = '{}' or old.name = any(g.accounts));
    end if;
    return null;
end $function$;
-- +goose StatementEnd
create trigger end_allowances after delete or update of id on credentials for each row execute function end_allowances_of_account();

-- What is kept of an agent has the account that its grant binds.
-- +goose StatementBegin
create function say_account_change() returns trigger language plpgsql as $function$
declare
    account credentials := coalesce(new, old);
begin
    if tg_op = 'UPDATE' and new.id = old.id and new.name = old.name then
        return null;
    end if;
    if account.agent_id is null then
        perform pg_notify('patchbay_changes', 'agent ' || g.tenant_id || ' ' || g.agent_id)
        from agent_grants g
        where g.tenant_id = account.tenant_id and g.connector_id = account.connector_id and g.accounts && array[old.name, new.name];
    else
        perform pg_notify('patchbay_changes', 'agent ' || g.tenant_id || ' ' || g.agent_id)
        from agent_grants g
        where g.tenant_id = account.tenant_id and g.connector_id = account.connector_id and g.agent_id = account.agent_id
          and g.accounts && array[old.name, new.name];
    end if;
    return null;
end $function$;
-- +goose StatementEnd
create trigger say_account_change after insert or delete or update of id, name on credentials for each row execute function say_account_change();

-- +goose Down
select set_config('app.system', 'on', true);
drop trigger say_account_change on credentials;
drop function say_account_change();
drop trigger end_allowances on credentials;
drop function end_allowances_of_account();
create or replace trigger end_allowances after update on agent_grants
    for each row when (
        old.approval is distinct from new.approval or old.all_tools is distinct from new.all_tools or old.tools is distinct from new.tools
        or old.prompts is distinct from new.prompts or old.resources is distinct from new.resources
        or old.until is distinct from new.until or old.tool_ends is distinct from new.tool_ends)
    execute function end_allowances_of_grant();
-- +goose StatementBegin
create or replace function end_allowances_of_grant() returns trigger language plpgsql as $function$
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
end $function$;
-- +goose StatementEnd
delete from approvals where sealed_account_id is not null;
alter table approvals drop column sealed_account_id;
alter table approvals drop column account_id;
alter table connect_links drop column account_id;
alter table oauth_flows drop column account_id;
alter table connect_links drop column account;
alter table oauth_flows drop column account;
alter table instances drop column account_names;
alter table agent_grants drop column accounts;

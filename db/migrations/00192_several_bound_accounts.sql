-- +goose Up

select set_config('app.system', 'on', true);

alter table agent_grants drop constraint agent_grants_one_account;
-- Several follow a name that no account has: a process of the previous release uses the first one alone.
alter table agent_grants add constraint agent_grants_accounts_marked
    check (cardinality(accounts) <= 1 or accounts[1] = '-' and cardinality(accounts) between 3 and 11) not valid;
-- The account that is allowed, of a grant that binds several; empty: the grant's.
alter table tool_allowances add column account text not null default '';
alter table tool_allowances drop constraint tool_allowances_pkey;
alter table tool_allowances add constraint tool_allowances_pkey primary key (tenant_id, agent_id, connector_id, kind, tool, account);
-- +goose StatementBegin
create or replace function end_allowances_of_account() returns trigger language plpgsql as $function$
begin
    if tg_op = 'UPDATE' and new.id = old.id then
        return null;
    end if;
    if old.agent_id is null then -- two statements, so that an agent's own account is found by its index
        delete from tool_allowances a
        using agent_grants g
        where a.tenant_id = old.tenant_id and a.connector_id = old.connector_id
          and g.tenant_id = a.tenant_id and g.connector_id = a.connector_id and g.agent_id = a.agent_id
          and (g.accounts = '{}' or old.name = any(g.accounts)) and a.account in ('', old.name);
    else
        delete from tool_allowances a
        using agent_grants g
        where a.tenant_id = old.tenant_id and a.connector_id = old.connector_id and a.agent_id = old.agent_id
          and g.tenant_id = old.tenant_id and g.connector_id = old.connector_id and g.agent_id = old.agent_id
          and (g.accounts = '{}' or old.name = any(g.accounts)) and a.account in ('', old.name);
    end if;
    return null;
end $function$;
-- +goose StatementEnd

-- +goose Down
select set_config('app.system', 'on', true);
-- +goose StatementBegin
create or replace function end_allowances_of_account() returns trigger language plpgsql as $function$
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
delete from tool_allowances where account <> '';
alter table tool_allowances drop constraint tool_allowances_pkey;
alter table tool_allowances add constraint tool_allowances_pkey primary key (tenant_id, agent_id, connector_id, kind, tool);
alter table tool_allowances drop column account;
delete from agent_grants where cardinality(accounts) > 1;
alter table agent_grants drop constraint agent_grants_accounts_marked;
alter table agent_grants add constraint agent_grants_one_account check (cardinality(accounts) <= 1) not valid;

-- +goose Up

-- A whole answer that is kept beside a shortened one ends with its grant, when its agent is disabled, and when the tenant keeps no history.
-- connector_id is the connector that gave the answer; null: another message. The tables are locked in the order in which deletes cascade, so
-- that these and this wait for each other without a deadlock.
lock table tenants, agents, agent_grants in share row exclusive mode;
lock table gateway_mail in access exclusive mode;
alter table gateway_mail add column connector_id uuid;
alter table gateway_mail add constraint gateway_mail_grant_fkey
    foreign key (tenant_id, agent_id, connector_id) references agent_grants (tenant_id, agent_id, connector_id) on delete cascade not valid;

-- +goose StatementBegin
create function drop_answers_of_agent() returns trigger
    language plpgsql
as $$
begin
    delete from gateway_mail m
    where m.tenant_id = new.tenant_id and m.agent_id = new.id and m.connector_id is not null;
    return null;
end $$;
-- +goose StatementEnd
create trigger drop_answers after update on agents
    for each row when (old.enabled and not new.enabled)
    execute function drop_answers_of_agent();

-- +goose StatementBegin
create function drop_answers_of_tenant() returns trigger
    language plpgsql
as $$
begin
    delete from gateway_mail m
    where m.tenant_id = new.id and m.connector_id is not null;
    return null;
end $$;
-- +goose StatementEnd
create trigger drop_answers after update on tenants
    for each row when (old.call_history <> 'none' and new.call_history = 'none')
    execute function drop_answers_of_tenant();

-- +goose Down
drop trigger drop_answers on tenants;
drop function drop_answers_of_tenant();
drop trigger drop_answers on agents;
drop function drop_answers_of_agent();
alter table gateway_mail drop column connector_id;

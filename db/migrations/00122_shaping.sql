-- +goose Up

-- How answers of tools are shortened for the agent, by the upstream's name of the tool: {"tool": {"fields": "jq", "budget": 1000}}.
alter table agent_grants add column shaping jsonb not null default '{}';
alter table agent_grants add constraint agent_grants_shaping_object check (jsonb_typeof(shaping) = 'object') not valid;

-- Whole answers lie in the mail of their agent. No process waits for them.
-- safe: the trigger is made again in this transaction, and the previous release has no such mail
drop trigger say_mail on gateway_mail;
create trigger say_mail after insert on gateway_mail
    for each row when (new.box not like 'result-%') execute function say_change('mail', 'tenant_id', 'box');

-- +goose Down
drop trigger say_mail on gateway_mail;
create trigger say_mail after insert on gateway_mail
    for each row execute function say_change('mail', 'tenant_id', 'box');
alter table agent_grants drop column shaping;

-- +goose Up

select set_config('app.system', 'on', true);

-- The agent, by its own token, or the person that asked for the call; null: neither. Only they use a managed account.
alter table approvals add column caller_id uuid;

update approvals
set caller_id = agent_id
where state in ('waiting', 'approved', 'executing')
  and exists (select 1
              from tool_calls
              where tool_calls.tenant_id = approvals.tenant_id and tool_calls.id = approvals.id and tool_calls.source = 'gateway');

-- +goose Down
alter table approvals drop column caller_id;

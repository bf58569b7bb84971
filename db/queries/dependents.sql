-- The dependents of a connector, shown before it is disabled or deleted.

-- name: Dependents :one
-- Calls are counted up to max_calls.
select (select count(*)
        from agent_grants
        where agent_grants.tenant_id = @tenant_id and agent_grants.connector_id = @connector_id)::integer as agents,
       array(select agents.name
             from agent_grants
             join agents on agents.tenant_id = agent_grants.tenant_id and agents.id = agent_grants.agent_id
             where agent_grants.tenant_id = @tenant_id and agent_grants.connector_id = @connector_id
             order by agents.name, agents.id
             limit 3)::text[] as names,
       (select count(*)
        from (select tool_calls.id
              from tool_calls
              where tool_calls.tenant_id = @tenant_id and tool_calls.connector_id = @connector_id::uuid and tool_calls.id >= @since::uuid
              limit @max_calls) counted)::integer as calls,
       (select count(*)
        from approvals
        where approvals.tenant_id = @tenant_id and approvals.connector_id = @connector_id
          and approvals.state = 'waiting' and approvals.expires_at > now())::integer as approvals,
       (select count(*)
        from credentials
        where credentials.tenant_id = @tenant_id and credentials.connector_id = @connector_id)::integer as accounts;

-- name: CredentialOwners :one
-- The owners of a connector's credentials, with the names of the first agents.
select (select count(*)
        from credentials
        where credentials.tenant_id = @tenant_id and credentials.connector_id = @connector_id and credentials.agent_id is not null)::integer as agents,
       array(select agents.name
             from credentials
             join agents on agents.tenant_id = credentials.tenant_id and agents.id = credentials.agent_id
             where credentials.tenant_id = @tenant_id and credentials.connector_id = @connector_id
             order by agents.name, agents.id
             limit @max_names)::text[] as names,
       exists(select 1
              from credentials
              where credentials.tenant_id = @tenant_id and credentials.connector_id = @connector_id and credentials.agent_id is null) as shared;

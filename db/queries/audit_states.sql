-- The state of a row before and after an action, for the audit log. New columns of a table are included by default.
-- Binary values are replaced by a fingerprint (internal/store/state.go).

-- name: LockAuditedActions :exec
-- Serializes the audited actions of a tenant, so that the state before an action is the state after the previous one.
-- The wait holds a connection, so lock_timeout bounds it to five seconds.
with shortly as materialized (
    select current_setting('lock_timeout') as before, set_config('lock_timeout', '5s', true) as now
), held as materialized (
    select shortly.before, pg_advisory_xact_lock(hashtextextended('patchbay acts ' || (@tenant_id::uuid)::text, 0)) as held
    from shortly
    where shortly.now <> ''
)
select set_config('lock_timeout', held.before, true)
from held;

-- name: TenantState :one
select (to_jsonb(tenants) - '{id,created_at,updated_at}'::text[])::jsonb as state
from tenants
where tenants.id = @tenant_id;

-- name: MemberState :one
select jsonb_build_object('email', u.address, 'name', u.name, 'role', m.role) as state
from memberships m
join users u on u.id = m.user_id
where m.tenant_id = @tenant_id and m.user_id = @user_id;

-- name: SecondFactorState :one
select f.sealed, f.confirmed_at,
       coalesce((select string_agg(c.mac, ''::bytea order by c.number) from recovery_codes c where c.user_id = f.user_id), ''::bytea)::bytea as codes
from memberships m
join second_factors f on f.user_id = m.user_id
where m.tenant_id = @tenant_id and m.user_id = @user_id;

-- name: InvitationState :one
select (to_jsonb(i) - '{tenant_id,id,token_hash,invited_by,invited_by_name,created_at,sent_at}'::text[])::jsonb as state, i.token_hash
from invitations i
where i.tenant_id = @tenant_id and i.id = @id;

-- name: ConnectLinkState :one
select (to_jsonb(l) - '{tenant_id,token_hash,made_by,created_at}'::text[])::jsonb as state, l.token_hash
from connect_links l
where l.tenant_id = @tenant_id and l.token_hash = @token_hash;

-- name: RegistryState :one
select (to_jsonb(r) - '{tenant_id,id,address_hash,created_at,updated_at,rotated_at,last_used_at}'::text[]
        || jsonb_build_object('agents', array(select a.slug
                                              from registry_agents m
                                              join agents a on a.tenant_id = m.tenant_id and a.id = m.agent_id
                                              where m.tenant_id = r.tenant_id and m.registry_id = r.id
                                              order by a.slug)))::jsonb as state, r.address_hash
from registries r
where r.tenant_id = @tenant_id and r.id = @id;

-- name: SCIMState :one
select (to_jsonb(s) - '{tenant_id,id,secret_mac,created_at,rotated_at,last_request_at}'::text[])::jsonb as state, s.secret_mac
from scim_settings s
where s.tenant_id = @tenant_id;

-- name: SCIMUserState :one
select (to_jsonb(u) - '{tenant_id,id,user_id,attributes,created_at,updated_at}'::text[])::jsonb as state
from scim_users u
where u.tenant_id = @tenant_id and u.id = @id;

-- name: SCIMGroupState :one
-- Of the members, the number and the first 100.
select (to_jsonb(g) - '{tenant_id,id,created_at,updated_at}'::text[]
        || jsonb_build_object(
            'members', array(select u.user_name
                             from scim_group_members m
                             join scim_users u on u.tenant_id = m.tenant_id and u.id = m.scim_user_id
                             where m.tenant_id = g.tenant_id and m.group_id = g.id
                             order by u.user_name
                             limit 100),
            'member_count', (select count(*) from scim_group_members m where m.tenant_id = g.tenant_id and m.group_id = g.id)))::jsonb as state
from scim_groups g
where g.tenant_id = @tenant_id and g.id = @id;

-- name: APIKeyState :one
select (to_jsonb(k) - '{tenant_id,id,secret_mac,created_at,created_by_name,last_used_at}'::text[])::jsonb as state, k.secret_mac
from api_keys k
where k.tenant_id = @tenant_id and k.id = @id;

-- name: AgentState :one
select (to_jsonb(a) - '{tenant_id,id,created_at,updated_at}'::text[])::jsonb as state
from agents a
where a.tenant_id = @tenant_id and a.id = @id;

-- name: AgentTokenState :one
select (to_jsonb(k) - '{tenant_id,id,agent_id,secret_mac,created_at,last_used_at,agent_client_id,resource,agent_workload_id}'::text[])::jsonb as state, k.secret_mac
from agent_tokens k
where k.tenant_id = @tenant_id and k.id = @id;

-- name: AgentClientState :one
select (to_jsonb(c) - '{tenant_id,id,code_mac,challenge,code_expires_at,code_used_at,salt,generation,rotated_at,created_at,expires_at}'::text[])::jsonb as state
from agent_clients c
where c.tenant_id = @tenant_id and c.id = @id;

-- name: WorkloadState :one
-- Keys are recorded by their hash: they may be long.
select ((to_jsonb(w) - '{tenant_id,id,agent_id,created_at,last_used_at}'::text[])
        || jsonb_build_object('keys', encode(sha256(convert_to(w.keys::text, 'UTF8')), 'hex')))::jsonb as state
from agent_workloads w
where w.tenant_id = @tenant_id and w.id = @id;

-- name: AgentGrantState :one
select (to_jsonb(g) - '{tenant_id,agent_id,connector_id,created_at,updated_at}'::text[]
        || jsonb_build_object('accounts', array_remove(g.accounts, '-')))::jsonb as state
from agent_grants g
where g.tenant_id = @tenant_id and g.agent_id = @agent_id and g.connector_id = @connector_id;

-- name: AccessRequestState :one
select (to_jsonb(r) - '{tenant_id,id,agent_id,connector_id,asker,asked_at}'::text[])::jsonb as state
from access_requests r
where r.tenant_id = @tenant_id and r.id = @id;

-- name: ConnectorState :one
-- Only settings, not the results of syncs.
select (to_jsonb(c) - '{tenant_id,id,version,auth_behaviour,tool_count,tools_hash,tools_last_synced_at,next_sync_at,last_error_code,last_error_message,
    last_error_at,server_name,server_version,server_title,server_protocol,server_instructions,server_capabilities,items_hash,skills_hash,icon_hash,era,status,
    accepted_instructions,instructions_review,created_at,updated_at}'::text[])::jsonb as state
from connectors c
where c.tenant_id = @tenant_id and c.id = @id;

-- name: ListenState :one
select jsonb_build_object('listening', state <> 'off', 'reason', reason) as state
from upstream_listeners
where tenant_id = @tenant_id and connector_id = @connector_id;

-- name: WebhookState :one
-- Only the host of the URL is recorded: the rest may contain a secret.
select (to_jsonb(w) - '{tenant_id,id,url,sealed,failures,failing_since,delivered_at,created_at,updated_at}'::text[])::jsonb as state, w.url, w.sealed
from webhooks w
where w.tenant_id = @tenant_id and w.id = @id;

-- name: AuditStreamState :one
-- Only the host of the URL is recorded: the rest may contain a secret.
select (to_jsonb(s) - '{tenant_id,id,url,ca,origin,sealed,audit_n,audit_hash,calls_n,calls_hash,calls_record,lease,leased_until,next_at,failures,refusals,
    failing_since,last_error,delivered_at,gap,gap_at,created_at,updated_at}'::text[])::jsonb as state, s.url, s.ca, s.origin, s.sealed
from audit_streams s
where s.tenant_id = @tenant_id and s.id = @id;

-- name: ConnectorSecretStates :many
-- The shared credentials first, then those of agents.
select connector_id, agent_id, name, origin, type, status, account, coalesce(grant_meta -> 'identity', '{}')::jsonb as identity, scopes, sealed
from credentials
where tenant_id = @tenant_id and connector_id = @connector_id
order by agent_id nulls first, name;

-- name: PasswordState :one
-- The hash is empty outside of the system scope.
select coalesce(p.hash, '')::text as hash
from memberships
left join user_passwords p on p.user_id = memberships.user_id
where memberships.tenant_id = @tenant_id and memberships.user_id = @user_id;

-- name: SSOState :one
-- Groups are one object of group names and roles.
select ((to_jsonb(s) - '{tenant_id,sealed,tested_at,created_at,updated_at}'::text[])
    || jsonb_build_object('groups', (select coalesce(jsonb_object_agg(g.group_name, g.role), '{}') from sso_groups g where g.tenant_id = @tenant_id)))::jsonb as state,
    s.issuer, s.sealed
from sso_settings s
where s.tenant_id = @tenant_id;

-- name: SSODomainState :one
select (to_jsonb(d) - '{tenant_id,proof,created_at}'::text[])::jsonb as state
from sso_domains d
where d.tenant_id = @tenant_id and d.domain = @domain;

-- name: UsageMarkState :one
select jsonb_build_object('since', m.since)::jsonb as state
from usage_marks m
where m.tenant_id = @tenant_id;

-- +goose Up

-- A role beside the ladder: an auditor reads, the audit log and what is kept of calls among it, and changes nothing. A program from before it
-- knows no such role, and lets whoever has it do nothing. It is nobody's role by default: sso_settings.default_role stays as it is.
alter table memberships
    drop constraint memberships_role_known,
    add constraint memberships_role_known check (role in ('viewer', 'member', 'admin', 'owner', 'auditor'));
alter table api_keys
    drop constraint api_keys_role_known,
    add constraint api_keys_role_known check (role in ('viewer', 'member', 'admin', 'owner', 'auditor'));
alter table invitations
    drop constraint invitations_role_known,
    add constraint invitations_role_known check (role in ('viewer', 'member', 'admin', 'owner', 'auditor'));
alter table sso_groups
    drop constraint sso_groups_role_known,
    add constraint sso_groups_role_known check (role in ('viewer', 'member', 'admin', 'owner', 'auditor'));

-- Who reads what is kept of calls' arguments and results: everyone who sees the call, or auditors alone.
alter table tenants
    add column body_readers text not null default 'everyone',
    add constraint tenants_body_readers_known check (body_readers in ('everyone', 'auditors'));

-- +goose Down
alter table tenants drop column body_readers;
update memberships set role = 'viewer' where role = 'auditor';
update api_keys set role = 'viewer' where role = 'auditor';
update invitations set role = 'viewer' where role = 'auditor';
update sso_groups set role = 'viewer' where role = 'auditor';
alter table memberships
    drop constraint memberships_role_known,
    add constraint memberships_role_known check (role in ('viewer', 'member', 'admin', 'owner'));
alter table api_keys
    drop constraint api_keys_role_known,
    add constraint api_keys_role_known check (role in ('viewer', 'member', 'admin', 'owner'));
alter table invitations
    drop constraint invitations_role_known,
    add constraint invitations_role_known check (role in ('viewer', 'member', 'admin', 'owner'));
alter table sso_groups
    drop constraint sso_groups_role_known,
    add constraint sso_groups_role_known check (role in ('viewer', 'member', 'admin', 'owner'));

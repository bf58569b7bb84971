-- +goose Up

-- signed_out_at: when an owner of the tenant signed the member out. Sessions and programs that act as the member open this tenant only if
-- they began later; other tenants of the person are not affected.
alter table memberships add column signed_out_at timestamptz;

-- opened_at: when the session began, by the clock that sets signed_out_at.
alter table browser_sessions add column opened_at timestamptz not null default clock_timestamp();

-- +goose Down
alter table browser_sessions drop column opened_at;
alter table memberships drop column signed_out_at;

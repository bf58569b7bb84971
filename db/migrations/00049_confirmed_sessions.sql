-- +goose Up

-- When its person last proved in this session who they are: at its beginning, or since. null: not, as where a provider may not have asked.
alter table browser_sessions add column confirmed_at timestamptz;

-- The session that this sign-in at the provider confirms; it begins none.
alter table sso_flows add column confirms uuid;

-- +goose Down
alter table sso_flows drop column confirms;
alter table browser_sessions drop column confirmed_at;

-- +goose Up

-- Apart from 00123, whose locks would be held during both.
alter table gateway_mail validate constraint gateway_mail_grant_fkey;
create index if not exists gateway_mail_kept_idx on gateway_mail (tenant_id, agent_id, connector_id) where connector_id is not null;

-- +goose Down
drop index gateway_mail_kept_idx;

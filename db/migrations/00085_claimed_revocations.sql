-- +goose Up

-- While a process tries a revocation, the row is claimed: the tries under way of a tenant and of an issuer are bounded. A claim lapses
-- where its process dies.
alter table account_revocations add column claimed_until timestamptz;
create index account_revocations_claimed_idx on account_revocations (claimed_until) where claimed_until is not null;

-- +goose Down
drop index account_revocations_claimed_idx;
alter table account_revocations drop column claimed_until;

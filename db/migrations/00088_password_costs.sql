-- +goose Up

-- Finds which costs the stored hashes have. A hash reads $argon2id$v=19$m=65536,t=1,p=4$salt$key.
create index user_passwords_cost_idx on user_passwords (split_part(hash, '$', 4));

-- +goose Down
drop index user_passwords_cost_idx;

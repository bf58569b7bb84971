-- +goose Up

-- version: how many keys that authenticate there have been; fingerprints in the audit log name it.
alter table keysets
    add column version integer not null default 1,
    add constraint keysets_version_positive check (version > 0);

-- The keys that are gone by which API keys, agents' tokens and recovery codes were recognised, by how everything begins that they made.
create table retired_mac_keys (
    prefix     bytea       not null,
    retired_at timestamptz not null default now(),
    constraint retired_mac_keys_pkey primary key (prefix),
    constraint retired_mac_keys_prefix_length check (length(prefix) = 5)
);
alter table retired_mac_keys enable row level security;
alter table retired_mac_keys force row level security;
create policy everybody_reads on retired_mac_keys for select using (true);
create policy system_adds on retired_mac_keys for insert with check ((select system_scope()));
grant select, insert on retired_mac_keys to patchbay_app;

-- As refuse_retired_key, for what is recognised and not opened: nobody would recognise it any more.
-- +goose StatementBegin
create function refuse_retired_mac() returns trigger
    language plpgsql
as $$
declare made bytea;
begin
    if tg_table_name = 'recovery_codes' then
        made := new.mac;
    else
        made := new.secret_mac;
    end if;
    perform pg_advisory_xact_lock_shared(hashtextextended('patchbay sealed', 0));
    if exists (select from retired_mac_keys r where r.prefix = substring(made from 1 for 5)) then
        raise exception 'authenticated by a retired key' using errcode = 'PB001';
    end if;
    return new;
end $$;
-- +goose StatementEnd
create trigger recognised_by_a_living_key before insert or update of secret_mac on api_keys
    for each row execute function refuse_retired_mac();
create trigger recognised_by_a_living_key before insert or update of secret_mac on agent_tokens
    for each row execute function refuse_retired_mac();
create trigger recognised_by_a_living_key before insert or update of mac on recovery_codes
    for each row execute function refuse_retired_mac();

-- +goose Down
drop trigger recognised_by_a_living_key on api_keys;
drop trigger recognised_by_a_living_key on agent_tokens;
drop trigger recognised_by_a_living_key on recovery_codes;
drop function refuse_retired_mac();
drop table retired_mac_keys;
alter table keysets drop column version;

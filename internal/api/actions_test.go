package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/store"
)

// thingQueries read a tenant's things: the key, the settings, and fingerprints of the secrets. They are written
// independently, so that audit entries are compared with the tables.
var thingQueries = map[string]string{
	"tenant": `select id::text, to_jsonb(t) - '{id,created_at,updated_at}'::text[], '{}'::jsonb from tenants t where id = $1`,
	"member": `select m.user_id::text, jsonb_build_object('email', u.address, 'name', u.name, 'role', m.role), '{}'::jsonb
		from memberships m join users u on u.id = m.user_id where m.tenant_id = $1`,
	"password": `select m.user_id::text, '{}'::jsonb, jsonb_build_object('password', p.hash)
		from memberships m left join user_passwords p on p.user_id = m.user_id where m.tenant_id = $1`,
	"factor": `select f.user_id::text, '{}'::jsonb, jsonb_build_object('key', f.sealed,
			'recovery_codes', (select coalesce(string_agg(mac::text, ',' order by number), '') from recovery_codes c where c.user_id = f.user_id))
		from second_factors f join memberships m on m.user_id = f.user_id where m.tenant_id = $1 and f.confirmed_at is not null`,
	"usage": `select 'mark', jsonb_build_object('since', since), '{}'::jsonb from usage_marks where tenant_id = $1`,
	"invitation": `select id::text, to_jsonb(t) - '{tenant_id,id,token_hash,invited_by,invited_by_name,created_at,sent_at}'::text[],
		jsonb_build_object('link', token_hash) from invitations t where tenant_id = $1`,
	"request": `select id::text, to_jsonb(t) - '{tenant_id,id,agent_id,connector_id,asker,asked_at}'::text[], '{}'::jsonb from access_requests t where tenant_id = $1`,
	"key": `select id::text, to_jsonb(t) - '{tenant_id,id,secret_mac,created_at,created_by_name,last_used_at}'::text[],
		jsonb_build_object('secret', secret_mac) from api_keys t where tenant_id = $1`,
	"agent": `select id::text, to_jsonb(t) - '{tenant_id,id,created_at,updated_at}'::text[], '{}'::jsonb from agents t where tenant_id = $1`,
	"token": `select id::text, to_jsonb(t) - '{tenant_id,id,agent_id,secret_mac,created_at,last_used_at,agent_client_id,resource,agent_workload_id}'::text[],
		jsonb_build_object('secret', secret_mac) from agent_tokens t where tenant_id = $1`,
	"workload": `select id::text, (to_jsonb(t) - '{tenant_id,id,agent_id,created_at,last_used_at}'::text[])
			|| jsonb_build_object('keys', encode(sha256(convert_to(keys::text, 'UTF8')), 'hex')), '{}'::jsonb from agent_workloads t where tenant_id = $1`,
	"program": `select id::text, jsonb_build_object('agent_id', agent_id, 'user_id', user_id, 'client_id', client_id, 'client_name', client_name, 'client_host', client_host,
			'resource', resource, 'redirect_uri', redirect_uri, 'scope', scope, 'by_sso', by_sso, 'dpop_required', dpop_required, 'key_thumbprint', key_thumbprint), '{}'::jsonb from agent_clients where tenant_id = $1`,
	"grant": `select agent_id || '/' || connector_id, to_jsonb(t) - '{tenant_id,agent_id,connector_id,created_at,updated_at}'::text[], '{}'::jsonb
		from agent_grants t where tenant_id = $1`,
	"connector": `select id::text, (to_jsonb(t) - '{tenant_id,id,version,auth_behaviour,created_at,updated_at,status,era}'::text[])
			- (select array_agg(attname::text) from pg_attribute where attrelid = 'connectors'::regclass
			   and attname ~ '^(tool_count|tools_|next_sync|last_error|server_(?!url)|items_|skills_|icon_|accepted_instructions|instructions_review)'),
		(select coalesce(jsonb_object_agg('credential' || coalesce(' of ' || agent_id, ''), sealed), '{}') from credentials c where c.tenant_id = $1 and c.connector_id = t.id)
		|| (select coalesce(jsonb_object_agg('env ' || name, sealed), '{}') from connector_envs e, unnest(names) name where e.tenant_id = $1 and e.connector_id = t.id)
		|| (select coalesce(jsonb_object_agg('client_secret', sealed), '{}') from connector_clients k where k.tenant_id = $1 and k.connector_id = t.id)
		from connectors t where tenant_id = $1`,
	"scim": `select tenant_id::text, to_jsonb(t) - '{tenant_id,id,secret_mac,created_at,rotated_at,last_request_at}'::text[],
		jsonb_build_object('token', secret_mac) from scim_settings t where tenant_id = $1`,
	"scim user": `select id::text, to_jsonb(t) - '{tenant_id,id,user_id,attributes,created_at,updated_at}'::text[], '{}'::jsonb from scim_users t where tenant_id = $1`,
	"scim group": `select id::text, (to_jsonb(t) - '{tenant_id,id,created_at,updated_at}'::text[]) || jsonb_build_object(
			'members', (select coalesce(jsonb_agg(user_name order by user_name), '[]') from scim_group_members m join scim_users u on u.id = scim_user_id where group_id = t.id),
			'member_count', (select count(*) from scim_group_members m where group_id = t.id)),
		'{}'::jsonb from scim_groups t where tenant_id = $1`,
	"sso": `select tenant_id::text, (to_jsonb(t) - '{tenant_id,sealed,tested_at,created_at,updated_at}'::text[])
			|| jsonb_build_object('groups', (select coalesce(jsonb_object_agg(group_name, role), '{}') from sso_groups g where g.tenant_id = $1)),
		jsonb_build_object('client_secret', sealed) from sso_settings t where tenant_id = $1`,
	"domain": `select domain, to_jsonb(t) - '{tenant_id,proof,created_at}'::text[], '{}'::jsonb from sso_domains t where tenant_id = $1`,
	"link": `select encode(token_hash, 'hex'), to_jsonb(t) - '{tenant_id,token_hash,made_by,created_at}'::text[],
		jsonb_build_object('connect_url', token_hash) from connect_links t where tenant_id = $1`,
	"endpoint": `select key, jsonb_build_object('name', key, 'title', coalesce(endpoint->>'Title', ''), 'description', coalesce(endpoint->>'Description', ''), 'method', endpoint->>'Method',
			'url', endpoint->>'URL', 'headers', endpoint->'Headers', 'media', coalesce(endpoint->>'Media', ''), 'body', coalesce(endpoint->>'Body', ''), 'filter', coalesce(endpoint->>'Filter', '')),
		'{}'::jsonb from api_tools where tenant_id = $1 and endpoint is not null`,
	"vanished":  `select connector_id::text, jsonb_build_object('vanished_tools', coalesce(vanished_tools, 0)), '{}'::jsonb from connector_clock where tenant_id = $1`,
	"listening": `select connector_id::text, jsonb_build_object('listening', state <> 'off', 'reason', reason), '{}'::jsonb from upstream_listeners where tenant_id = $1`,
	"credential": `select id::text, jsonb_build_object('type', type, 'origin', origin, 'status', status, 'account', account, 'scopes', scopes),
		jsonb_build_object('secret', sealed) from credentials where tenant_id = $1`,
	"tools": `select connector_id::text, jsonb_object_agg(name || ' enabled', enabled) || jsonb_object_agg(name || ' alias', alias)
			|| jsonb_object_agg(name || ' agent_description', agent_text) || jsonb_object_agg(name || ' tags', tags)
			|| jsonb_object_agg(name || ' calls_per_minute', calls_per_minute) || jsonb_object_agg(name || ' calls_per_day', calls_per_day), '{}'::jsonb
		from tools where tenant_id = $1 group by connector_id`,
	"registry": `select id::text, (to_jsonb(t) - '{tenant_id,id,address_hash,created_at,updated_at,rotated_at,last_used_at}'::text[])
			|| jsonb_build_object('agents', (select coalesce(jsonb_agg(slug order by slug), '[]') from registry_agents m join agents a on a.id = agent_id where registry_id = t.id)),
		jsonb_build_object('address', address_hash) from registries t where tenant_id = $1`,
	"audit stream": `select id::text, (to_jsonb(t) - '{tenant_id,id,url,ca,origin,sealed,audit_n,audit_hash,calls_n,calls_hash,calls_record,lease,leased_until,next_at,failures,
			refusals,failing_since,last_error,delivered_at,gap,gap_at,created_at,updated_at}'::text[]) || jsonb_build_object('host', substring(url from '://([^/]+)')),
		jsonb_build_object('secret', sealed, 'url', url, 'ca', ca) from audit_streams t where tenant_id = $1`,
	"webhook": `select id::text, (to_jsonb(t) - '{tenant_id,id,url,sealed,failures,failing_since,delivered_at,created_at,updated_at}'::text[])
			|| jsonb_build_object('host', substring(url from '://([^/]+)')),
		jsonb_build_object('secret', sealed, 'url', url) from webhooks t where tenant_id = $1`,
}

// thingRow is a thing as its tables have it.
type thingRow struct {
	Set     map[string]any
	Secrets map[string]any
}

// readThings reads the rows of a kind of thing.
func (w *world) readThings(t *testing.T, thing string) map[string]thingRow {
	t.Helper()
	found := map[string]thingRow{}
	err := pgx.BeginFunc(t.Context(), w.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "select set_config('app.system', 'on', true)"); err != nil {
			return err
		}
		rows, err := tx.Query(t.Context(), thingQueries[thing], w.Tenant)
		if err != nil {
			return err
		}
		var key string
		var set, secrets []byte
		_, err = pgx.ForEachRow(rows, []any{&key, &set, &secrets}, func() error {
			var r thingRow
			if err := json.Unmarshal(set, &r.Set); err != nil {
				return err
			}
			if err := json.Unmarshal(secrets, &r.Secrets); err != nil {
				return err
			}
			found[key] = r
			return nil
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// readLatestDetail reads the detail of the tenant's last entry of a kind.
func (w *world) readLatestDetail(t *testing.T, action string) map[string]any {
	t.Helper()
	list, err := w.Door().Audit().List(t.Context(), store.AuditFilter{Action: action})
	if err != nil || len(list.Items) == 0 {
		t.Fatalf("%s is not on record: %v", action, err)
	}
	detail := map[string]any{}
	if err := json.Unmarshal(list.Items[0].Detail, &detail); err != nil {
		t.Fatal(err)
	}
	if list.Items[0].Target == "" && action != "tool.accept_cosmetic" {
		t.Errorf("%s is about nothing", action)
	}
	return detail
}

func TestEveryKindOfActHasARow(t *testing.T) {
	t.Parallel()
	if len(store.Actions) < 50 {
		t.Errorf("%d kinds of acts are known", len(store.Actions))
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(store.Actions)), slices.Sorted(maps.Keys(allActions))); diff != "" {
		t.Errorf("kinds of acts (-known +tried):\n%s", diff)
	}
}

// Without an audit entry the action is rolled back. With one, the entry has what the tables had before and have after.
func TestActions_RecordBeforeAndAfter(t *testing.T) {
	t.Parallel()
	for action, act := range allActions {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			w := act.world(t)
			do := act.prepare(t, w)
			w.wantRefused(t, action, act, do)
			if act.once {
				w = act.world(t)
				do = act.prepare(t, w)
			}
			var before, after map[string]thingRow
			if act.thing != "" {
				before = w.readThings(t, act.thing)
			}
			if err := do(); err != nil {
				t.Fatal(err)
			}
			detail := w.readLatestDetail(t, action)
			if act.thing == "" {
				if detail["before"] != nil || detail["after"] != nil || store.Actions[action].Effect != store.EffectNone {
					t.Errorf("it changes nothing: %v", detail)
				}
				return
			}
			after = w.readThings(t, act.thing)
			compareAction(t, action, detail, before, after)
		})
	}
}

// wantRefused fails the test if the action takes place without an audit entry.
func (w *world) wantRefused(t *testing.T, action string, act actionCase, do func() error) {
	t.Helper()
	w.RefuseAudit(t, action)
	before := w.Rows(t)
	were := map[string]thingRow{}
	if act.thing != "" {
		were = w.readThings(t, act.thing)
	}
	if err := do(); err == nil {
		t.Error("it took place without an audit entry")
	}
	if !act.alsoChanges {
		w.wantUnchanged(t, before)
	}
	if act.thing != "" {
		if diff := cmp.Diff(were, w.readThings(t, act.thing)); diff != "" {
			t.Errorf("it took place without an audit entry (-before +after):\n%s", diff)
		}
	}
	w.AllowAudit(t)
}

func compareAction(t *testing.T, action string, detail map[string]any, before, after map[string]thingRow) {
	t.Helper()
	var was, is *thingRow
	touched := 0
	for _, key := range slices.Sorted(maps.Keys(union(before, after))) {
		b, had := before[key]
		a, has := after[key]
		if had && has && cmp.Equal(a, b) {
			continue
		}
		touched++
		if had {
			was = &b
		}
		if has {
			is = &a
		}
	}
	if touched != 1 {
		t.Fatalf("%d things are different, want one", touched)
	}
	wantWas, wantIs := diffRows(was, is)
	gotWas, gotIs := detail["before"], detail["after"]
	if diff := cmp.Diff(wantWas, eventSide(t, action, gotWas, was)); diff != "" {
		t.Errorf("before (-in the tables +on record):\n%s", diff)
	}
	if diff := cmp.Diff(wantIs, eventSide(t, action, gotIs, is)); diff != "" {
		t.Errorf("after (-in the tables +on record):\n%s", diff)
	}
	if wantWas == nil && gotWas != nil || wantIs == nil && gotIs != nil {
		t.Errorf("before %v, after %v", gotWas, gotIs)
	}
}

func union(a, b map[string]thingRow) map[string]thingRow {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// diffRows returns the differences of two rows. A secret is only named.
func diffRows(was, is *thingRow) (b, a map[string]any) {
	flat := func(r *thingRow) map[string]any {
		if r == nil {
			return nil
		}
		all := maps.Clone(r.Set)
		for field, sealed := range r.Secrets {
			all[field] = fmt.Sprint("secret ", sealed)
		}
		return all
	}
	b, a = flat(was), flat(is)
	for field, value := range flat(was) {
		if other, there := a[field]; there && cmp.Equal(value, other) {
			delete(b, field)
			delete(a, field)
		}
	}
	return b, a
}

// eventSide is one side of an entry, with fingerprints replaced by the tables' values.
func eventSide(t *testing.T, action string, side any, r *thingRow) map[string]any {
	t.Helper()
	fields, _ := side.(map[string]any)
	if side == nil || r == nil {
		return nil
	}
	all := map[string]any{}
	for field, value := range fields {
		all[field] = value
		text, _ := value.(string)
		if sealed, secret := r.Secrets[field]; secret {
			if !strings.HasPrefix(text, "hmac:") {
				t.Errorf("%s: %s is told as %q", action, field, text)
			}
			all[field] = fmt.Sprint("secret ", sealed)
		}
	}
	return all
}

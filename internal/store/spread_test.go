package store_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/testing/fixture"
)

// These tests let tenants be spread over several databases (docs/scale.md): related rows share one tenant_id,
// first in every key, and no query needs rows of two tenants.

// keysWithoutTenant are unique keys that do not begin with the tenant, each with its reason.
var keysWithoutTenant = map[string]string{
	"agent_clients.agent_clients_id_key":         "a code says its program's id, and is looked up before the tenant is known",
	"agent_workloads.agent_workloads_id_key":     "a workload says its own id, and is looked up before the tenant is known",
	"member_tokens.member_tokens_id_key":         "a token says its own id, and is looked up before the tenant is known",
	"agent_tokens.agent_tokens_id_key":           "a token says its own id, and is looked up before the tenant is known",
	"api_keys.api_keys_id_key":                   "a key says its own id, and is looked up before the tenant is known",
	"connect_links.connect_links_token_hash_key": "a link is all that its visitor has",
	"invitations.invitations_token_hash_key":     "a link is all that its visitor has",
	"scim_settings.scim_settings_id_key":         "a token says its own id, and is looked up before the tenant is known",
	"registries.registries_address_hash_key":     "an address is all that its reader has",
	"sso_domains.sso_domains_verified_key":       "a domain is one tenant's, and whoever signs in says nothing but an address of it",
	"oauth_flows.oauth_flows_state_hash_key":     "the state is all that comes back from an authorization server",
	"setup_links.setup_links_pkey":               "a link is all that its visitor has, and the table belongs to the system",
}

// referencesOutside are references from a tenant's table to one that belongs to no tenant, each with its reason.
var referencesOutside = map[string]string{
	"memberships.memberships_user_id_fkey":                "a person may be a member of several tenants",
	"upstream_listeners.upstream_listeners_instance_fkey": "processes serve all tenants",
}

const uniqueKeys = `
	select index.indrelid::regclass::text || '.' || index.indexrelid::regclass::text
	from pg_index index
	join pg_class on pg_class.oid = index.indrelid and relnamespace = 'public'::regnamespace
	join pg_attribute tenant on tenant.attrelid = index.indrelid and tenant.attname = 'tenant_id'
	where index.indisunique and index.indkey[0] <> tenant.attnum
	order by 1`

func TestEveryUniqueKeyBeginsWithTheTenant(t *testing.T) {
	t.Parallel()
	found := catalogue(t, uniqueKeys)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(keysWithoutTenant)), found); diff != "" {
		t.Errorf("unique keys that do not begin with tenant_id, so that a table spread by tenant cannot hold them (-named +found):\n%s", diff)
	}
}

func TestTables_TenantInPrimaryKey(t *testing.T) {
	t.Parallel()
	found := catalogue(t, `
		select pg_class.oid::regclass::text
		from pg_class
		join pg_attribute tenant on tenant.attrelid = pg_class.oid and tenant.attname = 'tenant_id'
		where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
		  and not exists (select from pg_index where indrelid = pg_class.oid and indisprimary and indkey[0] = tenant.attnum)
		order by 1`)
	if diff := cmp.Diff([]string{"setup_links"}, found); diff != "" { // see keysWithoutTenant
		t.Errorf("tables with a tenant_id that is not first in the primary key (-named +found):\n%s", diff)
	}
}

func TestEveryReferenceCarriesTheTenant(t *testing.T) {
	t.Parallel()
	found := catalogue(t, `
		select conrelid::regclass || '.' || conname
		from pg_constraint
		join pg_attribute tenant on tenant.attrelid = conrelid and tenant.attname = 'tenant_id'
		left join pg_attribute theirs on theirs.attrelid = confrelid and theirs.attname = 'tenant_id'
		where contype = 'f' and connamespace = 'public'::regnamespace
		  and (conkey[1] <> tenant.attnum or confrelid <> 'tenants'::regclass and confkey[1] is distinct from theirs.attnum)
		order by 1`)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(referencesOutside)), found); diff != "" {
		t.Errorf("references that do not begin with tenant_id on both sides (-named +found):\n%s", diff)
	}
}

// catalogue asks the database's catalogue for names.
func catalogue(t *testing.T, query string) []string {
	t.Helper()
	rows, err := fixture.New(t).Pool.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestNoQueryJoinsTheRowsOfTwoTenants(t *testing.T) {
	t.Parallel()
	ours := catalogue(t, `
		select attrelid::regclass::text from pg_attribute join pg_class on pg_class.oid = attrelid
		where attname = 'tenant_id' and relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`)
	files, err := filepath.Glob("../../db/queries/*.sql")
	if err != nil || len(files) < 50 || len(ours) < 50 {
		t.Fatalf("%d files of queries, %d tables: %v", len(files), len(ours), err)
	}
	queries := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, query := range strings.Split(string(text), "-- name: ")[1:] {
			name, sql, _ := strings.Cut(query, "\n")
			name, _, _ = strings.Cut(name, " ")
			queries++
			for _, loose := range looseJoins(sql, ours) {
				t.Errorf("%s: %s: %s is joined without saying whose tenant_id it shares", filepath.Base(file), name, loose)
			}
		}
	}
	if queries < 500 {
		t.Errorf("%d queries are read", queries)
	}
}

var (
	sqlComment  = regexp.MustCompile(`--[^\n]*`)
	relation    = regexp.MustCompile(`\b(?:from|join|update|using)\s+(?:only\s+)?(\w+)`)
	alias       = regexp.MustCompile(`^\s+(?:as\s+)?(\w+)`)
	notAnAlias  = []string{"where", "on", "set", "join", "left", "inner", "cross", "order", "group", "limit", "using", "for", "returning", "union", "having", "select", "offset", "window"}
	statement   = regexp.MustCompile(`\b(?:select|insert|update|delete)\s`)
	unions      = regexp.MustCompile(`\bunion\b`)
	innermost   = regexp.MustCompile(`\([^()]*\)`)
	commonTable = regexp.MustCompile(`(?:\bwith|,)\s+(\w+)(?:\s*\([^()]*\))?\s+as\s+(?:materialized\s+|not materialized\s+)?\(`)
)

// looseJoins returns the names that a query joins without an equality of tenant_id. It checks parentheses from
// the inside out. In a query across tenants, "with" names have rows of several tenants; in others those of the
// one tenant.
func looseJoins(sql string, tenants []string) []string {
	across := strings.Contains(sql, "@sqlc-vet-disable")
	sql = strings.ToLower(sqlComment.ReplaceAllString(sql, ""))
	if across {
		for _, m := range commonTable.FindAllStringSubmatch(sql, -1) {
			tenants = append(slices.Clip(tenants), m[1])
		}
	}
	var loose []string
	for {
		at := innermost.FindStringIndex(sql)
		if at == nil {
			return append(loose, looseIn(sql, tenants)...)
		}
		inside := sql[at[0]+1 : at[1]-1]
		loose = append(loose, looseIn(inside, tenants)...)
		rest := " "
		if !statement.MatchString(inside) { // a condition in parentheses is part of what is around it
			rest = " " + inside + " "
		}
		sql = sql[:at[0]] + rest + sql[at[1]:]
	}
}

func looseIn(block string, tenants []string) (loose []string) {
	for _, part := range unions.Split(block, -1) { // which put rows below each other, and join none
		loose = append(loose, looseInOne(part, tenants)...)
	}
	return loose
}

func looseInOne(block string, tenants []string) []string {
	var names []string
	for _, at := range relation.FindAllStringSubmatchIndex(block, -1) {
		name := block[at[2]:at[3]]
		if !slices.Contains(tenants, name) {
			continue
		}
		if m := alias.FindStringSubmatch(block[at[1]:]); m != nil && !slices.Contains(notAnAlias, m[1]) {
			name = m[1]
		}
		names = append(names, name)
	}
	if len(names) < 2 {
		return nil
	}
	var loose []string
	for _, name := range names {
		says := regexp.MustCompile(`\b` + name + `\.tenant_id = |= ` + name + `\.tenant_id\b`)
		if !says.MatchString(block) {
			loose = append(loose, name)
		}
	}
	return loose
}

func TestALooseJoinIsFound(t *testing.T) {
	t.Parallel()
	tenants := []string{"agents", "tools", "connectors"}
	for sql, want := range map[string][]string{
		"select 1 from agents where tenant_id = @tenant_id":                                                                   nil,
		"select 1 from tools join connectors on connectors.tenant_id = tools.tenant_id and connectors.id = tools.id":          nil,
		"select 1 from tools t join connectors c on c.id = t.connector_id where t.tenant_id = @tenant_id":                     {"c"},
		"select 1 from (select 2 from tools t join agents a on (a.id = t.id) where t.tenant_id = a.tenant_id) x":              nil,
		"select 1 from (select 2 from tools t join agents a on (a.id = t.id)) x":                                              {"t", "a"},
		"with page as (select id from tools) select 1 from page join connectors c on c.tenant_id = 1 where c.id = 2":          nil,
		"-- @sqlc-vet-disable tenant-scope\nwith a as (select id from tools) select 1 from a join agents on agents.id = a.id": {"a", "agents"},
		"update tools set x = 1 from connectors where connectors.id = tools.id and tools.tenant_id = @tenant_id":              {"connectors"},
		"select id from tools union all select id from agents":                                                                nil,
		"delete from tools using agents where agents.tenant_id = tools.tenant_id -- and nothing else: join connectors":        nil,
	} {
		if diff := cmp.Diff(want, looseJoins(sql, tenants)); diff != "" {
			t.Errorf("%s: %s", sql, diff)
		}
	}
}

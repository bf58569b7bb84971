//go:build !race

// Requests one after the other: the race detector finds nothing here and takes ten times as long.

package admin_test

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
)

// serverTime is the bound of a page, as the performance guide states it.
const serverTime = 50 * time.Millisecond

// BenchmarkPages measures every page: server time, statements, and bytes on a first and a second load. The
// tenant has 1 000 connectors, 20 000 tools, 200 agents and 100 000 calls. It names pages beyond the bounds.
//
//	make bench-pages
func BenchmarkPages(b *testing.B) {
	d := newDashboard(b)
	ids := d.ownThings()
	person := d.createMember(connectors.RoleOwner)
	owner := d.browser()
	owner.signIn(person.Email)
	ids.link = d.createConnectLink(owner)
	d.fillTenant(ids)
	view, err := d.access.ByAgent(b.Context(), d.Tenant, connectors.Ref(ids.agent)) // cached, as while the agent works
	if err != nil {
		b.Fatal(err)
	}
	scale := pageScale{b: owner, files: map[string]int{}}
	for _, asked := range timedPages() {
		if asked.pattern != "/account/connections" {
			d.measurePage(b, scale, asked, ids.fill(asked.pattern))
		}
	}
	one := d.createOwnAccounts(person) // last, because each agent's page has a row for each connector that it adds
	d.measurePage(b, scale, timedPage{pattern: "/account/connections"}, "/account/connections")
	d.measurePage(b, scale, timedPage{pattern: "/account/connections/{agent}/{connector}"}, one)
	runtime.KeepAlive(view)
}

// measurePage measures a page.
func (d *dashboard) measurePage(b *testing.B, scale pageScale, asked timedPage, path string) {
	b.Helper()
	b.Run(strings.ReplaceAll(strings.TrimPrefix(asked.pattern, "/"), "/", "_")+"_"+asked.part, func(b *testing.B) {
		scale.b.header.Set("Patchbay-Part", asked.part)
		defer scale.b.header.Del("Patchbay-Part")
		scale.b.get(path).want(b, http.StatusOK)
		var took []time.Duration
		statements := int64(math.MaxInt64) // updates of the session may add a statement
		for b.Loop() {
			began, before := time.Now(), d.work.Queries()
			scale.b.get(path)
			took = append(took, time.Since(began))
			statements = min(statements, d.work.Queries()-before)
		}
		slices.Sort(took)
		share := func(share float64) time.Duration { return took[int(share*float64(len(took)-1))] }
		first, next := scale.measurePage(path)
		b.ReportMetric(float64(share(0.5).Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(share(0.95).Microseconds())/1000, "p95-ms")
		b.ReportMetric(float64(statements), "statements")
		b.ReportMetric(float64(first)/1024, "first-KiB")
		b.ReportMetric(float64(next)/1024, "next-KiB")
		b.ReportMetric(0, "ns/op")
		if share(0.95) > serverTime {
			b.Logf("%s takes %v at p95", asked.pattern, share(0.95))
		}
		if first > maxFirstLoad || next > maxNextLoad {
			b.Errorf("%s transfers %d KiB on a first visit, and %d KiB after", asked.pattern, first>>10, next>>10)
		}
	})
}

// createOwnAccounts creates two of a person's own agents, with and without an account at 25 connectors, and
// returns the page of one.
func (d *dashboard) createOwnAccounts(m connectors.Member) (page string) {
	d.t.Helper()
	for range 2 {
		a := d.Agent(d.t)
		if err := d.Door().Agents().MakePersonal(d.t.Context(), m.UserID, a.ID); err != nil {
			d.t.Fatal(err)
		}
		for i := range 25 {
			c := d.Connector(d.t, bearerAuth, func(c *connectors.Draft) { c.CredentialMode = connectors.CredentialPerAgent })
			d.Grant(d.t, a.ID, c.ID)
			if i%2 == 0 {
				d.Credential(d.t, c.ID, &a.ID, `{"token":"of the person"}`)
			}
			page = "/account/connections/" + a.ID.String() + "/" + c.ID.String()
		}
	}
	return page
}

// timedPage is a page's pattern, with a query perhaps, and the part that is requested.
type timedPage struct{ pattern, part string }

// timedPages are all pages of the router, and queries of the larger ones, as the performance guide lists them.
func timedPages() []timedPage {
	pages := []timedPage{
		{"/search?q=tool_17", ""}, {"/search?q=tool_17", "options"}, // as the palette requests it
		{"/tools?q=tool_17", ""}, {"/tools?q=words", ""}, {"/connectors?q=crowd", ""}, {"/calls?status=error", ""},
	}
	for _, pattern := range pagePatterns() {
		pages = append(pages, timedPage{pattern: pattern})
	}
	slices.SortFunc(pages, func(a, b timedPage) int {
		return cmp.Or(strings.Compare(a.pattern, b.pattern), strings.Compare(a.part, b.part))
	})
	return pages
}

// pagePatterns are the patterns of all pages for a signed-in person.
func pagePatterns() []string {
	var pages []string
	for route := range routeRoles { // complete: see TestEveryRouteSaysWhatItNeeds
		method, pattern, _ := strings.Cut(route, " ")
		if method == http.MethodGet && noPages[pattern] == "" && !strings.HasPrefix(pattern, "/exports/") {
			pages = append(pages, pattern)
		}
	}
	slices.Sort(pages)
	return pages
}

func TestPerformanceGuide_ListsEveryPage(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(guide), "\n## Pages\n")
	for _, asked := range timedPages() {
		if !strings.Contains(section, "`"+asked.pattern+"`") {
			t.Errorf("docs/performance.md says nothing of %s: run make bench-pages", asked.pattern)
		}
	}
}

// fillTenant gives the connector 200 tools and 20 000 calls, and the agent 50 connectors with a thousand tools.
func (d *dashboard) fillTenant(ids things) {
	d.t.Helper()
	run := func(sql string, args ...any) {
		d.t.Helper()
		err := pgx.BeginFunc(d.t.Context(), d.Pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(d.t.Context(), "select set_config('app.system', 'on', true)"); err != nil {
				return err
			}
			_, err := tx.Exec(d.t.Context(), sql, args...)
			return err
		})
		if err != nil {
			d.t.Fatalf("%s: %v", sql, err)
		}
	}
	// A version 7 UUID of a number of seconds ago.
	const id = `(lpad(to_hex((extract(epoch from now() - make_interval(secs => %s)) * 1000)::bigint), 12, '0') || '7' ||
		substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15))::uuid`
	tenant, connector, agent := d.Tenant, uuid.MustParse(ids.connector), uuid.MustParse(ids.agent)
	run(fmt.Sprintf(`
		insert into connectors (tenant_id, id, slug, name, transport, url, credential_mode, auth_type, timeout_ms, retry_attempts, enabled,
		    sync_interval_s, tool_changes, tool_count, tools_hash, tools_last_synced_at, last_error_code, last_error_message, last_error_at)
		select $1, `+id+`, 'crowd-' || i, 'Crowd ' || i, 'streamable_http', 'https://mcp' || i || '.example.com/mcp', 'shared',
		       case when i %% 3 = 0 then 'oauth2' else 'none' end, 30000, 3, true, 900, 'hold_risky', 20, sha256(i::text::bytea), now(),
		       case when i %% 50 = 0 then 'timeout' end, case when i %% 50 = 0 then 'It was silent.' end, case when i %% 50 = 0 then now() end
		from generate_series(1, 999) i`, "i"), tenant)
	run(`insert into tool_definitions (tenant_id, hash, raw, description, search)
		select $1, sha256(i::text::bytea), convert_to(format('{"name":"tool_%s","description":"%s","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}}}',
		           i, repeat('What it does, in words. ', 20)), 'UTF8'), repeat('What it does, in words. ', 20), to_tsvector('english', 'what it does tool ' || i)
		from generate_series(1, 20000) i`, tenant)
	run(`insert into tools (tenant_id, connector_id, name, current_hash, accepted_hash, review, first_seen_at, last_seen_at, changed_at)
		select $1, case when i <= 200 then $2 else crowd.id end, 'tool_' || i, sha256(i::text::bytea), sha256(i::text::bytea), 'accepted',
		       now() - make_interval(mins => i), now(), now()
		from generate_series(1, 20000) i
		join (select id, row_number() over (order by id) as nth from connectors where tenant_id = $1 and slug like 'crowd-%') crowd on crowd.nth = 1 + i % 999`,
		tenant, connector)
	run(fmt.Sprintf(`insert into agents (tenant_id, id, slug, name)
		select $1, `+id+`, 'crowd-' || i, 'Agent of a crowd ' || i from generate_series(1, 199) i`, "i"), tenant)
	run(`insert into agent_grants (tenant_id, agent_id, connector_id, all_tools)
		select $1, agents.id, crowd.id, true
		from agents
		join lateral (select id from connectors where tenant_id = $1 and slug like 'crowd-%' order by md5(id::text || agents.id::text)
		              limit case when agents.id = $2 then 50 else 5 end) crowd on true
		where agents.tenant_id = $1
		on conflict do nothing`, tenant, agent)
	run(fmt.Sprintf(`
		insert into tool_calls (tenant_id, id, agent_id, agent_slug, connector_id, connector_slug, tool, exposed_name, status, outcome, arguments,
		    content, started_at, completed_at, duration_us)
		select $1, `+id+`, case when i %% 5 = 0 then $2 else crowd.id end, 'somebody', case when i %% 5 = 0 then $3 else reached.id end, 'something',
		       'tool_' || (1 + i %% 20000), 'mcp_something__tool', case when i %% 40 = 0 then 'error' else 'success' end,
		       case when i %% 40 = 0 then 'tool_error' else 'ok' end, '{"q":"x"}', '[{"type":"text","text":"It was found."}]',
		       now() - make_interval(secs => i * 6), now() - make_interval(secs => i * 6), 20000 + (i * 7919) %% 900000
		from generate_series(1, 100000) i
		join (select id, row_number() over (order by id) as nth from agents where tenant_id = $1) crowd on crowd.nth = 1 + i %% 199
		join (select id, row_number() over (order by id) as nth from connectors where tenant_id = $1) reached on reached.nth = 1 + i %% 999`, "i * 6"),
		tenant, agent, connector)
	run(`select count_calls(array_agg(tenant_id), array_agg(completed_at), array_agg(status), array_agg(duration_us)) from tool_calls where tenant_id = $1 and source = 'gateway' and completed_at is not null`, tenant)
	run(`insert into connector_health (tenant_id, connector_id, hour, ok, failed, ms_sum, ms_max)
		select $1, connectors.id, date_trunc('hour', now()) - make_interval(hours => h), 4, 0, 1200, 400
		from connectors, generate_series(1, 168) h
		where tenant_id = $1`, tenant)
	for range 40 { // aggregates the hours
		if _, err := d.St.System().Calls().SweepGateway(d.t.Context(), d.Instance); err != nil {
			d.t.Fatal(err)
		}
	}
	run(fmt.Sprintf(`insert into sync_runs (tenant_id, id, connector_id, trigger, state, started_at, finished_at, tools_total)
		select $1, `+id+`, connectors.id, 'schedule', 'ok', now(), now(), 20
		from connectors, generate_series(1, 5) i
		where tenant_id = $1`, "i * 900"), tenant)
	d.analyzeTables()
}

// analyzeTables updates the planner's statistics, as autovacuum does.
func (d *dashboard) analyzeTables() {
	d.t.Helper()
	owner, err := pgx.Connect(d.t.Context(), d.URL)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = owner.Close(d.t.Context()) }()
	if _, err := owner.Exec(d.t.Context(), "vacuum analyze"); err != nil {
		d.t.Fatal(err)
	}
}

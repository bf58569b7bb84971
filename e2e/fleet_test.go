//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
)

// fleet is several processes on one database, with many connectors of several tenants.
type fleet struct {
	t     *testing.T
	home  *home
	owner *ownerConnection
	pool  *serverPool

	members []*member
	names   []string // of the connectors, which are their slugs and their servers' paths, too
}

// member is one of the processes.
type member struct {
	*server
	instance string // as the database knows it
}

func newFleet(t *testing.T, h *home, owner *ownerConnection, hosts int) *fleet {
	t.Helper()
	return &fleet{t: t, home: h, owner: owner, pool: newServerPool(t, hosts)}
}

// join starts one more process.
func (f *fleet) join() *member {
	f.t.Helper()
	known := f.owner.column("select id::text from instances")
	m := &member{server: f.home.serve()}
	for _, id := range f.owner.column("select id::text from instances") {
		if !slices.Contains(known, id) {
			m.instance = id
		}
	}
	if m.instance == "" {
		f.t.Fatal("a process is not known to the database")
	}
	f.members = append(f.members, m)
	return m
}

// fill makes connectors, by turns among tenants that stand in several shards, and for each tenant by turns among the servers.
func (f *fleet) fill(connectors int) {
	f.t.Helper()
	const tenants, shards = 5, 3
	var owners []client
	found := map[string]bool{}
	for i := 0; i < tenants || len(found) < shards; i++ {
		slug := f.home.run("tenant", "create", "Tenant "+strconv.Itoa(i), "--slug", "tenant-"+strconv.Itoa(i))
		key := f.home.run("apikey", "create", "--tenant", slug, "--role", "owner", "--name", "tests")
		owners = append(owners, client{t: f.t, base: f.members[0].base, key: key})
		shard := f.owner.column("select (get_byte(uuid_send(id), 15) % 16)::text from tenants where slug = $1", slug)
		found[shard[0]] = true
	}
	for i := range connectors {
		name := "c" + strconv.Itoa(i)
		f.names = append(f.names, name)
		owners[i%len(owners)].must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{
			"name": name, "url": f.pool.url(i/len(owners), name), "listen": "off", "timeout_ms": 300_000,
		})
	}
}

// due makes connectors due.
func (f *fleet) due(names []string) {
	f.t.Helper()
	f.owner.exec(`update connector_clock set due_at = now() from connectors
		where connectors.tenant_id = connector_clock.tenant_id and connectors.id = connector_clock.connector_id and connectors.slug = any($1)`, names)
}

// dueSoon makes a connector due at a random moment of the next second, because the process that looks next
// varies.
func (f *fleet) dueSoon(name string) {
	f.t.Helper()
	f.owner.exec(`update connector_clock set due_at = now() + random() * interval '1 second' from connectors
		where connectors.tenant_id = connector_clock.tenant_id and connectors.id = connector_clock.connector_id and connectors.slug = $1`, name)
}

// claimed are the connectors that a process has claimed.
func (f *fleet) claimed(m *member) []string {
	f.t.Helper()
	return f.owner.column(`select connectors.slug from connector_clock
		join connectors on connectors.tenant_id = connector_clock.tenant_id and connectors.id = connector_clock.connector_id
		where claimed_by = $1::uuid`, m.instance)
}

// engage makes connectors due one by one until each process runs a sync, and returns their number. The claiming
// process is not known before. The servers hold the lists.
func (f *fleet) engage(most int) int {
	f.t.Helper()
	for i, name := range f.names[:most] {
		f.pool.detainConnector(name)
		f.dueSoon(name)
		eventually(f.t, func() error {
			if len(f.pool.waitingConnectors([]string{name})) == 0 {
				return fmt.Errorf("nobody syncs %s", name)
			}
			return nil
		})
		if twice := f.pool.overlapping(); len(twice) > 0 {
			f.t.Fatal(twice)
		}
		if !slices.ContainsFunc(f.members, func(m *member) bool { return len(f.claimed(m)) == 0 }) {
			return i + 1
		}
	}
	f.t.Fatalf("after %d connectors one of %d processes has none", most, len(f.members))
	return 0
}

// syncHalf makes all due but those that are engaged, and has half of them synced; the others wait.
func (f *fleet) syncHalf(engaged int) {
	f.t.Helper()
	f.due(f.names[engaged:])
	half := (len(f.names) - engaged) / 2
	f.pool.releaseLists(half)
	eventually(f.t, func() error {
		return f.owner.agrees(map[string]int{"select count(*) from connector_clock where ok_at is not null": half})
	})
}

// busiest is the process with the most running syncs, and their connectors.
func (f *fleet) busiest() (*member, []string) {
	f.t.Helper()
	var most *member
	var running []string
	for _, m := range f.members {
		if held := f.pool.waitingConnectors(f.claimed(m)); most == nil || len(held) > len(running) {
			most, running = m, held
		}
	}
	if len(running) == 0 {
		f.t.Fatal("no process has anything under way")
	}
	return most, running
}

// killBusiest kills the process that has the most under way, and says how much that was.
func (f *fleet) killBusiest() int {
	f.t.Helper()
	victim, running := f.busiest()
	victim.kill()
	f.members = slices.DeleteFunc(f.members, func(m *member) bool { return m == victim })
	eventually(f.t, func() error {
		if cut := f.pool.cutConnectors(running); len(cut) < len(running) {
			return fmt.Errorf("of the %d syncs of the killed process %d are cut off", len(running), len(cut))
		}
		return nil
	})
	return len(running)
}

// synced waits until all connectors were synced for the first time, and finds nothing left over, nothing twice and nothing asked in vain.
func (f *fleet) synced() {
	f.t.Helper()
	all := len(f.names)
	eventually(f.t, func() error {
		return f.owner.agrees(map[string]int{
			"select count(*) from connector_clock where ok_at is not null and claimed_by is null and due_at > now()": all,
			"select count(*) from sync_runs where state in ('running', 'queued')":                                    0,
		})
	})
	if err := f.owner.agrees(map[string]int{
		"select count(*) from sync_runs where state <> 'ok'":                                                      0,
		"select count(*) from connectors where last_error_code is not null":                                       0,
		"select count(*) from tools":                                                                              2 * all,
		"select count(distinct (tenant_id, connector_id, name)) from tools":                                       2 * all,
		"select count(*) from (select from sync_runs group by tenant_id, connector_id having count(*) > 1) again": 0,
	}); err != nil {
		f.t.Error(err)
	}
	if lists := f.pool.countLists(); lists != all {
		f.t.Errorf("the servers gave %d lists, for %d syncs", lists, all)
	}
	if left := f.pool.unlistedConnectors(f.names); len(left) > 0 {
		f.t.Errorf("nobody has asked for the lists of %v", left)
	}
	for _, twice := range f.pool.overlapping() {
		f.t.Error(twice)
	}
}

// ends has all processes stop in good order.
func (f *fleet) ends() {
	f.t.Helper()
	for _, m := range f.members {
		if code := m.terminate(); code != 0 {
			f.t.Errorf("a server ended with %d", code)
		}
	}
}

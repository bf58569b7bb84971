//go:build e2e && before

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patchbay/internal/testing/pgtest"
)

// TestTheReleaseBeforeWorksBesideTodays upgrades an installation as docs/operations/upgrade.md says: today's program migrates the database while the
// one of before serves, and both work on it until the older one goes. `make old-on-new` builds that from the repository's history.
func TestTheReleaseBeforeWorksBesideTodays(t *testing.T) {
	program := os.Getenv("PATCHBAY_BEFORE")
	if program == "" {
		t.Fatal("PATCHBAY_BEFORE does not name the program of the release before: run make old-on-new")
	}
	u := newUpgrade(t, program)
	u.before.run("migrate")
	u.before.run("tenant", "create", "Acme", "--slug", "acme")
	u.before.run("user", "create", "--tenant", "acme", "--email", ownerEmail, "--role", "owner", "--name", "Owner")
	u.key = u.before.run("apikey", "create", "--tenant", "acme", "--role", "owner", "--name", "tests")
	older := u.starts(u.before, "before")
	owner := newPerson(t)
	u.signsIn(owner, older)
	first := u.works(older, owner, "first")
	stop := first.calling("mcp_first__list_labels")

	said := u.today.run("migrate")
	newer := u.starts(u.today, "today")
	u.signsInOnceMore(owner, older, newer)
	u.worksAtBoth(first, owner, "first", older, newer)
	for name, at := range map[string]*server{"late-before": older, "late-today": newer} {
		u.worksAtBoth(u.works(at, owner, name), owner, name, older, newer)
	}
	u.chainsHold(older, newer)
	u.startsNoMore()
	if n := stop(); n == 0 {
		t.Error("nothing was called while the database was migrated")
	} else {
		t.Logf("%s; %d calls meanwhile through the release before, each answered", strings.TrimSpace(said), n)
	}
	if code := older.terminate(); code != 0 {
		t.Errorf("the server of the release before ended with %d", code)
	}
	for _, name := range []string{"first", "late-before", "late-today"} {
		u.client(newer).must(http.StatusOK, http.MethodPost, "/api/v1/connectors/"+name+"/sync_tools", nil)
	}
	u.chainsHold(newer)
}

// upgrade is an installation of which two releases serve.
type upgrade struct {
	t             *testing.T
	before, today *home
	key           string
	upstream      string
}

func newUpgrade(t *testing.T, program string) *upgrade {
	t.Helper()
	today := newHome(t, "PATCHBAY_PASSWORD="+ownerPassword)
	u := &upgrade{t: t, today: today, upstream: today.devMCP()}
	today.env = append(today.env, "PATCHBAY_KEYSET="+today.run("keys", "new"), "DATABASE_URL="+pgtest.Empty(t))
	old := *today
	old.program = program
	u.before = &old
	return u
}

// starts starts a server of a release, with a data directory of its own.
func (u *upgrade) starts(h *home, name string) *server {
	u.t.Helper()
	its := *h
	its.env = append(append([]string{}, h.env...), "PATCHBAY_DATA_DIR="+filepath.Join(h.dir, name))
	s := its.launch()
	line, ok := s.stderr.wait(`"server started"`, s.exited)
	var started struct{ Addr string }
	if !ok || json.Unmarshal([]byte(line), &started) != nil {
		u.t.Fatalf("the server of %s does not start: %s", name, s.stderr.tail(20))
	}
	s.base = "http://" + started.Addr
	eventually(u.t, func() error { return s.readyz(http.StatusOK) })
	return s
}

func (u *upgrade) client(at *server) client { return client{t: u.t, base: at.base, key: u.key} }

func (u *upgrade) signsIn(p *person, at *server) {
	u.t.Helper()
	if in := at.signIn(p); in.status != http.StatusSeeOther {
		u.t.Fatalf("signing in at %s: %d %s", at.base, in.status, in.body)
	}
}

// signsInOnceMore: a session that began at the release before opens that alone, as the changelog says. One of today's opens both.
func (u *upgrade) signsInOnceMore(p *person, older, newer *server) {
	u.t.Helper()
	if shown := p.get(older.base + "/connectors"); shown.status != http.StatusOK {
		u.t.Errorf("the session of before, at the release before: %d %s", shown.status, shown.location)
	}
	if shown := p.get(newer.base + "/connectors"); shown.status != http.StatusSeeOther || !strings.HasPrefix(shown.location, "/login") {
		u.t.Errorf("the session of before, at today's: %d %s", shown.status, shown.location)
	}
	again := newPerson(u.t)
	u.signsIn(again, older) // signed in on today's schema
	if shown := again.get(older.base + "/connectors"); shown.status != http.StatusOK {
		u.t.Errorf("a session that begins at the release before: %d %s", shown.status, shown.location)
	}
	u.signsIn(p, newer)
}

// startsNoMore: what of the release before is started on today's schema says what to do.
func (u *upgrade) startsNoMore() {
	u.t.Helper()
	for _, command := range [][]string{{"serve"}, {"audit", "verify"}, {"migrate"}} {
		if o := u.before.try(command...); o.code == 0 || !strings.Contains(o.stderr, "start the newer Patchbay") {
			u.t.Errorf("%s of the release before: %d %s", command, o.code, o.stderr)
		}
	}
}

// works adds a connector with a credential, has it synced, makes an agent by the dashboard's form, and another that is granted the connector and calls it.
func (u *upgrade) works(at *server, p *person, name string) agent {
	u.t.Helper()
	c := u.client(at)
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{
		"name": name, "slug": name, "url": u.upstream + "/bearer", "auth": object{"type": "bearer", "token": "dev-token"}, "retry_attempts": 0,
	})
	c.must(http.StatusOK, http.MethodPost, "/api/v1/connectors/"+name+"/sync_tools", nil)
	if made := p.post(at.base+"/agents", url.Values{"name": {"By form " + name}, "slug": {"form-" + name}, "approval": {"always_ask"}}); made.status != http.StatusSeeOther || made.location != "/agents/form-"+name {
		u.t.Fatalf("an agent made by a form: %d %s", made.status, made.location)
	}
	a := c.hire(name, name)
	if err := a.once("mcp_" + name + "__list_labels"); err != nil {
		u.t.Errorf("%s calls at %s: %v", name, at.base, err)
	}
	return a
}

// worksAtBoth has each release use what one of them has made: its token, its secret, its session.
func (u *upgrade) worksAtBoth(a agent, p *person, name string, servers ...*server) {
	u.t.Helper()
	for i, at := range servers {
		a.base = at.base
		if err := a.once("mcp_" + name + "__list_labels"); err != nil {
			u.t.Errorf("%s calls at %s: %v", name, at.base, err)
		}
		c := u.client(at)
		c.must(http.StatusOK, http.MethodPost, "/api/v1/connectors/"+name+"/sync_tools", nil)
		c.must(http.StatusOK, http.MethodPatch, "/api/v1/connectors/"+name, object{"description": fmt.Sprintf("changed by server %d", i)})
		c.must(http.StatusOK, http.MethodPatch, "/api/v1/agents/"+name, object{"description": fmt.Sprintf("changed by server %d", i)})
		for _, path := range []string{"/", "/connectors/" + name, "/agents/" + name, "/calls", "/audit"} {
			if shown := p.get(at.base + path); shown.status != http.StatusOK {
				u.t.Errorf("%s at %s: %d %s", path, at.base, shown.status, shown.location)
			}
		}
		if shown := p.get(at.base + "/agents"); !strings.Contains(shown.body, "By form "+name) {
			u.t.Errorf("the agent that was made by a form is not listed at %s", at.base)
		}
	}
}

// chainsHold has the audit log verified by each server, and by today's command.
func (u *upgrade) chainsHold(servers ...*server) {
	u.t.Helper()
	for _, at := range servers {
		if check := u.client(at).must(http.StatusOK, http.MethodGet, "/api/v1/audit_events/verify", nil); check["ok"] != true {
			u.t.Errorf("the audit log, at %s: %v", at.base, check)
		}
	}
	u.today.run("audit", "verify")
}

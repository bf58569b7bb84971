//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

func TestCommandsWorkBesideTheServer(t *testing.T) {
	t.Parallel()
	h := newHome(t, "PATCHBAY_PASSWORD="+ownerPassword)
	h.run("migrate") // the first command need not be serve
	commands(t, h, nil)
	s := h.serve()
	commands(t, h, s)
}

// commands runs each command once, and looks at what it made where a server runs.
func commands(t *testing.T, h *home, s *server) {
	t.Helper()
	name := fmt.Sprintf("North %t", s != nil)
	slug := h.run("tenant", "create", name)
	if slug != strings.ToLower(strings.ReplaceAll(name, " ", "-")) {
		t.Errorf("the slug of %s is %q", name, slug)
	}
	email := "member@" + slug + ".example"
	h.run("user", "create", "--tenant", slug, "--email", email, "--role", "member", "--name", "Member")
	key := h.run("apikey", "create", "--tenant", slug, "--role", "viewer", "--name", "ci", "--expires", "30d")
	if !regexp.MustCompile(`^pb_key_\S+$`).MatchString(key) {
		t.Errorf("standard output is not the key alone: %q", key)
	}
	if refused := h.try("user", "forget-factor", "--tenant", slug, "--email", email); refused.code != 1 || !strings.Contains(refused.stderr, "No second factor.") {
		t.Errorf("nothing to take away: %+v", refused)
	}
	h.run("migrate")
	if found := h.run("doctor"); strings.Contains(found, "PROBLEM") {
		t.Errorf("the doctor says:\n%s", found)
	}
	if refused := h.try("apikey", "create", "--tenant", "nowhere", "--role", "viewer", "--name", "ci"); refused.code != 1 || !strings.Contains(refused.stderr, `No tenant "nowhere"`) {
		t.Errorf("an unknown tenant: %+v", refused)
	}
	if verified := h.run("audit", "verify"); !regexp.MustCompile(`(?m)^` + slug + `: [1-9]\d* entries are unchanged, up to [0-9a-f]{64}$`).MatchString(verified) {
		t.Errorf("the audit logs are %q", verified)
	}
	if s == nil {
		return
	}
	c := client{t: t, base: s.base, key: key}
	c.must(http.StatusOK, http.MethodGet, "/api/v1/connectors", nil)
	c.must(http.StatusForbidden, http.MethodPost, "/api/v1/connectors", object{"name": "x", "url": "http://127.0.0.1:1/mcp"})
	p := newPerson(t)
	in := p.post(s.base+"/login", url.Values{"email": {email}, "password": {ownerPassword}})
	if in.status != http.StatusSeeOther {
		t.Errorf("the member cannot sign in: %d", in.status)
	}
}

func TestCommandLineExplainsItself(t *testing.T) {
	t.Parallel()
	h := newHome(t, "PATCHBAY_EGRES=public")
	help := h.run("serve", "--help")
	for _, want := range []string{"--addr", "PATCHBAY_ADDR", "DATABASE_URL", "PATCHBAY_KEYSET", "PATCHBAY_EGRESS_ALLOW", "PATCHBAY_CIMD_URL", "PATCHBAY_PRIVATE_ADDR", "PATCHBAY_DATA_DIR"} {
		if !strings.Contains(help, want) {
			t.Errorf("serve --help does not name %s", want)
		}
	}
	if o := h.try("serve", "--nonsense"); o.code != 2 || !strings.Contains(o.stderr, "--nonsense") {
		t.Errorf("an unknown flag: %+v", o)
	}
	if o := h.try("keys", "new"); !strings.Contains(o.stderr, "PATCHBAY_EGRES is set but isn't a known setting") || len(strings.TrimSpace(o.stdout)) != 44 {
		t.Errorf("keys new: %+v", o)
	}
	o := h.try("serve", "--addr", "nowhere", "--egress", "all")
	if lines := strings.Count(o.stderr, "patchbay: PATCHBAY_"); o.code != 1 || lines != 3 {
		t.Errorf("two wrong settings beside a misspelt one: %+v", o)
	}
	if o := h.try("doctor", "--addr", "0.0.0.0:8080", "--egress", "local"); o.code != 1 || !strings.Contains(o.stdout, "PROBLEM  egress") || !strings.Contains(o.stdout, "there is none yet") {
		t.Errorf("a set-up that is open to everybody: %+v", o)
	}
	if o := h.try("user", "create", "--tenant", "default", "--email", "a@b.example", "--role", "owner"); o.code != 1 || !strings.Contains(o.stderr, "Set PATCHBAY_PASSWORD") {
		t.Errorf("no terminal to ask on: %+v", o)
	}
	if o := h.try("dev-mcp", "--addr", "0.0.0.0:0"); o.code != 1 || !strings.Contains(o.stderr, "loopback") {
		t.Errorf("dev-mcp for everybody: %+v", o)
	}
}

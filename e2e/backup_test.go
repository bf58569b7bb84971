//go:build e2e

package e2e_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/postgres"
	"patchbay/internal/testing/pgtest"
)

// The rehearsal of docs/operations/backup.md.
func TestBackup_RestoresOnlyWithItsKey(t *testing.T) {
	t.Parallel()
	h, database := ownDatabase(t)
	pgDump, psql := clientProgram(t, "pg_dump"), clientProgram(t, "psql")
	upstream := h.devMCP()
	s := h.serve()
	s.setUp(newPerson(t))
	c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	withCredential(c, upstream, "one")
	a := c.hire("helper", "one")
	if err := a.once("mcp_one__list_labels"); err != nil {
		t.Fatal(err)
	}
	c.wantCalls("helper", map[string]int{"success": 1})
	s.terminate()

	dump := filepath.Join(h.dir, "patchbay.sql")
	command(t, pgDump, "--no-owner", "--file="+dump, settingOf(h, "DATABASE_URL"))
	keyset := settingOf(h, "PATCHBAY_KEYSET")
	wantNothingReadable(t, dump, "dev-token", a.token, c.key, ownerPassword, keyset)

	wantOfNoOwner(t, dump)

	other := newHome(t)
	restored := pgtest.Empty(t)
	command(t, psql, "--quiet", "--set=ON_ERROR_STOP=1", "--output="+os.DevNull, "--file="+dump, restored)
	copied, err := pgx.Connect(t.Context(), restored)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = copied.Close(t.Context()) })
	if was, is := content(t, database), systemContent(t, copied); was != is {
		t.Errorf("the copy is another one; dumped\n%s\nrestored\n%s", was, is)
	}

	bare := slices.Clone(other.env)
	for key, said := range map[string]string{
		"":                     "PATCHBAY_KEYSET must be set together with DATABASE_URL",
		h.run("keys", "new"):   "PATCHBAY_KEYSET can't decrypt this database's keys.",
		"file:" + h.dir + "/x": "The PATCHBAY_KEYSET file " + h.dir + "/x can't be read.",
	} {
		other.env = slices.Concat(bare, []string{"DATABASE_URL=" + restored, "PATCHBAY_KEYSET=" + key})
		if o := other.try("serve"); o.code != 1 || !strings.HasPrefix(o.stderr, "patchbay: "+said) {
			t.Errorf("without the key it ends with %d and says: %s", o.code, o.stderr)
		}
	}

	other.env = slices.Concat(bare, []string{"DATABASE_URL=" + restored, "PATCHBAY_KEYSET=" + keyset})
	again := other.serve()
	if p := again.signIn(newPerson(t)); p.status != http.StatusSeeOther || strings.Contains(p.location, "login") {
		t.Errorf("signing in answers %d to %s: %s", p.status, p.location, p.body)
	}
	c.base, a.base = again.base, again.base
	c.must(http.StatusOK, http.MethodPost, "/connectors/one/sync_tools", nil)
	if err := a.once("mcp_one__list_labels"); err != nil {
		t.Error(err)
	}
	c.wantCalls("helper", map[string]int{"success": 2})
	if check := c.must(http.StatusOK, http.MethodGet, "/api/v1/audit_events/verify", nil); check["ok"] != true {
		t.Errorf("the audit log: %v", check)
	}
}

// clientProgram is a program that comes with PostgreSQL, in a package of its own on some systems.
func clientProgram(t *testing.T, name string) string {
	t.Helper()
	found, err := postgres.FindBinaries(t.Context(), t.TempDir(), os.Getenv("PATCHBAY_POSTGRES_BIN"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(found.Dir, name)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed, and CI=true", name)
		}
		t.Skipf("%s is not installed", name)
	}
	return path
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(name), err, out)
	}
}

// settingOf is a setting of an installation, as its processes see it.
func settingOf(h *home, name string) string {
	for _, line := range slices.Backward(h.env) {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return value
		}
	}
	return ""
}

// wantNothingReadable looks for secrets in a dump: as they are, and as a column of bytes would show them.
func wantNothingReadable(t *testing.T, dump string, secrets ...string) {
	t.Helper()
	text, err := os.ReadFile(dump)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte("helper")) {
		t.Error("the dump has no rows")
	}
	for i, s := range secrets {
		if s == "" {
			t.Fatalf("secret %d is empty", i)
		}
		for _, form := range []string{s, hex.EncodeToString([]byte(s)), base64.StdEncoding.EncodeToString([]byte(s))} {
			if bytes.Contains(text, []byte(form)) {
				t.Errorf("secret %d stands in the dump", i)
			}
		}
	}
}

// systemContent is content, of a database that was just connected to.
func systemContent(t *testing.T, database *pgx.Conn) string {
	t.Helper()
	if _, err := database.Exec(t.Context(), "select set_config('app.system', 'on', false)"); err != nil {
		t.Fatal(err)
	}
	return content(t, database)
}

// wantOfNoOwner checks that a dump can be restored where the role that owned its tables does not exist.
func wantOfNoOwner(t *testing.T, dump string) {
	t.Helper()
	text, err := os.ReadFile(dump)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if strings.Contains(line, " OWNER TO ") || strings.HasPrefix(line, "ALTER DEFAULT PRIVILEGES") {
			t.Errorf("it takes the role that owned the tables: %s", line)
		}
	}
}

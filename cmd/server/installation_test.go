package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/operator"
	"patchbay/internal/secret"
	"patchbay/internal/testing/pgtest"
)

// testInstallation is a migrated database with its keyset, on which commands run in this process.
type testInstallation struct {
	url, keyset, dir string
}

func installed(t *testing.T) testInstallation {
	t.Helper()
	kek, err := secret.NewKEK()
	if err != nil {
		t.Fatal(err)
	}
	i := testInstallation{url: pgtest.URL(t), keyset: kek.Encode(), dir: t.TempDir()}
	i.must(t, "audit", "verify") // opens the database, as every command does
	return i
}

// try runs a command and returns its exit code, its output and its errors.
func (i testInstallation) try(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, failed bytes.Buffer
	if takesDatabase(args) {
		args = append(args, "--database-url", i.url, "--keyset", i.keyset, "--data-dir", i.dir)
	}
	code = run(t.Context(), args, operator.IO{Stdout: &out, Stderr: &failed, Environ: []string{"PATCHBAY_PASSWORD=long enough, surely"}})
	return code, out.String(), failed.String()
}

func takesDatabase(args []string) bool {
	return args[0] != "sbom" && !slices.Equal(args, []string{"keys", "new"})
}

func (i testInstallation) must(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := i.try(t, args...)
	if code != 0 {
		t.Fatalf("patchbay %s: %d\n%s%s", strings.Join(args, " "), code, stdout, stderr)
	}
	return stdout
}

// inside resolves the arguments that name files to the installation's directory.
func (i testInstallation) inside(args []string) []string {
	inside := slices.Clone(args)
	for n, arg := range inside {
		if ext := filepath.Ext(arg); ext == ".json" || ext == ".jsonl" || ext == ".sig" {
			inside[n] = filepath.Join(i.dir, arg)
		}
	}
	return inside
}

// entries are the audit entries of all tenants with their actors, the oldest first.
func (i testInstallation) entries(t *testing.T) []string {
	t.Helper()
	return i.texts(t, "select actor_type || ' ' || action from audit_events order by id")
}

func (i testInstallation) texts(t *testing.T, query string) []string {
	t.Helper()
	owner, err := pgx.Connect(t.Context(), i.url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = owner.Close(t.Context()) }()
	rows, err := owner.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

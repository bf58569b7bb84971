package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"patchbay/db"
	"patchbay/internal/config"
	"patchbay/internal/secret"
	"patchbay/internal/testing/pgtest"
)

// examined is what one check says, which is one line.
func examined(t *testing.T, check func(*examination), want string) {
	t.Helper()
	var said bytes.Buffer
	e := &examination{out: program{stdout: &said}}
	check(e)
	if got := said.String(); !regexp.MustCompile("^"+want+".*\n$").MatchString(got) || (e.problems > 0) != strings.HasPrefix(got, "PROBLEM") {
		t.Errorf("%d problems; want %s\n%s", e.problems, want, got)
	}
}

func TestTheDoctorLooksAtTheDataDirectory(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	directory := func(dir string) func(*examination) {
		return func(e *examination) { e.directory(config.Database{DataDir: dir}) }
	}
	examined(t, directory(file), `PROBLEM  data directory \S+/file is no directory\. Choose another with PATCHBAY_DATA_DIR\.`)
	examined(t, directory(file+"/below"), `PROBLEM  data directory \S+ cannot be read\. Choose another with PATCHBAY_DATA_DIR\.`)
	if runtime.GOOS == "linux" { // where this has no room
		examined(t, func(e *examination) { e.disk("/proc") }, `PROBLEM  disk           0 MiB are free below /proc\. Make room: `)
	}
	examined(t, func(e *examination) { e.disk(file + "/none") }, `NOTE     disk           how much is free below \S+ is not known\.`)
}

func TestTheDoctorLooksAtTheKeyset(t *testing.T) {
	t.Parallel()
	d := config.Database{DataDir: t.TempDir()}
	look := func(e *examination) { e.keyset(d) }
	examined(t, look, `PROBLEM  keyset         \S+/keyset is gone, and nothing else opens the database\. Restore it from a backup, or set PATCHBAY_KEYSET\.`)
	if err := makeKeyset(d); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(d.KeysetFile(), 0o644); err != nil {
		t.Fatal(err)
	}
	examined(t, look, `PROBLEM  keyset         \S+/keyset can be read by others\. Run chmod 600 on it\.`)
	d.Keyset = secret.Text("no key")
	examined(t, look, `PROBLEM  keyset         `)
}

func TestTheDoctorComparesClocksAndSchemas(t *testing.T) {
	t.Parallel()
	address := pgtest.URL(t)
	owner, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close(t.Context())
	pool := pgtest.Open(t, address, db.PoolOptions{})
	schema := func(e *examination) { e.schema(t.Context(), pool) }
	examined(t, schema, `OK       schema         version \d+`)
	if _, err := owner.Exec(t.Context(), "insert into goose_db_version (version_id, is_applied) values (99999, true)"); err != nil {
		t.Fatal(err)
	}
	examined(t, schema, `PROBLEM  schema         version 99999, and this program knows \d+: a newer Patchbay has migrated it\. Run that version's programs, or restore`)
	if _, err := owner.Exec(t.Context(), "delete from goose_db_version where version_id in (20, 22, 99999)"); err != nil {
		t.Fatal(err)
	}
	examined(t, schema, `PROBLEM  schema         version \d+, without these that come before: 20 22\. Run patchbay migrate\.`)
	if _, err := owner.Exec(t.Context(), "delete from goose_db_version where version_id > 19"); err != nil {
		t.Fatal(err)
	}
	examined(t, schema, `PROBLEM  schema         version 19, and this program wants \d+\. Run patchbay migrate\.`)

	clock := func(e *examination) { e.clock(t.Context(), pool) }
	const answers = `OK       database       PostgreSQL \S.* answers\n`
	examined(t, clock, answers+`OK       clock          agrees with the database`)
	// A database whose clock is an hour behind: its own function of that name comes first.
	if _, err := owner.Exec(t.Context(), `
		create function public.clock_timestamp() returns timestamptz language sql as $$ select pg_catalog.clock_timestamp() - interval '1 hour' $$;
		grant execute on function public.clock_timestamp() to patchbay_app`); err != nil {
		t.Fatal(err)
	}
	late := pgtest.Open(t, address+pathFirst(address), db.PoolOptions{})
	var said bytes.Buffer
	e := &examination{out: program{stdout: &said}}
	e.clock(t.Context(), late)
	if !strings.Contains(said.String(), "PROBLEM  clock          this machine and the database differ by 1h0m") || !strings.Contains(said.String(), "Set both clocks by NTP.") || e.problems != 1 {
		t.Errorf("an hour late:\n%s", said.String())
	}
}

// pathFirst has a session find public's functions before PostgreSQL's own.
func pathFirst(address string) string {
	if strings.Contains(address, "?") {
		return "&search_path=public,pg_catalog"
	}
	return "?search_path=public,pg_catalog"
}

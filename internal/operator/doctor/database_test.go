package doctor

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
	"patchbay/internal/installation"
	"patchbay/internal/secret"
	"patchbay/internal/testing/pgtest"
)

// wantFinding compares the one line of a check.
func wantFinding(t *testing.T, check func(*report), want string) {
	t.Helper()
	var said bytes.Buffer
	e := &report{out: &said}
	check(e)
	if got := said.String(); !regexp.MustCompile("^"+want+".*\n$").MatchString(got) || (e.problems > 0) != strings.HasPrefix(got, "PROBLEM") {
		t.Errorf("%d problems; want %s\n%s", e.problems, want, got)
	}
}

func TestDoctor_ChecksDataDirectory(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	directory := func(dir string) func(*report) {
		return func(e *report) { e.checkDirectory(config.Database{DataDir: dir}) }
	}
	wantFinding(t, directory(file), `PROBLEM  data directory \S+/file is not a directory\. Choose another with PATCHBAY_DATA_DIR\.`)
	wantFinding(t, directory(file+"/below"), `PROBLEM  data directory \S+ can't be read\. Choose another with PATCHBAY_DATA_DIR\.`)
	if runtime.GOOS == "linux" { // the disk's line follows
		wantFinding(t, func(e *report) { e.checkDisk("/proc") }, `PROBLEM  disk           0 MiB are free in /proc\. Free up space: `)
	}
	wantFinding(t, func(e *report) { e.checkDisk(file + "/none") }, `NOTE     disk           the free space in \S+ is unknown\.`)
}

func TestDoctor_ChecksKeyset(t *testing.T) {
	t.Parallel()
	d := config.Database{DataDir: t.TempDir()}
	look := func(e *report) { e.checkKeyset(d) }
	wantFinding(t, look, `PROBLEM  keyset         \S+/keyset is missing, and nothing else opens the database\. Restore it from a backup, or set PATCHBAY_KEYSET\.`)
	if _, err := installation.NewKeySource(d, ""); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(d.KeysetFile(), 0o644); err != nil {
		t.Fatal(err)
	}
	wantFinding(t, look, `PROBLEM  keyset         \S+/keyset can be read by others\. Run chmod 600 on it\.`)
	d.Keyset = secret.Text("no key")
	wantFinding(t, look, `PROBLEM  keyset         `)
}

func TestDoctor_NamesSuperuserLogin(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	app, err := db.LetAppSignIn(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{url: "which bypasses row-level security", app: "OK       database role  signs in as patchbay_app"} {
		var said bytes.Buffer
		e := &report{out: &said}
		e.checkLogin(t.Context(), pgtest.Open(t, address, db.PoolOptions{MaxConns: 1}))
		if !strings.Contains(said.String(), want) || e.problems > 0 {
			t.Errorf("%s", said.String())
		}
	}
}

func TestDoctor_ChecksClockAndSchema(t *testing.T) {
	t.Parallel()
	address := pgtest.URL(t)
	owner, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close(t.Context())
	pool := pgtest.Open(t, address, db.PoolOptions{})
	schema := func(e *report) { e.checkSchema(t.Context(), pool) }
	wantFinding(t, schema, `OK       schema         version \d+`)
	if _, err := owner.Exec(t.Context(), "insert into goose_db_version (version_id, is_applied) values (99999, true)"); err != nil {
		t.Fatal(err)
	}
	wantFinding(t, schema, `PROBLEM  schema         version 99999, but this program supports \d+: a newer Patchbay migrated it\. Run that version, or restore`)
	wantFinding(t, func(e *report) { e.reportSchema(92, 92, []int64{90, 91}) },
		`PROBLEM  schema         version 92, without the earlier versions 90 91\. Run patchbay migrate\.`)
	if _, err := owner.Exec(t.Context(), "update goose_db_version set version_id = 88 where version_id = 99999"); err != nil {
		t.Fatal(err)
	}
	wantFinding(t, schema, `PROBLEM  schema         The database "\w+" has version 88 of the schema from before the baseline, .* or start with an empty database\.`)
	if _, err := owner.Exec(t.Context(), "delete from goose_db_version where version_id > 0"); err != nil {
		t.Fatal(err)
	}
	wantFinding(t, schema, `PROBLEM  schema         version 0, but this program needs \d+\. Run patchbay migrate\.`)

	clock := func(e *report) { e.checkClock(t.Context(), pool) }
	const answers = `OK       database       PostgreSQL \S.* answers\n`
	wantFinding(t, clock, answers+`OK       clock          agrees with the database`)
	// The database's clock is an hour slow: its own function of that name comes first.
	if _, err := owner.Exec(t.Context(), `
		create function public.clock_timestamp() returns timestamptz language sql as $$ select pg_catalog.clock_timestamp() - interval '1 hour' $$;
		grant execute on function public.clock_timestamp() to patchbay_app`); err != nil {
		t.Fatal(err)
	}
	late := pgtest.Open(t, address+pathFirst(address), db.PoolOptions{})
	var said bytes.Buffer
	e := &report{out: &said}
	e.checkClock(t.Context(), late)
	if !strings.Contains(said.String(), "PROBLEM  clock          this machine and the database differ by 1h0m") || !strings.Contains(said.String(), "Synchronize both clocks with NTP.") || e.problems != 1 {
		t.Errorf("an hour late:\n%s", said.String())
	}
}

// pathFirst puts public before pg_catalog in the search path.
func pathFirst(address string) string {
	if strings.Contains(address, "?") {
		return "&search_path=public,pg_catalog"
	}
	return "?search_path=public,pg_catalog"
}

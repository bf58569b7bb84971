package calllog_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// dyingEnv holds the journal's directory in the process to be killed.
const dyingEnv = "PATCHBAY_TEST_JOURNAL"

func TestRecover_FindsCallsOfAKilledProcess(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(dyingEnv)
	if dir != "" {
		runDyingProcess(t, dir)
	}
	b := newWriterTest(t)
	dir = b.killProcess(t)
	living := b.newWriter(t, b.St, func(o *calllog.Options) { o.Journal, o.Instance = dir, fixture.NewInstance() })
	if !living.Recover(t.Context()) {
		t.Error("something is left")
	}
	b.wantJournals(t, dir, 1) // its own
	if n := b.countCalls(t, lostCondition); n != 20 {
		t.Errorf("%d beginnings are on record, with where they came from", n)
	}
	if n := b.countCalls(t, lostCondition+" and credential_id = '00000000-0000-7000-8000-000000000007'"); n != 15 {
		t.Errorf("%d calls have the account that they were sent with, want 15", n)
	}
	living.Stop(context.WithoutCancel(t.Context()))
	b.wantJournals(t, dir, 0)
}

// lostCondition selects the calls of the killed process.
const lostCondition = "status = 'error' and outcome = 'lost' and tool = 'search' and agent_slug = 'killed' and address = '2001:db8::9' and request_id like 'request-__'"

// killProcess returns the journal's directory of a killed process with 20 calls.
func (b *writerTest) killProcess(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data") // to be created
	program := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRecover_FindsCallsOfAKilledProcess$")
	program.Env = append(os.Environ(), dyingEnv+"="+dir, "PATCHBAY_TEST_TENANT="+b.Tenant.String())
	if out, err := program.CombinedOutput(); err == nil {
		t.Fatalf("it was not killed: %s", out)
	}
	b.wantJournals(t, dir, 1)
	return dir
}

func TestRunRecovery_TriesAgainUntilCallsAreWritten(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	dir := b.killProcess(t)
	release := b.holdTenant(t)
	warned := make(signals, 1)
	w := b.newWriter(t, b.St, func(o *calllog.Options) {
		o.Journal, o.Instance, o.Log = dir, fixture.NewInstance(), slog.New(slog.NewTextHandler(warned, &slog.HandlerOptions{Level: slog.LevelWarn}))
	})
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { defer close(over); w.RunRecovery(ctx) }()
	<-warned
	b.wantJournals(t, dir, 2)
	release()
	for b.countCalls(t, lostCondition) != 20 {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("the calls are not on record")
		}
	}
	cancel()
	<-over
}

func TestRunRecovery_OpensJournalThatCouldNotBeMade(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := b.newWriter(t, b.St, func(o *calllog.Options) { o.Journal = dir })
	w.Begin(b.tenant, b.newCall())
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // after one attempt
	w.RunRecovery(ctx)
	b.wantJournals(t, dir, 1)
	w.Begin(b.tenant, b.newCall()).End(succeedWith("[]"))
	w.Stop(t.Context())
	b.wantJournals(t, dir, 0)
}

// holdTenant locks the tenant's calls, as its deletion does.
func (b *writerTest) holdTenant(t *testing.T) (release func()) {
	t.Helper()
	tx, err := b.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"select set_config('app.system', 'on', true)", "select from tenants where id = '" + b.Tenant.String() + "' for update"} {
		if _, err := tx.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	release = func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }
	t.Cleanup(release)
	return release
}

// signals receives one value for each logged line.
type signals chan struct{}

func (s signals) Write(line []byte) (int, error) {
	select {
	case s <- struct{}{}:
	default:
	}
	return len(line), nil
}

func TestRecover_CutNameIsValidText(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	dir := t.TempDir()
	stopped := b.newWriter(t, b.St, func(o *calllog.Options) { o.Journal, o.Interval = dir, time.Hour })
	c := b.newCall()
	c.Tool = "a" + strings.Repeat("ö", 250)
	stopped.Begin(b.tenant, c)
	path := filepath.Join(dir, "calls-"+b.Instance.String())
	left, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "calls-"+fixture.NewInstance().String()), left, 0o600); err != nil {
		t.Fatal(err)
	}
	w := b.newWriter(t, b.St, func(o *calllog.Options) { o.Journal, o.Instance = dir, fixture.NewInstance() })
	if !w.Recover(t.Context()) {
		t.Error("something is left")
	}
	if n := b.countCalls(t, "outcome = 'lost' and tool = 'a"+strings.Repeat("ö", 99)+"'"); n != 1 {
		t.Errorf("%d calls match", n)
	}
}

// runDyingProcess begins calls, ends some and is killed before the first batch.
func runDyingProcess(t *testing.T, dir string) {
	t.Helper()
	w := calllog.New(calllog.Options{Store: &store.Store{}, Instance: fixture.NewInstance(), Interval: time.Hour, Journal: dir})
	var b writerTest
	tenant := connectors.Tenant{CallHistory: connectors.HistoryFull}
	if err := tenant.ID.UnmarshalText([]byte(os.Getenv("PATCHBAY_TEST_TENANT"))); err != nil {
		t.Fatal(err)
	}
	b.agent.Slug, b.connector.Slug = "killed", "connector"
	for i := range 20 {
		c := b.newCall()
		c.CallOrigin = connectors.CallOriginOf("2001:db8::9", fmt.Sprintf("request-%02d", i))
		e := w.Begin(tenant, c)
		if i >= 5 { // the others were not sent yet
			e.SetAccount(connectors.CredentialID{UUID: uuid.MustParse("00000000-0000-7000-8000-000000000007")})
		}
		if i%2 == 0 {
			e.End(succeedWith("[]"))
		}
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	t.Fatal(err)
}

func TestJournal_DropsWrittenCalls(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	dir := t.TempDir()
	w := b.newWriter(t, b.St, func(o *calllog.Options) { o.Journal = dir })
	for range 3 {
		w.Begin(b.tenant, b.newCall())
		w.Begin(b.tenant, b.newCall()).End(succeedWith("[]"))
		w.Flush(t.Context())
	}
	b.wantJournals(t, dir, 1)
	other := b.newWriter(t, b.St, func(o *calllog.Options) { o.Journal, o.Instance = dir, fixture.NewInstance() })
	other.Recover(t.Context())
	b.wantJournals(t, dir, 2) // a live process's journal stays
	copied, err := os.ReadFile(filepath.Join(dir, "calls-"+b.Instance.String()))
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(copied); at += 2 << 10 {
		if copied[at] != 0 {
			t.Fatalf("slot %d holds a call", at/(2<<10))
		}
	}
}

func (b *writerTest) wantJournals(t testing.TB, dir string, want int) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "calls-*"))
	if err != nil || len(found) != want {
		t.Errorf("%d journals, want %d (%v)", len(found), want, err)
	}
}

// A call that gets its account after its beginning was stored is in the journal again until its end is stored.
func TestJournal_HasAccountThatRowLacks(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	dir := t.TempDir()
	w := b.newWriter(t, b.St, func(o *calllog.Options) { o.Journal = dir })
	account := connectors.CredentialID{UUID: uuid.Must(uuid.NewV7())}
	call := b.newCall()
	e := w.Begin(b.tenant, call)
	w.Flush(t.Context())
	e.SetAccount(account)
	holds := func() bool {
		text, err := os.ReadFile(filepath.Join(dir, "calls-"+b.Instance.String()))
		return err == nil && bytes.Contains(text, account.UUID[:]) && text[bytes.Index(text, account.UUID[:])/(2<<10)*(2<<10)] == 1
	}
	if !holds() {
		t.Error("the journal does not have the account")
	}
	e.End(succeedWith("[]"))
	w.Flush(t.Context())
	if holds() {
		t.Error("the journal has a call with a stored end")
	}
	task := w.Begin(b.tenant, b.newCall())
	w.Flush(t.Context())
	task.SetAccount(account)
	task.Detach()
	if holds() {
		t.Error("the journal has a call that goes on without the process")
	}
}

package toolsync_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolsync"
)

// shell makes the draft run a shell.
func shell(d *connectors.Draft) {
	d.Transport, d.URL = connectors.TransportStdio, ""
	d.Command = connectors.Command{Path: mcptest.Shell, Args: mcptest.Program}
	d.RetryAttempts, d.Timeout = 0, patience
}

// logText is a log for concurrent writers.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// withPrograms is a bundle that allows a shell with these arguments.
func withPrograms(t *testing.T, args []string) (*bundle, *logText) {
	t.Helper()
	b, log := &bundle{World: fixture.New(t)}, &logText{}
	allowed := connectors.AllowedCommand{Path: mcptest.Shell, Args: args}
	if args != nil {
		allowed.Env = []string{"GREETING"}
	}
	b.sync = newSyncer(t, b.World, b.Instance, func(o *toolsync.Options) {
		o.Programs = toolsync.CommandPolicy{
			Allowed: connectors.AllowedCommands{allowed},
			Env:     []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/", "LANG=C.UTF-8"},
		}
		o.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	return b, log
}

func TestProgram_IsSyncedWithItsEnvironment(t *testing.T) {
	t.Parallel()
	b, log := withPrograms(t, mcptest.Program)
	c := b.Connector(t, shell)
	if run := b.mustSync(t, c); run.Counts.Total != 1 || run.ProtocolVersion != "2025-11-25" {
		t.Errorf("without an environment: %+v", run)
	}
	if err := b.Door().Connectors().SetEnvironment(t.Context(), c, connectors.Environment{"GREETING": "sekret-hello\nsekret-second line"}); err != nil {
		t.Fatal(err)
	}
	if run := b.mustSync(t, c); run.Counts.Total != 2 {
		t.Errorf("with one: %+v", run)
	}
	now := b.reload(t, c)
	want := connectors.Server{Name: "shell", Version: "1", ProtocolVersion: "2025-11-25"}
	if diff := cmp.Diff(want, now.Server); diff != "" || now.Era != "handshake" || now.AuthBehaviour != connectors.AuthOpen {
		t.Errorf("%s\nera %q, %s", diff, now.Era, now.AuthBehaviour)
	}
	if text := log.String(); strings.Contains(text, "sekret") || !strings.Contains(text, "GREETING=[redacted]") {
		t.Errorf("its last words are not what they should be:\n%s", text)
	}
}

func TestProgram_NoLongerAllowedIsNotStarted(t *testing.T) {
	t.Parallel()
	b, _ := withPrograms(t, []string{"-c", "something else"})
	c := b.Connector(t, shell)
	_, err := b.run(t, c)
	if f := fault.As(err); f.Kind != fault.Upstream || f.Code != "blocked" || !strings.Contains(f.Message, "isn't allowed with these arguments") {
		t.Errorf("sync: %v", err)
	}
	_, err = b.sync.Probe(t.Context(), b.Tenant, nil, connectors.DraftOf(c), connectors.Secret{})
	if f := fault.As(err); f.Kind != fault.Invalid || len(f.Fields) != 1 || f.Fields[0].Location != "args" {
		t.Errorf("test: %v", err)
	}
	if now := b.reload(t, c); now.LastError == nil || now.LastError.Code != "blocked" {
		t.Errorf("last error: %+v", now.LastError)
	}
}

// restrictPrograms is a bundle over the same database that allows less.
func (b *bundle) restrictPrograms(t *testing.T, allowed connectors.AllowedCommand) *bundle {
	t.Helper()
	again := *b
	again.sync = newSyncer(t, b.World, b.Instance, func(o *toolsync.Options) {
		o.Programs = toolsync.CommandPolicy{Allowed: connectors.AllowedCommands{allowed}, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}}
	})
	return &again
}

func TestProgram_StoredIsCheckedAgainstCurrentRules(t *testing.T) {
	t.Parallel()
	b, _ := withPrograms(t, mcptest.Program)
	folder := b.Connector(t, shell, func(d *connectors.Draft) { d.Command.Dir = "/usr" })
	named := b.Connector(t, shell)
	if err := b.Door().Connectors().SetEnvironment(t.Context(), named, connectors.Environment{"GREETING": "sekret"}); err != nil {
		t.Fatal(err)
	}
	code := b.Connector(t, shell)
	if err := b.Door().Connectors().SetEnvironment(t.Context(), code, connectors.Environment{"LD_PRELOAD": "/tmp/sekret.so"}); err != nil {
		t.Fatal(err)
	}
	b = b.restrictPrograms(t, connectors.AllowedCommand{Path: mcptest.Shell, Args: mcptest.Program, Env: []string{"LD_PRELOAD"}})
	for want, c := range map[string]connectors.Connector{
		"/bin/sh isn't allowed to run in this folder.":                          folder,
		"/bin/sh isn't allowed to receive GREETING: the operator must allow it": named,
		"LD_PRELOAD can't be set: it changes which code runs.":                  code, // cannot be allowed
	} {
		_, err := b.run(t, c)
		if f := fault.As(err); f.Kind != fault.Upstream || f.Code != "blocked" || !strings.HasPrefix(f.Message, want) || strings.Contains(f.Message, "sekret") {
			t.Errorf("sync: %v, want %q", err, want)
		}
		rep, err := b.sync.ProbeStored(t.Context(), b.Tenant, nil, connectors.Ref(c.Slug), connectors.DraftOf(c), connectors.Secret{})
		refused := fault.As(err)
		if err == nil {
			refused = rep.Error
		}
		if refused == nil || rep.OK {
			t.Errorf("test: %v, %+v, want %q", err, rep, want)
		}
	}
}

func TestProbe_ProgramGetsTypedOrStoredEnvironment(t *testing.T) {
	t.Parallel()
	b, _ := withPrograms(t, nil)
	c := b.Connector(t, shell)
	if err := b.Door().Connectors().SetEnvironment(t.Context(), c, connectors.Environment{"GREETING": "stored"}); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		change func(*connectors.Draft)
		tools  int
	}{
		"as it is stored":          {func(*connectors.Draft) {}, 2},
		"without what is stored":   {func(d *connectors.Draft) { d.Env = connectors.Environment{} }, 1},
		"another one":              {func(d *connectors.Draft) { d.Env = connectors.Environment{"GREETING": "typed"} }, 2},
		"another program":          {func(d *connectors.Draft) { d.Command.Args = append(d.Command.Args[:2:2], "x") }, 1},
		"another folder":           {func(d *connectors.Draft) { d.Command.Dir = "/tmp" }, 1},
		"the folder that is meant": {func(d *connectors.Draft) { d.Command.Dir = "" }, 2},
	} {
		d := connectors.DraftOf(c)
		tc.change(&d)
		rep, err := b.sync.ProbeStored(t.Context(), b.Tenant, nil, connectors.Ref(c.Slug), d, connectors.Secret{})
		if err != nil || !rep.OK || len(rep.Tools) != tc.tools {
			t.Errorf("%s: %v, %+v", name, err, rep)
		}
	}
}

func TestProgram_FailureSentencesNameTheProgram(t *testing.T) {
	t.Parallel()
	b, _ := withPrograms(t, nil)
	for script, want := range map[string]string{
		"exit 7":              "The program ended before its reply, with exit code 7. Check its arguments and environment.",
		"exec >&-; sleep 100": "The program closed its standard output.",
		"exec nothing-there":  "The program ended before its reply, with exit code 127.",
		"sleep 100":           "The program didn't answer within 3 seconds.",
	} {
		c := b.Connector(t, shell, func(d *connectors.Draft) {
			d.Command.Args = []string{"-c", script}
			if strings.HasSuffix(want, "within 3 seconds.") {
				d.Timeout = 3 * time.Second
			}
		})
		if _, err := b.run(t, c); !strings.HasPrefix(fault.As(err).Message, strings.TrimSuffix(want, ".")) {
			t.Errorf("%s: %v", script, fault.As(err).Message)
		}
	}
}

func TestProgram_LimitsRunningPrograms(t *testing.T) {
	t.Parallel()
	b, _ := withPrograms(t, nil)
	var all sync.WaitGroup
	for range 12 {
		c := b.Connector(t, shell)
		all.Go(func() {
			req := toolsync.Request{Connector: connectors.Ref(c.Slug), Trigger: connectors.TriggerManual}
			if _, err := b.sync.Sync(t.Context(), b.Tenant, req); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestProgram_RedactsSecretsInStderr(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"one that begins as another": `echo "said $LONG" >&2`,
		"one that is cut in two":     `printf '%s%8181s\nsaid\n' "$LONG" . >&2`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, log := withPrograms(t, nil)
			c := b.Connector(t, func(d *connectors.Draft) {
				shell(d)
				d.Command.Args = []string{"-c", script}
			})
			env := connectors.Environment{"LONG": "abc-sekret", "SHORT": "abc", "TINY": "ab"}
			if err := b.Door().Connectors().SetEnvironment(t.Context(), c, env); err != nil {
				t.Fatal(err)
			}
			if _, err := b.run(t, c); err == nil {
				t.Error("a program that says nothing passes")
			}
			if text := log.String(); strings.Contains(text, "sekret") || strings.Contains(text, "kret") || !strings.Contains(text, "said") {
				t.Errorf("its last words are not what they should be:\n%.300s", text)
			}
		})
	}
}

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const list = `# A comment.
server:
  - server-stateless
  - tools-list # the first one
  - caching
client:
  - auth/basic
not_scored:
  - scenario: tasks
    leg: server
    reason: extension
`

func newChecksFile(status ...string) *fstest.MapFile {
	var each []string
	for _, s := range status {
		each = append(each, `{"id":"a","status":"`+s+`"}`)
	}
	return &fstest.MapFile{Data: []byte("[" + strings.Join(each, ",") + "]")}
}

func TestCountResults_OnlyTheList(t *testing.T) {
	t.Parallel()
	server, err := readRequired(list, "server")
	if diff := cmp.Diff([]string{"server-stateless", "tools-list", "caching"}, server); diff != "" || err != nil {
		t.Error(diff, err)
	}
	client, err := readRequired(list, "client")
	if diff := cmp.Diff([]string{"auth/basic"}, client); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := readRequired("server:\n", "server"); err == nil {
		t.Error("an empty list counts")
	}
}

func TestVerdict_WarningsFail(t *testing.T) {
	t.Parallel()
	const at = "-2026-11-21T18-09-40-497Z/checks.json"
	server, err := countResults(fstest.MapFS{
		"server-server-stateless" + at: newChecksFile("SUCCESS", "INFO", "SKIPPED"),
		"server-tools-list" + at:       newChecksFile("SUCCESS", "WARNING"),
		"server-tasks" + at:            newChecksFile("FAILURE"),
	}, "server", []string{"server-stateless", "tools-list", "caching"}, nil)
	want := scenarioTally{passed: 1, others: []string{"tools-list (1 warnings)", "caching (it did not run)"}}
	if diff := cmp.Diff(want, server, cmp.AllowUnexported(scenarioTally{})); diff != "" || err != nil {
		t.Error(diff, err)
	}
	client, err := countResults(fstest.MapFS{
		"auth/basic" + at: newChecksFile("SUCCESS"), "auth/two" + at: newChecksFile("SUCCESS", "FAILURE"), "three" + at: newChecksFile("INFO"),
	}, "client", []string{"auth/basic", "auth/two", "three"}, nil)
	want = scenarioTally{passed: 1, others: []string{"auth/two (1 checks failed)", "three (nothing was checked)"}}
	if diff := cmp.Diff(want, client, cmp.AllowUnexported(scenarioTally{})); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestVerdict_ExpectedChecksNeedNotPass(t *testing.T) {
	t.Parallel()
	expected, err := readExpected("server:\n  - tools-list:a # a reason\n", "server")
	if err != nil {
		t.Fatal(err)
	}
	for checks, want := range map[string]scenarioTally{
		`[{"id":"a","status":"WARNING"},{"id":"b","status":"SUCCESS"}]`: {expected: []string{"tools-list"}},
		`[{"id":"a","status":"SUCCESS"},{"id":"b","status":"SUCCESS"}]`: {passed: 1},
		`[{"id":"a","status":"WARNING"},{"id":"b","status":"FAILURE"}]`: {others: []string{"tools-list (1 checks failed)"}},
		`[{"id":"a","status":"WARNING"}]`:                               {others: []string{"tools-list (nothing was checked)"}},
	} {
		got, err := countResults(fstest.MapFS{"server-tools-list-2026-11-21T18-09-40-497Z/checks.json": {Data: []byte(checks)}}, "server", []string{"tools-list"}, expected)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(scenarioTally{})); diff != "" || err != nil {
			t.Errorf("%s: %s %v", checks, diff, err)
		}
	}
}

func TestRun_TooFewPassed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	requirements := filepath.Join(dir, "2026-07-28.yaml")
	scenario := filepath.Join(dir, "auth", "basic-2026-11-21T18-09-40-497Z")
	if err := os.MkdirAll(scenario, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{requirements: list, filepath.Join(scenario, "checks.json"): `[{"status":"SUCCESS"}]`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run([]string{dir, requirements, "client", "1"}, io.Discard); err != nil {
		t.Error(err)
	}
	if err := run([]string{dir, requirements, "server", "1"}, io.Discard); err == nil || !strings.Contains(err.Error(), "at least 1 have to pass; these do not: server-stateless (it did not run)") {
		t.Errorf("%v", err)
	}
}

package db_test

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"patchbay/db"
)

// TestMigrations_KeepThePreviousReleaseWorking holds the rules of CONTRIBUTING.md for migrations after the baseline.
func TestMigrations_KeepThePreviousReleaseWorking(t *testing.T) {
	t.Parallel()
	found, err := checkMigrations(db.Migrations())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Errorf("%s; where the previous release works with it, say why: -- safe: reason", f)
	}
}

// compatibility are the statements that servers of the previous release, or a large table, may not bear.
var compatibility = []struct {
	problem string
	does    *regexp.Regexp
	unless  *regexp.Regexp
}{
	{"removes or renames", regexp.MustCompile(`\bdrop (table|column|function|view|policy|trigger)\b|\brename\b`), nil},
	{"changes a column", regexp.MustCompile(`\balter column \w+ (set data type|type|set not null|drop default)\b`), nil},
	{"adds a required column", regexp.MustCompile(`\badd column [^;]*\bnot null\b`), regexp.MustCompile(`\b(default|generated)\b`)},
	{"checks all rows under a lock", regexp.MustCompile(`\badd constraint [^;]*\b(check|foreign key)\b`), regexp.MustCompile(`\bnot valid\b`)},
	{"takes rows out of row-level security", regexp.MustCompile(`\b(disable|no force) row level security\b`), nil},
}

var safeReason = regexp.MustCompile(`-- safe: \S`)

// checkMigrations returns the statements of migrations after the baseline that break a rule without a reason.
func checkMigrations(migrations fs.FS) (found []string, err error) {
	names, err := fs.Glob(migrations, "*.sql")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 || !strings.HasPrefix(slices.Min(names), "00001_") {
		return nil, errors.New("the baseline is not among the migrations")
	}
	for _, name := range names {
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			return nil, err
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		if !strings.Contains(up, "-- +goose Up") {
			return nil, fmt.Errorf("%s has no statements", name)
		}
		if !strings.HasPrefix(name, "00001_") {
			found = append(found, checkStatements(name, up)...)
		}
	}
	return found, nil
}

func checkStatements(name, sql string) (found []string) {
	for statement := range strings.SplitSeq(sql, ";\n") {
		code := strings.ToLower(regexp.MustCompile(`--[^\n]*`).ReplaceAllString(statement, ""))
		code = strings.Join(strings.Fields(code), " ")
		for _, rule := range compatibility {
			if rule.does.MatchString(code) && (rule.unless == nil || !rule.unless.MatchString(code)) && !safeReason.MatchString(statement) {
				found = append(found, fmt.Sprintf("%s %s: %s", name, rule.problem, code))
			}
		}
	}
	return found
}

func TestCheckMigrations_NeedsAReason(t *testing.T) {
	t.Parallel()
	for sql, problem := range map[string]string{
		"create table more (id uuid not null)":                                                                "",
		"alter table tools add column note text":                                                              "",
		"alter table tools add column note text not null default ''":                                          "",
		"alter table tools\n    add column note text not null":                                                "adds a required column",
		"alter table tools drop column alias":                                                                 "removes or renames",
		"-- safe: no release reads it.\nalter table tools drop column alias":                                  "",
		"alter table tools rename column alias to name_for_agents":                                            "removes or renames",
		"alter table tools alter column alias type varchar(10)":                                               "changes a column",
		"alter table tools alter column\n    accepted_hash set not null":                                      "changes a column",
		"alter table tools add constraint tools_few check (true)":                                             "checks all rows under a lock",
		"alter table tools add constraint tools_few check (true) not valid":                                   "",
		"alter table tools add constraint tools_a foreign key (tenant_id, accepted_hash) references d (a, b)": "checks all rows under a lock",
		"alter table tools disable row level security":                                                        "takes rows out of row-level security",
		"DROP TABLE tools": "removes or renames",
	} {
		found, err := checkMigrations(withMigrations(t, map[int64]string{90: sql}))
		if err != nil {
			t.Fatal(err)
		}
		if (len(found) > 0) != (problem != "") || problem != "" && !strings.HasPrefix(found[0], "00090_test.sql "+problem+": ") {
			t.Errorf("%s: found %q, want %q", sql, found, problem)
		}
	}
	down := withMigrations(t, map[int64]string{90: "create table more ();\n-- +goose Down\ndrop table more"})
	if found, err := checkMigrations(down); err != nil || len(found) > 0 {
		t.Errorf("down: %v, %v", found, err)
	}
}

func TestCheckMigrations_FailsOnNothing(t *testing.T) {
	t.Parallel()
	got := map[string]bool{}
	for name, files := range map[string]fstest.MapFS{
		"no files":      {},
		"no baseline":   {"00090_more.sql": {Data: []byte("-- +goose Up\nselect 1;\n")}},
		"no statements": {"00001_baseline.sql": {}},
	} {
		_, err := checkMigrations(files)
		got[name] = err != nil
	}
	if diff := cmp.Diff(map[string]bool{"no files": true, "no baseline": true, "no statements": true}, got); diff != "" {
		t.Error(diff)
	}
}

package store_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	readsAccounts = regexp.MustCompile(`\b(from|join|update|using)\s+credentials\b`)
	opensAccount  = regexp.MustCompile(`(?s)^\w+ :one|credentials\.\*|embed\(credentials\)|\bsealed\b|\blimit 1\b`)
	choosesOne    = []*regexp.Regexp{
		regexp.MustCompile(`order by[^\n)]*(_at\b|\blapses\.at\b)`),
		regexp.MustCompile(`\blimit 1\b`),
		regexp.MustCompile(`\bdistinct on\b`),
		regexp.MustCompile(`\b(first_value|last_value|row_number)\b`),
		regexp.MustCompile(`\b(min|max)\((credentials\.)?(\w+_at|id)\)`),
	}
)

// An account is chosen by its owner and name or by its id, and never because it is the newest, the first or the last used.
func TestQueries_ChooseNoAccountByOrder(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../db/queries/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, query := range strings.Split(string(text), "-- name: ")[1:] {
			if !readsAccounts.MatchString(query) || !opensAccount.MatchString(query) {
				continue
			}
			seen++
			if found := accountChoice(query); found != "" {
				name, _, _ := strings.Cut(query, " ")
				t.Errorf("%s chooses an account by %q", name, found)
			}
		}
	}
	if seen < 15 {
		t.Errorf("%d queries read accounts: some are not seen", seen)
	}
}

func accountChoice(query string) string {
	for _, rule := range choosesOne {
		if found := rule.FindString(query); found != "" {
			return found
		}
	}
	return ""
}

func TestAccountChoice_SeesEachForm(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		"UsedLast :one\nselect * from credentials order by last_used_at desc nulls last limit 1",
		"First :one\nselect * from credentials order by id limit 1",
		"Newest :one\nselect distinct on (agent_id) * from credentials order by agent_id, created_at desc",
		"Newest :one\nselect sealed from credentials where created_at = (select max(created_at) from credentials)",
	} {
		if !readsAccounts.MatchString(query) || !opensAccount.MatchString(query) || accountChoice(query) == "" {
			t.Errorf("not seen: %s", query)
		}
	}
	if found := accountChoice("Named :one\nselect * from credentials where tenant_id = @tenant_id and id = @id"); found != "" {
		t.Errorf("refused for %q", found)
	}
}

package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	sqlComments    = regexp.MustCompile(`--[^\n]*`)
	readsAccounts  = regexp.MustCompile(`\b(from|join|update|using)\s+(only\s+)?(public\.)?credentials\b`)
	schemaFunction = regexp.MustCompile(`(?is)create (?:or replace )?function public\.(\w+).*?\$function\$.*?\$function\$`)
	goLiteral      = regexp.MustCompile("(?s)`[^`]*`|\"[^\"\n]*\"")
	orderClause    = regexp.MustCompile(`\border\s+by\b`)
	clauseEnd      = regexp.MustCompile(`^\s*(limit|offset|fetch|for|rows|range|union|loop)\b`)
	ordersByTime   = regexp.MustCompile(`_at\b|_until\b|\blapses\b|\bversion\b|\bxmin\b|\bctid\b|\bnow\(|^\s*\d`)
	choosesOne     = []*regexp.Regexp{
		regexp.MustCompile(`\blimit\s+1\b`),
		regexp.MustCompile(`\bfetch\s+(first|next)\b`),
		regexp.MustCompile(`\bdistinct\s+on\b`),
		regexp.MustCompile(`\b(first_value|last_value|nth_value|row_number|rank|dense_rank)\b`),
		regexp.MustCompile(`\b(min|max)\s*\(\s*(\w+\.)?(\w+_at|id|version)\s*\)`),
		regexp.MustCompile(`\b\w+\.(created|updated|connected|last_used|refreshed)_at\s*[<>]=?\s*(all|any|\w+\.\w+_at|\(select)`),
		regexp.MustCompile(`\(\s*array_agg\b[^;]*\)\s*\[`),
	}
)

// accountQueriesByTime read accounts in an order of time, and choose none.
var accountQueriesByTime = map[string]string{
	"AttentionConnectors":     "numbers the first tools of a connector",
	"AttentionRenewals":       "lists all accounts that end",
	"ExpiringCredentials":     "lists all accounts that end",
	"ExpiringAccounts":        "reports all accounts that end",
	"IdleGrants":              "refreshes all accounts that are idle",
	"AgentFigures":            "has the last use of an agent's tokens",
	"AgentCredentialUsedLast": "for syncs without an agent: the public contract says so, and only lists are read with it",
}

// accountChoice is the part of a query that chooses one of several accounts by time or order, or empty. Comments have to be removed.
func accountChoice(query string) string {
	if !readsAccounts.MatchString(query) {
		return ""
	}
	for _, rule := range choosesOne {
		if found := rule.FindString(query); found != "" {
			return found
		}
	}
	for _, at := range orderClause.FindAllStringIndex(query, -1) {
		if terms := orderTerms(query[at[1]:]); ordersByTime.MatchString(terms) {
			return "order by" + terms
		}
	}
	return ""
}

// orderTerms is what follows "order by", without what follows the clause.
func orderTerms(rest string) string {
	depth := 0
	for i, c := range rest {
		switch {
		case c == '(':
			depth++
		case c == ')' && depth == 0, c == ';':
			return rest[:i]
		case c == ')':
			depth--
		case depth == 0 && clauseEnd.MatchString(rest[i:]):
			return rest[:i]
		}
	}
	return rest
}

// accountStatements are the queries, the functions of the schema and the SQL in Go that read accounts, by name.
func accountStatements(t *testing.T) map[string]string {
	t.Helper()
	statements := map[string]string{}
	read := func(pattern string, split func(file, text string)) {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			split(filepath.Base(file), string(text))
		}
	}
	read("../../db/queries/*.sql", func(_, text string) {
		for _, query := range strings.Split(text, "-- name: ")[1:] {
			name, _, _ := strings.Cut(query, " ")
			statements[name] = query
		}
	})
	read("../../db/schema.sql", func(_, text string) {
		for _, function := range schemaFunction.FindAllStringSubmatch(text, -1) {
			statements[function[1]] = function[0]
		}
	})
	read("../../db/migrations/*.sql", func(file, text string) {
		up, _, _ := strings.Cut(text, "-- +goose Down")
		if file > "00181" { // earlier ones know one account of each owner
			statements[strings.TrimSuffix(file, ".sql")+".up"] = up
		}
	})
	for _, pattern := range []string{"../*/*.go", "../*/*/*.go", "../../db/*.go", "../../cmd/*/*.go"} {
		read(pattern, func(file, text string) {
			if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".sql.go") {
				return
			}
			for i, literal := range goLiteral.FindAllString(text, -1) {
				statements[fmt.Sprint(file, " ", i)] = literal
			}
		})
	}
	for name, text := range statements {
		if text = strings.ToLower(sqlComments.ReplaceAllString(text, "")); !readsAccounts.MatchString(text) {
			delete(statements, name)
		} else {
			statements[name] = text
		}
	}
	return statements
}

// An account is chosen by its owner and name or by its id, and never because it is the newest, the first or the last used.
func TestQueries_ChooseNoAccountByOrder(t *testing.T) {
	t.Parallel()
	statements := accountStatements(t)
	for name, text := range statements {
		found := accountChoice(text)
		switch reason := accountQueriesByTime[name]; {
		case found != "" && reason == "":
			t.Errorf("%s chooses an account by %q", name, found)
		case found == "" && reason != "":
			t.Errorf("%s needs no exception", name)
		}
	}
	for name := range accountQueriesByTime {
		if statements[name] == "" {
			t.Errorf("the exception %s reads no accounts", name)
		}
	}
	if len(statements) < 50 {
		t.Errorf("%d statements read accounts: some are not seen", len(statements))
	}
	for _, name := range []string{"SealedCredentials", "SyncCredential", "check_account_name"} {
		if statements[name] == "" {
			t.Errorf("%s is not seen", name)
		}
	}
}

func TestAccountChoice_SeesEachForm(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		"select * from credentials order by last_used_at desc nulls last limit 1",
		"select * from credentials order by id limit 1",
		"select * from credentials order by id fetch first row only",
		"select * from credentials order by lower(name), created_at desc limit @max_rows",
		"select * from credentials order by name,\n    updated_at\nlimit @max_rows",
		"select * from credentials order by coalesce(last_used_at, connected_at)",
		"select *, created_at from credentials order by 2 desc",
		"select distinct on (agent_id) * from credentials order by agent_id, name",
		"select sealed from credentials where created_at = (select max(created_at) from credentials)",
		"select * from credentials c where not exists (select from credentials other where other.created_at > c.created_at)",
		"select * from credentials c where c.last_used_at >= all (select last_used_at from credentials)",
		"select (array_agg(id order by name))[1] from credentials",
		"update credentials set syncs = true where id = (select id from credentials order by version desc limit 1)",
		"select name, row_number() over (order by name) from public.credentials",
	} {
		if accountChoice(query) == "" {
			t.Errorf("not seen: %s", query)
		}
	}
	for _, query := range []string{
		"select * from credentials where tenant_id = @tenant_id and id = @id",
		"select * from credentials order by name limit @max_rows",
		"select expires_at from credentials where expires_at < now() order by lower(name), id limit 10",
		"select count(*) from (select from credentials order by name limit 2) few where few.created_at < now()",
	} {
		if found := accountChoice(query); found != "" {
			t.Errorf("%s: refused for %q", query, found)
		}
	}
}

package archtest_test

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/archtest"
)

// ceilings is the file with the figures of each package, which may only fall. With lowerCeilings set, the test writes lower ones.
const (
	ceilings      = "testdata/vocabulary.txt"
	lowerCeilings = "PATCHBAY_LOWER_CEILINGS"
)

// queryDir has the queries. Migrations are not counted: they never change.
const queryDir = "db/queries"

// vocabularyKinds are the figures of a line, in this order. The line of the package "*" has the type names that three packages share.
var vocabularyKinds = []string{"one-word functions", "pronouns", "metaphors", "tells whether", "most/least", "long test names", "shared type names"}

type figures [7]int

func vocabulary(t *testing.T) map[string]figures {
	t.Helper()
	all, err := archtest.CountVocabulary(packages(t))
	if err != nil {
		t.Fatal(err)
	}
	queries, err := archtest.CountQueryVocabulary("../../" + queryDir)
	if err != nil {
		t.Fatal(err)
	}
	if queries.Functions < 500 || queries.Words < 3000 {
		t.Fatalf("%d queries and %d words of comments in %s: the check sees too little", queries.Functions, queries.Words, queryDir)
	}
	all[queryDir] = queries
	found, total := map[string]figures{}, archtest.Vocabulary{}
	for path, v := range all {
		found[path] = figures{v.OneWord, v.Pronouns, v.Metaphors, v.Tells, v.Bounds, v.LongTests}
		total.Functions += v.Functions
		total.OneWord += v.OneWord
		total.Words += v.Words
		total.Pronouns += v.Pronouns
		total.Metaphors += v.Metaphors
		total.Tells += v.Tells
		total.Bounds += v.Bounds
		total.LongTests += v.LongTests
	}
	shared := archtest.SharedTypeNames(all)
	found["*"] = figures{6: len(shared)}
	if total.Functions < 1000 || total.Words < 50_000 {
		t.Fatalf("%d functions and %d words of comments: the check sees too little", total.Functions, total.Words)
	}
	t.Logf("one-word functions %d of %d (%.1f %%); pronouns %d in %d words (%.1f of 1 000); metaphors %d; tells whether %d; most/least %d; long test names %d; type names in three packages %d: %s",
		total.OneWord, total.Functions, 100*float64(total.OneWord)/float64(total.Functions), total.Pronouns, total.Words,
		1000*float64(total.Pronouns)/float64(total.Words), total.Metaphors, total.Tells, total.Bounds, total.LongTests, len(shared), strings.Join(shared, " "))
	return found
}

func TestVocabulary_StaysBelowItsCeilings(t *testing.T) {
	t.Parallel()
	found := vocabulary(t)
	allowed := readCeilings(t)
	if os.Getenv(lowerCeilings) != "" {
		writeCeilings(t, found, allowed)
		return
	}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		for i, n := range found[path] {
			switch limit := allowed[path][i]; {
			case n > limit:
				t.Errorf("%s: %s: %d, and %d is the limit", path, vocabularyKinds[i], n, limit)
			case n < limit:
				t.Errorf("%s: %s: %d, so lower the limit of %d: %s=1 go test ./internal/archtest -run Vocabulary", path, vocabularyKinds[i], n, limit, lowerCeilings)
			}
		}
	}
	for path := range allowed {
		if _, ok := found[path]; !ok {
			t.Errorf("%s: %s is not there any more", ceilings, path)
		}
	}
}

func readCeilings(t *testing.T) map[string]figures {
	t.Helper()
	text, err := os.ReadFile(ceilings)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	allowed := map[string]figures{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var path string
		var f figures
		if _, err := fmt.Sscan(lines.Text(), &path, &f[0], &f[1], &f[2], &f[3], &f[4], &f[5], &f[6]); err != nil {
			t.Fatalf("%s: %q: %v", ceilings, lines.Text(), err)
		}
		allowed[path] = f
	}
	return allowed
}

// writeCeilings writes the figures that were found, but none that is higher than its ceiling.
func writeCeilings(t *testing.T, found, allowed map[string]figures) {
	t.Helper()
	first := len(allowed) == 0
	var b strings.Builder
	fmt.Fprintf(&b, "# package: %s. A package without a line has zeros.\n", strings.Join(vocabularyKinds, ", "))
	for _, path := range slices.Sorted(maps.Keys(found)) {
		f := found[path]
		for i := range f {
			if !first {
				f[i] = min(f[i], allowed[path][i])
			}
		}
		if f != (figures{}) {
			fmt.Fprintln(&b, path, f[0], f[1], f[2], f[3], f[4], f[5], f[6])
		}
	}
	if err := os.MkdirAll(filepath.Dir(ceilings), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ceilings, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestVocabulary_CountsEachKind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{
		"a.go": "package a\n\n// take tells\n// whether somebody's seat is free, and whose.\nfunc take(mostSeats int) { leastGuests, fine := 1, 2; _, _ = leastGuests, fine }\n\n" +
			"func (t tape) releaseSlot() {}\n\ntype tape struct{ house int }\n\nfunc main() {}\n\nfunc Exported() {}\n",
		"a_test.go":   "package a\n\nfunc TestThatHasANameOfMoreThanSixtyCharactersWhichIsFarTooLongForAnyone() {}\n\nfunc TestShort() {}\n\nfunc helper() {}\n",
		"made_gen.go": "// Code generated by hand. DO NOT EDIT.\n\npackage a\n\nfunc end() {}\n",
	}
	p := archtest.Package{Path: "a", Dir: dir}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p.Files = append(p.Files, name)
	}
	all, err := archtest.CountVocabulary([]archtest.Package{p})
	if err != nil {
		t.Fatal(err)
	}
	v := all["a"]
	if v.Functions != 2 || v.OneWord != 1 || v.Words != 9 || v.Pronouns != 2 || v.Tells != 1 || v.Bounds != 2 || v.LongTests != 1 {
		t.Errorf("%+v", v)
	}
	if v.Metaphors != 5 {
		t.Errorf("%d metaphors", v.Metaphors)
	}
	if shared := archtest.SharedTypeNames(map[string]archtest.Vocabulary{"a": v, "b": v, "c": v}); !slices.Equal(shared, []string{"tape"}) {
		t.Errorf("shared: %q", shared)
	}
}

func TestQueryVocabulary_CountsEachKind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sql := "-- It tells\n-- whether somebody's row is there.\n\n-- name: HoldSeat :one\n-- @sqlc-vet-disable tenant-scope\nselect 1; -- nobody's\n\n" +
		"-- name: Refresh :exec\nselect 1;\n\n-- name: Tenant :one\nselect 1;\n\n-- name: LockTenant :one\nselect 1;\n"
	if err := os.WriteFile(filepath.Join(dir, "a.sql"), []byte(sql), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := archtest.CountQueryVocabulary(dir)
	if err != nil {
		t.Fatal(err)
	}
	if v.Functions != 4 || v.OneWord != 2 || v.Words != 8 || v.Pronouns != 2 || v.Metaphors != 1 || v.Tells != 1 {
		t.Errorf("%+v", v)
	}
}

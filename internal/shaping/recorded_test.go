package shaping_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/shaping"
)

// recordedFields are the fields that a person would choose for the recorded answers, by file.
var recordedFields = map[string]string{
	"memory-read_graph":         ".entities |= map({name, entityType})",
	"filesystem-directory_tree": "map(.name)",
	"package-metadata":          "{name, description, version, license, dependencies}",
	"git-git_log":               ".commits |= map({shortHash, subject})",
}

// recordedBudget is the budget of the table, in tokens.
const recordedBudget = 500

// TestRecordedAnswers shortens answers that real servers gave (testdata/answers), and compares the table with testdata/table.txt.
// Each answer is read back byte for byte.
func TestRecordedAnswers(t *testing.T) {
	files, err := filepath.Glob("testdata/answers/*.json")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d answers: %v", len(files), err)
	}
	var saved []int
	table := fmt.Sprintf("%-34s %8s %8s %6s  %s\n", "answer", "tokens", "after", "saved", "left out")
	for _, file := range files {
		raw, err := os.ReadFile(file) //nolint:gosec // of the repository
		if err != nil {
			t.Fatal(err)
		}
		raw = []byte(strings.TrimSuffix(string(raw), "\n"))
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		rule := shaping.Rule{Budget: recordedBudget}
		if fields := recordedFields[name]; fields != "" {
			rule.Fields = filter(t, fields)
		}
		s, ok := rule.Shape(t.Context(), raw, notice)
		before, after, summary := shaping.Tokens(raw), shaping.Tokens(raw), "nothing"
		if ok {
			after, summary = s.After, s.Summary()
			if after > recordedBudget+recordedBudget/10 || s.FilterFailed || !json.Valid(s.Raw) {
				t.Errorf("%s: %d tokens, %s", name, after, summary)
			}
		}
		if got := readAll(t, raw, shaping.ReadRequest{Part: "result", Limit: 3000}); got != string(raw) {
			t.Errorf("%s: the reads are not the answer", name)
		}
		percent := 100 - after*100/before
		saved = append(saved, percent)
		table += fmt.Sprintf("%-34s %8d %8d %5d%%  %s\n", name, before, after, percent, summary)
	}
	slices.Sort(saved)
	median := saved[len(saved)/2]
	table += fmt.Sprintf("%-34s %8s %8s %5d%%\n", "median", "", "", median)
	if median < 80 {
		t.Errorf("the median saves %d %%, less than 80", median)
	}
	const golden = "testdata/table.txt"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(table), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if diff := cmp.Diff(string(want), table); err != nil || diff != "" {
		t.Errorf("UPDATE=1 writes the table: %v\n%s", err, diff)
	}
}

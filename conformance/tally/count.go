package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

// readRequired reads the scenarios that a list scores for a leg. A list has its keys in the first column and
// the items below them.
func readRequired(list, leg string) (names []string, err error) {
	key := ""
	for line := range strings.Lines(list) {
		line, _, _ = strings.Cut(strings.TrimRight(line, "\r\n"), " #")
		item, isItem := strings.CutPrefix(strings.TrimSpace(line), "- ")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ' && line[0] != '-':
			key = strings.TrimSuffix(line, ":")
		case isItem && key == leg:
			names = append(names, strings.TrimSpace(item))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("nothing is required of a %s", leg)
	}
	return names, nil
}

// scenarioTally counts the scenarios of a list.
type scenarioTally struct {
	passed   int
	expected []string // with a failure or warning that is expected
	others   []string // not passed, with the reason
}

// timestamp is the end of a scenario directory's name.
var timestamp = regexp.MustCompile(`-20\d\d-\d\d-\d\dT[0-9-]+Z$`)

// expectedChecks are checks that need not pass, as "scenario:check".
type expectedChecks map[string]bool

// readExpected reads the list of the checks of a leg that need not pass.
func readExpected(list, leg string) (expectedChecks, error) {
	names, err := readRequired(list, leg)
	expected := expectedChecks{}
	for _, name := range names {
		expected[name] = true
	}
	return expected, err
}

// countResults reads the suite's results of each scenario.
func countResults(results fs.FS, leg string, wanted []string, expected expectedChecks) (scenarioTally, error) {
	verdicts := map[string]verdict{}
	err := fs.WalkDir(results, ".", func(path string, d fs.DirEntry, err error) error {
		dir, ok := strings.CutSuffix(path, "/checks.json")
		if err != nil || !ok {
			return err
		}
		name := timestamp.ReplaceAllString(dir, "")
		if leg == "server" {
			name = strings.TrimPrefix(name, "server-")
		}
		verdicts[name], err = readVerdict(results, path, name, expected)
		return err
	})
	var t scenarioTally
	for _, name := range wanted {
		said, ran := verdicts[name]
		switch {
		case !ran:
			t.others = append(t.others, name+" (it did not run)")
		case said.fault != "":
			t.others = append(t.others, name+" ("+said.fault+")")
		case said.isExpected:
			t.expected = append(t.expected, name)
		default:
			t.passed++
		}
	}
	return t, err
}

// verdict says how a scenario ended.
type verdict struct {
	fault      string // what is wrong; empty: nothing
	isExpected bool   // a check did not pass, and is expected not to
}

// readVerdict reads the checks of a scenario.
func readVerdict(results fs.FS, path, scenario string, expected expectedChecks) (v verdict, err error) {
	text, err := fs.ReadFile(results, path)
	if err != nil {
		return v, err
	}
	var checks []struct{ ID, Status string }
	if err := json.Unmarshal(text, &checks); err != nil {
		return v, fmt.Errorf("%s: %w", path, err)
	}
	n := map[string]int{}
	for _, c := range checks {
		if isBad := c.Status == "FAILURE" || c.Status == "WARNING"; isBad && expected[scenario+":"+c.ID] {
			v.isExpected = true
			continue
		}
		n[c.Status]++
	}
	switch {
	case n["FAILURE"] > 0:
		v.fault = fmt.Sprintf("%d checks failed", n["FAILURE"])
	case n["WARNING"] > 0:
		v.fault = fmt.Sprintf("%d warnings", n["WARNING"])
	case n["SUCCESS"] == 0:
		v.fault = "nothing was checked"
	}
	return v, nil
}

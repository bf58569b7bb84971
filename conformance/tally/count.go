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
	passed int
	others []string // not passed, with the reason
}

// timestamp is the end of a scenario directory's name.
var timestamp = regexp.MustCompile(`-20\d\d-\d\d-\d\dT[0-9-]+Z$`)

// countResults reads the suite's results of each scenario.
func countResults(results fs.FS, leg string, wanted []string) (scenarioTally, error) {
	verdicts := map[string]string{}
	err := fs.WalkDir(results, ".", func(path string, d fs.DirEntry, err error) error {
		dir, ok := strings.CutSuffix(path, "/checks.json")
		if err != nil || !ok {
			return err
		}
		name := timestamp.ReplaceAllString(dir, "")
		if leg == "server" {
			name = strings.TrimPrefix(name, "server-")
		}
		verdicts[name], err = readVerdict(results, path)
		return err
	})
	var t scenarioTally
	for _, name := range wanted {
		said, ran := verdicts[name]
		switch {
		case !ran:
			t.others = append(t.others, name+" (it did not run)")
		case said != "":
			t.others = append(t.others, name+" ("+said+")")
		default:
			t.passed++
		}
	}
	return t, err
}

// readVerdict returns what is wrong with a scenario; empty: nothing.
func readVerdict(results fs.FS, path string) (string, error) {
	text, err := fs.ReadFile(results, path)
	if err != nil {
		return "", err
	}
	var checks []struct{ Status string }
	if err := json.Unmarshal(text, &checks); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	n := map[string]int{}
	for _, c := range checks {
		n[c.Status]++
	}
	switch {
	case n["FAILURE"] > 0:
		return fmt.Sprintf("%d checks failed", n["FAILURE"]), nil
	case n["WARNING"] > 0:
		return fmt.Sprintf("%d warnings", n["WARNING"]), nil
	case n["SUCCESS"] == 0:
		return "nothing was checked", nil
	}
	return "", nil
}

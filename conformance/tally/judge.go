package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

// required reads the scenarios that a list scores for a leg. The lists are plain: a key in the first column, and its items below.
func required(list, leg string) (names []string, err error) {
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

// tally is what came of the scenarios of a list.
type tally struct {
	passed int
	others []string // and why
}

// when ends the name of a scenario's directory.
var when = regexp.MustCompile(`-20\d\d-\d\d-\d\dT[0-9-]+Z$`)

// judge looks at what the suite wrote of each scenario.
func judge(results fs.FS, leg string, wanted []string) (tally, error) {
	verdicts := map[string]string{}
	err := fs.WalkDir(results, ".", func(path string, d fs.DirEntry, err error) error {
		dir, ok := strings.CutSuffix(path, "/checks.json")
		if err != nil || !ok {
			return err
		}
		name := when.ReplaceAllString(dir, "")
		if leg == "server" {
			name = strings.TrimPrefix(name, "server-")
		}
		verdicts[name], err = verdict(results, path)
		return err
	})
	var t tally
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

// verdict says what is wrong with a scenario; empty: nothing.
func verdict(results fs.FS, path string) (string, error) {
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

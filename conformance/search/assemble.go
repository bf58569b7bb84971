package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"patchbay/internal/toolsearch/searchset"
)

// answer is a line of a writer: the short question and the sentence. Either may be empty.
type answer struct {
	ID string   `json:"id"`
	Q  []string `json:"q"`
}

// assembly collects the questions that keep the rules.
type assembly struct {
	tools    map[string]searchset.Definition // those that were chosen, by id
	sources  map[string]searchset.Source
	accepted map[string]*[2]string // by id: the short question and the sentence
	seen     map[string]bool       // normalized questions
	refused  bytes.Buffer
	count    int // of refused
}

// assembleQuestions reads the answers in the order of their files and writes the questions that keep the rules. The others are in
// refused.jsonl; a later file with better ones fills the gaps.
func assembleQuestions(dir string) error {
	a, err := newAssembly()
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "out-*.jsonl"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no out-*.jsonl in %s: %w", dir, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(text) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				a.readAnswer(filepath.Base(file), line)
			}
		}
	}
	questions := a.listQuestions()
	fmt.Fprintf(os.Stderr, "%d questions about %d of %d tools, %d refused\n", len(questions), len(a.accepted), len(a.tools), a.count)
	return errors.Join(searchset.WriteQuestions(testdata, questions), os.WriteFile(filepath.Join(dir, "refused.jsonl"), a.refused.Bytes(), 0o644))
}

func newAssembly() (*assembly, error) {
	sources, err := searchset.ReadSources(testdata)
	if err != nil {
		return nil, err
	}
	tools, err := searchset.ReadDefinitions(testdata)
	if err != nil {
		return nil, err
	}
	a := &assembly{tools: map[string]searchset.Definition{}, sources: map[string]searchset.Source{}, accepted: map[string]*[2]string{}, seen: map[string]bool{}}
	for _, s := range sources {
		a.sources[s.Server] = s
	}
	for _, d := range chooseTools(sources, tools) {
		a.tools[d.Server+"/"+d.Name] = d
	}
	return a, nil
}

func (a *assembly) readAnswer(file string, line []byte) {
	var one answer
	if err := json.Unmarshal(line, &one); err != nil {
		a.refuseAnswer(file, string(line), "", err)
		return
	}
	d, there := a.tools[one.ID]
	if !there || len(one.Q) != 2 {
		a.refuseAnswer(file, one.ID, "", errors.New("is no chosen tool, or has not two questions"))
		return
	}
	for i, text := range one.Q {
		pair := a.accepted[one.ID]
		if text == "" || pair != nil && pair[i] != "" {
			continue
		}
		if err := a.checkQuestion(d, i == 1, text); err != nil {
			a.refuseAnswer(file, one.ID, text, err)
			continue
		}
		if pair == nil {
			pair = &[2]string{}
			a.accepted[one.ID] = pair
		}
		pair[i] = text
		a.seen[searchset.NormalizeQuestion(text)] = true
	}
}

func (a *assembly) checkQuestion(d searchset.Definition, sentence bool, text string) error {
	if err := searchset.CheckQuestion(d, text, sentence); err != nil {
		return err
	}
	if a.seen[searchset.NormalizeQuestion(text)] {
		return errors.New("is in the set already")
	}
	s := a.sources[d.Server]
	if pair := a.accepted[d.Server+"/"+d.Name]; pair != nil && searchset.NamesProduct(s, text) && (searchset.NamesProduct(s, pair[0]) || searchset.NamesProduct(s, pair[1])) {
		return fmt.Errorf("names %s, as the other question does", s.Title)
	}
	return nil
}

func (a *assembly) refuseAnswer(file, id, text string, err error) {
	a.count++
	encoder := json.NewEncoder(&a.refused)
	encoder.SetEscapeHTML(false)
	// Encoding strings into memory does not fail.
	_ = encoder.Encode(map[string]string{"file": file, "id": id, "q": text, "error": err.Error()})
}

// listQuestions lists the accepted questions by server and tool, the short one first.
func (a *assembly) listQuestions() (all []searchset.Question) {
	for id, pair := range a.accepted {
		d := a.tools[id]
		for _, text := range pair {
			if text != "" {
				all = append(all, searchset.Question{Server: d.Server, Tool: d.Name, Text: text, Part: a.sources[d.Server].Part})
			}
		}
	}
	// Both of a tool are in order already, and the sort is stable.
	slices.SortStableFunc(all, func(x, y searchset.Question) int {
		return cmp.Or(cmp.Compare(x.Server, y.Server), cmp.Compare(x.Tool, y.Tool))
	})
	return all
}

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"patchbay/internal/toolsearch/searchset"
)

// chosenTools is the number of tools that have questions, by part; each has two.
var chosenTools = map[string]int{searchset.Tuning: 350, searchset.HeldOut: 700}

const batches = 4

// task is what a writer of questions sees of a tool.
type task struct {
	ID          string   `json:"id"` // server and name
	Server      string   `json:"server"`
	Name        string   `json:"name"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Params      []string `json:"params,omitempty"`
}

const instruction = `For each line below write one JSON line {"id":...,"q":[short,sentence]}: two different requests that a person would type to an assistant when this tool is what solves it. ` +
	`The first has 3-8 words, the second is one full sentence. Never the tool's name; no four words in a row from the description; the product's name in at most one of the two; ` +
	`specific enough that no other tool of the same server would do as well.`

// writeBatches writes the chosen tools for the writers of questions.
func writeBatches(dir string) error {
	sources, err := searchset.ReadSources(testdata)
	if err != nil {
		return err
	}
	tools, err := searchset.ReadDefinitions(testdata)
	if err != nil {
		return err
	}
	chosen := chooseTools(sources, tools)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := range batches {
		part := chosen[i*len(chosen)/batches : (i+1)*len(chosen)/batches]
		var text strings.Builder
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(map[string]string{"instruction": instruction}); err != nil {
			return err
		}
		for _, d := range part {
			if err := encoder.Encode(toTask(d)); err != nil {
				return err
			}
		}
		file := filepath.Join(dir, fmt.Sprintf("batch-%d.jsonl", i+1))
		if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%s: %d tools, %d KB\n", file, len(part), text.Len()>>10)
	}
	return nil
}

func toTask(d searchset.Definition) task {
	t := task{ID: d.Server + "/" + d.Name, Server: d.Server, Name: d.Name, Title: d.Title, Description: cutText(d.Description, 600)}
	var schema struct {
		Properties map[string]struct{ Description string }
	}
	if json.Unmarshal(d.InputSchema, &schema) != nil {
		return t // a schema without plain properties: the description has to do
	}
	for name, property := range schema.Properties {
		t.Params = append(t.Params, strings.TrimSuffix(name+": "+cutText(strings.Join(strings.Fields(property.Description), " "), 80), ": "))
	}
	slices.Sort(t.Params)
	t.Params = t.Params[:min(len(t.Params), 16)]
	return t
}

// chooseTools draws the tools that have questions: from each server of a part as many as the square root of its size gives, and all servers
// in a seeded order.
func chooseTools(sources []searchset.Source, tools []searchset.Definition) (chosen []searchset.Definition) {
	byServer := map[string][]searchset.Definition{}
	for _, d := range tools {
		byServer[d.Server] = append(byServer[d.Server], d)
	}
	for part, count := range chosenTools {
		quotas := shareQuotas(sources, part, count)
		for server, n := range quotas {
			own := slices.Clone(byServer[server])
			random := newRandom("questions " + server)
			random.Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
			chosen = append(chosen, own[:n]...)
		}
	}
	rank := map[string]int{}
	for i, at := range newRandom("batches").Perm(len(sources)) {
		rank[sources[i].Server] = at
	}
	slices.SortFunc(chosen, func(a, b searchset.Definition) int {
		return cmp.Or(cmp.Compare(rank[a.Server], rank[b.Server]), cmp.Compare(a.Name, b.Name))
	})
	return chosen
}

// shareQuotas shares count tools among the servers of a part by the square root of their size. No server gives more than it has.
func shareQuotas(sources []searchset.Source, part string, count int) map[string]int {
	quotas := map[string]int{}
	for range count {
		var next string
		least := math.Inf(1)
		for _, s := range sources {
			if at := (float64(quotas[s.Server]) + 0.5) / math.Sqrt(float64(s.Tools)); s.Part == part && quotas[s.Server] < s.Tools && at < least {
				next, least = s.Server, at
			}
		}
		if next == "" {
			break
		}
		quotas[next]++
	}
	return quotas
}

package toolsearch_test

import (
	"cmp"
	"slices"
	"testing"

	"patchbay/internal/toolsearch/searchset"
)

// TestSet_IsAsTheMethodSays checks the files of testdata against METHOD.txt.
func TestSet_IsAsTheMethodSays(t *testing.T) {
	t.Parallel()
	sources := readSources(t)
	tools := readDefinitions(t, sources)
	checkParts(t, sources)
	checkQuestions(t, sources, tools)
}

// readSources returns the sources by server.
func readSources(t *testing.T) map[string]searchset.Source {
	t.Helper()
	all, err := searchset.ReadSources("testdata")
	if err != nil {
		t.Fatal(err)
	}
	sources, titles := map[string]searchset.Source{}, map[string]bool{}
	for _, s := range all {
		if _, twice := sources[s.Server]; twice || titles[s.Title] {
			t.Errorf("%s is there twice", s.Server)
		}
		if s.Package == "" || s.Licence == "" || s.Title == "" {
			t.Errorf("%s has no package, licence or title", s.Server)
		}
		sources[s.Server], titles[s.Title] = s, true
	}
	if len(sources) < 45 {
		t.Errorf("%d servers, not 45", len(sources))
	}
	return sources
}

// readDefinitions returns the tools by server and name.
func readDefinitions(t *testing.T, sources map[string]searchset.Source) map[[2]string]searchset.Definition {
	t.Helper()
	all, err := searchset.ReadDefinitions("testdata")
	if err != nil {
		t.Fatal(err)
	}
	tools, counts := map[[2]string]searchset.Definition{}, map[string]int{}
	for _, d := range all {
		if len(d.Description) > 2<<10 || d.Name == "" || len(d.InputSchema) == 0 {
			t.Errorf("%s/%s has no name, no schema or too long a description", d.Server, d.Name)
		}
		tools[[2]string{d.Server, d.Name}] = d
		counts[d.Server]++
	}
	if len(all) < 2800 || len(tools) != len(all) {
		t.Errorf("%d tools, %d of them different, not 2800", len(all), len(tools))
	}
	if !slices.IsSortedFunc(all, func(a, b searchset.Definition) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Name, b.Name))
	}) {
		t.Error("the tools are not sorted")
	}
	for server, s := range sources {
		if counts[server] != s.Tools || s.Tools == 0 || s.Tools > 75 || s.Tools > s.Of {
			t.Errorf("%s: %d tools, %d told, of %d", server, counts[server], s.Tools, s.Of)
		}
	}
	if len(counts) != len(sources) {
		t.Errorf("tools of %d servers, %d sources", len(counts), len(sources))
	}
	return tools
}

func checkParts(t *testing.T, sources map[string]searchset.Source) {
	t.Helper()
	sizes, kinds := map[string]int{}, map[string]map[string]bool{searchset.Tuning: {}, searchset.HeldOut: {}}
	for _, s := range sources {
		sizes[s.Part] += s.Tools
		if kinds[s.Part] == nil {
			t.Fatalf("%s is in part %q", s.Server, s.Part)
		}
		kinds[s.Part][s.Kind] = true
	}
	if share := 100 * sizes[searchset.Tuning] / (sizes[searchset.Tuning] + sizes[searchset.HeldOut]); share < 35 || share > 45 {
		t.Errorf("%d %% of the tools are for tuning", share)
	}
	for part, have := range kinds {
		if !have["npm"] || !have["openapi"] {
			t.Errorf("%s has no programs or no documents", part)
		}
	}
}

func checkQuestions(t *testing.T, sources map[string]searchset.Source, tools map[[2]string]searchset.Definition) {
	t.Helper()
	questions, err := searchset.ReadQuestions("testdata")
	if err != nil {
		t.Fatal(err)
	}
	seen, named, counts, parts := map[string]bool{}, map[[2]string]int{}, map[[2]string]int{}, map[string]int{}
	for _, q := range questions {
		key := [2]string{q.Server, q.Tool}
		d, there := tools[key]
		if !there || q.Part != sources[q.Server].Part {
			t.Errorf("%q: no tool %v, or its server is not in part %q", q.Text, key, q.Part)
			continue
		}
		short, sentence := searchset.CheckQuestion(d, q.Text, false), searchset.CheckQuestion(d, q.Text, true)
		if short != nil && sentence != nil {
			t.Errorf("%v: %q: %v, %v", key, q.Text, short, sentence)
		}
		if text := searchset.NormalizeQuestion(q.Text); seen[text] {
			t.Errorf("%v: %q is there twice", key, q.Text)
		} else {
			seen[text] = true
		}
		if searchset.NamesProduct(sources[q.Server], q.Text) {
			named[key]++
		}
		counts[key]++
		parts[q.Part]++
		if counts[key] > 2 || named[key] > 1 {
			t.Errorf("%v has %d questions, %d with the product's name", key, counts[key], named[key])
		}
	}
	if len(questions) < 2000 || parts[searchset.HeldOut] < 1300 {
		t.Errorf("%d questions, %v", len(questions), parts)
	}
}

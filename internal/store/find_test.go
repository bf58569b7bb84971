package store_test

import (
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
)

func TestThingsAreFoundByWordsOfTheirNames(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	named := func(name, url string) func(*connectors.Draft) {
		return func(d *connectors.Draft) { d.Name, d.URL = name, url }
	}
	linear := w.Connector(t, named("Linear", "https://mcp.example.com/mcp"))
	w.Synced(t, linear.ID, "create_issue", "search")
	notes := w.Connector(t, named("Online notes", "https://notes.example.com/mcp"))
	w.Synced(t, notes.ID, "search", "100%")
	w.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Line manager", "line-manager" })

	for question, want := range map[string]string{
		"lin":                    "connector Linear, connector Online notes, agent Line manager, tool 100% of Online notes, tool create_issue of Linear, tool search of Linear, tool search of Online notes",
		"SEARCH":                 "tool search of Linear, tool search of Online notes",
		"  notes sear ":          "tool search of Online notes",
		"sync linear":            "connector Linear",
		"%":                      "tool 100% of Online notes",
		"e_i":                    "tool create_issue of Linear",
		"":                       "",
		"   ":                    "",
		"nothing of the kind":    "",
		strings.Repeat("e", 500): "",
	} {
		found, err := w.Door().Lists().Find(t.Context(), question, "Sync")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			text := string(f.Kind) + " " + f.Name
			if f.OfName != "" {
				text += " of " + f.OfName
			}
			got = append(got, text)
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%q finds %q, want %q", question, text, want)
		}
	}
}

func TestFind_RanksNameBeforeURL(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for name, url := range map[string]string{
		"Broken": "https://failing.example.com/mcp", "Linear": "https://mcp.example.com/mcp", "My Linear": "https://a.example.com/mcp", "Berlin": "https://b.example.com/mcp",
	} {
		w.Connector(t, func(d *connectors.Draft) { d.Name, d.URL = name, url })
	}
	for _, question := range []string{"lin", "sync lin"} {
		found, err := w.Door().Lists().Find(t.Context(), question, "Sync")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			got = append(got, f.Name)
		}
		if want := []string{"Linear", "My Linear", "Berlin", "Broken"}; !slices.Equal(got, want) {
			t.Errorf("%q finds %q, want %q", question, got, want)
		}
	}
}

func TestAFewOfEachKindAreFound(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for range 10 {
		w.Synced(t, w.Connector(t).ID, "search", "search_all")
		w.Agent(t)
	}
	found, err := w.Door().Lists().Find(t.Context(), "s", "")
	if err != nil {
		t.Fatal(err)
	}
	of := func(kind connectors.FoundKind) int {
		return len(slices.DeleteFunc(slices.Clone(found), func(f connectors.Found) bool { return f.Kind != kind }))
	}
	if n := of(connectors.FoundTool); n != connectors.MaxFound+1 || len(found) > 3*(connectors.MaxFound+1) {
		t.Errorf("%d tools of %d things", n, len(found))
	}
}

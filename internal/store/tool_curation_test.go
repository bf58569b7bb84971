package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func curate(t *testing.T, w *fixture.World, id connectors.ConnectorID, tools ...store.CuratedTool) {
	t.Helper()
	if err := w.Door().Tools().Curate(t.Context(), id, tools); err != nil {
		t.Fatal(err)
	}
}

func TestWhatAnAdminSaysOfAToolOutlivesSyncs(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Synced(t, c.ID, "search", "create")
	said := store.CuratedTool{Name: "search", Curation: connectors.Curation{Alias: "find", AgentText: "Finds.", Tags: []string{"a", "b"}}}
	curate(t, w, c.ID, said)
	res := fixture.FirstResult()
	res.Diff.Removed = []string{"search"}
	if _, err := w.Door().Syncs().Finish(t.Context(), w.Run(t, c.ID).ID, res); err != nil {
		t.Fatal(err)
	}
	w.Synced(t, c.ID, "search", "create")

	tool, err := w.Door().Tools().Get(t.Context(), c.ID, "search")
	if diff := cmp.Diff(said.Curation, tool.Curation); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if tool.Hash != fixture.Definition("search").Hash || tool.AgentName() != "find" {
		t.Errorf("the definition is %s, the name for agents %q", tool.Hash, tool.AgentName())
	}
	all, err := w.Door().Tools().Curated(t.Context(), c.ID)
	want := []store.CuratedTool{{Name: "create", Curation: connectors.Curation{Enabled: true, Tags: []string{}}}, said}
	if diff := cmp.Diff(want, all); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if tags, err := w.Door().Tools().Tags(t.Context(), c.ID); err != nil || len(tags) != 2 {
		t.Errorf("tags: %v, %v", tags, err)
	}
}

func TestToolsChangeTheirNamesAmongThemselves(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Synced(t, c.ID, "a", "b")
	named := func(name, alias string) store.CuratedTool {
		return store.CuratedTool{Name: name, Curation: connectors.Curation{Enabled: true, Alias: alias}}
	}
	curate(t, w, c.ID, named("a", "x"), named("b", "y"))
	curate(t, w, c.ID, named("a", "y"), named("b", "x"))
	if err := w.Door().Tools().Curate(t.Context(), c.ID, []store.CuratedTool{named("a", "x")}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a name that is taken: %v", err)
	}
	curate(t, w, c.ID, named("a", "b"), named("b", "z"))
	if tool, err := w.Door().Tools().Get(t.Context(), c.ID, "b"); err != nil || !tool.Shadowed || tool.AgentName() != "z" {
		t.Errorf("b is %+v, %v", tool, err)
	}
}

func TestToolsAreFoundByWhatBecomesOfThem(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	list := []connectors.Definition{
		fixture.DefinitionOf("drop", `{"name":"drop", "annotations" : {"destructiveHint" : true, "x":"\u0000"}}`),
		fixture.DefinitionOf("quote", `{"name":"quote","description":"say \"destructiveHint\": true"}`),
		fixture.DefinitionOf("read", `{"name":"read","annotations":{"readOnlyHint":true,"destructiveHint":false}}`),
		fixture.DefinitionOf("held", `{"name":"held"}`),
	}
	res := fixture.FirstResult(list...)
	res.Diff.Added[3].Review, res.Diff.Added[3].Accepted = connectors.ReviewNew, nil
	if _, err := w.Door().Syncs().Finish(t.Context(), w.Run(t, c.ID).ID, res); err != nil {
		t.Fatal(err)
	}
	curate(t, w, c.ID, store.CuratedTool{Name: "read", Curation: connectors.Curation{Alias: "peruse", AgentText: "Looks 100% safe.", Tags: []string{"safe"}}})
	for name, c := range map[string]struct {
		filter store.ToolFilter
		want   []string
	}{
		"enabled":        {store.ToolFilter{State: connectors.StandingEnabled}, []string{"drop", "held", "quote"}},
		"disabled":       {store.ToolFilter{State: connectors.StandingDisabled}, []string{"read"}},
		"held":           {store.ToolFilter{State: connectors.StandingHeld}, []string{"held"}},
		"changed":        {store.ToolFilter{State: connectors.StandingChanged}, nil},
		"curated":        {store.ToolFilter{State: connectors.StandingCurated}, []string{"read"}},
		"a tag":          {store.ToolFilter{Tag: "Safe"}, []string{"read"}},
		"no tag":         {store.ToolFilter{Tag: "saf"}, nil},
		"destructive":    {store.ToolFilter{Hint: connectors.HintDestructive}, []string{"drop"}},
		"read-only":      {store.ToolFilter{Hint: connectors.HintReadOnly}, []string{"read"}},
		"by its alias":   {store.ToolFilter{Query: "PERU"}, []string{"read"}},
		"by its text":    {store.ToolFilter{Query: "100% s"}, []string{"read"}},
		"by its tag":     {store.ToolFilter{Query: "safe"}, []string{"read"}},
		"tag and state":  {store.ToolFilter{Tag: "safe", State: connectors.StandingEnabled}, nil},
		"all of a query": {store.ToolFilter{}, []string{"drop", "held", "quote", "read"}},
	} {
		page, err := w.Door().Tools().List(t.Context(), c.filter)
		var got []string
		for _, tool := range page.Items {
			got = append(got, tool.Name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

package store_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func saveItems(t *testing.T, w *fixture.World, id connectors.ConnectorID, items ...connectors.Item) connectors.ItemCounts {
	t.Helper()
	counts, err := w.Door().Connectors().SaveItems(t.Context(), id, connectors.HashItems(items), items)
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

func prompt(name, more string) connectors.Item {
	return connectors.Item{Kind: connectors.ItemPrompt, Key: name, Raw: fmt.Appendf(nil, `{"name":%q%s}`, name, more)}
}

func resource(uri string) connectors.Item {
	return connectors.Item{Kind: connectors.ItemResource, Key: uri, Raw: fmt.Appendf(nil, `{"uri":%q,"name":"A file","description":"About Rivers"}`, uri)}
}

func TestSaveItems_CountsDifferencesAndKeepsTimes(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	first := saveItems(t, w, c.ID, prompt("kept", ""), prompt("changed", ""), prompt("gone", ""), resource("file:///a"))
	if diff := cmp.Diff(connectors.ItemCounts{
		Prompts: connectors.KindCounts{Total: 3, Added: 3}, Resources: connectors.KindCounts{Total: 1, Added: 1},
	}, first); diff != "" {
		t.Error(diff)
	}
	before := listItems(t, w, c.ID, store.ItemFilter{Kind: connectors.ItemPrompt}).Items
	second := saveItems(t, w, c.ID, prompt("new", ""), prompt("changed", `,"title":"Other"`), prompt("kept", ""))
	if diff := cmp.Diff(connectors.ItemCounts{
		Prompts: connectors.KindCounts{Total: 3, Added: 1, Changed: 1, Removed: 1}, Resources: connectors.KindCounts{Removed: 1},
	}, second); diff != "" {
		t.Error(diff)
	}
	after := listItems(t, w, c.ID, store.ItemFilter{Kind: connectors.ItemPrompt}).Items
	kept, changed, added := after[2], after[1], after[0]
	if !kept.FirstSeenAt.Equal(before[0].FirstSeenAt) || !kept.ChangedAt.Equal(before[0].ChangedAt) {
		t.Errorf("kept: %v, was %v", kept, before[0])
	}
	if !changed.FirstSeenAt.Equal(before[1].FirstSeenAt) || !changed.ChangedAt.After(before[1].ChangedAt) {
		t.Errorf("changed: %v, was %v", changed, before[1])
	}
	if !added.FirstSeenAt.After(before[0].FirstSeenAt) {
		t.Errorf("new: %v", added)
	}
	counts, err := w.Door().Connectors().CountItems(t.Context(), c.ID)
	if want := (connectors.ItemCounts{Prompts: connectors.KindCounts{Total: 3}}); err != nil || counts != want {
		t.Errorf("%+v (%v)", counts, err)
	}
}

func listItems(t *testing.T, w *fixture.World, id connectors.ConnectorID, f store.ItemFilter) store.List[connectors.StoredItem] {
	t.Helper()
	f.Connector = id
	list, err := w.Door().Connectors().ListItems(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestListItems_PagesAndSearches(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	items := []connectors.Item{prompt("p", "")}
	for i := range 5 {
		items = append(items, resource(fmt.Sprintf("file:///%d", i)))
	}
	saveItems(t, w, c.ID, items...)
	for query, want := range map[string][]string{
		"":       {"file:///0", "file:///1", "file:///2", "file:///3", "file:///4"},
		"RIVERS": {"file:///0", "file:///1", "file:///2", "file:///3", "file:///4"},
		"///3":   {"file:///3"},
		"zebra":  nil,
	} {
		var got []string
		for page := (store.Page{Limit: 2}); ; {
			filter := store.ItemFilter{Connector: c.ID, Kind: connectors.ItemResource, Query: query, Page: page}
			list := listItems(t, w, c.ID, filter)
			if _, total, err := w.Door().Connectors().ItemPage(t.Context(), filter); total != len(want) || err != nil {
				t.Errorf("%q: counted %d, %v", query, total, err)
			}
			for _, item := range list.Items {
				got = append(got, item.Key)
			}
			if page.Cursor = list.Next; page.Cursor == "" {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
	_, err := w.Door().Connectors().ListItems(t.Context(), store.ItemFilter{Connector: c.ID, Kind: connectors.ItemPrompt, Page: store.Page{Cursor: "x"}})
	if !fault.Is(err, fault.Malformed) {
		t.Errorf("a cursor that is none: %v", err)
	}
}

func TestItems_GoWithTheirConnector(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	saveItems(t, w, c.ID, prompt("a", ""))
	if err := w.Door().Connectors().Delete(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	if counts, err := w.Door().Connectors().CountItems(t.Context(), c.ID); err != nil || counts.Prompts.Total != 0 {
		t.Errorf("%+v are left (%v)", counts, err)
	}
}

func TestSetGrant_DefaultsOfPromptsAndResources(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent := w.Agent(t)
	for name, tc := range map[string]struct {
		grant     connectors.Grant
		prompts   connectors.PromptAccess
		resources connectors.ResourceAccess
	}{
		"all tools":   {connectors.Grant{AllTools: true}, connectors.PromptsListed, connectors.ResourcesListedTemplates},
		"named tools": {connectors.Grant{Tools: []string{"a"}}, connectors.PromptsNone, connectors.ResourcesNone},
		"chosen": {
			connectors.Grant{AllTools: true, Prompts: connectors.PromptsNone, Resources: connectors.ResourcesListed},
			connectors.PromptsNone, connectors.ResourcesListed,
		},
	} {
		tc.grant.AgentID, tc.grant.ConnectorID = agent.ID, w.Connector(t).ID
		if err := w.Door().Agents().SetGrant(t.Context(), tc.grant); err != nil {
			t.Fatal(err)
		}
		got, err := w.Door().Agents().Grant(t.Context(), agent.ID, tc.grant.ConnectorID)
		if err != nil || got.Prompts != tc.prompts || got.Resources != tc.resources {
			t.Errorf("%s: %q, %q (%v)", name, got.Prompts, got.Resources, err)
		}
	}
}

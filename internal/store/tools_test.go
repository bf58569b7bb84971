package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestTools_QueryByWordAndPrefix(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	linear, github := w.Connector(t), w.Connector(t)
	finish(t, w, linear.ID,
		fixture.DefinitionOf("createIssue", `{"name":"createIssue","description":"Opens an issue."}`),
		fixture.DefinitionOf("list_projects", `{"name":"list_projects","title":"Projects","description":"Lists 100% of them."}`))
	finish(t, w, github.ID, fixture.DefinitionOf("create_issue", `{"name":"create_issue","annotations":{"title":"New ticket"}}`))
	w.SyncedIn(t, w.Other, w.ConnectorIn(t, w.Other).ID, "create_issue")

	for query, want := range map[string][]string{
		"":                  {"createIssue", "create_issue", "list_projects"},
		"issue":             {"createIssue", "create_issue"},
		"issues":            {"createIssue", "create_issue"}, // by the word's stem
		"opening":           {"createIssue"},
		"createissue":       {"createIssue"},
		"create":            {"createIssue", "create_issue"},
		"crea":              {"createIssue", "create_issue"},
		"list_pro":          {"list_projects"},
		"list all":          {"list_projects"}, // "all" says nothing in English
		"of":                nil,
		"ticket":            {"create_issue"},
		"projects -lists":   nil,
		"project":           {"list_projects"},
		`"opens an issue"`:  {"createIssue"},
		"%":                 nil,
		"zebra":             nil,
		"is\x00sue & ! ( '": nil,
	} {
		list, err := w.Door().Tools().List(t.Context(), store.ToolFilter{Query: query})
		if err != nil {
			t.Errorf("%q: %v", query, err)
		}
		got := toolNames(list)
		if query == "" || len(want) > 1 { // the database's collation orders the two spellings
			if len(got) != len(want) {
				t.Errorf("%q found %v, want %v", query, got, want)
			}
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}

	list, err := w.Door().Tools().List(t.Context(), store.ToolFilter{Connector: &github.ID})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("one connector's tools: %v, %v", toolNames(list), err)
	}
	if got := list.Items[0]; got.ConnectorSlug != github.Slug || got.ConnectorName != github.Name || got.Title != "New ticket" {
		t.Errorf("tool = %+v", got)
	}
}

func TestTools_QueryByRegularExpression(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	finish(t, w, c.ID,
		fixture.DefinitionOf("get_issue", `{"name":"get_issue","description":"Reads one issue (v2)."}`),
		fixture.DefinitionOf("list_issues", `{"name":"list_issues","title":"All 12 issues"}`),
		fixture.DefinitionOf("wait", `{"name":"wait"}`))
	w.SyncedIn(t, w.Other, w.ConnectorIn(t, w.Other).ID, "get_issue")

	const refused = "refused"
	for query, want := range map[string][]string{
		`/^(get|list)_/`:                        {"get_issue", "list_issues"},
		`/ISSUES$/`:                             {"list_issues"},
		`/\d{2} issues/`:                        {"list_issues"},
		`/\(v2\)/`:                              {"get_issue"},
		`/(?:wai)t/`:                            {"wait"},
		`/nothing/`:                             nil,
		`//`:                                    nil, // words
		`/wait`:                                 nil, // words
		`/(/`:                                   {refused},
		`/(a)\1/`:                               {refused},
		`/a(?=b)/`:                              {refused},
		`/(?i)a/`:                               {refused},
		`/\bget/`:                               {refused}, // a backspace for PostgreSQL
		`/[[=ab=]]/`:                            {refused}, // valid for package regexp alone
		`/(((a{1,30}){1,30}){1,30})/`:           {refused},
		"/" + strings.Repeat("a", 101) + "/":    {refused},
		"/" + strings.Repeat("(a|b)", 20) + "/": nil,
	} {
		for _, order := range []store.SortOrder{{}, {By: "changed"}} {
			list, err := w.Door().Tools().List(t.Context(), store.ToolFilter{Query: query, Page: store.Page{Order: order}})
			got := toolNames(list)
			if fault.Is(err, fault.Invalid) {
				got, err = []string{refused}, nil
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s by %q: %v (-want +got):\n%s", query, order.By, err, diff)
			}
		}
	}
}

func TestRemovedToolsAreListedOnRequestOnly(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Synced(t, c.ID, "kept", "removed")
	res := fixture.FirstResult()
	res.Diff.Removed = []string{"removed"}
	if _, err := w.Door().Syncs().Finish(t.Context(), w.Run(t, c.ID).ID, res); err != nil {
		t.Fatal(err)
	}
	for removed, want := range map[bool][]string{false: {"kept"}, true: {"kept", "removed"}} {
		list, err := w.Door().Tools().List(t.Context(), store.ToolFilter{Removed: removed})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, toolNames(list)); diff != "" {
			t.Errorf("removed %v (-want +got):\n%s", removed, diff)
		}
	}
}

func TestToolsComeInPages(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	seen := map[string]bool{}
	for range 3 { // the same names thrice: the order is total
		var names []string
		for i := range 7 {
			names = append(names, fmt.Sprintf("tool_%d", i))
		}
		w.Synced(t, w.Connector(t).ID, names...)
	}
	page := store.Page{Limit: 4}
	for pages := 0; ; pages++ {
		list, err := w.Door().Tools().List(t.Context(), store.ToolFilter{Page: page})
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Items {
			key := tool.Name + tool.ConnectorID.String()
			if seen[key] {
				t.Errorf("%s came twice", key)
			}
			seen[key] = true
		}
		if page.Cursor = list.Next; page.Cursor == "" || pages > 10 {
			break
		}
	}
	if len(seen) != 21 {
		t.Errorf("%d tools came, want 21", len(seen))
	}
}

func TestAToolThatIsNotThereIsNotFound(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	_, err := w.Door().Tools().Get(t.Context(), c.ID, "no\x00such")
	wantKind(t, err, fault.NotFound)
	_, err = w.Door().Syncs().Baseline(t.Context(), connectors.ConnectorID{})
	wantKind(t, err, fault.NotFound)
}

func finish(t *testing.T, w *fixture.World, id connectors.ConnectorID, defs ...connectors.Definition) {
	t.Helper()
	if _, err := w.Door().Syncs().Finish(t.Context(), w.Run(t, id).ID, fixture.FirstResult(defs...)); err != nil {
		t.Fatal(err)
	}
}

func toolNames(l store.List[connectors.Tool]) []string {
	var names []string
	for _, tool := range l.Items {
		names = append(names, tool.Name)
	}
	return names
}

func TestTools_PageEndsAtMaxBytes(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	raw := func(name string, mib int) []byte {
		return fmt.Appendf(nil, `{"name":%q,"inputSchema":{"x":%q}}`, name, strings.Repeat("x", mib<<20))
	}
	// One is bigger than a page: it has a page of its own.
	sizes := []int{1, 1, store.MaxPageBytes>>20 + 1, 1}
	want := []int{2, 1, 1}
	var defs []connectors.Definition
	var aside []connectors.Quarantined
	for i, mib := range sizes {
		name := fmt.Sprintf("tool_%d", i)
		defs = append(defs, fixture.DefinitionOf(name, string(raw(name, mib))))
		aside = append(aside, connectors.Quarantined{Reason: "no tool", Raw: raw(name, mib)})
	}
	res := fixture.FirstResult(defs...)
	res.Quarantined, res.ServerObservation.Quarantined = aside, len(aside)
	if _, err := w.Door().Syncs().Finish(t.Context(), w.Run(t, c.ID).ID, res); err != nil {
		t.Fatal(err)
	}
	tools := pageSizes(t, func(p store.Page) (store.List[connectors.Tool], error) {
		return w.Door().Tools().List(t.Context(), store.ToolFilter{Page: p})
	})
	if diff := cmp.Diff(want, tools); diff != "" {
		t.Errorf("tools on each page (-want +got):\n%s", diff)
	}
	quarantined := pageSizes(t, func(p store.Page) (store.List[connectors.Quarantined], error) {
		return w.Door().Tools().Quarantined(t.Context(), c.ID, p)
	})
	if diff := cmp.Diff(want, quarantined); diff != "" {
		t.Errorf("quarantined entries on each page (-want +got):\n%s", diff)
	}
}

// pageSizes reads a list to its end and says how many items each page had.
func pageSizes[T any](t *testing.T, read func(store.Page) (store.List[T], error)) (sizes []int) {
	t.Helper()
	for p := (store.Page{}); ; {
		list, err := read(p)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(list.Items))
		if p.Cursor = list.Next; p.Cursor == "" || len(sizes) > 20 {
			return sizes
		}
	}
}

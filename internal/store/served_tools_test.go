package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestServedToolsAreTheAcceptedOnesOfEnabledConnectors(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	connector := func(name string, enabled bool) connectors.ConnectorID {
		return w.Connector(t, func(d *connectors.Draft) { d.Name, d.Slug, d.Enabled = name, strings.ToLower(name), enabled }).ID
	}
	w.Synced(t, connector("Zebra", true), "b", "a", "changed", "waiting", "rejected", "disabled", "gone")
	w.Synced(t, connector("Apple", true), "z")
	w.Synced(t, connector("Off", false), "never")
	for _, change := range []string{
		`update tools set review = 'new', accepted_hash = null where name = 'waiting'`,
		`update tools set review = 'rejected' where name = 'rejected'`,
		`update tools set enabled = false where name = 'disabled'`,
		`update tools set removed_at = now() where name = 'gone'`,
		fmt.Sprintf(`update tools set review = 'changed', current_hash = '\x%s' where name = 'changed'`, fixture.Definition("a").Hash),
	} {
		if err := asSystem(t.Context(), w.Pool, change, nil); err != nil {
			t.Fatal(err)
		}
	}

	before := w.Queries()
	got, err := w.Door().ServedTools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := w.Queries() - before; n != 1 {
		t.Errorf("%d statements, want 1", n)
	}
	serve := func(slug, name string) store.ServedTool {
		return store.ServedTool{ConnectorSlug: slug, Name: name, Raw: fixture.Definition(name).Raw}
	}
	want := []store.ServedTool{
		serve("apple", "z"), serve("zebra", "a"), serve("zebra", "b"), serve("zebra", "changed"),
		{ConnectorSlug: "zebra", Name: "disabled"}, {ConnectorSlug: "zebra", Name: "rejected"}, {ConnectorSlug: "zebra", Name: "waiting"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDefinitionsThatDoNotFitIntoOneAnswerAreNotRead(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	huge := fmt.Sprintf(`{"name":"huge","x":%q}`, strings.Repeat("x", 8<<20))
	names := []string{"a", "b", "c", "d", "e"}
	defs := make([]connectors.Definition, len(names))
	for i, name := range names {
		defs[i] = fixture.DefinitionOf(name, strings.Replace(huge, "huge", name, 1))
	}
	id := w.Connector(t).ID
	finish(t, w, id, defs...)
	_, err := w.Door().ServedTools(t.Context())
	wantKind(t, err, fault.Conflict)
	if err := asSystem(t.Context(), w.Pool, `update tools set enabled = false where name in ('d', 'e')`, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Door().ServedTools(t.Context()); err != nil || len(got) != 5 || len(got[0].Raw) < 8<<20 || got[4].Raw != nil {
		t.Errorf("%d tools, %v", len(got), err)
	}
}

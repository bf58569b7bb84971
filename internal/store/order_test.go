package store_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// throughout reads a list page by page, and fails where a page is longer than it may be.
func throughout[T any](t *testing.T, limit int, o store.SortOrder, read func(store.Page) (store.List[T], error)) []T {
	t.Helper()
	var all []T
	for cursor := ""; ; {
		list, err := read(store.Page{Limit: limit, Cursor: cursor, Order: o})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) > limit {
			t.Fatalf("%d on a page of %d", len(list.Items), limit)
		}
		all = append(all, list.Items...)
		if cursor = list.Next; cursor == "" {
			return all
		}
	}
}

func names[T any](items []T, name func(T) string) []string {
	all := make([]string, len(items))
	for i, item := range items {
		all[i] = name(item)
	}
	return all
}

func TestConnectors_OrderHoldsAcrossPages(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for name, tools := range map[string]int{"Atlas": 2, "birch": 0, "Cedar": 11, "Dune": 2} {
		c := w.Connector(t, func(d *connectors.Draft) { d.Name = name; d.Enabled = name != "birch" })
		all := make([]string, tools)
		for i := range all {
			all[i] = fmt.Sprintf("tool_%d", i)
		}
		if tools > 0 {
			w.Synced(t, c.ID, all...)
		}
	}
	w.ConnectorIn(t, w.Other, func(d *connectors.Draft) { d.Name = "Another tenant's" })
	read := func(p store.Page) (store.List[connectors.Connector], error) {
		return w.Door().Connectors().List(t.Context(), store.ConnectorFilter{Page: p})
	}
	for order, want := range map[store.SortOrder][]string{
		{}:                                {"Atlas", "birch", "Cedar", "Dune"},
		{By: "name"}:                      {"Atlas", "birch", "Cedar", "Dune"},
		{By: "name", Descending: true}:    {"Dune", "Cedar", "birch", "Atlas"},
		{By: "tools"}:                     {"birch", "Atlas", "Dune", "Cedar"},
		{By: "tools", Descending: true}:   {"Cedar", "Atlas", "Dune", "birch"},
		{By: "status"}:                    {"Atlas", "Cedar", "Dune", "birch"},
		{By: "status", Descending: true}:  {"birch", "Atlas", "Cedar", "Dune"},
		{By: "nothing", Descending: true}: {"Atlas", "birch", "Cedar", "Dune"},
	} {
		for limit := 1; limit <= 4; limit++ {
			have := names(throughout(t, limit, order, read), func(c connectors.Connector) string { return c.Name })
			if diff := cmp.Diff(want, have); diff != "" {
				t.Errorf("by %+v, %d on a page:\n%s", order, limit, diff)
			}
		}
	}
	synced := names(throughout(t, 2, store.SortOrder{By: "synced", Descending: true}, read), func(c connectors.Connector) string { return c.Name })
	if synced[3] != "birch" {
		t.Errorf("by the last sync: %v", synced)
	}
}

func TestAgents_OrderHoldsAcrossPages(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for _, name := range []string{"Cleo", "ada", "Ben"} {
		w.Agent(t, func(a *connectors.Agent) { a.Name = name; a.Enabled = name != "ada" })
	}
	read := func(p store.Page) (store.List[connectors.Agent], error) {
		return w.Door().Agents().List(t.Context(), p)
	}
	for order, want := range map[store.SortOrder][]string{
		{}:                              {"ada", "Ben", "Cleo"},
		{By: "name", Descending: true}:  {"Cleo", "Ben", "ada"},
		{By: "state"}:                   {"ada", "Ben", "Cleo"},
		{By: "state", Descending: true}: {"Ben", "Cleo", "ada"},
		{By: "added"}:                   {"Cleo", "ada", "Ben"},
		{By: "added", Descending: true}: {"Ben", "ada", "Cleo"},
		{By: "approval"}:                {"ada", "Ben", "Cleo"},
	} {
		for limit := 1; limit <= 3; limit++ {
			have := names(throughout(t, limit, order, read), func(a connectors.Agent) string { return a.Name })
			if diff := cmp.Diff(want, have); diff != "" {
				t.Errorf("by %+v, %d on a page:\n%s", order, limit, diff)
			}
		}
	}
}

func TestTools_OrderHoldsAcrossPages(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	first := w.Connector(t, func(d *connectors.Draft) { d.Name = "Zebra" })
	second := w.Connector(t, func(d *connectors.Draft) { d.Name = "Ant" })
	w.Synced(t, first.ID, "alpha", "delta")
	w.Synced(t, second.ID, "beta", "delta")
	read := func(p store.Page) (store.List[connectors.Tool], error) {
		return w.Door().Tools().List(t.Context(), store.ToolFilter{Page: p})
	}
	of := func(x connectors.Tool) string { return x.ConnectorName + " " + x.Name }
	for order, want := range map[store.SortOrder][]string{
		{By: "connector"}:                   {"Ant beta", "Ant delta", "Zebra alpha", "Zebra delta"},
		{By: "connector", Descending: true}: {"Zebra alpha", "Zebra delta", "Ant beta", "Ant delta"},
		{By: "changed"}:                     {"Zebra alpha", "Zebra delta", "Ant beta", "Ant delta"},
		{By: "changed", Descending: true}:   {"Ant beta", "Ant delta", "Zebra alpha", "Zebra delta"},
	} {
		for limit := 1; limit <= 4; limit++ {
			if diff := cmp.Diff(want, names(throughout(t, limit, order, read), of)); diff != "" {
				t.Errorf("by %+v, %d on a page:\n%s", order, limit, diff)
			}
		}
	}
	up := names(throughout(t, 3, store.SortOrder{}, read), of)
	down := names(throughout(t, 1, store.SortOrder{By: "name", Descending: true}, read), of)
	slices.Reverse(down)
	if diff := cmp.Diff(up, down); diff != "" {
		t.Error(diff)
	}
	found, err := w.Door().Tools().List(t.Context(), store.ToolFilter{Query: "delta", Connector: &second.ID, Page: store.Page{Order: store.SortOrder{By: "connector"}}})
	if err != nil || len(found.Items) != 1 || of(found.Items[0]) != "Ant delta" {
		t.Errorf("found %v, %v", found.Items, err)
	}
}

func TestACursorIsOfTheOrderThatItWasMadeIn(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	w.Agent(t)
	w.Agent(t)
	list, err := w.Door().Agents().List(t.Context(), store.Page{Limit: 1, Order: store.SortOrder{By: "added"}})
	if err != nil || list.Next == "" {
		t.Fatal(list.Next, err)
	}
	for _, o := range []store.SortOrder{{}, {By: "added", Descending: true}, {By: "state"}} {
		if _, err := w.Door().Agents().List(t.Context(), store.Page{Limit: 1, Cursor: list.Next, Order: o}); !fault.Is(err, fault.Malformed) {
			t.Errorf("in %+v: %v", o, err)
		}
	}
}

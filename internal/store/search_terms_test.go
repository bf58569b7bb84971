package store_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// learnTerms adds terms of a tool of weight 1.
func learnTerms(t *testing.T, door *store.Tenant, c connectors.ConnectorID, tool string, terms ...string) {
	t.Helper()
	var all []store.LearnedTerm
	for _, term := range terms {
		all = append(all, store.LearnedTerm{ToolKey: store.ToolKey{ConnectorID: c, Tool: tool}, Term: term, Weight: 1})
	}
	if err := door.Tools().AddLearned(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

// learnedWeights returns the weights by "tool term".
func learnedWeights(t *testing.T, door *store.Tenant) map[string]float64 {
	t.Helper()
	rows, err := door.Tools().Learned(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	weights := map[string]float64{}
	for _, r := range rows {
		weights[r.Tool+" "+r.Term] = math.Round(100*r.Weight) / 100
	}
	if !slices.IsSortedFunc(rows, func(a, b store.LearnedTerm) int { return int(1000 * (b.Weight - a.Weight)) }) {
		t.Errorf("not by weight: %v", rows)
	}
	return weights
}

func TestLearned_AddsAndHalves(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	learnTerms(t, w.Door(), c.ID, "search", "find", "issu")
	learnTerms(t, w.Door(), c.ID, "search", "find")
	learnTerms(t, w.Door(), c.ID, strings.Repeat("x", 300), "find")
	learnTerms(t, w.Door(), c.ID, "search", strings.Repeat("x", 40), "")
	if got := fmt.Sprint(learnedWeights(t, w.Door())); got != "map[search find:2 search issu:1]" {
		t.Errorf("learned %s", got)
	}
	w.AsSystem(t, "update search_terms set learned_at = now() - interval '60 days'", nil)
	learnTerms(t, w.Door(), c.ID, "search", "issu")
	if got := fmt.Sprint(learnedWeights(t, w.Door())); got != "map[search find:0.5 search issu:1.25]" {
		t.Errorf("after 60 days %s", got)
	}
	for range 20 {
		learnTerms(t, w.Door(), c.ID, "search", "find")
	}
	if got := learnedWeights(t, w.Door())["search find"]; got != 16 {
		t.Errorf("the weight grows to %v", got)
	}
	w.AsSystem(t, "update search_terms set learned_at = now() - interval '150 days' where term = 'issu'", nil)
	if got := fmt.Sprint(learnedWeights(t, w.Door())); got != "map[search find:16]" {
		t.Errorf("after 150 days %s", got)
	}
	learnTerms(t, w.Door(), c.ID, "search", "find")
	if n := w.Count(t, "search_terms"); n != 1 {
		t.Errorf("%d rows are left", n)
	}
	w.AsSystem(t, "update search_terms set learned_at = now() - interval '241 days'", nil)
	if _, err := w.St.System().Calls().SweepGateway(t.Context(), w.Instance); err != nil {
		t.Fatal(err)
	}
	if n := w.Count(t, "search_terms"); n != 0 {
		t.Errorf("%d rows are left after 241 days", n)
	}
}

func TestLearned_IsBounded(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	learnTerms(t, w.Door(), c.ID, "kept", "often")
	learnTerms(t, w.Door(), c.ID, "kept", "often")
	for i := range 3 {
		terms := make([]string, store.MaxLearnedRows/2)
		for j := range terms {
			terms[j] = fmt.Sprintf("t%d-%d", i, j)
		}
		learnTerms(t, w.Door(), c.ID, "flood", terms...)
	}
	if n := w.Count(t, "search_terms"); n != store.MaxLearnedRows {
		t.Errorf("%d rows", n)
	}
	if got := learnedWeights(t, w.Door()); len(got) != store.MaxLearnedRows || got["kept often"] != 2 {
		t.Errorf("%d terms are read, the usual one weighs %v", len(got), got["kept often"])
	}
	for i := range 8 {
		terms := make([]string, 1000)
		for j := range terms {
			terms[j] = fmt.Sprintf("t%d-%d", i, j)
		}
		learnTerms(t, w.Door(), c.ID, strings.Repeat("x", 250), terms...)
		learnTerms(t, w.Door(), c.ID, strings.Repeat("x", 250), terms...)
	}
	var bytes int
	w.AsSystem(t, "select sum(octet_length(tool) + octet_length(term)) from search_terms", nil, &bytes)
	if bytes > 1<<20 || bytes < 1<<19 {
		t.Errorf("%d bytes", bytes)
	}
}

func TestLearned_EndsWithItsConnectorAndWithTheHistory(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, deleted := w.Connector(t), w.Connector(t)
	learnTerms(t, w.Door(), c.ID, "search", "find")
	learnTerms(t, w.Door(), deleted.ID, "search", "find")
	if err := w.Door().Connectors().Delete(t.Context(), deleted.ID); err != nil {
		t.Fatal(err)
	}
	learnTerms(t, w.Door(), deleted.ID, "search", "issu")
	if n := w.Count(t, "search_terms"); n != 1 {
		t.Errorf("%d rows without the connector", n)
	}
	theirs := w.ConnectorIn(t, w.Other)
	learnTerms(t, w.OtherDoor(), theirs.ID, "search", "find")
	if err := w.Door().SetCallSettings(t.Context(), connectors.HistoryNone, connectors.ReadersEveryone, time.Minute); err != nil {
		t.Fatal(err)
	}
	learnTerms(t, w.Door(), c.ID, "search", "find")
	if got, other := learnedWeights(t, w.Door()), learnedWeights(t, w.OtherDoor()); len(got) != 0 || len(other) != 1 {
		t.Errorf("without a history %v; the other tenant has %v", got, other)
	}
}

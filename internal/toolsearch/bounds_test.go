package toolsearch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/toolsearch"
)

// manyWords returns tools with this number of words each in their descriptions, all different.
func manyWords(tools, words int) []toolsearch.Tool {
	all := make([]toolsearch.Tool, tools)
	for i := range all {
		var text strings.Builder
		for j := range words {
			fmt.Fprintf(&text, "w%05x ", i*words+j)
		}
		all[i] = toolsearch.Tool{Name: fmt.Sprintf("tool_n%d", i), Description: text.String()}
	}
	return all
}

func TestIndex_BoundsTerms(t *testing.T) {
	t.Parallel()
	one := manyWords(1, 500)
	if terms, _ := toolsearch.New(one).Counts(); terms != 400 {
		t.Errorf("a tool has %d terms", terms)
	}
	tools := manyWords(600, 500)
	x := toolsearch.New(tools)
	terms, postings := x.Counts()
	if terms < 190_000 || terms > 200_000 || postings > 400*len(tools) {
		t.Errorf("%d terms, %d postings", terms, postings)
	}
	if found := namesOf(tools, x.Search("n7", 1, nil)); !slices.Equal(found, []string{"tool_n7"}) {
		t.Errorf("found %v", found)
	}
}

func TestSearch_ComparesFewTermsWithMisspelledWords(t *testing.T) {
	t.Parallel()
	tools := append(manyWords(50, 300), toolsearch.Tool{Name: "forecast", Description: "Returns the weather"})
	x := toolsearch.New(tools)
	for _, stem := range []string{"w", "w02000", "weathre", "zzz", "\u00e9"} {
		if start, end := x.ComparedTerms(stem); start < 0 || end < start || end-start > 5000 {
			t.Errorf("%q is compared with %d to %d", stem, start, end)
		}
	}
	if found := namesOf(tools, x.Search("weathre", 1, nil)); !slices.Equal(found, []string{"forecast"}) {
		t.Errorf("found %v", found)
	}
}

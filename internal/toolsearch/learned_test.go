package toolsearch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/toolsearch"
)

// learnWords learns all words of a question, in lower case.
func learnWords(l toolsearch.Learned, words, tool string) toolsearch.Learned {
	all := toolsearch.New([]toolsearch.Tool{{Name: "all", Description: words}})
	return toolsearch.Learn(l, all.KnownTerms(words), tool)
}

func TestLearn_ChangesNoOther(t *testing.T) {
	t.Parallel()
	first := learnWords(nil, "open tickets", "list_issues")
	before := fmt.Sprint(first)
	second := learnWords(first, "Open a ticket, a ticket", "create_issue")
	if fmt.Sprint(first) != before {
		t.Errorf("changed to %v", first)
	}
	if got := second["ticket"]["create_issue"]; got != 1 {
		t.Errorf("a question counts %v for a word that it repeats", got)
	}
	if got := second["ticket"]["list_issues"]; got >= 1 || got < 0.9 {
		t.Errorf("the other tool has %v", got)
	}
}

func TestLearn_IsBounded(t *testing.T) {
	t.Parallel()
	var learned toolsearch.Learned
	for range 5 {
		learned = learnWords(learned, "often asked", "usual")
	}
	for i := range 1500 {
		learned = learnWords(learned, fmt.Sprintf("often qa%d qb%d qc%d", i, i, i), fmt.Sprintf("tool_%d", i))
	}
	if len(learned) > toolsearch.MaxLearnedTerms {
		t.Errorf("%d terms", len(learned))
	}
	for term, tools := range learned {
		if len(tools) > toolsearch.MaxLearnedTools {
			t.Errorf("%s: %d tools", term, len(tools))
		}
	}
	if learned["ask"]["usual"] == 0 {
		t.Error("what was asked often left before what was asked once")
	}
}

func TestLearn_ForgetsWhatIsNotUsed(t *testing.T) {
	t.Parallel()
	learned := learnWords(nil, "deploy", "old_deploy")
	for range 200 {
		learned = learnWords(learned, "deploy", "new_deploy")
	}
	if _, known := learned["deploy"]["old_deploy"]; known {
		t.Errorf("%v", learned)
	}
}

func TestKnownTerms_LeavesOtherWordsOut(t *testing.T) {
	t.Parallel()
	x := toolsearch.New([]toolsearch.Tool{{Name: "create_issue", Description: "Creates an issue, in 2024 or later."}})
	got := x.KnownTerms("Create tickets about the invoice of Zaphod Beeblebrox, +49 30 123456, since 2024: create an issue")
	if want := []string{"creat", "ticket", "invoic"}; fmt.Sprint(got[:2]) != fmt.Sprint(want[:2]) || slices.ContainsFunc(got, func(term string) bool {
		return strings.ContainsAny(term, "0123456789") || strings.HasPrefix(term, "zaphod") || strings.HasPrefix(term, "beeble")
	}) {
		t.Errorf("%q", got)
	}
	var long strings.Builder
	for i := range 40 {
		fmt.Fprintf(&long, "word%c%c ", 'a'+i%20, 'a'+i/20)
	}
	if got := toolsearch.New([]toolsearch.Tool{{Name: "a", Description: long.String()}}).KnownTerms(long.String()); len(got) != toolsearch.MaxQuestionTerms {
		t.Errorf("%d terms of a long question", len(got))
	}
}

// TestHistory_IsBoundByWhatIsAsked lets one call lead from a question to another tool than it asks for.
func TestHistory_IsBoundByWhatIsAsked(t *testing.T) {
	t.Parallel()
	names := []string{"get_invoice", "delete_invoice", "list_payments"}
	var tools []toolsearch.Tool
	for _, name := range names {
		tools = append(tools, toolsearch.Tool{Name: name, Key: name})
	}
	index := toolsearch.New(tools)
	for _, tc := range []struct{ learned, from, asked, want string }{
		{"delete_invoice", "get the invoice", "get the invoice of March", "get_invoice"},
		{"delete_invoice", "delete the invoice", "invoice", "delete_invoice"}, // no verb
		{"delete_invoice", "delete the invoice", "remove the invoice of March", "delete_invoice"},
		{"list_payments", "get the invoice", "get_invoice", "get_invoice"},
		{"list_payments", "get the invoice", "get the invoice of March", "list_payments"}, // what history is for
	} {
		var learned toolsearch.Learned
		for range 20 {
			learned = learnWords(learned, tc.from, tc.learned)
		}
		hits := index.Search(tc.asked, 3, learned)
		if len(hits) == 0 || names[hits[0].Tool] != tc.want {
			t.Errorf("%q after %q led to %s: %v", tc.asked, tc.from, tc.learned, hits)
		}
		for _, hit := range hits {
			for _, r := range hit.Reasons {
				if r.Field == toolsearch.FieldHistory && names[hit.Tool] != tc.want {
					t.Errorf("%q: %s has a reason by history", tc.asked, names[hit.Tool])
				}
			}
		}
	}
}

package toolsearch_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"patchbay/internal/toolsearch"
)

func TestLearn_ChangesNoOther(t *testing.T) {
	t.Parallel()
	first := toolsearch.Learn(nil, "open tickets", "list_issues")
	before := fmt.Sprint(first)
	second := toolsearch.Learn(first, "Open a ticket, a ticket", "create_issue")
	toolsearch.Decay(first, 0.5)
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
		learned = toolsearch.Learn(learned, "often asked", "usual")
	}
	for i := range 1500 {
		learned = toolsearch.Learn(learned, fmt.Sprintf("often qa%d qb%d qc%d", i, i, i), fmt.Sprintf("tool_%d", i))
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
	learned := toolsearch.Learn(nil, "deploy", "old_deploy")
	for range 200 {
		learned = toolsearch.Learn(learned, "deploy", "new_deploy")
	}
	if _, known := learned["deploy"]["old_deploy"]; known {
		t.Errorf("%v", learned)
	}
	if got := len(toolsearch.Decay(learned, 0)); got != 0 {
		t.Errorf("%d terms after full decay", got)
	}
}

func TestLearned_KeepsItsJSON(t *testing.T) {
	t.Parallel()
	learned := toolsearch.Learn(toolsearch.Learn(nil, "open tickets", "a"), "tickets", "b")
	stored, err := json.Marshal(learned)
	if err != nil {
		t.Fatal(err)
	}
	var read toolsearch.Learned
	if err := json.Unmarshal(stored, &read); err != nil || !reflect.DeepEqual(read, learned) {
		t.Errorf("%v, %v", read, err)
	}
}

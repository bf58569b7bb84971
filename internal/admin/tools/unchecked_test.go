package tools

import (
	"testing"

	"patchbay/internal/agentview"
)

func TestUncheckedFactsNamePlaceAndReason(t *testing.T) {
	t.Parallel()
	facts := UncheckedFacts(t.Context(), []agentview.UncheckedPart{{Pointer: "/properties/a/pattern", Reason: agentview.UncheckedPattern}, {Reason: agentview.UncheckedSize}})
	if len(facts) != 3 || facts[0].Value != "/properties/a/pattern: the regular expression is too large" || facts[1].Value != "the schema is too large" ||
		facts[2].Value != "arguments too large or nested too deeply to check in 50 ms" {
		t.Errorf("%+v", facts)
	}
	if facts = UncheckedFacts(t.Context(), []agentview.UncheckedPart{{Reason: agentview.UncheckedCombination}}); len(facts) != 1 {
		t.Errorf("the bound is named twice: %+v", facts)
	}
	if facts = UncheckedFacts(t.Context(), make([]agentview.UncheckedPart, 20)); len(facts) != maxUncheckedFacts+2 {
		t.Errorf("%d facts", len(facts))
	}
}

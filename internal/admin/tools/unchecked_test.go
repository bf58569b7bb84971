package tools

import (
	"testing"

	"patchbay/internal/agentview"
)

func TestUncheckedFactsNamePlaceAndReason(t *testing.T) {
	t.Parallel()
	facts := UncheckedFacts(t.Context(), []agentview.UncheckedPart{{Pointer: "/properties/a/pattern", Reason: agentview.UncheckedPattern}, {Reason: agentview.UncheckedSize}})
	if len(facts) != 3 || facts[0].Value != "/properties/a/pattern: regular expression too large" || facts[1].Value != "schema too large" ||
		facts[2].Value != "arguments that take over 50 ms to check" {
		t.Errorf("%+v", facts)
	}
	if facts = UncheckedFacts(t.Context(), []agentview.UncheckedPart{{Reason: agentview.UncheckedCombination}}); len(facts) != 1 {
		t.Errorf("the bound is named twice: %+v", facts)
	}
	if facts = UncheckedFacts(t.Context(), make([]agentview.UncheckedPart, 20)); len(facts) != maxUncheckedFacts+2 {
		t.Errorf("%d facts", len(facts))
	}
}

package admin

import (
	"testing"

	"patchbay/internal/access"
)

func TestUncheckedFactsNamePlaceAndReason(t *testing.T) {
	t.Parallel()
	facts := uncheckedFacts(t.Context(), []access.Unchecked{{Place: "/properties/a/pattern", Reason: access.UncheckedPattern}, {Reason: access.UncheckedSize}})
	if len(facts) != 2 || facts[0].Value != "/properties/a/pattern: the regular expression is too large" || facts[1].Value != "the schema is too large" {
		t.Errorf("%+v", facts)
	}
	if facts = uncheckedFacts(t.Context(), make([]access.Unchecked, 20)); len(facts) != maxUncheckedFacts+1 {
		t.Errorf("%d facts", len(facts))
	}
}

package agentview

import (
	"strconv"
	"testing"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// The waiting terms of one tenant leave room for those of others.
func TestLearning_BoundsTheTermsOfATenant(t *testing.T) {
	t.Parallel()
	l := newLearning(Options{})
	add := func(terms int) (added int) {
		tenant := connectors.TenantID{UUID: uuid.New()}
		for n := range terms {
			l.addLessons(tenant, store.ToolKey{Tool: "search"}, []string{strconv.Itoa(n)})
		}
		l.addLessons(tenant, store.ToolKey{Tool: "search"}, []string{"0"}) // a known term is no more
		return len(l.lessons[tenant])
	}
	if n := add(maxTenantLessons + 10); n != maxTenantLessons {
		t.Errorf("%d terms of one tenant", n)
	}
	for range 2 {
		add(maxTenantLessons)
	}
	if n := add(maxTenantLessons); n != maxTenantLessons {
		t.Errorf("%d terms of the last tenant", n)
	}
	if n := add(1); n != 0 || l.lessonCount != maxLessons {
		t.Errorf("%d terms beyond the bound of all tenants, %d in all", n, l.lessonCount)
	}
}

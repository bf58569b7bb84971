package manage_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/manage"
)

// To grant all tools grants again what has ended, without an end. An end to come stays.
func TestChangeGrants_AllToolsAgainAfterEnd(t *testing.T) {
	t.Parallel()
	past, soon := time.Now().Add(-time.Hour).UTC().Truncate(time.Second), time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	ended := func(g *connectors.Grant) { g.Ends = &connectors.GrantEnds{Until: &past} }
	for name, test := range map[string]struct {
		grant   func(*connectors.Grant)
		changed int
		until   *time.Time
	}{
		"ended":                {grant: ended, changed: 1},
		"some, ended":          {grant: func(g *connectors.Grant) { ended(g); g.AllTools, g.Tools = false, []string{"search"} }, changed: 1},
		"ended but for a tool": {grant: func(g *connectors.Grant) { ended(g); g.Ends.Tools = map[string]*time.Time{"search": &soon} }, changed: 1},
		"ends later":           {grant: func(g *connectors.Grant) { g.Ends = &connectors.GrantEnds{Until: &soon} }, until: &soon},
		"some, ends later": {
			grant: func(g *connectors.Grant) {
				g.AllTools, g.Tools, g.Ends = false, []string{"search"}, &connectors.GrantEnds{Until: &soon}
			}, changed: 1, until: &soon,
		},
	} {
		e := newAskEnv(t)
		e.Grant(t, e.agent.ID, e.server.ID, test.grant)
		for range 2 { // the second time nothing is left to change
			changed, err := e.reg.ChangeGrants(t.Context(), e.admin, connectors.Ref(e.agent.Slug), []connectors.Ref{connectors.Ref(e.server.Slug)}, manage.GrantChange{AllTools: true, Sure: true})
			if err != nil || changed != test.changed {
				t.Errorf("%s: %d changed, %v; want %d", name, changed, err, test.changed)
			}
			test.changed = 0
		}
		g := e.grant(t)
		if diff := cmp.Diff(test.until, g.Until()); diff != "" || !g.At(time.Now()).AllTools {
			t.Errorf("%s: granted %+v, %s", name, g, diff)
		}
	}
}

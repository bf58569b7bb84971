package connectors_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/toolchange"
)

func newDefinition(name, raw string) connectors.Definition {
	return connectors.Definition{Name: name, Raw: []byte(raw), Hash: connectors.HashDefinition([]byte(raw))}
}

func newTool(name, rest string) connectors.Definition {
	return newDefinition(name, fmt.Sprintf(`{"name":%q%s}`, name, rest))
}

func hashOf(d connectors.Definition) *connectors.Hash { return &d.Hash }

func newState(d connectors.Definition, accepted *connectors.Hash, review connectors.Review) connectors.ToolState {
	return connectors.ToolState{Name: d.Name, Current: d.Hash, Accepted: accepted, Review: review}
}

// decideReview compares one stored tool with a listed one and returns the new review; "": nothing to write.
func decideReview(policy connectors.ToolChangePolicy, old *connectors.ToolState, accepted, now connectors.Definition) connectors.Review {
	c := connectors.Comparison{List: []connectors.Definition{now}, Policy: policy, Accepted: map[connectors.Hash][]byte{}}
	if old != nil {
		c.Old = []connectors.ToolState{*old}
	}
	for _, h := range c.AcceptedNeeded() {
		if h == accepted.Hash {
			c.Accepted[h] = accepted.Raw
		}
	}
	d := connectors.Diff(c)
	for _, w := range slices.Concat(d.Added, d.Changed) {
		return w.Review
	}
	return ""
}

func TestDiff_FirstSyncAcceptsEverything(t *testing.T) {
	t.Parallel()
	for _, policy := range []connectors.ToolChangePolicy{"auto", "hold_risky", "hold_all"} {
		d := connectors.Diff(connectors.Comparison{
			List: []connectors.Definition{newTool("b", ""), newTool("a", "")}, Policy: policy, First: true,
		})
		if len(d.Added) != 2 || d.Added[0].Name != "a" || d.Added[0].Review != connectors.ReviewAccepted || *d.Added[0].Accepted != d.Added[0].Current {
			t.Errorf("%s: %+v", policy, d)
		}
	}
}

func TestDiff_WaitsForReview(t *testing.T) {
	t.Parallel()
	base := newTool("t", `,"title":"T","description":"d","inputSchema":{"type":"object"},"annotations":{"title":"x","readOnlyHint":true}`)
	accepted := newState(base, hashOf(base), connectors.ReviewAccepted)
	change := func(rest string) connectors.Definition { return newTool("t", rest) }
	for name, tc := range map[string]struct {
		old                 *connectors.ToolState
		now                 connectors.Definition
		risky, all, unasked connectors.Review
	}{
		"a new tool":                    {nil, change(`,"description":"d"`), "new", "new", "accepted"},
		"a new tool that reads":         {nil, change(`,"annotations":{"readOnlyHint":true}`), "accepted", "new", "accepted"},
		"a new one that reads, hidden":  {nil, change(`,"description":"a\u200bb","annotations":{"readOnlyHint":true}`), "new", "new", "accepted"},
		"a new one that says it oddly":  {nil, change(`,"annotations":{"readOnlyHint":"true"}`), "new", "new", "accepted"},
		"a new one, annotations no map": {nil, change(`,"annotations":[]`), "new", "new", "accepted"},
		"the same":                      {&accepted, base, "", "", ""},
		"another title": {&accepted, change(`,"title":"U","description":"d","inputSchema":{"type":"object"},"annotations":{"title":"y","readOnlyHint":true}`),
			"accepted", "changed", "accepted"},
		"white space, icons and _meta": {&accepted, change(`, "title":"T", "description":"d","inputSchema":{ "type":"object" },"annotations":{"title":"x","readOnlyHint":true},"icons":[],"_meta":{"v":2}`),
			"accepted", "changed", "accepted"},
		"a title with hidden text": {&accepted, change(`,"title":"T\ue0041\udb40\udc41","description":"d","inputSchema":{"type":"object"},"annotations":{"title":"x","readOnlyHint":true}`),
			"changed", "changed", "accepted"},
		"another description": {&accepted, change(`,"title":"T","description":"e","inputSchema":{"type":"object"},"annotations":{"title":"x","readOnlyHint":true}`),
			"changed", "changed", "accepted"},
		"another schema": {&accepted, change(`,"title":"T","description":"d","inputSchema":{"type":"object","properties":{}},"annotations":{"title":"x","readOnlyHint":true}`),
			"accepted", "changed", "accepted"}, // an equivalent definition
		"a parameter more": {&accepted, change(`,"title":"T","description":"d","inputSchema":{"type":"object","properties":{"x":{}}},"annotations":{"title":"x","readOnlyHint":true}`),
			"changed", "changed", "accepted"},
		"a hint that went": {&accepted, change(`,"title":"T","description":"d","inputSchema":{"type":"object"},"annotations":{"title":"x"}`),
			"changed", "changed", "accepted"},
		"an unknown field": {&accepted, change(`,"title":"T","description":"d","inputSchema":{"type":"object"},"annotations":{"title":"x","readOnlyHint":true},"execution":{}`),
			"changed", "changed", "accepted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for policy, want := range map[connectors.ToolChangePolicy]connectors.Review{"hold_risky": tc.risky, "hold_all": tc.all, "auto": tc.unasked} {
				if got := decideReview(policy, tc.old, base, tc.now); got != want {
					t.Errorf("%s: %q, want %q", policy, got, want)
				}
			}
		})
	}
}

func TestDiff_RevertNeedsNoReview(t *testing.T) {
	t.Parallel()
	good, other := newTool("t", `,"description":"good"`), newTool("t", `,"description":"other"`)
	for _, review := range []connectors.Review{connectors.ReviewChanged, connectors.ReviewRejected} {
		old := newState(other, hashOf(good), review)
		if got := decideReview("hold_all", &old, good, good); got != connectors.ReviewAccepted {
			t.Errorf("from %s: %q", review, got)
		}
	}
}

func TestDiff_RejectedToolStaysRejected(t *testing.T) {
	t.Parallel()
	bad, worse := newTool("t", `,"description":"bad"`), newTool("t", `,"annotations":{"readOnlyHint":true}`)
	old := newState(bad, nil, connectors.ReviewRejected)
	for _, policy := range []connectors.ToolChangePolicy{"auto", "hold_risky", "hold_all"} {
		if got := decideReview(policy, &old, bad, worse); got != connectors.ReviewNew {
			t.Errorf("%s: %q", policy, got)
		}
		if got := decideReview(policy, &old, bad, bad); got != "" {
			t.Errorf("%s, unchanged: %q", policy, got)
		}
	}
}

func TestDiff_ReturnedToolKeepsReview(t *testing.T) {
	t.Parallel()
	same := newTool("t", `,"description":"d"`)
	for _, review := range []connectors.Review{connectors.ReviewAccepted, connectors.ReviewRejected} {
		old := newState(same, hashOf(same), review)
		old.Removed = true
		d := connectors.Diff(connectors.Comparison{Old: []connectors.ToolState{old}, List: []connectors.Definition{same}, Policy: "hold_all"})
		if len(d.Added) != 1 || !d.Added[0].Returned || d.Added[0].Review != review {
			t.Errorf("%s: %+v", review, d)
		}
	}
}

func TestDiff_ChangeOfUnknownDefinitionWaits(t *testing.T) {
	t.Parallel()
	base, now := newTool("t", `,"title":"a"`), newTool("t", `,"title":"b"`)
	old := newState(base, hashOf(base), connectors.ReviewAccepted)
	c := connectors.Comparison{Old: []connectors.ToolState{old}, List: []connectors.Definition{now}, Policy: "hold_risky"}
	if diff := cmp.Diff([]connectors.Hash{base.Hash}, c.AcceptedNeeded()); diff != "" {
		t.Error(diff)
	}
	if d := connectors.Diff(c); d.Changed[0].Review != connectors.ReviewChanged {
		t.Errorf("%+v", d)
	}
}

// TestDiff_AppliedGivesList checks with random lists that a diff writes exactly what differs.
func TestDiff_AppliedGivesList(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	policies := []connectors.ToolChangePolicy{"auto", "hold_risky", "hold_all"}
	stored := map[string]connectors.ToolState{}
	for round := range 500 {
		var list []connectors.Definition
		for i := range 8 {
			if rnd.IntN(3) > 0 {
				list = append(list, newTool(fmt.Sprint(i), fmt.Sprintf(`,"description":"%d"`, rnd.IntN(3))))
			}
		}
		rnd.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		var old []connectors.ToolState
		for _, s := range stored {
			old = append(old, s)
		}
		d := connectors.Diff(connectors.Comparison{Old: old, List: list, Policy: policies[rnd.IntN(3)], First: round == 0})
		for _, w := range slices.Concat(d.Added, d.Changed) {
			if before, there := stored[w.Name]; there && before.Current == w.Current && !before.Removed {
				t.Fatalf("round %d writes %s, which is as it was", round, w.Name)
			}
			checkState(t, w)
			stored[w.Name] = connectors.ToolState{Name: w.Name, Current: w.Current, Accepted: w.Accepted, Review: w.Review}
		}
		for _, name := range d.Removed {
			s := stored[name]
			s.Removed = true
			stored[name] = s
		}
		if got := len(d.Added) + len(d.Changed) + d.Unchanged; got != len(list) {
			t.Fatalf("round %d accounts for %d of %d tools", round, got, len(list))
		}
		there := 0
		for _, s := range stored {
			if !s.Removed {
				there++
			}
		}
		if there != len(list) {
			t.Fatalf("round %d leaves %d of %d tools", round, there, len(list))
		}
	}
}

func checkState(t *testing.T, w connectors.ToolWrite) {
	t.Helper()
	legal := map[connectors.Review]bool{
		connectors.ReviewAccepted: w.Accepted != nil && *w.Accepted == w.Current,
		connectors.ReviewChanged:  w.Accepted != nil,
		connectors.ReviewNew:      w.Accepted == nil,
		connectors.ReviewRejected: true,
	}
	if !legal[w.Review] {
		t.Fatalf("illegal state: %+v", w)
	}
}

func TestListHash_IgnoresOnlyOrder(t *testing.T) {
	t.Parallel()
	a, b := newTool("a", ""), newTool("b", "")
	q := connectors.Quarantined{Reason: "has no name", Raw: []byte(`{}`)}
	base := connectors.ListHash([]connectors.Definition{a, b}, []connectors.Quarantined{q})
	if other := connectors.ListHash([]connectors.Definition{b, a}, []connectors.Quarantined{q}); other != base {
		t.Error("the order counts")
	}
	for name, other := range map[string]connectors.Hash{
		"a tool less":           connectors.ListHash([]connectors.Definition{a}, []connectors.Quarantined{q}),
		"nothing quarantined":   connectors.ListHash([]connectors.Definition{a, b}, nil),
		"another reason":        connectors.ListHash([]connectors.Definition{a, b}, []connectors.Quarantined{{Reason: "is a duplicate", Raw: q.Raw}}),
		"a tool twice":          connectors.ListHash([]connectors.Definition{a, a, b}, []connectors.Quarantined{q}),
		"nothing":               connectors.ListHash(nil, nil),
		"quarantined as a tool": connectors.ListHash([]connectors.Definition{a, b, newDefinition("", `{}`)}, nil),
	} {
		if other == base {
			t.Errorf("%s: the same hash", name)
		}
	}
}

func TestDiff_HoldsTheRestWhenDone(t *testing.T) {
	t.Parallel()
	base := newTool("t", `,"title":"a"`)
	done := make(chan struct{})
	c := connectors.Comparison{
		Old: []connectors.ToolState{newState(base, hashOf(base), connectors.ReviewAccepted)}, List: []connectors.Definition{newTool("t", `,"title":"b"`)},
		Policy: "hold_risky", Accepted: map[connectors.Hash][]byte{base.Hash: base.Raw}, Done: done,
	}
	if d := connectors.Diff(c); d.Changed[0].Review != connectors.ReviewAccepted || d.Changes[0].Risk != toolchange.None {
		t.Errorf("%+v", d)
	}
	close(done)
	if d := connectors.Diff(c); d.Changed[0].Review != connectors.ReviewChanged || d.Changes[0].Risk != toolchange.High {
		t.Errorf("%+v", d)
	}
}

package connectors_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

var (
	monday  = time.Date(2027, 1, 4, 12, 0, 0, 0, time.UTC)
	tuesday = monday.AddDate(0, 0, 1)
	friday  = monday.AddDate(0, 0, 4)
)

func TestGrant_AtEndsToTheSecond(t *testing.T) {
	t.Parallel()
	g := connectors.Grant{AllTools: true, Ends: &connectors.GrantEnds{
		Until: &tuesday, Tools: map[string]*time.Time{"later": &friday, "kept": nil, "sooner": &monday},
	}}.Normalized()
	if _, own := g.Ends.Tools["sooner"]; own {
		t.Error("the grant includes the tool for longer than its own end")
	}
	for _, tc := range []struct {
		now   time.Time
		all   bool
		tools []string
	}{
		{tuesday.Add(-time.Nanosecond), true, nil},
		{tuesday, false, []string{"kept", "later"}},
		{friday.Add(-time.Nanosecond), false, []string{"kept", "later"}},
		{friday, false, []string{"kept"}},
	} {
		at := g.At(tc.now)
		if at.AllTools != tc.all || !slices.Equal(at.Tools, tc.tools) || at.IncludesItems(connectors.ItemPrompt) != tc.all {
			t.Errorf("at %s: %+v", tc.now, at)
		}
		if g.HasEnded(tc.now) {
			t.Errorf("at %s: a tool without an end has ended", tc.now)
		}
	}
	if next := g.NextEnd(tuesday); !next.Equal(friday) {
		t.Errorf("the end after Tuesday is %s", next)
	}
	if next := g.NextEnd(friday); !next.IsZero() {
		t.Errorf("an end follows the last one: %s", next)
	}
}

// A right up to an end must not change the end of what the agent holds already, in either direction.
func TestGrant_WidenedKeepsEndsApart(t *testing.T) {
	t.Parallel()
	current := []string{"a", "b", "c"}
	never := func(tools ...string) connectors.Grant {
		return connectors.Grant{Tools: tools, Prompts: connectors.PromptsNone, Resources: connectors.ResourcesNone, CreatedAt: monday}
	}
	until := func(g connectors.Grant, end *time.Time, tools map[string]*time.Time) connectors.Grant {
		g.Ends = &connectors.GrantEnds{Until: end, Tools: tools}
		return g
	}
	for name, tc := range map[string]struct {
		before connectors.Grant
		all    bool
		tools  []string
		end    *time.Time
		want   connectors.Grant
	}{
		"no grant before": {connectors.Grant{}, false, []string{"b"}, &friday,
			until(connectors.Grant{Tools: []string{"b"}, Prompts: connectors.PromptsNone, Resources: connectors.ResourcesNone}, &friday, nil)},
		"a permanent grant and a right up to an end": {never("a"), false, []string{"b"}, &friday,
			until(never("a"), nil, map[string]*time.Time{"b": &friday})},
		"what is permanent stays so": {never("a"), false, []string{"a"}, &friday, never("a")},
		"the same end":               {until(never("a"), &friday, nil), false, []string{"b"}, &friday, until(never("a", "b"), &friday, nil)},
		"a later end":                {until(never("a"), &tuesday, nil), false, []string{"a"}, &friday, until(never("a"), &tuesday, map[string]*time.Time{"a": &friday})},
		"an earlier end":             {until(never("a"), &friday, nil), false, []string{"a"}, &tuesday, until(never("a"), &friday, nil)},
		"a right without an end":     {until(never("a"), &friday, nil), false, []string{"b"}, nil, until(never("a"), &friday, map[string]*time.Time{"b": nil})},
		"all tools, both permanent": {never("a"), true, nil, nil,
			connectors.Grant{AllTools: true, Tools: []string{}, Prompts: connectors.PromptsNone, Resources: connectors.ResourcesNone, CreatedAt: monday}},
		"all tools up to an end are those there": {never("a"), true, nil, &friday, until(never("a"), nil, map[string]*time.Time{"b": &friday, "c": &friday})},
		"an ended grant is replaced":             {until(never("a"), &monday, nil), false, []string{"b"}, &friday, until(never("b"), &friday, nil)},
	} {
		got := tc.before.Widened(tc.all, tc.tools, current, tc.end, monday)
		want := tc.want.Normalized()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestGrant_WithoutDropsOwnEnds(t *testing.T) {
	t.Parallel()
	g := connectors.Grant{Tools: []string{"a"}, Ends: &connectors.GrantEnds{Until: &tuesday, Tools: map[string]*time.Time{"b": &friday, "c": &friday}}}
	rest := g.Without([]string{"a", "b", "c"}, []string{"b"})
	if end, granted := rest.ToolEnd("b"); granted {
		t.Errorf("the dropped tool ends at %s", end)
	}
	if end, granted := rest.ToolEnd("c"); !granted || !end.Equal(friday) {
		t.Errorf("the other tool ends at %s", end)
	}
	if end, _ := rest.ToolEnd("a"); end == nil || !end.Equal(tuesday) {
		t.Errorf("the grant ends at %s", end)
	}
}

package connectors_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

func TestGrant_AllToolsNamesNone(t *testing.T) {
	t.Parallel()
	g := connectors.Grant{AllTools: true, Tools: []string{"a"}, TrustedTools: []string{"b", "a", "b"}}.Normalized()
	if len(g.Tools) != 0 || !slices.Equal(g.TrustedTools, []string{"a", "b"}) || !g.Includes("later") {
		t.Errorf("%+v", g)
	}
	named := connectors.Grant{Tools: []string{"a"}}
	if !named.Includes("a") || named.Includes("b") {
		t.Error("a named grant is of what it names")
	}
}

func TestGrant_IsBounded(t *testing.T) {
	t.Parallel()
	many := make([]string, 5001)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for name, g := range map[string]connectors.Grant{
		"too many":    {Tools: many},
		"too long":    {Tools: []string{strings.Repeat("é", 129)}},
		"empty":       {TrustedTools: []string{""}},
		"a NUL":       {Tools: []string{"a\x00"}},
		"no UTF-8":    {Tools: []string{"\xff"}},
		"a made mode": {Approval: new(connectors.ApprovalMode)},
	} {
		if fields := g.Normalized().Validate(); len(fields) != 1 {
			t.Errorf("%s: %v", name, fields)
		}
	}
	if fields := (connectors.Grant{Tools: many[:5000], TrustedTools: []string{strings.Repeat("é", 128)}}).Normalized().Validate(); len(fields) != 0 {
		t.Errorf("%v", fields)
	}
}

func TestExposedNames_RespectsAgentLimit(t *testing.T) {
	t.Parallel()
	slug := "c"
	tools := []string{strings.Repeat("x", 60), strings.Repeat("x", 61), strings.Repeat("x", 200), "plain", "with.dot"}
	for limit := connectors.MaxExposedName; limit <= connectors.MaxNameLimit; limit++ {
		seen := map[string]bool{}
		for tool, name := range connectors.ExposedNamesWithin(limit, slug, tools) {
			if len(name) > limit || seen[name] || name != connectors.ExposedNameWithin(limit, slug, tool) {
				t.Errorf("up to %d: %q is %q", limit, tool, name)
			}
			if fits := len("mcp_c__"+tool) <= limit && tool != "with.dot"; fits != (name == "mcp_c__"+tool) {
				t.Errorf("up to %d: %q is %q", limit, tool, name)
			}
			seen[name] = true
		}
	}
}

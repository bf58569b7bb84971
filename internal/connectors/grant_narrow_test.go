package connectors_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

func TestGrant_Without(t *testing.T) {
	t.Parallel()
	there := []string{"create", "delete", "search"}
	mode := connectors.ApprovalTrustedOnly
	items := connectors.Grant{Prompts: connectors.PromptsListed, Resources: connectors.ResourcesListed}
	all := connectors.Grant{AllTools: true, Prompts: items.Prompts, Resources: items.Resources, Approval: &mode, TrustedTools: []string{"search", "delete"}}
	want := connectors.Grant{Prompts: items.Prompts, Resources: items.Resources, Tools: []string{"create", "search"}, Approval: &mode, TrustedTools: []string{"search"}}
	if diff := cmp.Diff(want, all.Without(there, []string{"delete", "never there"})); diff != "" {
		t.Error(diff)
	}
	named := connectors.Grant{Tools: []string{"delete", "not there yet"}}
	if diff := cmp.Diff([]string{"not there yet"}, named.Without(there, []string{"delete"}).Tools); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"delete", "not there yet"}, named.Tools); diff != "" {
		t.Error("the grant itself was changed", diff)
	}
	if none := all.Without(there, there); none.AllTools || len(none.Tools) != 0 {
		t.Errorf("%+v", none)
	}
}

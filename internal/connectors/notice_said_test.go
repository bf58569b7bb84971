package connectors_test

import (
	"testing"

	"patchbay/internal/connectors"
)

func TestNotice_WordsAboutAnAgentsAccountAreForManagers(t *testing.T) {
	t.Parallel()
	said := &connectors.Upstream{Said: "ada@provider.example left", Status: 400}
	for name, tc := range map[string]struct {
		data   string
		hidden bool
	}{
		"shared account": {`{"connector":"linear"}`, false}, "an agent's account": {`{"connector":"linear","agent":"support"}`, true}, "no JSON": {`{`, true},
	} {
		n := connectors.Notice{Data: []byte(tc.data), Upstream: said}
		for _, role := range connectors.Roles {
			want := said.Said
			if tc.hidden && !role.May(connectors.PermManage) {
				want = ""
			}
			if got := n.UpstreamFor(role); got.Said != want || got.Status != 400 {
				t.Errorf("%s, to %s: %+v", name, role, got)
			}
		}
	}
	if got := (connectors.Notice{}).UpstreamFor(connectors.RoleViewer); got != nil {
		t.Errorf("nothing is shown as %+v", got)
	}
}

package ctl

import (
	"strings"
	"testing"
)

func TestChanges_DecideSkills(t *testing.T) {
	t.Parallel()
	verdict := changeVerdict{connectorRef: connectorRef{Connector: "acme"}, Tool: "skill:skill://acme/refunds/SKILL.md", Hash: "abc"}
	for act, tc := range map[string]struct {
		run  func(s *session) error
		says string
	}{
		"accept":  {func(s *session) error { return changeAccept{verdict}.Run(t.Context(), s) }, "Accepted the current definition of refunds."},
		"reject":  {func(s *session) error { return changeReject{verdict}.Run(t.Context(), s) }, "Rejected the current definition of refunds."},
		"restore": {func(s *session) error { return changeRestore{verdict}.Run(t.Context(), s) }, "Restored an earlier definition of refunds."},
	} {
		s, out, request := newAPI(t, `{"uri":"skill://acme/refunds/SKILL.md","name":"refunds"}`)
		if err := tc.run(s); err != nil {
			t.Errorf("%s: %v", act, err)
		}
		if want := "POST /api/v1/connectors/acme/skills/skill:%2F%2Facme%2Frefunds%2FSKILL.md/" + act + ` {"hash":"abc"}`; *request != want {
			t.Errorf("%s: the API got %s, want %s", act, *request, want)
		}
		if !strings.HasPrefix(out.String(), tc.says) {
			t.Errorf("%s says %q", act, out)
		}
	}
}

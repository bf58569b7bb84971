package ctl

import (
	"context"
	"strings"
	"testing"
)

func TestAccounts_CommandsNameTheAccount(t *testing.T) {
	t.Parallel()
	var work, night accountRef
	work.Connector, work.Account = "notes", "work"
	night = work
	night.Agent = "night"
	for want, command := range map[string]interface {
		Run(context.Context, *session) error
	}{
		`PUT /api/v1/connectors/notes/credential?account=work {"token":"sesame"}`:              connectorSetCredential{accountRef: work, Secret: "-"},
		`PUT /api/v1/connectors/notes/agents/night/credential?account=work {"token":"sesame"}`: connectorSetCredential{accountRef: night, Secret: "-"},
		`POST /api/v1/connectors/notes/connect {"account":"work","agent":"night"}`:             connectorConnect{night},
		`PATCH /api/v1/connectors/notes/credential?account=work {"syncs":true}`:                connectorChangeAccount{accountRef: work, Syncs: true},
	} {
		s, out, request := newAPI(t, `{"auth": {"type": "bearer"}, "connect_url": "https://patchbay.example/connect/x"}`)
		s.world.In = strings.NewReader("sesame\n")
		if err := command.Run(t.Context(), s); err != nil || *request != want {
			t.Errorf("%v, sent %q, not %q", err, *request, want)
		}
		if strings.Contains(out.String(), "sesame") {
			t.Errorf("the secret is printed: %q", out)
		}
	}
}

func TestSetCredential_TakesNoSecretInArguments(t *testing.T) {
	t.Parallel()
	s, _, request := newAPI(t, `{"auth": {"type": "bearer"}}`)
	err := connectorSetCredential{Secret: "sesame"}.Run(t.Context(), s)
	if err == nil || !strings.Contains(err.Error(), "@FILE") || *request != "" {
		t.Errorf("%v, sent %q", err, *request)
	}
}

func TestSetCredential_FailsForAccounts(t *testing.T) {
	t.Parallel()
	for auth, want := range map[string]string{"oauth2": "use connectors connect", "none": "needs no credential"} {
		if _, err := (connectorSetCredential{}).newSecret(auth, "sesame"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", auth, err)
		}
	}
}

package api_test

import (
	"crypto/sha256"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/api"
	"patchbay/internal/connectors"
	"patchbay/internal/mail"
	"patchbay/internal/mail/mailtest"
	"patchbay/internal/mailing"
	"patchbay/internal/store"
)

// createInvitation creates an open invitation.
func (w *world) createInvitation(t *testing.T, tenant connectors.TenantID) connectors.InvitationID {
	t.Helper()
	id := uuid.Must(uuid.NewV7())
	sum := sha256.Sum256(id[:])
	i, err := w.St.Tenant(tenant).People().Invite(t.Context(), id.String()+"@example.com", connectors.RoleViewer,
		store.InvitationLink{TokenHash: sum[:], ExpiresAt: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	return i.ID
}

func TestInvitation_LinkIsShownOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.createKey(t, connectors.RoleOwner)
	made := w.call(t, owner, http.MethodPost, "/api/v1/invitations", `{"email": "Ann@Example.com", "role": "admin"}`).want(http.StatusCreated)
	link, _ := made["link"].(string)
	if made["email"] != "ann@example.com" || made["role"] != "admin" || made["status"] != "waiting" || !strings.Contains(link, "/setup/invitation?token=") {
		t.Errorf("%v", made)
	}
	path := "/api/v1/invitations/" + made["id"].(string)
	again := w.call(t, owner, http.MethodPost, path+"/send", nil).want(http.StatusOK)
	if again["link"] == link || again["link"] == nil || again["id"] != made["id"] {
		t.Errorf("sent again: %v", again)
	}
	list := w.call(t, owner, http.MethodGet, "/api/v1/invitations", nil)
	if items := list.want(http.StatusOK)["items"].([]any); len(items) != 1 || strings.Contains(string(list.body), "token=") {
		t.Errorf("list: %s", list.body)
	}
	if got := w.call(t, owner, http.MethodDelete, path, nil); got.status != http.StatusNoContent {
		t.Errorf("%d %s", got.status, got.body)
	}
	w.call(t, owner, http.MethodDelete, path, nil).problem(http.StatusNotFound, "not-found")
	w.call(t, owner, http.MethodPost, path+"/send", nil).problem(http.StatusNotFound, "not-found")
}

func TestInvitation_LinkIsEmailedIfAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path, asked = "/api/v1/invitations", `{"email": "ann@example.com", "role": "viewer", "send_email": true}`
	w.call(t, w.createKey(t, connectors.RoleOwner), http.MethodPost, path, asked).problem(http.StatusUnprocessableEntity, "invalid")

	smtp := mailtest.Start(t, mail.StartTLS)
	w = newWorld(t, func(o *api.Options) {
		o.Mailing = mailing.New(mailing.Options{Store: o.Store, Auth: o.Auth, Sender: smtp.Sender(), BaseURL: o.BaseURL})
	})
	owner := w.createKey(t, connectors.RoleOwner)
	if made := w.call(t, owner, http.MethodPost, path, `{"email": "bob@example.com", "role": "viewer"}`).want(http.StatusCreated); made["emailed"] != nil || len(smtp.All()) != 0 {
		t.Errorf("not asked for: %v, %+v", made, smtp.All())
	}
	made := w.call(t, owner, http.MethodPost, path, asked).want(http.StatusCreated)
	if got := smtp.All(); made["emailed"] != true || len(got) != 1 || !strings.Contains(got[0].Text, made["link"].(string)) {
		t.Errorf("%v, %+v", made, got)
	}
	smtp.RefuseNext(1)
	if made := w.call(t, owner, http.MethodPost, path, `{"email": "eve@example.com", "role": "viewer", "send_email": true}`).want(http.StatusCreated); made["emailed"] != nil || made["link"] == nil {
		t.Errorf("refused: %v", made)
	}
}

func TestInvitationsFieldsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.createKey(t, connectors.RoleOwner)
	w.call(t, owner, http.MethodPost, "/api/v1/invitations", `{"email": "nobody", "role": "viewer"}`).problem(http.StatusUnprocessableEntity, "invalid")
	w.call(t, owner, http.MethodPost, "/api/v1/invitations", `{"email": "a@b.c", "role": "boss"}`).problem(http.StatusUnprocessableEntity, "invalid")
	m := w.Member(t, connectors.RoleViewer)
	w.call(t, owner, http.MethodPost, "/api/v1/invitations", `{"email": "`+m.Email+`", "role": "viewer"}`).problem(http.StatusConflict, "conflict")
}

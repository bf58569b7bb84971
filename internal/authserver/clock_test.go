package authserver_test

import (
	"net/http"
	"testing"
	"time"

	"patchbay/internal/connectors"
)

// Of several servers each has its clock, and a program's requests go to one or another.
func TestRefresh_ToleratesClockSkew(t *testing.T) {
	t.Parallel()
	for name, apart := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTown(t)
			client := w.registers(callback)
			code := w.allowed(w.ada, asks(client), connectors.Ref(w.agent.Slug)).Get("code")
			w.later(apart)
			first := w.token(exchanges(client, code))
			if first.Status != http.StatusOK {
				t.Fatalf("a code at the server that is %s: %+v", name, first)
			}
			w.later(-apart)
			second := w.refresh(client, first.text("refresh_token"))
			w.later(apart)
			again := w.refresh(client, first.text("refresh_token"))
			if again.Status != http.StatusOK || again.text("refresh_token") != second.text("refresh_token") {
				t.Errorf("an answer that was lost, asked for at the server that is %s: %+v", name, again)
			}
			if ends := w.ends(); len(ends) > 0 {
				t.Errorf("on record: %q", ends)
			}
			w.passes(11 * time.Second)
			if r := w.refresh(client, first.text("refresh_token")); r.text("error") != "invalid_grant" {
				t.Errorf("a refresh token that was used, to the server that is %s: %+v", name, r)
			}
		})
	}
}

// A server with a wrong clock made ids of another time. They do not count as newer than current ones.
func TestCreateToken_KeepsNewest(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client, key := w.registers(callback), w.key(w.Tenant, connectors.RoleAdmin)
	last := w.signedIn(client)
	for range 8 {
		last = w.refresh(client, last.text("refresh_token"))
	}
	w.AsSystem(t, `update agent_tokens set id = overlay(id::text placing 'ffffffff' from 1)::uuid where agent_client_id is not null`, nil)
	if last = w.refresh(client, last.text("refresh_token")); !w.opens(key, last.text("access_token")) {
		t.Error("a token is over as soon as it is given")
	}
}

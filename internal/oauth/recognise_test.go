package oauth_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
)

func TestAForgottenClientIsNotRecognised(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{})
	f := newFlow(t)
	f.discover(oauth.Target{ServerURL: as.Protect(t, oauthtest.ResourceBehaviour{}).URL})
	f.register(oauth.RegisterRequest{})
	page, err := f.AuthorizationURL(oauth.AuthorizationRequest{
		Peer: f.Peer, RedirectURI: redirectURI, State: f.State, Challenge: f.PKCE.Challenge,
	})
	if err != nil {
		t.Fatal(err)
	}
	if !f.Recognises(t.Context(), page) {
		t.Error("a known client is not recognised")
	}
	as.ForgetClients()
	if f.Recognises(t.Context(), page) {
		t.Error("a forgotten client is recognised")
	}
}

func TestTroubleIsNoReasonToThinkAClientForgotten(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{
		http.StatusOK: true, http.StatusFound: true, http.StatusTooManyRequests: true, http.StatusRequestTimeout: true,
		http.StatusServiceUnavailable: true, http.StatusBadRequest: false, http.StatusUnauthorized: false, http.StatusNotFound: false,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		if got := newClient(t).Recognises(t.Context(), server.URL); got != want {
			t.Errorf("%d: %v", status, got)
		}
		server.Close()
		if !newClient(t).Recognises(t.Context(), server.URL) {
			t.Error("a server that is down recognises nobody")
		}
	}
}

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

func TestRecognises_OnlyClearRefusal(t *testing.T) {
	t.Parallel()
	for answer, want := range map[struct {
		status int
		body   string
	}]bool{
		{http.StatusOK, ""}: true, {http.StatusFound, ""}: true, {http.StatusNotFound, ""}: true,
		{http.StatusForbidden, ""}: true, {http.StatusForbidden, `{"error":"invalid_client"}`}: true, // a filter's, or its imitation
		{http.StatusTooManyRequests, ""}: true, {http.StatusRequestTimeout, ""}: true,
		{http.StatusInternalServerError, ""}: true, {http.StatusServiceUnavailable, `{"error":"invalid_client"}`}: true,
		{http.StatusUnauthorized, ""}: true, {http.StatusUnauthorized, "<html>Sign in"}: true,
		{http.StatusUnauthorized, `{"error":"login_required"}`}: true, {http.StatusUnauthorized, `{"error":"blocked"}`}: true,
		{http.StatusUnauthorized, `{"error":"invalid_client"}`}: false, {http.StatusUnauthorized, `{"error":"unauthorized_client"}`}: false,
		{http.StatusBadRequest, ""}: false, {http.StatusBadRequest, "<html>Unknown client"}: false,
	} {
		if got := newClient(t).Recognises(t.Context(), respond(t, answer.status, "", answer.body)); got != want {
			t.Errorf("%d %s: %v", answer.status, answer.body, got)
		}
	}
	server := httptest.NewServer(nil)
	server.Close()
	if !newClient(t).Recognises(t.Context(), server.URL) {
		t.Error("a server that is down recognises nobody")
	}
}

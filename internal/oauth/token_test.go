package oauth_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// answered is what a refresh makes of one answer.
func answered(t testing.TB, status int, body string) (oauth.Token, error) {
	t.Helper()
	c := newClient(t)
	c.Now = func() time.Time { return noon }
	p := oauth.Peer{Client: oauth.Registration{ClientID: "id"}}
	p.Server.TokenEndpoint = respond(t, status, "text/plain", body) // the type is ignored
	return c.Refresh(t.Context(), p, "old")
}

func TestTokenAnswersAreReadForWhatTheyAre(t *testing.T) {
	t.Parallel()
	hour, minute := noon.Add(time.Hour), noon.Add(time.Minute)
	for body, want := range map[string]oauth.Token{
		`{"access_token":"a","token_type":"Bearer","expires_in":60}`:   {ExpiresAt: minute},
		"\ufeff" + ` {"access_token":"a","expires_in":"60"}`:           {ExpiresAt: minute},
		`{"access_token":"a","expires_in":60.9,"token_type":"bEaReR"}`: {ExpiresAt: minute},
		`{"access_token":"a"}`:                                                               {ExpiresAt: hour, ExpiryAssumed: true},
		`{"access_token":"a","expires_in":null,"error":null}`:                                {ExpiresAt: hour, ExpiryAssumed: true},
		`{"access_token":"a","expires_in":0}`:                                                {ExpiresAt: hour, ExpiryAssumed: true},
		`{"access_token":"a","expires_in":-1,"error":""}`:                                    {ExpiresAt: hour, ExpiryAssumed: true},
		`{"access_token":"a","expires_in":"soon"}`:                                           {ExpiresAt: hour, ExpiryAssumed: true},
		`{"access_token":"a","expires_in":1e30}`:                                             {ExpiresAt: noon.AddDate(0, 0, 3650)},
		`{"access_token":"a","refresh_token":"r","expires_in":60}`:                           {RefreshToken: "r", ExpiresAt: minute},
		`{"access_token":"a","refresh_token":7,"expires_in":60}`:                             {ExpiresAt: minute},
		`{"access_token":"a","expires_in":60,"scope":"x y x"}`:                               {ExpiresAt: minute, Scopes: []string{"x", "y"}},
		`{"access_token":"a","expires_in":60,"scope":["x","y z"]}`:                           {ExpiresAt: minute, Scopes: []string{"x", "y", "z"}},
		`access_token=a&expires_in=60&scope=repo%2Cuser&token_type=bearer`:                   {ExpiresAt: minute, Scopes: []string{"repo", "user"}},
		`{"ok":true,"authed_user":{"access_token":"a","token_type":"user","expires_in":60}}`: {ExpiresAt: minute},
		`{"data":{"access_token":"a","refresh_token":"r","expires_in":60}}`:                  {RefreshToken: "r", ExpiresAt: minute},
		`{"access_token":null,"data":{"access_token":"a","expires_in":60}}`:                  {ExpiresAt: minute},
	} {
		want.AccessToken = "a"
		got, err := answered(t, http.StatusOK, body)
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}

func TestRefusedTokenRequestsAreTyped(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		status int
		kind   oauth.Kind
		code   string
	}{
		`{"error":"invalid_grant","error_description":"REFLECTED"}`: {400, oauth.KindDead, "invalid_grant"},
		`{"error":"invalid_grant" }`:                                {401, oauth.KindDead, "invalid_grant"},
		`{ "error":"invalid_grant"}`:                                {200, oauth.KindDead, "invalid_grant"},
		`error=bad_verification_code&error_uri=x`:                   {200, oauth.KindDead, "invalid_grant"},
		`{"ok":false,"error":"invalid_refresh_token"}`:              {200, oauth.KindDead, "invalid_grant"},
		`{"error":{"code":"invalid_grant"}}`:                        {400, oauth.KindDead, "invalid_grant"},
		`{"error":"invalid_client"}`:                                {401, oauth.KindClient, "invalid_client"},
		`{"error":"unauthorized_client"}`:                           {400, oauth.KindClient, "unauthorized_client"},
		`{"error":"REFLECTED"}`:                                     {401, oauth.KindClient, ""},
		`{"error":"REFLECTED" }`:                                    {400, oauth.KindRejected, ""},
		`{"error":7}`:                                               {400, oauth.KindRejected, ""},
		`{"error":"invalid_scope"}`:                                 {400, oauth.KindScope, "invalid_scope"},
		`{"error":"invalid_target"}`:                                {400, oauth.KindRejected, "invalid_target"},
		`{"error":"temporarily_unavailable"}`:                       {400, oauth.KindTemporary, "temporarily_unavailable"},
		`{"error":"invalid_grant"  }`:                               {503, oauth.KindTemporary, ""},
		`{"error": "invalid_grant"}`:                                {500, oauth.KindUnknownOutcome, ""},
		`{"error" :"invalid_grant"}`:                                {502, oauth.KindUnknownOutcome, ""},
		`{"error":"slow_down"}`:                                     {429, oauth.KindTemporary, ""},
		`{"access_token":"a"}`:                                      {403, oauth.KindProtocol, ""},
		`<html>REFLECTED</html>`:                                    {200, oauth.KindProtocol, ""},
		`<html>REFLECTED invalid_grant</html>`:                      {400, oauth.KindProtocol, ""},
		``:                                                          {200, oauth.KindProtocol, ""},
		`[]`:                                                        {200, oauth.KindProtocol, ""},
		`{"access_token":7}`:                                        {200, oauth.KindProtocol, ""},
		`{"access_token":"a\r\nX-Evil: 1"}`:                         {200, oauth.KindProtocol, ""},
		`{"access_token":"a","refresh_token":"b\u0000"}`:            {200, oauth.KindProtocol, ""},
		`{"access_token":"a","token_type":"DPoP"}`:                  {200, oauth.KindProtocol, ""},
		`{"access_token":"é"}`:                                      {200, oauth.KindProtocol, ""},
		`{"access_token":"` + strings.Repeat("x", 300<<10) + `"}`:   {200, oauth.KindProtocol, ""},
	} {
		_, err := answered(t, want.status, body)
		failure := wantKind(t, err, want.kind)
		if failure.Code != want.code || failure.HTTPStatus != want.status || failure.Step != oauth.StepRefresh {
			t.Errorf("%d %.80s: %+v", want.status, body, failure)
		}
	}
}

func TestRefresh_TroubleIsNotDead(t *testing.T) {
	t.Parallel()
	for trouble, want := range map[oauthtest.Trouble]oauth.Kind{
		oauthtest.Unavailable:     oauth.KindTemporary,
		oauthtest.TooMany:         oauth.KindTemporary,
		oauthtest.ServerError:     oauth.KindUnknownOutcome,
		oauthtest.Reset:           oauth.KindUnknownOutcome,
		oauthtest.DropAfterEffect: oauth.KindUnknownOutcome,
		oauthtest.Hang:            oauth.KindUnknownOutcome,
		oauthtest.Page:            oauth.KindProtocol,
		oauthtest.Redirect:        oauth.KindProtocol,
		oauthtest.Endless:         oauth.KindProtocol,
		oauthtest.DeadGrant:       oauth.KindDead,
		oauthtest.DeadClient:      oauth.KindClient,
	} {
		tr := newTrap(t)
		as := oauthtest.Start(t, oauthtest.Behaviour{})
		as.Elsewhere = tr.URL
		f := connected(t, as)
		as.Set(func(b *oauthtest.Behaviour) { b.Token, b.RetryAfter = trouble, "7" })
		if trouble == oauthtest.Hang {
			f.Timeout = 5 * time.Second // in which the request has to arrive
		}
		_, err := f.Refresh(t.Context(), f.Peer, f.Token.RefreshToken)
		failure := wantKind(t, err, want)
		if want == oauth.KindTemporary && failure.RetryAfter != 7*time.Second {
			t.Errorf("trouble %d: Retry-After %v", trouble, failure.RetryAfter)
		}
		if n := as.Count(oauthtest.Refresh); n != 1 || tr.hits.Load() != 0 {
			t.Errorf("trouble %d: %d requests, %d elsewhere", trouble, n, tr.hits.Load())
		}
	}
}

func TestARequestThatNeverLeftIsTemporary(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{})
	f := connected(t, as)
	as.Stop()
	f.HTTP.CloseIdleConnections()
	_, err := f.Refresh(t.Context(), f.Peer, f.Token.RefreshToken)
	wantKind(t, err, oauth.KindTemporary)
}

func TestTheSecretGoesAsTheServerWantsIt(t *testing.T) {
	t.Parallel()
	const id, secret = "id:with colon", "s:e&c r%t+é"
	for method, offered := range map[oauth.AuthMethod][]string{
		oauth.AuthBasic: nil, oauth.AuthPost: {"client_secret_post"},
	} {
		as := oauthtest.Start(t, oauthtest.Behaviour{AuthMethods: offered})
		as.AddClient(id, secret, nil, redirectURI)
		f := newFlowTo(t, as.Protect(t, oauthtest.ResourceBehaviour{}).URL)
		f.register(oauth.RegisterRequest{Configured: oauth.Registration{ClientID: id, ClientSecret: secret}})
		if _, err := f.ClientCredentials(t.Context(), f.Peer, nil); err != nil {
			t.Errorf("%s: %v", method, err)
			continue
		}
		r := as.Requests(oauthtest.ClientCredentials)[0]
		if basic := r.Header.Get("Authorization") != ""; basic == r.Form.Has("client_secret") || basic != (method == oauth.AuthBasic) {
			t.Errorf("%s: by basic %v, by post %v", method, basic, r.Form.Has("client_secret"))
		}
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	values := []any{
		oauth.Secret(secret), oauth.Token{AccessToken: secret, RefreshToken: secret},
		oauth.Registration{ClientSecret: secret}, oauth.PKCE{Verifier: secret}, oauth.Grant{Code: secret, Verifier: secret},
		&oauth.Token{AccessToken: secret},
	}
	var log strings.Builder
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	for _, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		logger.Info("a value", "value", v)
		if all := fmt.Sprintf("%v %+v %#v %s %q %x", v, v, v, v, v, v) + string(text) + log.String(); strings.Contains(all, secret) ||
			strings.Contains(all, fmt.Sprintf("%x", secret)) {
			t.Errorf("%T prints its secret: %s", v, all)
		}
	}
}

func TestErrorsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{Rotate: true})
	f := connected(t, as)
	for trouble := oauthtest.Hang; trouble <= oauthtest.ForbiddenClient; trouble++ {
		as.Set(func(b *oauthtest.Behaviour) { b.Token = trouble })
		f.Timeout = 30 * time.Millisecond
		_, err := f.Refresh(t.Context(), f.Peer, f.Token.RefreshToken)
		for _, secret := range as.Issued() {
			if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, failureOf(t, err)), secret) {
				t.Errorf("trouble %d: %v", trouble, err)
			}
		}
	}
}

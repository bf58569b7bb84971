package oauth_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
)

func TestReadIdentity_JoinsIDTokenAndUserinfo(t *testing.T) {
	t.Parallel()
	type doc = oauthtest.Document
	ann := doc{"sub": "7", "email": "ann@example.com", "org_id": "o-1", "org_name": "Example"}
	for name, tc := range map[string]struct {
		idToken, userinfo doc
		scopes            []string
		edit              func(doc)
		want              oauth.Identity
		asked             int
		fails             bool
	}{
		"nothing":                         {},
		"a whole ID token":                {idToken: ann, userinfo: doc{"sub": "8"}, scopes: []string{"openid"}, want: identity("7", "ann@example.com", "o-1", "Example")},
		"userinfo alone":                  {userinfo: ann, scopes: []string{"openid"}, want: identity("7", "ann@example.com", "o-1", "Example"), asked: 1},
		"userinfo without its scope":      {userinfo: ann, scopes: []string{"email"}},
		"an ID token without a name":      {idToken: doc{"sub": "7"}, userinfo: ann, scopes: []string{"read", "openid"}, want: identity("7", "ann@example.com", "o-1", "Example"), asked: 1},
		"an ID token without a subject":   {idToken: doc{"email": "a@example.com"}, userinfo: doc{"sub": "7", "email": "b@example.com"}, scopes: []string{"openid"}, want: identity("7", "a@example.com", "", ""), asked: 1},
		"userinfo of another subject":     {idToken: doc{"sub": "7"}, userinfo: doc{"sub": "8", "email": "bob@example.com"}, scopes: []string{"openid"}, want: oauth.Identity{Subject: "7"}, asked: 1, fails: true},
		"userinfo without a subject":      {userinfo: doc{"email": "bob@example.com"}, scopes: []string{"openid"}, asked: 1, fails: true},
		"an organisation without a name":  {idToken: doc{"sub": "7", "name": "Ann", "tid": "t-1"}, want: oauth.Identity{Subject: "7", Name: "Ann", OrganisationID: "t-1", Organisation: "t-1"}},
		"a domain":                        {idToken: doc{"sub": "7", "name": "Ann", "hd": "example.com"}, want: oauth.Identity{Subject: "7", Name: "Ann", Organisation: "example.com"}},
		"an endpoint that is not allowed": {userinfo: ann, scopes: []string{"openid"}, edit: func(d doc) { d["userinfo_endpoint"] = "ftp://example.com/" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			as := oauthtest.Start(t, oauthtest.Behaviour{IDToken: tc.idToken, Userinfo: tc.userinfo, Edit: tc.edit})
			f := connectedTo(t, as, oauthtest.ResourceBehaviour{Scopes: tc.scopes})
			got, err := f.ReadIdentity(t.Context(), f.Peer, f.Token, tc.scopes)
			if (err != nil) != tc.fails {
				t.Errorf("error: %v", err)
			}
			if tc.want != (oauth.Identity{}) {
				tc.want.Issuer = as.Issuer
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("identity (-want +got):\n%s", diff)
			}
			if n := as.Count(oauthtest.Userinfo); n != tc.asked {
				t.Errorf("%d userinfo requests, want %d", n, tc.asked)
			}
		})
	}
}

func identity(subject, email, organisationID, organisation string) oauth.Identity {
	return oauth.Identity{Subject: subject, Name: email, Email: email, OrganisationID: organisationID, Organisation: organisation}
}

func TestReadIdentity_ProvesABoundToken(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{DPoP: true, Userinfo: oauthtest.Document{"sub": "7"}})
	f := connectedTo(t, as, oauthtest.ResourceBehaviour{TakesProofs: true, Scopes: []string{"openid"}})
	got, err := f.ReadIdentity(t.Context(), f.Peer, f.Token, []string{"openid"})
	if err != nil || got.Subject != "7" {
		t.Errorf("identity %+v, %v", got, err)
	}
}

func TestReadIdentity_KeepsTokenFromForeignServers(t *testing.T) {
	t.Parallel()
	trap := newTrap(t)
	for name, change := range map[string]func(*oauth.Metadata){
		"an admin's token endpoint": func(m *oauth.Metadata) { m.DocumentTokenEndpoint = "https://other.example/token" },
		"assumed metadata":          func(m *oauth.Metadata) { m.Assumed = true },
		"no scope":                  nil,
	} {
		server := oauth.Metadata{Issuer: trap.URL, TokenEndpoint: trap.URL + "/token", UserinfoEndpoint: trap.URL + "/userinfo"}
		scopes := []string{"openid"}
		if change == nil {
			scopes = nil
		} else {
			change(&server)
		}
		got, err := newClient(t).ReadIdentity(t.Context(), oauth.Peer{Server: server}, oauth.Token{AccessToken: "secret"}, scopes)
		if n := trap.hits.Load(); err != nil || got != (oauth.Identity{}) || n != 0 {
			t.Errorf("%s: %+v, %v, %d requests", name, got, err, n)
		}
	}
}

func TestReadIdentity_SurvivesFailures(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{IDToken: oauthtest.Document{"sub": "7"}, Userinfo: oauthtest.Document{"sub": "7"}})
	f := connectedTo(t, as, oauthtest.ResourceBehaviour{Scopes: []string{"openid"}})
	as.ExpireAccess()
	got, err := f.ReadIdentity(t.Context(), f.Peer, f.Token, []string{"openid"})
	if failure := failureOf(t, err); failure.Step != oauth.StepUserinfo || failure.HTTPStatus != 401 {
		t.Errorf("failure %+v", failure)
	}
	if diff := cmp.Diff(oauth.Identity{Issuer: as.Issuer, Subject: "7"}, got); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
}

package connect_test

import (
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// signInAs sets the claims of the account that signs in next; nil: the server names none.
func (b *bundle) signInAs(claims oauthtest.Document) {
	b.as.Set(func(as *oauthtest.Behaviour) { as.IDToken = claims })
}

// connectAgain connects with a request that may replace the account, and returns the failure.
func (b *bundle) connectAgain(t testing.TB, c connectors.Connector, replaces bool) (connect.Connection, error) {
	t.Helper()
	o := order(c, nil)
	o.Replaces = replaces
	s, err := b.broker.Start(t.Context(), b.admin, o)
	must(t, err)
	return b.broker.Finish(t.Context(), b.agree(t, s), b.browser())
}

func TestFinish_StoresIdentity(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{
		IDToken: oauthtest.Document{"sub": "7"}, Userinfo: oauthtest.Document{"sub": "7", "email": "ann@example.com", "org_id": "o-1", "org_name": "Example"},
	}, oauthtest.ResourceBehaviour{Scope: "openid read"})
	c := b.protected(t)
	done := b.connect(t, c, nil)
	want := connectors.Identity{
		Issuer: b.as.Issuer, Subject: "7", Name: "ann@example.com", Email: "ann@example.com", OrganisationID: "o-1", Organisation: "Example",
	}
	if g := b.grant(t, c, nil); g.Identity != want || g.Account != want.Name || done.Account != "ann@example.com (Example)" {
		t.Errorf("identity %+v, account %q, said %q", g.Identity, g.Account, done.Account)
	}
	list, err := b.Door().Connectors().Credentials(t.Context(), c.ID, store.Page{})
	if err != nil || len(list.Items) != 1 || list.Items[0].Identity != want {
		t.Errorf("listed %+v, %v", list.Items, err)
	}
}

func TestFinish_RefusesAnotherAccount(t *testing.T) {
	t.Parallel()
	type doc = oauthtest.Document
	ann := doc{"sub": "7", "email": "ann@example.com", "org_id": "o-1"}
	for name, tc := range map[string]struct {
		now      doc
		says     string // empty: it is connected
		revoked  bool   // the new grant
		replaces bool
		newID    bool
	}{
		"the same":                       {now: ann},
		"the same with a new address":    {now: doc{"sub": "7", "email": "ann.new@example.com"}},
		"another subject":                {now: doc{"sub": "8", "email": "bob@example.com"}, says: "You signed in as bob@example.com", revoked: true},
		"another organisation":           {now: doc{"sub": "7", "email": "ann@example.com", "org_id": "o-2"}, says: "You signed in as ann@example.com (o-2)"},
		"unknown":                        {now: nil, says: "The server didn't say who signed in"},
		"an address alone":               {now: doc{"email": "ann@example.com"}, says: "The server didn't say who signed in"},
		"another subject, replaced":      {now: doc{"sub": "8", "email": "bob@example.com"}, replaces: true, newID: true},
		"another organisation, replaced": {now: doc{"sub": "7", "email": "ann@example.com", "org_id": "o-2"}, replaces: true, newID: true},
		"unknown, replaced":              {now: nil, replaces: true, newID: true},
		"the same, replaced":             {now: ann, replaces: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, oauthtest.Behaviour{IDToken: ann}, oauthtest.ResourceBehaviour{})
			c := b.protected(t)
			b.connect(t, c, nil)
			before := b.grant(t, c, nil)
			b.signInAs(tc.now)
			done, err := b.connectAgain(t, c, tc.replaces)
			after := b.grant(t, c, nil)
			if tc.says == "" {
				if err != nil || after.Tokens.AccessToken == before.Tokens.AccessToken || (after.ID != before.ID) != tc.newID {
					t.Errorf("connected: %v, id %s after %s", err, after.ID, before.ID)
				}
				_, detail := b.event(t, "credential.connect")
				if _, said := detail["replaced"]; said != tc.newID {
					t.Errorf("event %v", detail)
				}
				return
			}
			if f := faultOf(t, err, fault.Conflict, ""); !strings.HasPrefix(f.Message, tc.says) || !strings.Contains(f.Message, "ann@example.com (o-1)") {
				t.Errorf("refused: %s", f.Message)
			}
			if done.Connector.ID != c.ID || done.Run != nil {
				t.Errorf("refused connection %+v", done)
			}
			if after.Tokens.AccessToken != before.Tokens.AccessToken || after.Version != before.Version || after.Identity != before.Identity {
				t.Errorf("the stored account changed: %+v", after.Credential)
			}
			if _, ok := b.as.Accepts(after.Tokens.AccessToken.Reveal()); !ok {
				t.Error("the stored account was revoked")
			}
			if n := b.as.Count(oauthtest.Revoke); (n == 1) != tc.revoked {
				t.Errorf("%d grants were revoked", n)
			}
		})
	}
}

func TestFinish_KeepsGrantOfAnotherAgent(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{IDToken: oauthtest.Document{"sub": "8", "email": "bot@example.com"}}, oauthtest.ResourceBehaviour{})
	c, ann, bot := b.protected(t, perAgent), b.Agent(t), b.Agent(t)
	b.connect(t, c, agentRef(bot))
	b.signInAs(oauthtest.Document{"sub": "7", "email": "ann@example.com"})
	b.connect(t, c, agentRef(ann))
	reconnect := func(claims oauthtest.Document) {
		t.Helper()
		b.signInAs(claims)
		_, err := b.broker.Finish(t.Context(), b.agree(t, b.start(t, c, agentRef(ann))), b.browser())
		wantFault(t, err, fault.Conflict, "")
	}
	reconnect(oauthtest.Document{"sub": "8", "email": "bot@example.com"})
	if n := b.as.Count(oauthtest.Revoke); n != 0 {
		t.Errorf("%d grants were revoked, and the stored one of the same account with them", n)
	}
	reconnect(oauthtest.Document{"sub": "9", "email": "bot@example.com"})
	if n := b.as.Count(oauthtest.Revoke); n != 1 {
		t.Errorf("%d grants of an account without a stored grant were revoked, want 1", n)
	}
}

func TestFinish_KeepsOrganisationThatServerOmits(t *testing.T) {
	t.Parallel()
	type doc = oauthtest.Document
	b := newBundle(t, oauthtest.Behaviour{IDToken: doc{"sub": "7", "email": "ann@example.com", "org_id": "o-1", "org_name": "Example"}}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	b.connect(t, c, nil)
	b.signInAs(doc{"sub": "7", "email": "ann.new@example.com"})
	b.connect(t, c, nil)
	if i := b.grant(t, c, nil).Identity; i.Label() != "ann.new@example.com (Example)" || i.OrganisationID != "o-1" {
		t.Errorf("stored %+v", i)
	}
	b.signInAs(doc{"sub": "7", "email": "ann@example.com", "org_id": "o-2"})
	_, err := b.connectAgain(t, c, false)
	wantFault(t, err, fault.Conflict, "")
}

func TestFinish_NamesMissingOpenIDScope(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		scope string // that the resource requires
		says  string
	}{
		"not granted": {"read", "The server didn't say who signed in: the scope openid wasn't granted."},
		"granted":     {"openid read", "The server didn't say who signed in, so the account can't be compared with 7."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, oauthtest.Behaviour{IDToken: oauthtest.Document{"sub": "7"}}, oauthtest.ResourceBehaviour{Scope: tc.scope})
			c := b.protected(t)
			b.connect(t, c, nil)
			b.signInAs(nil)
			_, err := b.connectAgain(t, c, false)
			if f := faultOf(t, err, fault.Conflict, ""); !strings.HasPrefix(f.Message, tc.says) {
				t.Errorf("refused: %s", f.Message)
			}
		})
	}
}

func TestFinish_NewIDWhereAccountMayBeAnother(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		was, now string
		newID    bool
	}{
		"both unknown": {},
		"one address":  {was: "ann@example.com", now: "ann@example.com"},
		"two":          {was: "ann@example.com", now: "bob@example.com", newID: true},
		"then unknown": {was: "ann@example.com", newID: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
			c := b.protected(t)
			b.setAccount(tc.was)
			b.connect(t, c, nil)
			before := b.grant(t, c, nil)
			b.setAccount(tc.now)
			b.connect(t, c, nil)
			if after := b.grant(t, c, nil); (after.ID != before.ID) != tc.newID || after.Version != before.Version+1 {
				t.Errorf("id %s, version %d, after %s, %d", after.ID, after.Version, before.ID, before.Version)
			}
		})
	}
}

func TestALinkKeepsTheIDOnlyOfAKnownAccount(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		signedIn oauthtest.Document
		newID    bool
	}{
		"unknown": {newID: true},
		"known":   {signedIn: oauthtest.Document{"sub": "7"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, oauthtest.Behaviour{IDToken: tc.signedIn}, oauthtest.ResourceBehaviour{})
			c := b.protected(t)
			b.connect(t, c, nil)
			before := b.grant(t, c, nil)
			s, err := b.broker.AcceptLink(t.Context(), b.linkBy(t, b.admin, c), cookie)
			must(t, err)
			_, err = b.broker.Finish(t.Context(), b.agree(t, s), connect.BrowserBindings{Cookie: cookie})
			must(t, err)
			if after := b.grant(t, c, nil); (after.ID != before.ID) != tc.newID || after.Version != before.Version+1 {
				t.Errorf("id %s, version %d, after %s, %d", after.ID, after.Version, before.ID, before.Version)
			}
		})
	}
}

func TestFinish_ComparesWithinOneServer(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{IDToken: oauthtest.Document{"sub": "7"}}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	b.connect(t, c, nil)
	must(t, b.broker.Disconnect(t.Context(), b.admin, ref(c.ID), nil))
	b.signInAs(oauthtest.Document{"sub": "8"})
	if _, err := b.connectAgain(t, c, false); err != nil {
		t.Errorf("after a disconnection: %v", err)
	}
}

func TestFinish_HidesStoredAccountFromLinks(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{IDToken: oauthtest.Document{"sub": "7", "email": "ann@example.com"}}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	b.connect(t, c, nil)
	b.signInAs(oauthtest.Document{"sub": "8", "email": "bob@example.com"})
	l, err := b.broker.Link(t.Context(), b.admin, ref(c.ID), nil, "")
	must(t, err)
	s, err := b.broker.AcceptLink(t.Context(), secret.Text(strings.TrimPrefix(l.URL, baseURL+"/connect/")), cookie)
	must(t, err)
	_, err = b.broker.Finish(t.Context(), b.agree(t, s), connect.BrowserBindings{Cookie: cookie})
	f := faultOf(t, err, fault.Conflict, "")
	if strings.Contains(f.Message, "ann@") || !strings.Contains(f.Message, "bob@example.com") || !strings.Contains(f.Message, "ask "+b.admin.Name) {
		t.Errorf("refused: %s", f.Message)
	}
}

func TestFinish_ReplacesOnlyTheAccountOfTheStart(t *testing.T) {
	t.Parallel()
	type doc = oauthtest.Document
	for name, tc := range map[string]struct {
		between  func(testing.TB, *bundle, connectors.Connector)
		replaces bool
		now      doc
		refused  bool
	}{
		"another one took its name": {replaces: true, refused: true, between: func(t testing.TB, b *bundle, c connectors.Connector) {
			must(t, b.Door().Connectors().DeleteCredential(t.Context(), c.ID, nil, ""))
			b.connect(t, c, nil)
		}},
		"the same one took its name": {now: doc{"sub": "7"}, between: func(t testing.TB, b *bundle, c connectors.Connector) {
			must(t, b.Door().Connectors().DeleteCredential(t.Context(), c.ID, nil, ""))
			b.signInAs(doc{"sub": "7"})
			b.connect(t, c, nil)
		}},
		"another one that ended": {replaces: true, between: func(t testing.TB, b *bundle, c connectors.Connector) {
			must(t, b.Door().Connectors().DeleteCredential(t.Context(), c.ID, nil, ""))
			b.connect(t, c, nil)
			g := b.grant(t, c, nil)
			_, err := b.St.Vault(b.Tenant).RefuseGrant(t.Context(), g.ID, g.Version, g.Tokens.Meta, "It ended.", nil)
			must(t, err)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
			c := b.protected(t)
			b.connect(t, c, nil)
			o := order(c, nil)
			o.Replaces = tc.replaces
			s, err := b.broker.Start(t.Context(), b.admin, o)
			must(t, err)
			tc.between(t, b, c)
			before := b.grant(t, c, nil)
			b.signInAs(tc.now)
			_, err = b.broker.Finish(t.Context(), b.agree(t, s), b.browser())
			if tc.refused {
				wantFault(t, err, fault.Malformed, "")
			} else {
				must(t, err)
			}
			if after := b.grant(t, c, nil); (after.Version == before.Version) != tc.refused {
				t.Errorf("from %+v to %+v", before.Credential, after.Credential)
			}
		})
	}
}

func TestALinkReplacesOnlyTheAccountOfItsTime(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	token := b.linkBy(t, b.admin, c)
	_, err := b.broker.ReadLink(t.Context(), token)
	must(t, err)
	b.connect(t, c, nil)
	b.refusesLink(t, token, fault.Conflict)
}

func TestStart_AnotherAccountIsChosenAtTheServer(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{IDToken: oauthtest.Document{"sub": "7", "email": "ann@example.com"}}, oauthtest.ResourceBehaviour{Scope: "openid read"})
	c := b.protected(t)
	start := func(account string) (connect.Authorization, string) {
		t.Helper()
		o := order(c, nil)
		o.Account = account
		s, err := b.broker.Start(t.Context(), b.admin, o)
		must(t, err)
		u, err := url.Parse(s.AuthorizeURL)
		must(t, err)
		return s, u.Query().Get("prompt")
	}
	s, prompt := start("work")
	if prompt != "" {
		t.Errorf("the first account: prompt %q", prompt)
	}
	_, err := b.broker.Finish(t.Context(), b.agree(t, s), b.browser())
	must(t, err)
	if _, prompt = start("work"); prompt != "" {
		t.Errorf("the same account again: prompt %q", prompt)
	}
	s, prompt = start("home")
	if prompt != "select_account" {
		t.Errorf("the second account: prompt %q", prompt)
	}
	_, err = b.broker.Finish(t.Context(), b.agree(t, s), b.browser())
	if f := fault.As(err); f == nil || f.Kind != fault.Conflict || !strings.Contains(f.Message, `ann@example.com, which is connected already as the account "work"`) {
		t.Errorf("the same person under another name: %v", err)
	}
	s, _ = start("home")
	b.signInAs(oauthtest.Document{"sub": "8", "email": "bob@example.com"})
	_, err = b.broker.Finish(t.Context(), b.agree(t, s), b.browser())
	must(t, err)
}

package sso_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/sso"
	"patchbay/internal/store"
)

func TestAdmit_NewMemberGetsGroupRole(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	w.on(w.owner, "acme.example")
	done, err := w.signIn("ada@acme.example")
	if err != nil || done.Tenant.ID != w.Tenant || done.ReturnTo != "/tools" || done.Trial != nil {
		t.Fatalf("%+v, %v", done, err)
	}
	m, err := w.Door().People().Member(t.Context(), done.User)
	if err != nil || m.Role != connectors.RoleMember || m.Email != "ada@acme.example" || m.Name != "Ada Lovelace" || m.SignedIn == nil {
		t.Errorf("%+v, %v", m, err)
	}
	for _, action := range []string{"sso.configure", "sso.test", "sso.verify_domain", "member.join", "sso.sign_in"} {
		if len(w.events(action)) == 0 {
			t.Errorf("no audit event %s", action)
		}
	}
	if again := w.comes("ada@acme.example"); again.UserID != m.UserID {
		t.Errorf("another person the second time: %v", again)
	}
}

// Callbacks and tokens that differ from what OpenID Connect requires.
func TestWhatIsWrongWithAnAnswerIsRefused(t *testing.T) {
	t.Parallel()
	claim := func(name string, value any) lies {
		return lies{token: func(c map[string]any) { c[name] = value }}
	}
	without := func(name string) lies {
		return lies{token: func(c map[string]any) { delete(c, name) }}
	}
	back := func(name, value string) lies {
		return lies{answer: func(a url.Values) { a.Set(name, value) }}
	}
	person := func(name string, value any) lies {
		p := ada()
		if p[name] = value; value == nil {
			delete(p, name)
		}
		return lies{person: p}
	}
	at := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	for name, c := range map[string]struct {
		lies lies
		want string
	}{
		"another state":                 {back("state", strings.Repeat("A", 86)), "sso-state"},
		"a state that is none":          {back("state", "x"), "sso-state"},
		"another nonce":                 {claim("nonce", "another"), "sso-nonce"},
		"no nonce":                      {without("nonce"), "sso-nonce"},
		"another audience":              {claim("aud", "another"), "sso-audience"},
		"no audience":                   {without("aud"), "sso-audience"},
		"two audiences, and no azp":     {claim("aud", []string{"patchbay", "another"}), "sso-azp"},
		"another party":                 {claim("azp", "another"), "sso-azp"},
		"another issuer":                {claim("iss", "https://evil.example"), "sso-issuer"},
		"an issuer with a slash more":   {lies{token: func(c map[string]any) { c["iss"] = c["iss"].(string) + "/" }}, "sso-issuer"},
		"an expired token":              {claim("exp", at(-time.Minute)), "sso-expired"},
		"no expiry":                     {without("exp"), "sso-expired"},
		"made in the future":            {claim("iat", at(10*time.Minute)), "sso-iat"},
		"made at no time":               {without("iat"), "sso-iat"},
		"made long before":              {claim("iat", at(-time.Hour)), "sso-old"},
		"another key":                   {lies{signer: newKey(t)}, "sso-signature"},
		"no id token":                   {lies{none: true}, "sso-no-token"},
		"no subject":                    {person("sub", nil), "sso-sub"},
		"a subject that is too long":    {person("sub", strings.Repeat("a", 300)), "sso-sub"},
		"an unverified address":         {person("email_verified", false), "sso-unverified"},
		"nothing said of verification":  {person("email_verified", nil), "sso-unverified"},
		"verified in other words":       {person("email_verified", "yes"), "sso-unverified"},
		"no address":                    {person("email", nil), "sso-no-email"},
		"an address that is none":       {person("email", "ada"), "sso-no-email"},
		"a foreign domain":              {person("email", "ada@evil.example"), "sso-domain"},
		"a domain below":                {person("email", "ada@sub.acme.example"), "sso-domain"},
		"two addresses in one":          {person("email", "ada@evil.example@acme.example"), "sso-no-email"},
		"an address with a space":       {person("email", "ada lovelace@acme.example"), "sso-odd-email"},
		"an address of two lines":       {person("email", "ada\nlovelace@acme.example"), "sso-odd-email"},
		"an address with a thin space":  {person("email", "ada\u2009lovelace@acme.example"), "sso-odd-email"},
		"an address that reads another": {person("email", "ada\u202elovelace@acme.example"), "sso-odd-email"},
		"an address with a zero byte":   {person("email", "ada\x00@acme.example"), "sso-odd-email"},
		"an address that is too long":   {person("email", strings.Repeat("a", 255-len("@acme.example"))+"@acme.example"), "sso-odd-email"},
		"no word on groups":             {person("groups", nil), "sso-groups"},
		"groups that are no names":      {person("groups", []any{1, "admins"}), "sso-groups"},
		"no group":                      {person("groups", []string{}), "sso-no-group"},
		"other groups":                  {person("groups", []string{"Engineers", "sales"}), "sso-no-group"},
		"another iss in the answer":     {back("iss", "https://evil.example"), "sso-iss"},
		"no iss, where it is promised":  {lies{answer: func(a url.Values) { a.Del("iss") }}, "sso-iss"},
		"no code":                       {lies{answer: func(a url.Values) { a.Del("code") }}, "sso-answer"},
		"a code of somebody else":       {back("code", "stolen"), "sso-grant"},
		"a person who says no":          {back("error", "access_denied"), "sso-denied"},
		"a provider out of order":       {back("error", "server_error"), "sso-unreachable"},
		"an error that nobody knows":    {back("error", "<b>REFLECTED</b>"), "sso-refused"},
		"a client that is not known":    {lies{status: 401, code: "invalid_client"}, "sso-client"},
		"an exchange that is refused":   {lies{status: 400, code: "REFLECTED"}, "sso-exchange"},
		"UserInfo of another person":    {lies{person: map[string]any{"sub": "ada-1"}, info: map[string]any{"sub": "eve", "email": "ada@acme.example", "email_verified": true}}, "sso-sub"},
		"UserInfo that does not verify": {lies{person: map[string]any{"sub": "ada-1"}, info: map[string]any{"sub": "ada-1", "email": "ada@acme.example"}}, "sso-unverified"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOffice(t)
			w.on(w.owner, "acme.example")
			w.fresh()
			w.idp.lie(c.lies)
			before := w.members()
			_, err := w.signIn("ada@acme.example")
			refused(t, err, c.want)
			if f := fault.As(err); f != nil && strings.Contains(f.Message, "REFLECTED") {
				t.Errorf("what the provider said is repeated: %s", f.Message)
			}
			if now := w.members(); now != before {
				t.Errorf("%d members, and %d before", now, before)
			}
			if n := len(w.events("sso.refuse")); n != 1 && c.want != "sso-state" {
				t.Errorf("%d refusals in the audit log", n)
			}
			w.idp.lie(lies{})
			if _, err := w.signIn("ada@acme.example"); err != nil {
				t.Errorf("and an honest answer: %v", err)
			}
		})
	}
}

// What an account can have is no reason to refuse, nor is what stands around an address.
func TestStart_NormalizesAddress(t *testing.T) {
	t.Parallel()
	for name, email := range map[string]string{
		"254 characters":    strings.Repeat("a", 254-len("@acme.example")) + "@acme.example",
		"with space around": " ada@acme.example\n",
		"of other letters":  "ädä@acme.example",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOffice(t)
			w.on(w.owner, "acme.example")
			w.fresh()
			p := ada()
			p["email"] = email
			w.idp.lie(lies{person: p})
			if _, err := w.signIn("ada@acme.example"); err != nil {
				t.Error(err)
			}
			if _, err := w.Door().SSO().MemberByEmail(t.Context(), strings.TrimSpace(email)); err != nil {
				t.Error(err)
			}
		})
	}
}

func (w *office) members() int {
	w.t.Helper()
	list, err := w.Door().People().Members(w.t.Context(), store.Page{})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(list.Items)
}

func TestDiscover_ChecksProviderMetadata(t *testing.T) {
	t.Parallel()
	for name, meta := range map[string]func(map[string]any){
		"another issuer":               func(d map[string]any) { d["issuer"] = "https://evil.example" },
		"no PKCE with S256":            func(d map[string]any) { d["code_challenge_methods_supported"] = []string{"plain"} },
		"only proofs that we lack":     func(d map[string]any) { d["token_endpoint_auth_methods_supported"] = []string{"private_key_jwt"} },
		"tokens from a forbidden host": func(d map[string]any) { d["token_endpoint"] = "http://169.254.169.254/token" },
		"keys by another protocol":     func(d map[string]any) { d["jwks_uri"] = "file:///etc/passwd" },
		"people sent to a script":      func(d map[string]any) { d["authorization_endpoint"] = "javascript:alert(1)" },
		"no keys":                      func(d map[string]any) { delete(d, "jwks_uri") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOffice(t)
			w.save(w.owner, w.settings())
			w.idp.lie(lies{meta: meta})
			refused(t, w.sso.Check(t.Context(), w.owner), "sso-discovery")
			_, err := w.sso.Try(t.Context(), w.owner, "b")
			refused(t, err, "sso-discovery")
		})
	}
	w := newOffice(t)
	w.save(w.owner, w.settings())
	w.idp.Close()
	refused(t, w.sso.Check(t.Context(), w.owner), "sso-unreachable")
}

func TestFinish_SameBrowserOnce(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	w.on(w.owner, "acme.example")
	to, err := w.sso.Start(t.Context(), "ada@acme.example", "", adasBrowser)
	if err != nil {
		t.Fatal(err)
	}
	back := w.authorizeAt(to)
	for name, other := range map[string]sso.Browser{"another browser": "eve's browser", "a browser without the cookie": ""} {
		_, err := w.sso.Finish(t.Context(), sso.Return{Query: back, Browser: other})
		refused(t, err, "sso-state")
		if t.Failed() {
			t.Fatal(name)
		}
	}
	if _, err := w.sso.Finish(t.Context(), sso.Return{Query: back, Browser: adasBrowser}); err != nil {
		t.Fatal(err)
	}
	_, err = w.sso.Finish(t.Context(), sso.Return{Query: back, Browser: adasBrowser})
	refused(t, err, "sso-state")

	to, err = w.sso.Start(t.Context(), "ada@acme.example", "", adasBrowser)
	if err != nil {
		t.Fatal(err)
	}
	back = w.authorizeAt(to)
	w.ahead.Store(int64(11 * time.Minute))
	_, err = w.sso.Finish(t.Context(), sso.Return{Query: back, Browser: adasBrowser})
	refused(t, err, "sso-late")
}

func TestStart_StoredFlowCannotFinish(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	w.on(w.owner, "acme.example")
	to, err := w.sso.Start(t.Context(), "ada@acme.example", "", adasBrowser)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	rows := w.Rows(t)
	for _, name := range []string{"state", "nonce"} {
		if value := u.Query().Get(name); len(value) < 40 || strings.Contains(rows, value) {
			t.Errorf("the database holds the %s", name)
		}
	}
	if strings.Contains(rows, adasBrowser.Reveal()) || strings.Contains(rows, clientSecret) {
		t.Error("the database holds a secret")
	}
}

func TestASubjectIsWhoItWasWhateverItsAddress(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	w.on(w.owner, "acme.example")
	first := w.comes("ada@acme.example")
	p := ada()
	p["email"] = "ada.king@acme.example"
	w.idp.lie(lies{person: p})
	if renamed := w.comes("ada@acme.example"); renamed.UserID != first.UserID {
		t.Errorf("a new address made another person: %v", renamed)
	}
	p = ada()
	p["sub"] = "somebody-else"
	w.idp.lie(lies{person: p})
	_, err := w.signIn("ada@acme.example")
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("the address was given to somebody else, who is let in: %v", err)
	}
	if _, err := w.Door().People().RemoveMember(t.Context(), first.UserID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.signIn("ada@acme.example"); err != nil {
		t.Errorf("after the member was removed: %v", err)
	}
}

func TestWhatTheTokenDoesNotSayUserInfoDoes(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	w.idp.lie(lies{person: map[string]any{"sub": "ada-1"}, info: map[string]any{
		"sub": "ada-1", "email": "ada@acme.example", "email_verified": "true", "groups": "admins",
	}})
	w.on(w.owner, "acme.example")
	if m := w.comes("ada@acme.example"); m.Role != connectors.RoleAdmin {
		t.Errorf("%+v", m)
	}
}

package oauth_test

import (
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
)

func TestWhatTheCallbackBrings(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]struct {
		advertised bool
		kind       oauth.Kind // empty: the code is taken
		code       string
	}{
		"code=c&state=s":                              {},
		"code=c&iss=https://as.example":               {},
		"code=c&iss=https://as.example%20":            {kind: oauth.KindRefused},
		"code=c&iss=https%3A%2F%2Fas.example&x=1":     {advertised: true},
		"code=c&iss=https://as.example/":              {kind: oauth.KindRefused},
		"code=c&iss=https://AS.example":               {kind: oauth.KindRefused},
		"code=c&iss=":                                 {kind: oauth.KindRefused},
		"code=c&iss=https://as.example&iss=https://x": {kind: oauth.KindRefused},
		"code=c": {advertised: true, kind: oauth.KindRefused},
		"error=access_denied&iss=https://evil.example":    {kind: oauth.KindRefused},
		"error=access_denied&error_description=x":         {advertised: true, kind: oauth.KindRefused},
		"error=access_denied&error_description=REFLECTED": {kind: oauth.KindDenied, code: "access_denied"},
		"error=invalid_scope":                             {kind: oauth.KindScope, code: "invalid_scope"},
		"error=temporarily_unavailable":                   {kind: oauth.KindTemporary, code: "temporarily_unavailable"},
		"error=unauthorized_client":                       {kind: oauth.KindClient, code: "unauthorized_client"},
		"error=REFLECTED<script>":                         {kind: oauth.KindRejected},
		"error=access_denied&code=c":                      {kind: oauth.KindDenied, code: "access_denied"},
		"code=a&code=b":                                   {kind: oauth.KindRefused},
		"code=c&state=a&state=b":                          {kind: oauth.KindRefused},
		"":                                                {kind: oauth.KindProtocol},
		"code=":                                           {kind: oauth.KindProtocol},
		"code=a%0d%0ab":                                   {kind: oauth.KindProtocol},
		"code=" + strings.Repeat("x", 9<<10):              {kind: oauth.KindProtocol},
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		m := server()
		m.IssParameterSupported = want.advertised
		code, err := oauth.ReadCallback(q, m)
		if want.kind == "" {
			if err != nil || code != "c" {
				t.Errorf("%s: %q, %v", query, code.Reveal(), err)
			}
			continue
		}
		if failure := wantKind(t, err, want.kind); failure.Code != want.code || code != "" || failure.Step != oauth.StepCallback {
			t.Errorf("%.60s: %+v", query, failure)
		}
	}
}

func TestReadCallback_OtherIssuer(t *testing.T) {
	t.Parallel()
	for _, iss := range []oauthtest.Iss{oauthtest.IssWrong, oauthtest.IssMissing, oauthtest.IssWrongQuiet} {
		as := oauthtest.Start(t, oauthtest.Behaviour{Iss: iss})
		f := newFlowTo(t, as.Protect(t, oauthtest.ResourceBehaviour{}).URL)
		f.register(oauth.RegisterRequest{})
		wantKind(t, f.exchange(f.authorize()), oauth.KindRefused)
		if n := as.Count(oauthtest.Exchange); n != 0 {
			t.Errorf("iss %d: %d token requests", iss, n)
		}
	}
}

func TestAPersonsNoIsSaidInOurWords(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{Deny: "access_denied"})
	f := newFlowTo(t, as.Protect(t, oauthtest.ResourceBehaviour{}).URL)
	f.register(oauth.RegisterRequest{})
	q := f.authorize()
	if q.Get("error_description") != oauthtest.Reflected {
		t.Fatalf("nothing to reflect: %v", q)
	}
	wantKind(t, f.exchange(q), oauth.KindDenied)
}

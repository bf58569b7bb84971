//go:build e2e

package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Grant and token types of enterprise-managed authorization.
const (
	exchangeGrant  = "urn:ietf:params:oauth:grant-type:token-exchange"
	jwtBearerGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	idJAG          = "urn:ietf:params:oauth:token-type:id-jag"
	idTokenType    = "urn:ietf:params:oauth:token-type:id_token"
)

// providerProgram is an implementation of an organisation's provider, with the client "patchbay" and, without a consent page, the client
// "program".
type providerProgram struct {
	name  string
	start func(t *testing.T, env []string) *process
	code  string // error of an exchange for a suspended person

	refreshes bool // Patchbay exchanges a refresh token, not an ID token
}

var providerPrograms = []providerProgram{
	{name: "oidc-provider", code: "invalid_grant", start: func(t *testing.T, env []string) *process {
		t.Helper()
		return startPeer(t, env, "openid-provider.mjs")
	}},
	{name: "zitadel", code: "invalid_request", refreshes: true, start: func(t *testing.T, env []string) *process {
		t.Helper()
		path, err := zitadelProgram()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(path)
		cmd.Env = append(cmd.Environ(), env...)
		return start(t, cmd)
	}},
}

// zitadelProgram builds peers/zitadel, a module of its own, once a test binary.
var zitadelProgram = sync.OnceValues(func() (string, error) {
	path, err := filepath.Abs("../bin/peers/zitadel")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = "peers/zitadel"
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build peers/zitadel: %w\n%s", err, out)
	}
	return path, nil
})

// identityProvider is a running provider.
type identityProvider struct {
	t      *testing.T
	Issuer string
	token  string // endpoint
	page   string // the sign-in's endpoint
}

func startProvider(t *testing.T, of providerProgram, base string, people map[string]known) *identityProvider {
	t.Helper()
	list, err := json.Marshal(people)
	if err != nil {
		t.Fatal(err)
	}
	p := &identityProvider{t: t}
	line := of.start(t, []string{
		"CLIENT_ID=patchbay", "CLIENT_SECRET=" + providerSecret, "REDIRECT_URI=" + base + "/login/sso/callback", "PEOPLE=" + string(list),
	}).line(`{"issuer":`)
	if err := json.Unmarshal([]byte(line), p); err != nil {
		t.Fatal(err)
	}
	metadata := readJSON[map[string]any](t, p.Issuer+"/.well-known/openid-configuration")
	p.token, _ = metadata["token_endpoint"].(string)
	p.page, _ = metadata["authorization_endpoint"].(string)
	return p
}

// readJSON reads a JSON document.
func readJSON[T any](t *testing.T, address string) T {
	t.Helper()
	res, err := localClient.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var document T
	if err := json.NewDecoder(res.Body).Decode(&document); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", address, res.StatusCode, err)
	}
	return document
}

// providerCounts are requests for the sign-in page, exchanges, those of refresh tokens, and refused ones.
type providerCounts struct{ Authorize, Exchanges, Refreshes, Refused int }

func (p *identityProvider) counts() providerCounts {
	p.t.Helper()
	return readJSON[providerCounts](p.t, p.Issuer+"/admin/counts")
}

// decide sets which servers each client may ask for, with its id there, and the people that are suspended.
func (p *identityProvider) decide(audiences map[string]map[string]string, suspended ...string) {
	p.t.Helper()
	text, err := json.Marshal(object{"audiences": audiences, "suspended": append([]string{}, suspended...)})
	if err != nil {
		p.t.Fatal(err)
	}
	res, err := localClient.Post(p.Issuer+"/admin/policy", "application/json", bytes.NewReader(text))
	if err != nil {
		p.t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		p.t.Fatalf("the provider's policy: %d", res.StatusCode)
	}
}

// programIDToken is the ID token of the client "program" for the person that is signed in in the browser. No page is shown.
func (p *identityProvider) programIDToken(v *visitor) string {
	p.t.Helper()
	back := p.Issuer + "/admin/done"
	const verifier, challenge = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" // RFC 7636 appendix B
	v.open(p.page + "?" + url.Values{
		"response_type": {"code"}, "client_id": {"program"}, "redirect_uri": {back}, "scope": {"openid"}, "state": {"1"}, "nonce": {"1"},
		"code_challenge": {challenge}, "code_challenge_method": {"S256"},
	}.Encode())
	code := v.at.Query().Get("code")
	if code == "" {
		p.t.Fatalf("the program's sign-in shows %s: %d %s", v.at.Redacted(), v.shown.status, v.shown.body)
	}
	answer := p.request(http.StatusOK, url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {back}, "code_verifier": {verifier}})
	token, _ := answer["id_token"].(string)
	return token
}

// exchange trades a program's ID token for an identity assertion for Patchbay.
func (p *identityProvider) exchange(status int, idToken, audience string) object {
	p.t.Helper()
	return p.request(status, url.Values{
		"grant_type": {exchangeGrant}, "requested_token_type": {idJAG}, "subject_token": {idToken}, "subject_token_type": {idTokenType},
		"audience": {audience}, "resource": {audience + "/mcp"}, "scope": {"mcp"},
	})
}

// request is the token endpoint's answer to the client "program".
func (p *identityProvider) request(status int, form url.Values) object {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.token, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth("program", url.QueryEscape(providerSecret))
	return postedJSON(p.t, req, status)
}

// postedForm is the JSON document that a form is answered.
func postedForm(t *testing.T, address string, form url.Values, status int) object {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return postedJSON(t, req, status)
}

// postedJSON sends a request and returns the JSON document of the answer, which has to have the status.
func postedJSON(t *testing.T, req *http.Request, status int) object {
	t.Helper()
	res, err := localClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer object
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode != status {
		t.Fatalf("%s: %d, want %d: %v, %v", req.URL.Path, res.StatusCode, status, answer, err)
	}
	return answer
}

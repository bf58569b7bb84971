package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"patchbay/conformance/patchbay"
)

// enterpriseDomain is the verified e-mail domain of the member. conformance/run verifies it.
const enterpriseDomain = "enterprise.example"

// owner is an owner of the tenant, for what needs one.
type owner struct{ key, email, password string }

// runEnterprise performs a scenario of enterprise-managed authorization: a member signs in at the organisation's provider and lets a
// program act as a new agent. The agent's account at the server comes from the sign-in: nothing is connected.
func (c *scenarioRunner) runEnterprise(ctx context.Context) error {
	provider, err := startProvider(c.scenario.identity)
	if err != nil {
		return err
	}
	defer provider.closeServer()
	if err := c.setUpProvider(ctx, provider); err != nil {
		return fmt.Errorf("set up single sign-on: %w", err)
	}
	member, err := newBrowser()
	if err != nil {
		return err
	}
	page, err := member.postForm(ctx, c.patchbay.URL+"/login/sso", url.Values{"email": {"ada@" + enterpriseDomain}})
	if err != nil {
		return fmt.Errorf("sign in at the provider: %w", err)
	}
	if page.status != http.StatusOK || strings.HasPrefix(page.url.Path, "/login") {
		return &failedPage{page}
	}
	token, err := c.authorizeProgram(ctx, member, provider.url)
	if err != nil {
		return fmt.Errorf("authorize a program: %w", err)
	}
	agent, err := c.patchbay.FindAgent(ctx, c.connector)
	if err != nil {
		return err
	}
	if err := c.patchbay.GrantConnector(ctx, agent, c.connector); err != nil {
		return err
	}
	total, err := c.patchbay.SyncAs(ctx, c.connector, agent)
	if err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	c.printLine("synced %d tools", total)
	a, err := connectAgent(ctx, patchbay.Endpoint{URL: c.patchbay.URL + "/mcp/" + c.connector, Token: token}, c.revision)
	if err != nil {
		return err
	}
	defer a.session.Close()
	c.printLine("the agent sees %d tools", len(a.tools))
	return nil
}

// setUpProvider makes a provider the tenant's: an owner enters it, tests it in a browser and turns it on.
func (c *scenarioRunner) setUpProvider(ctx context.Context, provider *identityProvider) error {
	own := patchbay.Patchbay{URL: c.patchbay.URL, Key: c.owner.key}
	if err := own.UpdateSSO(ctx, map[string]any{
		"issuer": provider.url, "client_id": c.scenario.identity.ClientID, "client_secret": "conformance", "joins": true, "default_role": "member",
		"managed_accounts": true,
	}); err != nil {
		return err
	}
	b, err := newBrowser()
	if err != nil {
		return err
	}
	page, err := b.postForm(ctx, c.patchbay.URL+"/login", url.Values{"email": {c.owner.email}, "password": {c.owner.password}})
	if err == nil && page.status == http.StatusOK {
		page, err = b.postForm(ctx, c.patchbay.URL+"/settings/sso/test", url.Values{})
	}
	if err != nil {
		return err
	}
	if page.status != http.StatusOK {
		return &failedPage{page}
	}
	return own.UpdateSSO(ctx, map[string]any{"enabled": true})
}

// authorizeProgram registers a program, lets the member authorize it as a new agent, and returns its access token.
func (c *scenarioRunner) authorizeProgram(ctx context.Context, member webBrowser, provider string) (string, error) {
	back := provider + "/program"
	var made struct {
		ID string `json:"client_id"`
	}
	err := postJSON(ctx, c.patchbay.URL+"/oauth/register", map[string]any{
		"client_name": c.connector, "redirect_uris": []string{back}, "token_endpoint_auth_method": "none",
	}, &made)
	if err != nil {
		return "", err
	}
	verifier, resource := rand.Text()+rand.Text(), c.patchbay.URL+"/mcp/"+c.connector
	sum := sha256.Sum256([]byte(verifier))
	asked := c.patchbay.URL + "/oauth/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {made.ID}, "redirect_uri": {back}, "resource": {resource}, "state": {"conformance"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}.Encode()
	page, err := member.postForm(ctx, asked, url.Values{"decision": {"allow"}, "agent": {""}})
	if err != nil {
		return "", err
	}
	code := page.url.Query().Get("code")
	if code == "" {
		return "", &failedPage{page}
	}
	var given struct {
		Access string `json:"access_token"`
	}
	err = postForm(ctx, c.patchbay.URL+"/oauth/token", url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "client_id": {made.ID}, "redirect_uri": {back}, "code_verifier": {verifier}, "resource": {resource},
	}, &given)
	if err == nil && given.Access == "" {
		err = errors.New("no access token")
	}
	return given.Access, err
}

// postForm posts a form as a page of the same origin would.
func (b webBrowser) postForm(ctx context.Context, address string, fields url.Values) (webPage, error) {
	at, err := url.Parse(address)
	if err != nil {
		return webPage{}, err
	}
	return b.submitForm(ctx, webPage{url: at, form: &webForm{action: at, fields: fields}})
}

func postJSON(ctx context.Context, address string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return postText(ctx, address, "application/json", string(text), into)
}

func postForm(ctx context.Context, address string, form url.Values, into any) error {
	return postText(ctx, address, "application/x-www-form-urlencoded", form.Encode(), into)
}

func postText(ctx context.Context, address, contentType, body string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", contentType)
	res, err := (&http.Client{Transport: &localTransport}).Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("%s: HTTP %d", req.URL.Path, res.StatusCode)
	}
	return json.NewDecoder(res.Body).Decode(into)
}

// localTransport connects to servers on this machine.
var localTransport http.Transport

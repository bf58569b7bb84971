package admin_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/authserver"
	"patchbay/internal/connectors"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

func (d *dashboard) newAuthServer(egress *safehttp.Policy, base string) *authserver.Server {
	return authserver.New(authserver.Options{Store: d.St, Auth: d.auth, HTTP: egress.Client(), CheckURL: egress.CheckURL, BaseURL: base})
}

// authorizePath is a program's authorization request.
func (d *dashboard) authorizePath(name, redirect string) string {
	d.t.Helper()
	id := uuid.New()
	c := store.MCPClient{ID: id, Name: name, RedirectURIs: []string{redirect}, CreatedAt: time.Now()}
	if err := d.St.System().Sessions().RegisterClient(d.t.Context(), c, "192.0.2.1", store.RegistrationLimits{PerNetwork: 100, Since: time.Now(), Waiting: 100}); err != nil {
		d.t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("verifier"))
	return "/oauth/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {id.String()}, "redirect_uri": {redirect}, "state": {"their-state"}, "resource": {d.base + "/mcp"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}.Encode()
}

const programsCallback = "http://127.0.0.1:9/callback"

func TestAuthorize_SignInLeadsBack(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	asked := d.authorizePath("Inspector", programsCallback)
	p := d.browser().get(asked)
	if to, _ := url.Parse(p.Location); p.Status != http.StatusSeeOther || to.Path != "/login" || to.Query().Get("return_to") != asked {
		t.Errorf("%d to %q", p.Status, p.Location)
	}
}

// A session alone, which may be stolen, authorizes no program for weeks.
func TestAuthorize_ManagerConfirmsFirst(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	admin, member, asked := d.signInAsRole(connectors.RoleAdmin), d.signInAsRole(connectors.RoleMember), d.authorizePath("Inspector", programsCallback)
	agent := d.Agent(t)
	d.advancePastConfirmation()
	for _, p := range []page{admin.get(asked), admin.post(asked, url.Values{"decision": {"allow"}, "agent": {agent.Slug}})} {
		if to, _ := url.Parse(p.Location); p.Status != http.StatusSeeOther || to.Path != "/confirm" || to.Query().Get("return_to") != asked {
			t.Errorf("%d to %q", p.Status, p.Location)
		}
	}
	if p := admin.get("/confirm?" + url.Values{"return_to": {asked}}.Encode()); !strings.Contains(p.Body, "confirm_password") {
		t.Errorf("%d: nothing is asked", p.Status)
	}
	if p := member.get(asked); p.Status != http.StatusOK {
		t.Errorf("whose programs can be nothing yet: %d to %q", p.Status, p.Location)
	}
}

func TestAuthorize_DecisionOfThePerson(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b, asked := d.signInAsRole(connectors.RoleAdmin), d.authorizePath("Inspector", programsCallback)
	agent := d.Agent(t)
	p := b.get(asked)
	for _, want := range []string{"“Inspector” (unverified)", "unknown publisher", "127.0.0.1:9", "Any program on your computer can receive the response."} {
		if p.Status != http.StatusOK || !strings.Contains(plainText(p.Body), want) {
			t.Errorf("the page does not say %q: %d", want, p.Status)
		}
	}
	policy := p.Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "frame-ancestors 'none'") || !strings.HasSuffix(policy, "form-action 'self' https: http://127.0.0.1:9") {
		t.Errorf("the page may be framed, or leads elsewhere: %q", policy)
	}
	said := b.post(asked, url.Values{"decision": {"allow"}, "agent": {agent.Slug}})
	to, err := url.Parse(said.Location)
	if err != nil || said.Status != http.StatusSeeOther || to.Host != "127.0.0.1:9" || to.Query().Get("code") == "" || to.Query().Get("iss") != d.base || to.Query().Get("state") != "their-state" {
		t.Fatalf("%d to %q", said.Status, said.Location)
	}
	no := b.post(asked, url.Values{"decision": {"deny"}})
	if to, _ := url.Parse(no.Location); to.Query().Get("error") != "access_denied" || to.Query().Get("code") != "" || to.Query().Get("iss") != d.base {
		t.Errorf("a no leads to %q", no.Location)
	}
	if p := b.post(asked, url.Values{}); strings.Contains(p.Location, "code=") {
		t.Errorf("no answer is taken for a yes: %q", p.Location)
	}
}

func TestAuthorize_EarlierConsentSkipsNothing(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b, agent := d.signInAsRole(connectors.RoleAdmin), d.Agent(t)
	first := d.authorizePath("Inspector", programsCallback)
	b.post(first, url.Values{"decision": {"allow"}, "agent": {agent.Slug}})
	for name, asked := range map[string]string{"the same": first, "another of the same name": d.authorizePath("Inspector", programsCallback)} {
		if p := b.get(asked); p.Status != http.StatusOK || p.Location != "" || !strings.Contains(p.Body, `value="allow"`) {
			t.Errorf("%s is not asked about: %d to %q", name, p.Status, p.Location)
		}
	}
}

// A page lists 200 agents by name and links to more. Each can be chosen where it is listed.
func TestAuthorize_EveryAgentCanBeChosen(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	for n := range store.MaxLimit + 1 {
		d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = fmt.Sprintf("Agent %03d", n), fmt.Sprintf("agent-%03d", n) })
	}
	b := d.signInAsRole(connectors.RoleAdmin)
	first := b.get(d.authorizePath("Inspector", programsCallback))
	first.want(t, http.StatusOK, `value="agent-199"`, "More agents on the next page.")
	if strings.Contains(first.Body, `value="agent-200"`) {
		t.Fatal("all are listed at once: the test shows nothing")
	}
	next := regexp.MustCompile(`rel="next" href="([^"]+)"`).FindStringSubmatch(first.Body)
	if next == nil {
		t.Fatal("nothing leads to the others")
	}
	second := b.get(html.UnescapeString(next[1]))
	second.want(t, http.StatusOK, `value="agent-200"`, "First page")
	if strings.Contains(second.Body, `value="agent-199"`) || strings.Contains(second.Body, `rel="next"`) {
		t.Error("the second page is not the rest")
	}
	action := regexp.MustCompile(`method="post" action="([^"]+)" class="form"`).FindStringSubmatch(second.Body)
	if action == nil {
		t.Fatal("nothing can be answered")
	}
	said := b.post(html.UnescapeString(action[1]), url.Values{"decision": {"allow"}, "agent": {"agent-200"}})
	if to, err := url.Parse(said.Location); err != nil || said.Status != http.StatusSeeOther || to.Query().Get("code") == "" {
		t.Errorf("%d to %q", said.Status, said.Location)
	}
}

func TestAuthorize_CrossSitePostIsRefused(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b, asked := d.signInAsRole(connectors.RoleAdmin), d.authorizePath("Inspector", "https://evil.example/cb")
	b.header.Set("Sec-Fetch-Site", "cross-site")
	b.header.Set("Origin", "https://evil.example")
	p := b.post(asked, url.Values{"decision": {"allow"}})
	if p.Status != http.StatusForbidden || p.Location != "" {
		t.Errorf("%d to %q", p.Status, p.Location)
	}
}

func TestAuthorize_BadRequestIsShownHere(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b, asked := d.signInAsRole(connectors.RoleAdmin), d.authorizePath("Inspector", "https://evil.example/cb")
	for name, address := range map[string]string{
		"no PKCE":               strings.Replace(asked, "S256", "plain", 1),
		"another redirect URI":  strings.Replace(asked, "evil.example%2Fcb", "evil.example%2Fother", 1),
		"another response type": strings.Replace(asked, "response_type=code", "response_type=token", 1),
		"nothing":               "/oauth/authorize",
	} {
		if p := b.get(address); p.Status != http.StatusUnprocessableEntity || p.Location != "" || strings.Contains(p.Body, "evil.example/") {
			t.Errorf("%s: %d to %q", name, p.Status, p.Location)
		}
		if p := b.post(address, url.Values{"decision": {"allow"}}); p.Location != "" {
			t.Errorf("%s, answered: %d to %q", name, p.Status, p.Location)
		}
	}
	if p := b.post(asked, url.Values{"decision": {"allow"}, "agent": {d.AgentIn(t, d.Other).Slug}}); p.Status != http.StatusNotFound || p.Location != "" {
		t.Errorf("another tenant's agent: %d to %q", p.Status, p.Location)
	}
	if p := b.post(asked, url.Values{"decision": {"allow"}, "tenant": {"nothing"}}); p.Status != http.StatusNotFound {
		t.Errorf("another tenant: %d", p.Status)
	}
	viewer := d.signInAsRole(connectors.RoleViewer)
	if p := viewer.get(asked); p.Status != http.StatusOK || strings.Contains(p.Body, `value="allow"`) {
		t.Errorf("a viewer is asked: %d", p.Status)
	}
	if p := viewer.post(asked, url.Values{"decision": {"allow"}}); p.Status != http.StatusForbidden || p.Location != "" {
		t.Errorf("a viewer answers: %d to %q", p.Status, p.Location)
	}
}

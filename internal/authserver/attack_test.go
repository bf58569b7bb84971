package authserver_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"patchbay/internal/authserver"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

func TestAProgramSignsInRefreshesAndSignsOut(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client, key := w.registers(callback), w.key(w.Tenant, connectors.RoleAdmin)
	back := w.allowed(w.ada, asks(client), connectors.Ref(w.agent.Slug))
	if back.Get("state") != "their-state" || back.Get("iss") != baseURL {
		t.Errorf("the program is told %v", back)
	}
	first := w.token(exchanges(client, back.Get("code")))
	if first.Status != http.StatusOK || first.text("token_type") != "Bearer" || first.JSON["expires_in"] != 3600.0 || first.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("exchange: %+v", first)
	}
	if !w.opens(key, first.text("access_token")) {
		t.Error("the access token is none")
	}
	second := w.refresh(client, first.text("refresh_token"))
	if second.Status != http.StatusOK || second.text("refresh_token") == first.text("refresh_token") || !w.opens(key, second.text("access_token")) {
		t.Fatalf("refresh: %+v", second)
	}
	if c := w.clients(); len(c) != 1 || c[0].Name != "Inspector" || c[0].Host != "" || c[0].Resource != "/mcp" || c[0].UserID != *w.ada.UserID {
		t.Errorf("clients: %+v", c)
	}
	if r := w.post("/oauth/revoke", url.Values{"token": {second.text("refresh_token")}, "client_id": {client}}); r.Status != http.StatusOK {
		t.Errorf("revoke: %+v", r)
	}
	if w.opens(key, first.text("access_token")) || w.opens(key, second.text("access_token")) || len(w.clients()) != 0 {
		t.Error("a program that signed out has a token")
	}
	if r := w.refresh(client, second.text("refresh_token")); r.text("error") != "invalid_grant" {
		t.Errorf("refresh after that: %+v", r)
	}
}

func TestACodeThatIsUsedTwiceEndsWhatCameOfIt(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client, key := w.registers(callback), w.key(w.Tenant, connectors.RoleAdmin)
	code := w.allowed(w.ada, asks(client), connectors.Ref(w.agent.Slug)).Get("code")
	first := w.token(exchanges(client, code))
	if !w.opens(key, first.text("access_token")) {
		t.Fatalf("%+v", first)
	}
	if again := w.token(exchanges(client, code)); again.Status != http.StatusBadRequest || again.text("error") != "invalid_grant" {
		t.Errorf("the code again: %+v", again)
	}
	if w.opens(key, first.text("access_token")) {
		t.Error("the token of a code that is in two hands goes on")
	}
	if r := w.refresh(client, first.text("refresh_token")); r.text("error") != "invalid_grant" {
		t.Errorf("its refresh token goes on: %+v", r)
	}
	if got := w.ends(); len(got) != 1 || got[0] != "its code was used twice" {
		t.Errorf("on record: %q", got)
	}
}

func TestExchange_ConcurrentCodeEndsAccess(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client, key := w.registers(callback), w.key(w.Tenant, connectors.RoleAdmin)
	code := w.allowed(w.ada, asks(client), connectors.Ref(w.agent.Slug)).Get("code")
	var answers [4]reply
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = w.token(exchanges(client, code)) })
	}
	all.Wait()
	given := 0
	for _, a := range answers {
		if a.Status == http.StatusOK {
			given++
			if w.opens(key, a.text("access_token")) {
				t.Error("a token of a code that is in several hands goes on")
			}
		}
	}
	if given > 1 {
		t.Errorf("%d were given tokens for one code", given)
	}
}

func TestExchange_CodeIsBound(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client, other := w.registers(callback), w.registers(callback)
	for name, change := range map[string][]string{
		"without a verifier":            {"code_verifier", ""},
		"with another verifier":         {"code_verifier", strings.Repeat("x", 50)},
		"with the challenge for one":    {"code_verifier", challenge()},
		"by another client":             {"client_id", other},
		"for another redirect URI":      {"redirect_uri", "http://127.0.0.1:7778/callback"},
		"for no redirect URI":           {"redirect_uri", "http://127.0.0.1"},
		"for another resource":          {"resource", baseURL + "/mcp/linear"},
		"for a resource of somebody":    {"resource", "https://elsewhere.example.com/mcp"},
		"for a resource that is no URL": {"resource", "mcp"},
	} {
		code := w.allowed(w.ada, asks(client), connectors.Ref(w.agent.Slug)).Get("code")
		if r := w.token(exchanges(client, code, change...)); r.Status != http.StatusBadRequest || r.text("error") != "invalid_grant" || r.text("access_token") != "" {
			t.Errorf("a code %s: %+v", name, r)
		}
		if r := w.token(exchanges(client, code)); r.text("error") != "invalid_grant" {
			t.Errorf("a code that was shown %s is good afterwards: %+v", name, r)
		}
	}
	for name, header := range map[string]string{"nobody": "", "a client with a secret": basic(client, "s"), "a client of two names": basic(other, "")} {
		code, id := w.allowed(w.ada, asks(client), connectors.Ref(w.agent.Slug)).Get("code"), client
		if header == "" {
			id = ""
		}
		if r := w.post("/oauth/token", exchanges(client, code, "client_id", id), "Authorization", header); r.Status == http.StatusOK {
			t.Errorf("a code that %s shows: %+v", name, r)
		}
		if r := w.post("/oauth/token", exchanges(client, code, "client_id", ""), "Authorization", basic(client, "")); r.Status != http.StatusOK {
			t.Errorf("a client that says its id in a header: %+v", r)
		}
		if err := w.programs.End(t.Context(), w.ada, w.clients()[0].ID); err != nil {
			t.Fatal(err)
		}
	}
	late := w.allowed(w.ada, asks(client), connectors.Ref(w.agent.Slug)).Get("code")
	w.passes(61 * time.Second)
	if r := w.token(exchanges(client, late)); r.text("error") != "invalid_grant" {
		t.Errorf("a code after a minute: %+v", r)
	}
	if len(w.clients()) != 0 {
		t.Error("a program without a token is listed")
	}
}

func TestExchange_UnknownCode(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client := w.registers(callback)
	code := w.allowed(w.ada, asks(client), connectors.Ref(w.agent.Slug)).Get("code")
	for _, invented := range []string{"", "x", code + "x", "pb_code_", forged(code), "pb_refresh_" + strings.TrimPrefix(code, "pb_code_")} {
		if r := w.token(exchanges(client, invented)); r.text("error") != "invalid_grant" {
			t.Errorf("%q: %+v", invented, r)
		}
	}
	if r := w.token(exchanges(client, code)); r.Status != http.StatusOK {
		t.Errorf("after inventions the real one is refused: %+v", r)
	}
	tokens := w.signedIn(client)
	for _, invented := range []string{forged(tokens.text("refresh_token")), tokens.text("access_token"), "pb_refresh_x"} {
		if r := w.refresh(client, invented); r.text("error") != "invalid_grant" {
			t.Errorf("%q: %+v", invented, r)
		}
	}
	if r := w.refresh(client, tokens.text("refresh_token")); r.Status != http.StatusOK {
		t.Errorf("an invented refresh token ended the real one: %+v", r)
	}
}

func TestAStolenRefreshTokenEndsTheWholeFamily(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client, key := w.registers(callback), w.key(w.Tenant, connectors.RoleAdmin)
	first := w.signedIn(client)
	second := w.refresh(client, first.text("refresh_token"))
	third := w.refresh(client, second.text("refresh_token"))
	w.passes(11 * time.Second) // longer than a client waits
	if r := w.refresh(client, second.text("refresh_token")); r.text("error") != "invalid_grant" {
		t.Fatalf("a refresh token that was used: %+v", r)
	}
	for name, r := range map[string]reply{"first": first, "second": second, "third": third} {
		if w.opens(key, r.text("access_token")) {
			t.Errorf("the %s access token goes on", name)
		}
		if r := w.refresh(client, r.text("refresh_token")); r.text("error") != "invalid_grant" {
			t.Errorf("the %s refresh token goes on: %+v", name, r)
		}
	}
	if got := w.ends(); len(got) != 1 || !strings.Contains(got[0], "stolen") {
		t.Errorf("on record: %q", got)
	}
}

func TestRefresh_ReuseEndsAccess(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client := w.registers(callback)
	first := w.signedIn(client)
	second := w.refresh(client, first.text("refresh_token"))
	third := w.refresh(client, second.text("refresh_token"))
	if r := w.refresh(client, first.text("refresh_token")); r.text("error") != "invalid_grant" { // within the grace, but two uses ago
		t.Errorf("%+v", r)
	}
	if r := w.refresh(client, third.text("refresh_token")); r.text("error") != "invalid_grant" {
		t.Errorf("%+v", r)
	}
}

func TestALostAnswerIsGivenAgain(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client, key := w.registers(callback), w.key(w.Tenant, connectors.RoleAdmin)
	first := w.signedIn(client)
	var answers [5]reply
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = w.refresh(client, first.text("refresh_token")) })
	}
	all.Wait()
	for _, a := range answers {
		if a.Status != http.StatusOK || a.text("refresh_token") != answers[0].text("refresh_token") {
			t.Fatalf("the same request has another answer: %+v, %+v", a, answers[0])
		}
	}
	if !w.opens(key, answers[4].text("access_token")) && !w.opens(key, answers[0].text("access_token")) {
		t.Error("no token of them is good")
	}
	if r := w.refresh(client, answers[0].text("refresh_token")); r.Status != http.StatusOK {
		t.Errorf("the next: %+v", r)
	}
}

func TestRefresh_TokenIsBound(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client, other := w.registers(callback), w.registers(callback)
	first := w.signedIn(client)
	if r := w.refresh(other, first.text("refresh_token")); r.text("error") != "invalid_grant" {
		t.Errorf("another client: %+v", r)
	}
	for _, resource := range []string{baseURL + "/mcp/linear", "https://elsewhere.example.com/mcp"} {
		form := with(refreshes(client, first.text("refresh_token")), "resource", resource)
		if r := w.token(form); r.text("error") != "invalid_target" {
			t.Errorf("%s: %+v", resource, r)
		}
	}
	if r := w.post("/oauth/revoke", url.Values{"token": {first.text("refresh_token")}, "client_id": {other}}); r.text("error") != "invalid_client" {
		t.Errorf("revoked by another client: %+v", r)
	}
	if r := w.token(with(refreshes(client, first.text("refresh_token")), "resource", baseURL+"/mcp")); r.Status != http.StatusOK {
		t.Errorf("%+v", r)
	}
	w.passes(31 * 24 * time.Hour)
	if r := w.refresh(client, first.text("refresh_token")); r.text("error") != "invalid_grant" {
		t.Errorf("after a month: %+v", r)
	}
}

func TestNobodyLetsAProgramBeWhatTheyMayNot(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client := w.registers(callback)
	asked, err := w.programs.Request(t.Context(), asks(client))
	if err != nil {
		t.Fatal(err)
	}
	viewer, member := w.person(w.Tenant, connectors.RoleViewer), w.person(w.Tenant, connectors.RoleMember)
	stranger := w.person(w.Other, connectors.RoleOwner)
	shared := authserver.Choice{Agent: connectors.Ref(w.agent.Slug)}
	if _, err := w.programs.Allow(t.Context(), viewer, asked, authserver.Choice{}); !fault.Is(err, fault.Denied) {
		t.Errorf("a viewer: %v", err)
	}
	if _, err := w.programs.Allow(t.Context(), member, asked, shared); !fault.Is(err, fault.NotFound) {
		t.Errorf("a member, of an agent that is not theirs: %v", err)
	}
	for _, ref := range []connectors.Ref{connectors.Ref(w.agent.Slug), connectors.Ref(w.agent.ID.String())} {
		if _, err := w.programs.Allow(t.Context(), stranger, asked, authserver.Choice{Agent: ref}); !fault.Is(err, fault.NotFound) {
			t.Errorf("somebody of another tenant: %v", err)
		}
	}
	if list, err := w.programs.Agents(t.Context(), member, ""); err != nil || len(list.Items) != 0 {
		t.Errorf("a member chooses among %v, %v", list, err)
	}
	if _, err := w.programs.Allow(t.Context(), member, asked, authserver.Choice{}); err != nil {
		t.Fatalf("a member, of a new agent: %v", err)
	}
	list, err := w.programs.Agents(t.Context(), member, "")
	own := list.Items
	if err != nil || len(own) != 1 || own[0].Approval != connectors.ApprovalAlwaysAsk || !strings.HasSuffix(own[0].Name, ": Inspector") {
		t.Fatalf("a member has %+v, %v", own, err)
	}
	if grants, err := w.Door().Agents().Grants(t.Context(), own[0].ID, store.Page{}); err != nil || len(grants.Items) != 0 {
		t.Errorf("a new agent may use %v, %v", grants, err)
	}
	if _, err := w.programs.Allow(t.Context(), member, asked, authserver.Choice{Agent: connectors.Ref(own[0].Slug)}); err != nil {
		t.Errorf("a member, of their own agent: %v", err)
	}
	if _, err := w.programs.Allow(t.Context(), w.person(w.Tenant, connectors.RoleMember), asked, authserver.Choice{Agent: connectors.Ref(own[0].Slug)}); !fault.Is(err, fault.NotFound) {
		t.Errorf("another member, of that agent: %v", err)
	}
}

func TestAccessEndsWithWhoGaveIt(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	key := w.key(w.Tenant, connectors.RoleAdmin)
	client := w.registers(callback)
	w.person(w.Tenant, connectors.RoleOwner) // a tenant keeps one
	first := w.signedIn(client)
	if err := w.Door().People().SetRole(t.Context(), *w.ada.UserID, connectors.RoleMember); err != nil {
		t.Fatal(err)
	}
	if r := w.refresh(client, first.text("refresh_token")); r.text("error") != "invalid_grant" {
		t.Errorf("of somebody who is an admin no more: %+v", r)
	}
	if w.opens(key, first.text("access_token")) {
		t.Error("the access token goes on")
	}
	if err := w.Door().People().SetRole(t.Context(), *w.ada.UserID, connectors.RoleAdmin); err != nil {
		t.Fatal(err)
	}
	second := w.signedIn(client)
	if _, err := w.Door().People().RemoveMember(t.Context(), *w.ada.UserID); err != nil {
		t.Fatal(err)
	}
	if w.opens(key, second.text("access_token")) {
		t.Error("the access token of somebody who is no member goes on")
	}
	if r := w.refresh(client, second.text("refresh_token")); r.text("error") != "invalid_grant" {
		t.Errorf("of somebody who is no member: %+v", r)
	}
}

func TestEnd_OnlyOwnerOrAdmin(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	client, key := w.registers(callback), w.key(w.Tenant, connectors.RoleAdmin)
	first := w.signedIn(client)
	id := w.clients()[0].ID
	member, stranger := w.person(w.Tenant, connectors.RoleMember), w.person(w.Other, connectors.RoleOwner)
	if err := w.programs.End(t.Context(), member, id); !fault.Is(err, fault.NotFound) {
		t.Errorf("another member: %v", err)
	}
	if err := w.programs.End(t.Context(), stranger, id); !fault.Is(err, fault.NotFound) {
		t.Errorf("another tenant: %v", err)
	}
	if err := w.programs.EndAsAgent(t.Context(), w.ada, connectors.Ref(w.Agent(t).Slug), id); !fault.Is(err, fault.NotFound) {
		t.Errorf("of another agent: %v", err)
	}
	if !w.opens(key, first.text("access_token")) {
		t.Fatal("it has ended")
	}
	if err := w.programs.EndAsAgent(t.Context(), w.person(w.Tenant, connectors.RoleAdmin), connectors.Ref(w.agent.Slug), id); err != nil {
		t.Errorf("an admin: %v", err)
	}
	if w.opens(key, first.text("access_token")) || len(w.clients()) != 0 {
		t.Error("it goes on")
	}
}

func TestNoTokenIsToldToAnotherTenant(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	token := w.signedIn(w.registers(callback)).text("access_token")
	if w.opens(w.key(w.Other, connectors.RoleOwner), token) {
		t.Error("another tenant is told of a token")
	}
	own := w.post("/oauth/introspect", url.Values{"token": {token}}, "Authorization", "Bearer "+w.key(w.Tenant, connectors.RoleAdmin))
	if own.text("aud") != baseURL+"/mcp" || own.text("iss") != baseURL || own.text("sub") != w.ada.UserID.String() || own.text("agent_id") != w.agent.ID.String() {
		t.Errorf("%+v", own)
	}
	if r := w.post("/oauth/introspect", url.Values{"token": {token}}, "Authorization", "Bearer "+w.key(w.Tenant, connectors.RoleMember)); r.Status != http.StatusForbidden {
		t.Errorf("a member's key: %+v", r)
	}
	for _, header := range []string{"", "Bearer " + token, "Bearer x"} {
		if r := w.post("/oauth/introspect", url.Values{"token": {token}}, "Authorization", header); r.Status != http.StatusUnauthorized || r.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%.10q: %+v", header, r)
		}
	}
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

func forged(token string) string {
	// Another secret under the same id, with a checksum that fits.
	parts := strings.Split(token, "_")
	secretPart := parts[len(parts)-2]
	other := strings.Map(func(r rune) rune {
		if r == 'a' {
			return 'b'
		}
		return 'a'
	}, secretPart[:8]) + secretPart[8:]
	body := strings.Join(parts[:len(parts)-2], "_") + "_" + other
	return body + "_" + checksum(body)
}

package mcpadmin_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcpadmin"
	"patchbay/internal/store"
)

// newMemberProgram returns a member and the token of a program that acts for them.
func (w *testEnv) newMemberProgram(t *testing.T, role connectors.Role, scope connectors.ClientScope) (connectors.Member, string) {
	t.Helper()
	m := w.Member(t, role, func(n *store.NewMember) { n.Name = "Ada" })
	return m, w.MemberAccessToken(t, w.Tenant, w.ProgramAsIn(t, w.Tenant, m.UserID, scope)).Reveal()
}

func TestMemberProgram_ActsAsMemberAndIsAudited(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{newest, before} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.seedTool(t)
			w.Member(t, connectors.RoleOwner)
			m, token := w.newMemberProgram(t, connectors.RoleAdmin, connectors.ScopeAdmin)
			a := w.connect(t, token, revision, "accept")
			a.callTool(t, "grant_tools", exampleArguments["grant_tools"], nil)
			if len(a.questions) != 1 {
				t.Errorf("a person was asked %q", a.questions)
			}
			if got := w.mcpEvents(t); len(got) != 1 || got[0] != "agent_grant.set by person Ada" {
				t.Errorf("on record: %q", got)
			}
			var id, program string
			w.AsSystem(t, "select actor_id::text, detail->'program'->>'name' from audit_events where action = 'agent_grant.set'", nil, &id, &program)
			if id != m.UserID.String() || !strings.HasPrefix(program, "program") {
				t.Errorf("on record: %s by %q", id, program)
			}

			if err := w.Door().People().SetRole(t.Context(), m.UserID, connectors.RoleViewer); err != nil {
				t.Fatal(err)
			}
			if code, _ := a.callRefused(t, "grant_tools", exampleArguments["grant_tools"]); code != "denied" || slices.Contains(a.listNames(t), "grant_tools") {
				t.Errorf("the role fell in the midst: %s", code)
			}
			if _, err := w.Door().People().RemoveMember(t.Context(), m.UserID); err != nil {
				t.Fatal(err)
			}
			if _, err := a.ListTools(t.Context(), nil); err == nil {
				t.Error("the program of who is no member lists tools")
			}
		})
	}
}

func TestMemberProgram_ReadScopeChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seedTool(t)
	_, token := w.newMemberProgram(t, connectors.RoleOwner, connectors.ScopeAdminRead)
	a := w.connect(t, token, newest, "accept")
	was := w.Rows(t)
	listed := a.listNames(t)
	for _, row := range mcpadmin.Table() {
		if row.May == connectors.PermRead {
			continue
		}
		if code, _ := a.callRefused(t, row.Name, exampleArguments[row.Name]); code != "denied" || slices.Contains(listed, row.Name) {
			t.Errorf("%s: %s", row.Name, code)
		}
	}
	if w.Rows(t) != was || len(a.questions) > 0 {
		t.Errorf("something changed, or a person was asked %q", a.questions)
	}
}

// A confirmation at the program does not identify the person.
func TestMemberProgram_BrowserConfirmationIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Connector(t, func(d *connectors.Draft) { d.Slug, d.Auth.Type = "mail", connectors.AuthOAuth2 })
	_, token := w.newMemberProgram(t, connectors.RoleOwner, connectors.ScopeAdmin)
	a := w.connect(t, token, newest, "accept")
	was := w.Rows(t)
	code, says := a.callRefused(t, "connect_account", map[string]any{"connector": "mail"})
	if code != "reauthentication_required" || !strings.Contains(says, w.url+"/connectors/mail/credentials") {
		t.Errorf("%s: %s", code, says)
	}
	if w.Rows(t) != was || len(a.questions) > 0 {
		t.Errorf("something changed, or a person was asked %q", a.questions)
	}
	w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleOwner), newest, "accept").callTool(t, "connect_account", map[string]any{"connector": "mail"}, nil)

	operations := w.operations(t)
	for _, row := range mcpadmin.Table() {
		asks := slices.ContainsFunc(row.Asks, func(id string) bool { return operations[id].Confirms != "" })
		if asks != row.Dangerous {
			t.Errorf("%s is dangerous at the API: %t, and here: %t", row.Name, asks, row.Dangerous)
		}
	}
}

func TestUnauthenticated_GetsResourceMetadataURL(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for authorization, want := range map[string]string{
		"":                         `Bearer resource_metadata="` + w.url + `/.well-known/oauth-protected-resource/mcp/admin"`,
		"Bearer pb_member_nothing": `Bearer resource_metadata="` + w.url + `/.well-known/oauth-protected-resource/mcp/admin", error="invalid_token"`,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+mcpadmin.Path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		res, err := w.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var problem struct{ Title string }
		err = json.NewDecoder(res.Body).Decode(&problem)
		_ = res.Body.Close()
		if got := res.Header.Get("WWW-Authenticate"); err != nil || res.StatusCode != http.StatusUnauthorized || got != want {
			t.Errorf("%q: %d %s, %v", authorization, res.StatusCode, got, err)
		}
	}
}

func acceptAnswer(state string) map[string]any {
	return map[string]any{"requestState": state, "inputResponses": map[string]any{"confirm": map[string]any{"action": "accept", "content": map[string]any{"agree": true}}}}
}

// A confirmation is used once, even by concurrent calls.
func TestConfirm_AnswerIsUsedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seedTool(t)
	key := w.newAPIKey(t, w.Tenant, connectors.RoleOwner)
	begun := w.callModern(t, key, "grant_tools", exampleArguments["grant_tools"], nil)
	var done, used int
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			got := w.callModern(t, key, "grant_tools", exampleArguments["grant_tools"], acceptAnswer(begun.Result.RequestState))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case got.Error == nil && !got.Result.IsError:
				done++
			case got.Result.Meta["patchbay/reason"].Code == "confirmation-used":
				used++
			}
		})
	}
	all.Wait()
	again := w.callModern(t, key, "grant_tools", exampleArguments["grant_tools"], acceptAnswer(begun.Result.RequestState))
	if done != 1 || used != 4 || again.Result.Meta["patchbay/reason"].Code != "confirmation-used" {
		t.Errorf("done %d times, refused %d times, and later %+v", done, used, again)
	}
	if acts := w.mcpEvents(t); len(acts) != 1 {
		t.Errorf("acts %q", acts)
	}
}

// A question of one program is not answered by another program of the same person.
func TestConfirm_AnswerIsBoundToProgram(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seedTool(t)
	m, first := w.newMemberProgram(t, connectors.RoleAdmin, connectors.ScopeAdmin)
	second := w.MemberAccessToken(t, w.Tenant, w.ProgramAsIn(t, w.Tenant, m.UserID, connectors.ScopeAdmin)).Reveal()
	begun := w.callModern(t, first, "grant_tools", exampleArguments["grant_tools"], nil)
	if got := w.callModern(t, second, "grant_tools", exampleArguments["grant_tools"], acceptAnswer(begun.Result.RequestState)); got.Error == nil || got.Error.Code != -32602 {
		t.Errorf("%+v", got)
	}
	if got := w.callModern(t, first, "grant_tools", exampleArguments["grant_tools"], acceptAnswer(begun.Result.RequestState)); got.Error != nil || got.Result.IsError {
		t.Errorf("its own: %+v", got)
	}
}

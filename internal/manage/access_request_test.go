package manage_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
	"patchbay/internal/store"
)

// askEnv is a world in which a member asks for access.
type askEnv struct {
	*testEnv
	member auth.Actor
	agent  connectors.Agent
	server connectors.Connector
}

func newAskEnv(t *testing.T) *askEnv {
	t.Helper()
	b := newTestEnv(t)
	e := &askEnv{testEnv: b, member: b.actor(connectors.RoleMember), agent: b.Agent(t), server: b.Connector(t)}
	b.Synced(t, e.server.ID, "create", "search")
	return e
}

func (e *askEnv) ask(tools ...string) manage.AccessAsk {
	return manage.AccessAsk{
		Agent: connectors.Ref(e.agent.Slug), Connector: connectors.Ref(e.server.Slug), AllTools: len(tools) == 0, Tools: tools, Reason: "For the report.",
	}
}

func (e *askEnv) mustAsk(t *testing.T, ask manage.AccessAsk) store.RequestedAccess {
	t.Helper()
	asked, err := e.reg.AskAccess(t.Context(), e.member, ask)
	if err != nil {
		t.Fatal(err)
	}
	return asked
}

func (e *askEnv) grant(t *testing.T) connectors.Grant {
	t.Helper()
	g, err := e.Door().Agents().Grant(t.Context(), e.agent.ID, e.server.ID)
	if err != nil {
		t.Fatal(err)
	}
	return g.Grant
}

func TestAccessRequest_AcceptedUpToItsEnd(t *testing.T) {
	t.Parallel()
	e := newAskEnv(t)
	e.Grant(t, e.agent.ID, e.server.ID, func(g *connectors.Grant) { g.AllTools, g.Tools = false, []string{"search"} })
	ask, end := e.ask("create"), time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	ask.Until = &end
	asked := e.mustAsk(t, ask)
	if asked.State != connectors.RequestOpen || asked.AskedBy != "Ann" || asked.Agent.Slug != e.agent.Slug || asked.Connector.Slug != e.server.Slug {
		t.Errorf("%+v", asked)
	}
	decided, err := e.reg.DecideRequest(t.Context(), e.admin, asked.ID, manage.RequestDecision{Accept: true, Note: "Until then."})
	if err != nil || decided.State != connectors.RequestAccepted || decided.DecidedAt == nil || decided.Note != "Until then." {
		t.Fatalf("%+v (%v)", decided, err)
	}
	g := e.grant(t)
	if !slices.Equal(g.Tools, []string{"search"}) || g.Ends == nil || g.Ends.Until != nil {
		t.Errorf("the permanent part changed: %+v", g)
	}
	if diff := cmp.Diff(map[string]*time.Time{"create": &end}, g.Ends.Tools); diff != "" {
		t.Error(diff)
	}
	if got := e.audited(t); !slices.Equal(got, []string{"access_request.ask", "agent_grant.set", "access_request.accept"}) {
		t.Errorf("audited as %q", got)
	}
	if n := e.Count(t, "notices"); n != 2 {
		t.Errorf("%d notices, want one of the request and one of the decision", n)
	}
}

// The end of an ended grant does not stay when the request has none.
func TestAccessRequest_RenewsAnEndedGrant(t *testing.T) {
	t.Parallel()
	e := newAskEnv(t)
	past := time.Now().Add(-time.Hour)
	e.Grant(t, e.agent.ID, e.server.ID, func(g *connectors.Grant) { g.Ends = &connectors.GrantEnds{Until: &past} })
	asked := e.mustAsk(t, e.ask("create"))
	if _, err := e.reg.DecideRequest(t.Context(), e.admin, asked.ID, manage.RequestDecision{Accept: true}); err != nil {
		t.Fatal(err)
	}
	if g := e.grant(t); g.AllTools || !slices.Equal(g.Tools, []string{"create"}) || g.Ends != nil || g.IncludesItems(connectors.ItemPrompt) {
		t.Errorf("%+v", g)
	}
}

func TestAccessRequest_AdminChoosesAnotherEnd(t *testing.T) {
	t.Parallel()
	e := newAskEnv(t)
	asked, past, end := e.mustAsk(t, e.ask()), new(time.Now().Add(-time.Second)), new(time.Now().Add(time.Hour).UTC().Truncate(time.Second))
	if _, err := e.reg.DecideRequest(t.Context(), e.admin, asked.ID, manage.RequestDecision{Accept: true, Until: &past}); !fault.Is(err, fault.Invalid) {
		t.Errorf("an end that has passed: %v", err)
	}
	if _, err := e.reg.DecideRequest(t.Context(), e.admin, asked.ID, manage.RequestDecision{Accept: true, Until: &end}); err != nil {
		t.Fatal(err)
	}
	if g := e.grant(t); !g.AllTools || g.Ends == nil || !g.Ends.Until.Equal(*end) {
		t.Errorf("%+v", g)
	}
}

func TestAccessRequest_Roles(t *testing.T) {
	t.Parallel()
	e := newAskEnv(t)
	for _, role := range []connectors.Role{connectors.RoleViewer, connectors.RoleAuditor} {
		if _, err := e.reg.AskAccess(t.Context(), e.actor(role), e.ask()); !fault.Is(err, fault.Denied) {
			t.Errorf("a %s asks: %v", role, err)
		}
	}
	asked := e.mustAsk(t, e.ask())
	other := e.actor(connectors.RoleMember)
	for name, err := range map[string]error{
		"the asker accepts":      second(e.reg.DecideRequest(t.Context(), e.member, asked.ID, manage.RequestDecision{Accept: true})),
		"another member accepts": second(e.reg.DecideRequest(t.Context(), other, asked.ID, manage.RequestDecision{Accept: true})),
	} {
		if !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, actor := range []auth.Actor{e.admin, other} {
		if err := e.reg.WithdrawRequest(t.Context(), actor, asked.ID); !fault.Is(err, fault.Conflict) {
			t.Errorf("another withdraws: %v", err)
		}
	}
	list, err := e.reg.AccessRequests(t.Context(), e.actor(connectors.RoleViewer), store.AccessRequestFilter{State: connectors.RequestOpen})
	if err != nil || len(list.Items) != 1 {
		t.Errorf("a viewer sees %d requests, want 1 (%v)", len(list.Items), err)
	}
	if err := e.reg.WithdrawRequest(t.Context(), e.member, asked.ID); err != nil {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestAccessRequest_IsValidated(t *testing.T) {
	t.Parallel()
	e := newAskEnv(t)
	for name, change := range map[string]func(*manage.AccessAsk){
		"no reason":       func(a *manage.AccessAsk) { a.Reason = " " },
		"a long reason":   func(a *manage.AccessAsk) { a.Reason = strings.Repeat("x", 1001) },
		"no tools":        func(a *manage.AccessAsk) { a.AllTools = false },
		"an end before":   func(a *manage.AccessAsk) { a.Until = new(time.Now().Add(-time.Minute)) },
		"an endless date": func(a *manage.AccessAsk) { a.Until = new(time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)) },
	} {
		ask := e.ask()
		change(&ask)
		if _, err := e.reg.AskAccess(t.Context(), e.member, ask); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	e.mustAsk(t, e.ask("search"))
	if _, err := e.reg.AskAccess(t.Context(), e.member, e.ask("create")); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second open request: %v", err)
	}
	e.Grant(t, e.agent.ID, e.server.ID)
	if _, err := e.reg.AskAccess(t.Context(), e.actor(connectors.RoleMember), e.ask("search")); !fault.Is(err, fault.Conflict) {
		t.Errorf("what the agent has: %v", err)
	}
}

func TestAccessRequest_OpenOnesAreBounded(t *testing.T) {
	t.Parallel()
	e := newAskEnv(t)
	for range connectors.MaxOpenRequests {
		ask := e.ask()
		ask.Agent = connectors.Ref(e.Agent(t).Slug)
		e.mustAsk(t, ask)
	}
	if _, err := e.reg.AskAccess(t.Context(), e.member, e.ask()); !fault.Is(err, fault.Conflict) {
		t.Errorf("one more: %v", err)
	}
	if _, err := e.reg.AskAccess(t.Context(), e.actor(connectors.RoleMember), e.ask()); err != nil {
		t.Errorf("another member: %v", err)
	}
}

// Two admins decide at once while the asker withdraws: one of the three succeeds, and the grant is as the request says.
func TestAccessRequest_IsDecidedOnce(t *testing.T) {
	t.Parallel()
	e := newAskEnv(t)
	asked := e.mustAsk(t, e.ask())
	errs := make([]error, 3)
	var all sync.WaitGroup
	all.Go(func() {
		_, errs[0] = e.reg.DecideRequest(t.Context(), e.admin, asked.ID, manage.RequestDecision{Accept: true})
	})
	all.Go(func() {
		_, errs[1] = e.reg.DecideRequest(t.Context(), e.actor(connectors.RoleAdmin), asked.ID, manage.RequestDecision{})
	})
	all.Go(func() { errs[2] = e.reg.WithdrawRequest(t.Context(), e.member, asked.ID) })
	all.Wait()
	succeeded := 0
	for _, err := range errs {
		if err == nil {
			succeeded++
		} else if !fault.Is(err, fault.Conflict) {
			t.Error(err)
		}
	}
	if succeeded != 1 {
		t.Errorf("%d of three decisions succeeded: %v", succeeded, errs)
	}
	found, err := e.reg.AccessRequest(t.Context(), e.admin, asked.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Door().Agents().Grant(t.Context(), e.agent.ID, e.server.ID)
	if granted := err == nil; granted != (found.State == connectors.RequestAccepted) {
		t.Errorf("the request is %s, and granted is %t (%v)", found.State, granted, err)
	}
}

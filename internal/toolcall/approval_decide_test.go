package toolcall_test

import (
	"strings"
	"testing"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// newMember is a member with a user id.
func (b *bench) newMember(t *testing.T, role connectors.Role) auth.Actor {
	t.Helper()
	m := b.Member(t, role)
	return auth.Actor{Kind: auth.KindPerson, Tenant: connectors.Tenant{ID: b.Tenant}, Role: role, UserID: &m.UserID, Name: m.DisplayName()}
}

// actThroughProgram is the member through a program.
func actThroughProgram(a auth.Actor) auth.Actor {
	a.Program = &store.ActingClient{ID: store.NewAgentClientID(), Name: "Inspector"}
	return a
}

func TestDecide_PersonalAgentNeedsOwnerOrAdmin(t *testing.T) {
	t.Parallel()
	for _, decider := range []string{"the member", "an admin"} {
		t.Run(decider, func(t *testing.T) {
			t.Parallel()
			b, c, a := newApprovalBench(t)
			ada, bob, admin := b.newMember(t, connectors.RoleMember), b.newMember(t, connectors.RoleMember), b.newMember(t, connectors.RoleAdmin)
			must(t, b.Door().Agents().MakePersonal(t.Context(), *ada.UserID, a.ID))
			_, err := b.callNoWait(t, b.process, a, c)
			wantRefused(t, err, toolcall.CodeApprovalPending)
			id := b.onlyWaiting(t)
			for _, other := range []auth.Actor{bob, b.actor(connectors.RoleMember)} { // a member, and an API key of that role
				for _, d := range []toolcall.Decision{{Approve: true}, {}} {
					if _, err := b.Decide(t.Context(), other, id, d); !fault.Is(err, fault.Denied) {
						t.Errorf("%s decides: %v", other.Name, err)
					}
				}
			}
			if b.onlyWaiting(t) != id {
				t.Error("the call does not wait any more")
			}
			b.remote.wantCalls(t, 0)
			who := map[string]auth.Actor{"the member": ada, "an admin": admin}[decider]
			_, err = b.Decide(t.Context(), who, id, toolcall.Decision{Approve: true})
			must(t, err)
		})
	}
}

func TestDecide_ProgramMayNotApproveOwnCalls(t *testing.T) {
	t.Parallel()
	for name, makeOwn := range map[string]func(*testing.T, *bench, connectors.Agent, connectors.UserID){
		"it was made for their programs": func(t *testing.T, b *bench, a connectors.Agent, id connectors.UserID) {
			must(t, b.Door().Agents().MakePersonal(t.Context(), id, a.ID))
		},
		"they let a program be it": func(t *testing.T, b *bench, a connectors.Agent, id connectors.UserID) {
			b.ProgramIn(t, b.Tenant, a.ID, id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, c, a := newApprovalBench(t)
			ada, other := b.newMember(t, connectors.RoleAdmin), b.newMember(t, connectors.RoleAdmin)
			makeOwn(t, b, a, *ada.UserID)
			_, err := b.callNoWait(t, b.process, a, c)
			wantRefused(t, err, toolcall.CodeApprovalPending)
			id := b.onlyWaiting(t)
			_, err = b.Decide(t.Context(), actThroughProgram(ada), id, toolcall.Decision{Approve: true})
			if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "Approve or deny its calls yourself") {
				t.Errorf("its own program decides: %v", err)
			}
			b.remote.wantCalls(t, 0)
			_, err = b.Decide(t.Context(), actThroughProgram(other), id, toolcall.Decision{Approve: true})
			must(t, err)
			row, err := b.Approval(t.Context(), ada, id)
			must(t, err)
			if want := other.Name + " (by the program Inspector)"; row.DecidedBy != want {
				t.Errorf("%q decided, want %q", row.DecidedBy, want)
			}
		})
	}
}

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

// member is a member who decides, and is somebody.
func (b *bench) member(t *testing.T, role connectors.Role) auth.Actor {
	t.Helper()
	m := b.Member(t, role)
	return auth.Actor{Kind: auth.KindPerson, Tenant: connectors.Tenant{ID: b.Tenant}, Role: role, UserID: &m.UserID, Name: m.DisplayName()}
}

// byProgram is a member by a program that acts as them.
func byProgram(a auth.Actor) auth.Actor {
	a.Program = &store.Program{ID: store.NewAgentClientID(), Name: "Inspector"}
	return a
}

func TestAboutTheCallsOfAMembersAgentDecideThatMemberAndThoseWhoManage(t *testing.T) {
	t.Parallel()
	for _, decides := range []string{"the member", "an admin"} {
		t.Run(decides, func(t *testing.T) {
			t.Parallel()
			b, c, a := asking(t)
			ada, bob, admin := b.member(t, connectors.RoleMember), b.member(t, connectors.RoleMember), b.member(t, connectors.RoleAdmin)
			must(t, b.Door().MakePersonal(t.Context(), *ada.UserID, a.ID))
			_, err := b.impatient(t, b.process, a, c)
			wantRefused(t, err, toolcall.CodeApprovalPending)
			id := b.theOne(t)
			for _, other := range []auth.Actor{bob, b.actor(connectors.RoleMember)} { // a member, and a key of that role
				for _, d := range []toolcall.Decision{{Approve: true}, {}} {
					if _, err := b.Decide(t.Context(), other, id, d); !fault.Is(err, fault.Denied) {
						t.Errorf("%s decides: %v", other.Name, err)
					}
				}
			}
			if b.theOne(t) != id {
				t.Error("the call does not wait any more")
			}
			b.remote.wantCalls(t, 0)
			who := map[string]auth.Actor{"the member": ada, "an admin": admin}[decides]
			_, err = b.Decide(t.Context(), who, id, toolcall.Decision{Approve: true})
			must(t, err)
		})
	}
}

// A program that a person let in both as an agent and as themselves would agree to its own calls.
func TestAProgramDecidesNothingAboutAgentsThatProgramsOfItsPersonAre(t *testing.T) {
	t.Parallel()
	for name, own := range map[string]func(*testing.T, *bench, connectors.Agent, connectors.UserID){
		"it was made for their programs": func(t *testing.T, b *bench, a connectors.Agent, id connectors.UserID) {
			must(t, b.Door().MakePersonal(t.Context(), id, a.ID))
		},
		"they let a program be it": func(t *testing.T, b *bench, a connectors.Agent, id connectors.UserID) {
			b.ProgramIn(t, b.Tenant, a.ID, id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, c, a := asking(t)
			ada, other := b.member(t, connectors.RoleAdmin), b.member(t, connectors.RoleAdmin)
			own(t, b, a, *ada.UserID)
			_, err := b.impatient(t, b.process, a, c)
			wantRefused(t, err, toolcall.CodeApprovalPending)
			id := b.theOne(t)
			_, err = b.Decide(t.Context(), byProgram(ada), id, toolcall.Decision{Approve: true})
			if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "Decide yourself") {
				t.Errorf("its own program decides: %v", err)
			}
			b.remote.wantCalls(t, 0)
			_, err = b.Decide(t.Context(), byProgram(other), id, toolcall.Decision{Approve: true})
			must(t, err)
			row, err := b.Approval(t.Context(), ada, id)
			must(t, err)
			if want := other.Name + " (by the program Inspector)"; row.DecidedBy != want {
				t.Errorf("%q decided, want %q", row.DecidedBy, want)
			}
		})
	}
}

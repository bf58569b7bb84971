package auth_test

import (
	"testing"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

func TestDisconnect_ViewerEndsOwnAccountButNotByProgram(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleViewer)
	mine, other := w.Agent(t), w.Agent(t)
	if err := w.Door().Agents().MakePersonal(t.Context(), m.UserID, mine.ID); err != nil {
		t.Fatal(err)
	}
	_, token := w.program(t, m.UserID, connectors.ScopeAdminRead)
	program, err := w.byToken(t, token)
	if err != nil {
		t.Fatal(err)
	}
	person := program
	person.Program = nil
	key := person
	key.Kind, key.UserID = auth.KindKey, nil
	if err := person.RequireDisconnect(t.Context(), w.Door().Agents(), &mine.ID); err != nil {
		t.Errorf("the person: %v", err)
	}
	for name, refused := range map[string]error{
		"a program":         program.RequireDisconnect(t.Context(), w.Door().Agents(), &mine.ID),
		"a key":             key.RequireDisconnect(t.Context(), w.Door().Agents(), &mine.ID),
		"another agent's":   person.RequireDisconnect(t.Context(), w.Door().Agents(), &other.ID),
		"the one of all":    person.RequireDisconnect(t.Context(), w.Door().Agents(), nil),
		"connecting anew":   person.RequireAccount(t.Context(), w.Door().Agents(), &mine.ID),
		"of another tenant": person.RequireDisconnect(t.Context(), w.St.Tenant(w.Other).Agents(), &mine.ID),
	} {
		if !fault.Is(refused, fault.Denied) {
			t.Errorf("%s: %v", name, refused)
		}
	}
}

package auth

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// RequireAccount refuses whoever may not look after an account: who manages looks after all of them, and a member after those of the agents that
// are their own. agent nil: the one for all agents.
func (a Actor) RequireAccount(ctx context.Context, tx *store.Tenant, agent *connectors.AgentID) error {
	if agent == nil || a.UserID == nil || a.Role.May(connectors.PermManage) || !a.Role.May(connectors.PermOperate) {
		return a.Require(connectors.PermManage)
	}
	own, err := tx.IsPersonalAgent(ctx, *a.UserID, *agent)
	if err != nil || own {
		return err
	}
	return a.Require(connectors.PermManage)
}

// RequireSelf refuses whoever an account that an agent misses would not be of. It is for pages that anybody may have been sent to: a member's
// agent acts for that member, so that nobody else's account gets to it there, not even that of an admin who was talked into it.
func (a Actor) RequireSelf(ctx context.Context, tx *store.Tenant, agent connectors.AgentID) error {
	m, err := tx.AgentMember(ctx, agent)
	switch {
	case fault.Is(err, fault.NotFound):
		return fault.Errorf(fault.NotFound, "This agent is the organisation's own. Admins connect its accounts, on the connector's Credentials page.")
	case err != nil:
		return err
	case a.UserID == nil || *a.UserID != m.UserID:
		return fault.Errorf(fault.Denied, "This agent belongs to %s, and only they connect their accounts to it. If somebody else sent you here, "+
			"they would use your account: do not go on.", m.DisplayName())
	}
	return a.Require(connectors.PermRead)
}

// RequireDisconnect refuses whoever may not end an account. It is [Actor.RequireAccount], but that whoever only reads by now ends their own: it
// closes, and is theirs. A program that acts as them does what it was let do, and no more.
func (a Actor) RequireDisconnect(ctx context.Context, tx *store.Tenant, agent *connectors.AgentID) error {
	if agent == nil || a.UserID == nil || a.Program != nil || !a.Role.May(connectors.PermRead) {
		return a.RequireAccount(ctx, tx, agent)
	}
	own, err := tx.IsPersonalAgent(ctx, *a.UserID, *agent)
	if err != nil || own {
		return err
	}
	return a.Require(connectors.PermManage)
}

// RequireUse refuses whoever may not have an agent use its accounts: a member's agent serves that member, and those who manage.
func (a Actor) RequireUse(ctx context.Context, tx *store.Tenant, agent connectors.AgentID) error {
	if err := a.Require(connectors.PermOperate); err != nil || a.Role.May(connectors.PermManage) {
		return err
	}
	m, err := tx.AgentMember(ctx, agent)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil:
		return err
	case a.UserID != nil && *a.UserID == m.UserID:
		return nil
	}
	return fault.Errorf(fault.Denied, "This agent belongs to %s. Only they, and admins, use its accounts.", m.DisplayName())
}

// RequireDecide refuses whoever may not decide about a call of an agent: about those of a member's agent decide that member, and those who manage.
// A program that acts as a person decides nothing about agents that this person's programs are: it may be the one that made the call.
func (a Actor) RequireDecide(ctx context.Context, tx *store.Tenant, agent connectors.AgentID) error {
	if err := a.Require(connectors.PermOperate); err != nil {
		return err
	}
	if a.Program != nil && a.UserID != nil {
		own, err := tx.IsAgentOfPrograms(ctx, *a.UserID, agent)
		if err != nil {
			return err
		}
		if own {
			return fault.Errorf(fault.Denied, "Programs of yours are this agent, so that no program decides about its calls for you. Decide yourself, on the page Approvals.")
		}
	}
	if a.Role.May(connectors.PermManage) {
		return nil
	}
	m, err := tx.AgentMember(ctx, agent)
	if fault.Is(err, fault.NotFound) || err == nil && a.UserID != nil && *a.UserID == m.UserID {
		return nil
	}
	if err != nil {
		return err
	}
	return fault.Errorf(fault.Denied, "This agent belongs to %s. Only they, and admins, decide about its calls.", m.DisplayName())
}

// Decider names the actor beside what they decided: of a program that acts as a person, both.
func (a Actor) Decider() string {
	if a.Program == nil {
		return a.Name
	}
	return a.Name + " (by the program " + a.Program.Name + ")"
}

// HideAccounts drops the names of accounts that are somebody else's from a connector's credentials: the name that a person has at a server is
// for them, and for those who manage. That a credential is there, and how it is, is for all who read.
func (a Actor) HideAccounts(ctx context.Context, tx *store.Tenant, list []connectors.Credential) error {
	if a.Role.May(connectors.PermManage) {
		return nil
	}
	var named []connectors.AgentID
	for _, c := range list {
		if c.AgentID != nil && c.Account != "" {
			named = append(named, *c.AgentID)
		}
	}
	whose, err := tx.AgentsOfMembers(ctx, named...)
	if err != nil {
		return err
	}
	for i, c := range list {
		if c.AgentID == nil {
			continue
		}
		if m, ok := whose[*c.AgentID]; ok && (a.UserID == nil || *a.UserID != m.UserID) {
			list[i].Account = ""
		}
	}
	return nil
}

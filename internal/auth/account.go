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

// HoldAccount is RequireAccount where an account is stored, in that transaction and by what is so then: since the request was let in its person may
// have left, and what their agents had was forgotten. Agent and membership stay as they are until the transaction ends.
//
// It is called after [store.Tenant.Before], which one act of a tenant after the other gets past: only there does it not matter in which order an act
// holds the rows, and the end of a membership holds them in another order than this (an owner's before the agents, any other's after them). Whoever holds
// several of these rows without Before, or deletes the tenant, takes that turn first.
func (a Actor) HoldAccount(ctx context.Context, tx *store.Tenant, agent *connectors.AgentID) error {
	if agent != nil {
		if err := tx.HoldAgent(ctx, *agent); err != nil {
			return err
		}
	}
	if a.UserID != nil {
		role, err := tx.HoldMember(ctx, *a.UserID)
		if fault.Is(err, fault.NotFound) {
			return fault.Errorf(fault.Denied, "You are no member of this organisation any more.")
		}
		if err != nil {
			return err
		}
		now := a
		now.Role = role
		if err := now.RequireAccount(ctx, tx, agent); err != nil {
			return err
		}
	}
	return a.RequireAccount(ctx, tx, agent) // a program may do less than its person
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
	refusals, err := a.NotDeciding(ctx, tx, agent)
	if err != nil {
		return err
	}
	return refusals[agent]
}

// NotDeciding is, of those of these agents about whose calls the actor may not decide, why: what RequireDecide says of each, but for programs.
func (a Actor) NotDeciding(ctx context.Context, tx *store.Tenant, agents ...connectors.AgentID) (map[connectors.AgentID]error, error) {
	refusals := map[connectors.AgentID]error{}
	if a.Role.May(connectors.PermManage) {
		return refusals, nil
	}
	if err := a.Require(connectors.PermOperate); err != nil {
		for _, id := range agents {
			refusals[id] = err
		}
		return refusals, nil
	}
	whose, err := tx.AgentsOfMembers(ctx, agents...)
	for id, m := range whose {
		if a.UserID == nil || *a.UserID != m.UserID {
			refusals[id] = fault.Errorf(fault.Denied, "This agent belongs to %s. Only they, and admins, decide about its calls.", m.DisplayName())
		}
	}
	return refusals, err
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

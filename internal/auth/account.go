package auth

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// RequireAccount fails unless the actor may manage an account: managers all of them, a member those of their
// personal agents. agent nil: the shared account.
func (a Actor) RequireAccount(ctx context.Context, tx store.Agents, agent *connectors.AgentID) error {
	if agent == nil || a.UserID == nil || a.Role.May(connectors.PermManage) || !a.Role.May(connectors.PermOperate) {
		return a.Require(connectors.PermManage)
	}
	own, err := tx.IsPersonalAgent(ctx, *a.UserID, *agent)
	if err != nil || own {
		return err
	}
	return a.Require(connectors.PermManage)
}

// LockAccount is RequireAccount inside the transaction that stores an account: membership and agent may have
// changed since the request was identified. It locks both until the transaction ends. Call it after
// [store.Tenant.LockAndReadState], which serializes a tenant's actions. Ending a membership locks these rows in another
// order (an owner's before the agents, others after them), which is safe only behind Before. Code that locks
// several of these rows without Before must take that turn first.
func (a Actor) LockAccount(ctx context.Context, tx *store.Tenant, agent *connectors.AgentID) error {
	if agent != nil {
		if err := tx.Agents().Lock(ctx, *agent); err != nil {
			return err
		}
	}
	if a.UserID != nil {
		role, err := tx.People().LockMember(ctx, *a.UserID)
		if fault.Is(err, fault.NotFound) {
			return fault.Errorf(fault.Denied, "You're no longer a member of this organisation.")
		}
		if err != nil {
			return err
		}
		now := a
		now.Role = role
		if err := now.RequireAccount(ctx, tx.Agents(), agent); err != nil {
			return err
		}
	}
	return a.RequireAccount(ctx, tx.Agents(), agent) // a client may do less than its person
}

// RequireSelf fails unless the account of the agent would be the actor's own. A link may have been sent to
// anyone, and a member's agent must not get another person's account, not even an admin's.
func (a Actor) RequireSelf(ctx context.Context, tx store.Accounts, agent connectors.AgentID) error {
	m, err := tx.AgentMember(ctx, agent)
	switch {
	case fault.Is(err, fault.NotFound):
		return fault.Errorf(fault.NotFound, "Admins connect this agent's accounts, on the connector's Credentials page.")
	case err != nil:
		return err
	case a.UserID == nil || *a.UserID != m.UserID:
		return fault.Errorf(fault.Denied, "Only %s can connect accounts to this agent. If someone else sent you here, stop: they would use your account.", m.DisplayName())
	}
	return a.Require(connectors.PermRead)
}

// RequireDisconnect fails unless the actor may delete an account. It is [Actor.RequireAccount], but members
// that only read may delete their own. A client that acts as a member keeps to its scope.
func (a Actor) RequireDisconnect(ctx context.Context, tx store.Agents, agent *connectors.AgentID) error {
	if agent == nil || a.UserID == nil || a.Program != nil || !a.Role.May(connectors.PermRead) {
		return a.RequireAccount(ctx, tx, agent)
	}
	own, err := tx.IsPersonalAgent(ctx, *a.UserID, *agent)
	if err != nil || own {
		return err
	}
	return a.Require(connectors.PermManage)
}

// RequireUse fails unless the actor may run the agent's calls: a member's agent serves that member and
// managers.
func (a Actor) RequireUse(ctx context.Context, tx store.Accounts, agent connectors.AgentID) error {
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
	return fault.Errorf(fault.Denied, "Only %s and admins can use this agent's accounts.", m.DisplayName())
}

// RequireDecide fails unless the actor may decide an agent's calls: for a member's agent that member and
// managers. A client that acts as a person cannot decide calls of the person's personal agents, because it may
// have made them.
func (a Actor) RequireDecide(ctx context.Context, tx *store.Tenant, agent connectors.AgentID) error {
	if err := a.Require(connectors.PermOperate); err != nil {
		return err
	}
	if a.Program != nil && a.UserID != nil {
		own, err := tx.Agents().IsAgentOfPrograms(ctx, *a.UserID, agent)
		if err != nil {
			return err
		}
		if own {
			return fault.Errorf(fault.Denied, "Your clients use this agent. Approve or deny its calls yourself, on the Approvals page.")
		}
	}
	refusals, err := a.DecideRefusals(ctx, tx.Accounts(), agent)
	if err != nil {
		return err
	}
	return refusals[agent]
}

// DecideRefusals returns, for each agent that the actor may not decide for, the refusal of RequireDecide,
// except that for clients.
func (a Actor) DecideRefusals(ctx context.Context, tx store.Accounts, agents ...connectors.AgentID) (map[connectors.AgentID]error, error) {
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
			refusals[id] = fault.Errorf(fault.Denied, "Only %s and admins can approve or deny this agent's calls.", m.DisplayName())
		}
	}
	return refusals, err
}

// Decider returns the name to store with a decision: of a client that acts as a person, both names.
func (a Actor) Decider() string {
	if a.Program == nil {
		return a.Name
	}
	return a.Name + " (by the program " + a.Program.Name + ")"
}

// HideAccountNames clears the names of other people's accounts, as HideAccounts does.
func (a Actor) HideAccountNames(ctx context.Context, tx store.Accounts, names ...*connectors.AccountName) error {
	list := make([]connectors.Credential, 0, len(names))
	for _, n := range names {
		if n.Label != "" && n.Owner != nil {
			list = append(list, connectors.Credential{AgentID: n.Owner, Account: n.Label})
		}
	}
	if len(list) == 0 {
		return nil
	}
	if err := a.HideAccounts(ctx, tx, list); err != nil {
		return err
	}
	for _, n := range names {
		if n.Label != "" && n.Owner != nil {
			n.Label, list = list[0].Account, list[1:]
		}
	}
	return nil
}

// ApprovalsAbout describes approvals, with the names of accounts that the actor may read.
func (a Actor) ApprovalsAbout(ctx context.Context, tx *store.Tenant, ids []connectors.ToolCallID) (map[connectors.ToolCallID]store.ApprovalAbout, error) {
	about, err := tx.Agents().ApprovalsAbout(ctx, ids)
	if err != nil {
		return nil, err
	}
	names := make([]*connectors.AccountName, len(ids))
	for i, id := range ids {
		name := about[id].Account
		names[i] = &name
	}
	if err := a.HideAccountNames(ctx, tx.Accounts(), names...); err != nil {
		return nil, err
	}
	for i, id := range ids {
		if one, ok := about[id]; ok {
			one.Account = *names[i]
			about[id] = one
		}
	}
	return about, nil
}

// HideAccounts clears the accounts and their names of other people from credentials, and what the servers said of them. All are for
// their owner and for managers; existence and status are for all.
func (a Actor) HideAccounts(ctx context.Context, tx store.Accounts, list []connectors.Credential) error {
	if a.Role.May(connectors.PermManage) {
		return nil
	}
	var named []connectors.AgentID
	for _, c := range list {
		if c.AgentID != nil && (c.Account != "" || isNamed(c) || c.Identity != (connectors.Identity{}) || c.Upstream != nil) {
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
			list[i].Account, list[i].Identity, list[i].Upstream = "", connectors.Identity{}, c.Upstream.WithoutSaid()
			if isNamed(c) {
				list[i].Name = ""
			}
		}
	}
	return nil
}

// isNamed reports whether a person named the account.
func isNamed(c connectors.Credential) bool {
	return c.Name != "" && c.Name != connectors.DefaultAccount
}

package authserver

import (
	"context"
	"maps"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// Clients lists the clients that act as an agent.
func (s *Server) Clients(ctx context.Context, a auth.Actor, agent connectors.Ref, p store.Page) (list store.List[connectors.AgentClient], err error) {
	err = s.store.Tenant(a.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		of, err := tx.Agents().Get(ctx, agent)
		if err != nil {
			return err
		}
		list, err = tx.Agents().Clients(ctx, store.AgentClientFilter{Agent: &of.ID}, p)
		return err
	})
	return list, err
}

// PersonClients lists the clients that a person authorized in the current tenant.
func (s *Server) PersonClients(ctx context.Context, a auth.Actor, p store.Page) (store.List[connectors.AgentClient], error) {
	if a.UserID == nil {
		return store.List[connectors.AgentClient]{}, fault.Errorf(fault.Denied, "Only people can authorize clients.")
	}
	return s.store.Tenant(a.Tenant.ID).Agents().Clients(ctx, store.AgentClientFilter{Person: a.UserID}, p)
}

// MemberClients lists the clients that act as members of the tenant, or as one of them; nil: all. It is for
// owners.
func (s *Server) MemberClients(ctx context.Context, a auth.Actor, user *connectors.UserID, p store.Page) (store.List[connectors.AgentClient], error) {
	if err := a.Require(connectors.PermOwn); err != nil {
		return store.List[connectors.AgentClient]{}, err
	}
	return s.store.Tenant(a.Tenant.ID).Agents().Clients(ctx, store.AgentClientFilter{Person: user, AsMembers: true}, p)
}

// End ends a client's access: an admin those of agents, an owner those of members, anyone their own. Others are
// NotFound.
func (s *Server) End(ctx context.Context, a auth.Actor, id connectors.AgentClientID) error {
	return s.endAccess(ctx, a.Tenant.ID, id, accessEnd{actor: &a, why: "a person ended it"})
}

// accessEnd is the actor that ends a client's access, and the reason.
type accessEnd struct {
	actor *auth.Actor // nil: this server
	agent *connectors.AgentID
	user  *connectors.UserID // member that the client acts as
	why   string
}

func newSystemEnd(why string) accessEnd { return accessEnd{why: why} }

func (e accessEnd) auditEvent(action, target string) store.Event {
	if e.actor != nil {
		return e.actor.Event(action, target)
	}
	return store.Event{ActorType: "system", ActorName: "Patchbay", Action: action, Target: target}
}

// isAllowed reports whether the actor may end the client's access.
func (e accessEnd) isAllowed(locked store.LockedAgentClient) bool {
	own := e.actor == nil || e.isOwnClient(locked)
	if locked.AgentID == nil {
		return e.agent == nil && (e.user == nil || *e.user == locked.UserID) && (own || e.actor.Role.May(connectors.PermOwn))
	}
	return e.user == nil && (e.agent == nil || *e.agent == *locked.AgentID) && (own || e.actor.Role.May(connectors.PermManage))
}

// isOwnClient reports whether the actor authorized the client, even with a lesser role by now. A read-only
// client of the actor may not end any.
func (e accessEnd) isOwnClient(locked store.LockedAgentClient) bool {
	return e.actor.UserID != nil && *e.actor.UserID == locked.UserID && (e.actor.Program == nil || e.actor.Role.May(connectors.PermOperate))
}

// EndAsMember is [Server.End] for a client that acts as a given member; others are NotFound.
func (s *Server) EndAsMember(ctx context.Context, a auth.Actor, user connectors.UserID, id connectors.AgentClientID) error {
	return s.endAccess(ctx, a.Tenant.ID, id, accessEnd{actor: &a, user: &user, why: "a person ended it"})
}

// EndAsAgent is [Server.End] for a client that acts as a given agent; others are NotFound.
func (s *Server) EndAsAgent(ctx context.Context, a auth.Actor, agent connectors.Ref, id connectors.AgentClientID) error {
	of, err := s.store.Tenant(a.Tenant.ID).Agents().Get(ctx, agent)
	if err != nil {
		return err
	}
	return s.endAccess(ctx, a.Tenant.ID, id, accessEnd{actor: &a, agent: &of.ID, why: "a person ended it"})
}

// endAccess deletes a client with all of its tokens.
func (s *Server) endAccess(ctx context.Context, tenant connectors.TenantID, id connectors.AgentClientID, by accessEnd) error {
	return s.store.Tenant(tenant).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.LockAndReadState(ctx, store.OfAgentClient(id))
		if err != nil {
			return err
		}
		locked, err := tx.Agents().LockClient(ctx, id)
		if err != nil {
			return err
		}
		if !by.isAllowed(locked) {
			return fault.Errorf(fault.NotFound, "No such client.")
		}
		action, target, err := describeEnd(ctx, tx, locked)
		if err != nil {
			return err
		}
		if err := tx.Agents().DeleteClient(ctx, id); err != nil {
			return err
		}
		e := by.auditEvent(action, target)
		e.Detail = map[string]any{"reason": by.why}
		maps.Copy(e.Detail, auditDetail(locked.NewAgentClient))
		return tx.RecordChange(ctx, e, was, store.OfAgentClient(id))
	})
}

// describeEnd returns the audit action and target: the agent, or the member.
func describeEnd(ctx context.Context, tx *store.Tenant, locked store.LockedAgentClient) (action, target string, err error) {
	if locked.AgentID == nil {
		m, err := tx.People().Member(ctx, locked.UserID)
		return "member_client.end", m.Email, err
	}
	agent, err := tx.Agents().Get(ctx, connectors.Ref(locked.AgentID.String()))
	return "agent_client.end", agent.Slug, err
}

// revokeToken revokes a client's token (RFC 7009): an access token alone, or with a refresh token the client's
// access. An invalid token is no error.
func (s *Server) revokeToken(ctx context.Context, text secret.Text, client string) error {
	if access, ok := secret.ParseBearer(secret.AgentBearer, text); ok {
		return s.revokeAccess(ctx, access, client)
	}
	if access, ok := secret.ParseBearer(secret.MemberBearer, text); ok {
		return s.revokeMemberAccess(ctx, access, client)
	}
	token, ok := secret.ParseBearer(secret.RefreshBearer, text)
	if !ok {
		return nil
	}
	_, err := s.withLockedClient(ctx, connectors.AgentClientID{UUID: token.ID}, func(_ *store.Tenant, locked store.LockedAgentClient) (tokenDecision, error) {
		_, ok, err := s.findGeneration(token, locked)
		switch {
		case err != nil || !ok:
			return tokenDecision{}, err
		case client != "" && client != locked.ClientID:
			return tokenDecision{refusal: &oauthError{Code: "invalid_client", Description: "this token belongs to another client"}}, nil
		default:
			return tokenDecision{ends: "it signed out"}, nil
		}
	})
	if r, ok := err.(*oauthError); ok && r.Code == "invalid_grant" { //nolint:errorlint // decide returns it as it is
		return nil // no such client
	}
	return err
}

func (s *Server) revokeAccess(ctx context.Context, token secret.Bearer, client string) error {
	stored, err := s.store.System().Sessions().AgentToken(ctx, connectors.AgentTokenID{UUID: token.ID})
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil:
		return err
	case !s.verifyBearer(ctx, token.Bound(stored.Key), stored.SecretMAC):
		return nil
	case stored.Workload != nil:
		if client != "" && client != stored.Workload.String() {
			return &oauthError{Code: "invalid_client", Description: "this token belongs to another client"}
		}
		return s.store.Tenant(stored.Tenant).Workloads().DropToken(ctx, *stored.Workload, stored.Token.ID)
	case stored.Client == nil: // tokens made by people are for an admin to delete
		return nil
	}
	return s.store.Tenant(stored.Tenant).Tx(ctx, func(tx *store.Tenant) error {
		locked, err := tx.Agents().LockClient(ctx, *stored.Client)
		if err != nil {
			return invalidIfNotFound(err)
		}
		if client != "" && client != locked.ClientID {
			return &oauthError{Code: "invalid_client", Description: "this token belongs to another client"}
		}
		return invalidIfNotFound(tx.Agents().DropClientToken(ctx, stored.Token.ID))
	})
}

// revokeMemberAccess is revokeAccess for a token that acts as a member.
func (s *Server) revokeMemberAccess(ctx context.Context, token secret.Bearer, client string) error {
	id := connectors.MemberTokenID{UUID: token.ID}
	stored, err := s.store.System().People().MemberToken(ctx, id)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil:
		return err
	case !s.verifyBearer(ctx, token.Bound(stored.Key), stored.SecretMAC):
		return nil
	case client != "" && client != stored.ClientID:
		return &oauthError{Code: "invalid_client", Description: "this token belongs to another client"}
	}
	return invalidIfNotFound(s.store.Tenant(stored.Member.Tenant.ID).People().DropMemberToken(ctx, id))
}

// verifyBearer reports whether mac is the stored MAC of the bearer.
func (s *Server) verifyBearer(ctx context.Context, b secret.Bearer, mac []byte) bool {
	return s.store.VerifyBearer(ctx, b, mac) == nil
}

func invalidIfNotFound(err error) error {
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

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

// Clients lists the programs that are an agent.
func (s *Server) Clients(ctx context.Context, a auth.Actor, agent connectors.Ref, p store.Page) (store.List[connectors.AgentClient], error) {
	tenant := s.store.Tenant(a.Tenant.ID)
	of, err := tenant.Agent(ctx, agent)
	if err != nil {
		return store.List[connectors.AgentClient]{}, err
	}
	return tenant.AgentClients(ctx, store.ClientsOf{Agent: &of.ID}, p)
}

// ClientsOf lists the programs that a person has let in, in the tenant that they are in.
func (s *Server) ClientsOf(ctx context.Context, a auth.Actor, p store.Page) (store.List[connectors.AgentClient], error) {
	if a.UserID == nil {
		return store.List[connectors.AgentClient]{}, fault.Errorf(fault.Denied, "Only a person lets programs in.")
	}
	return s.store.Tenant(a.Tenant.ID).AgentClients(ctx, store.ClientsOf{Person: a.UserID}, p)
}

// AsMembers lists the programs that act as members of the actor's tenant; user: as this one alone. It is for owners.
func (s *Server) AsMembers(ctx context.Context, a auth.Actor, user *connectors.UserID, p store.Page) (store.List[connectors.AgentClient], error) {
	if err := a.Require(connectors.PermOwn); err != nil {
		return store.List[connectors.AgentClient]{}, err
	}
	return s.store.Tenant(a.Tenant.ID).AgentClients(ctx, store.ClientsOf{Person: user, AsMembers: true}, p)
}

// End ends a program's access, of whoever let it in: an admin ends each that is an agent, an owner each that acts as a member, anybody their
// own. What is somebody else's is NotFound to others.
func (s *Server) End(ctx context.Context, a auth.Actor, id connectors.AgentClientID) error {
	return s.end(ctx, a.Tenant.ID, id, ending{actor: &a, why: "somebody ended it"})
}

// ending is who ends a program's access, and why.
type ending struct {
	actor *auth.Actor // nil: this server
	agent *connectors.AgentID
	user  *connectors.UserID // as whom it acts
	why   string
}

func system(why string) ending { return ending{why: why} }

func (e ending) event(action, target string) store.Event {
	if e.actor != nil {
		return e.actor.Event(action, target)
	}
	return store.Event{ActorType: "system", ActorName: "Patchbay", Action: action, Target: target}
}

// may tells whether this one may end the program's access.
func (e ending) may(held store.HeldAgentClient) bool {
	own := e.actor == nil || e.ends(held)
	if held.AgentID == nil {
		return e.agent == nil && (e.user == nil || *e.user == held.UserID) && (own || e.actor.Role.May(connectors.PermOwn))
	}
	return e.user == nil && (e.agent == nil || *e.agent == *held.AgentID) && (own || e.actor.Role.May(connectors.PermManage))
}

// ends tells whether the program is one that the actor let in, however little their role lets them do by now. A program that only reads for them
// ends none.
func (e ending) ends(held store.HeldAgentClient) bool {
	return e.actor.UserID != nil && *e.actor.UserID == held.UserID && (e.actor.Program == nil || e.actor.Role.May(connectors.PermOperate))
}

// EndAsMember is End for a program that is said to act as this member: of another one it is NotFound.
func (s *Server) EndAsMember(ctx context.Context, a auth.Actor, user connectors.UserID, id connectors.AgentClientID) error {
	return s.end(ctx, a.Tenant.ID, id, ending{actor: &a, user: &user, why: "somebody ended it"})
}

// EndOf is End for a program that is said to be this agent: of another one it is NotFound.
func (s *Server) EndOf(ctx context.Context, a auth.Actor, agent connectors.Ref, id connectors.AgentClientID) error {
	of, err := s.store.Tenant(a.Tenant.ID).Agent(ctx, agent)
	if err != nil {
		return err
	}
	return s.end(ctx, a.Tenant.ID, id, ending{actor: &a, agent: &of.ID, why: "somebody ended it"})
}

// end ends a program's access with all of its tokens.
func (s *Server) end(ctx context.Context, tenant connectors.TenantID, id connectors.AgentClientID, by ending) error {
	return s.store.Tenant(tenant).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.Before(ctx, store.OfAgentClient(id))
		if err != nil {
			return err
		}
		held, err := tx.HoldAgentClient(ctx, id)
		if err != nil {
			return err
		}
		if !by.may(held) {
			return fault.Errorf(fault.NotFound, "There is no such client.")
		}
		action, target, err := about(ctx, tx, held)
		if err != nil {
			return err
		}
		if err := tx.DeleteAgentClient(ctx, id); err != nil {
			return err
		}
		e := by.event(action, target)
		e.Detail = map[string]any{"reason": by.why}
		maps.Copy(e.Detail, detail(held.NewAgentClient))
		return tx.RecordChange(ctx, e, was, store.OfAgentClient(id))
	})
}

// about is what the end of a program's access is called, and of what it is: the agent, or the member.
func about(ctx context.Context, tx *store.Tenant, held store.HeldAgentClient) (action, target string, err error) {
	if held.AgentID == nil {
		m, err := tx.Member(ctx, held.UserID)
		return "member_client.end", m.Email, err
	}
	agent, err := tx.Agent(ctx, connectors.Ref(held.AgentID.String()))
	return "agent_client.end", agent.Slug, err
}

// revoke ends a token that a program shows (RFC 7009): an access token by itself, with a refresh token all that the program has. One that is
// none is no failure.
func (s *Server) revoke(ctx context.Context, text secret.Text, client string) error {
	if access, ok := secret.ParseBearer(secret.AgentBearer, text); ok {
		return s.revokeAccess(ctx, access, client)
	}
	if access, ok := secret.ParseBearer(secret.MemberBearer, text); ok {
		return s.revokeMembers(ctx, access, client)
	}
	token, ok := secret.ParseBearer(secret.RefreshBearer, text)
	if !ok {
		return nil
	}
	_, err := s.decide(ctx, connectors.AgentClientID{UUID: token.ID}, func(_ *store.Tenant, held store.HeldAgentClient) (verdict, error) {
		_, ok, err := s.store.Keyring().Generation(token, held.Salt)
		switch {
		case err != nil || !ok:
			return verdict{}, err
		case client != "" && client != held.ClientID:
			return verdict{refusal: &refusal{Code: "invalid_client", Says: "this token is another client's"}}, nil
		default:
			return verdict{ends: "it signed out"}, nil
		}
	})
	if r, ok := err.(*refusal); ok && r.Code == "invalid_grant" { //nolint:errorlint // decide returns it as it is
		return nil // there is no such program any more
	}
	return err
}

func (s *Server) revokeAccess(ctx context.Context, token secret.Bearer, client string) error {
	stored, err := s.store.System().AgentToken(ctx, connectors.AgentTokenID{UUID: token.ID})
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil:
		return err
	case !s.verified(ctx, token, stored.SecretMAC) || stored.Client == nil: // an admin ends those that people made
		return nil
	}
	return s.store.Tenant(stored.Tenant).Tx(ctx, func(tx *store.Tenant) error {
		held, err := tx.HoldAgentClient(ctx, *stored.Client)
		if err != nil {
			return gone(err)
		}
		if client != "" && client != held.ClientID {
			return &refusal{Code: "invalid_client", Says: "this token is another client's"}
		}
		return gone(tx.DropClientToken(ctx, stored.Token.ID))
	})
}

// revokeMembers is revokeAccess for a token that acts as a member.
func (s *Server) revokeMembers(ctx context.Context, token secret.Bearer, client string) error {
	id := connectors.MemberTokenID{UUID: token.ID}
	stored, err := s.store.System().MemberToken(ctx, id)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil:
		return err
	case !s.verified(ctx, token, stored.SecretMAC):
		return nil
	case client != "" && client != stored.ClientID:
		return &refusal{Code: "invalid_client", Says: "this token is another client's"}
	}
	return gone(s.store.Tenant(stored.Member.Tenant.ID).DropMemberToken(ctx, id))
}

// verified tells whether a bearer is the one of which this is stored.
func (s *Server) verified(ctx context.Context, b secret.Bearer, mac []byte) bool {
	return s.store.VerifyBearer(ctx, b, mac) == nil
}

func gone(err error) error {
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

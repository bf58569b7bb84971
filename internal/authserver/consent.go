package authserver

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// maxPersonalAgents bounds the agents that a member below admin makes.
const maxPersonalAgents = 20

// Choice is the agent that a client may act as, or the scope in which it may act as the person.
type Choice struct {
	Agent connectors.Ref         // of the tenant; empty: a new one without grants
	Scope connectors.ClientScope // of a client that acts as the person; empty for agents
}

// Agents lists the agents that a person may choose: for an admin all of the tenant from cursor on, for a member
// their personal ones, which are few.
func (s *Server) Agents(ctx context.Context, a auth.Actor, cursor string) (store.List[connectors.Agent], error) {
	if err := checkMayAllow(a); err != nil {
		return store.List[connectors.Agent]{}, err
	}
	tenant := s.store.Tenant(a.Tenant.ID)
	if !a.Role.May(connectors.PermManage) {
		own, err := tenant.Agents().PersonalAgents(ctx, *a.UserID)
		return store.List[connectors.Agent]{Items: own}, err
	}
	return tenant.Agents().List(ctx, store.Page{Limit: store.MaxLimit, Cursor: cursor})
}

// checkMayAllow fails unless the actor may authorize clients: viewers and keys may not.
func checkMayAllow(a auth.Actor) error {
	if a.UserID == nil {
		return fault.Errorf(fault.Denied, "Only people can authorize clients.")
	}
	return a.Require(connectors.PermOperate)
}

// CheckChoice fails unless the actor may make the choice for the request. An agent and a scope belong to
// different resources.
func (s *Server) CheckChoice(a auth.Actor, r Request, c Choice) error {
	switch {
	case !r.AsMember() && c.Scope != "" || r.AsMember() && c.Agent != "":
		return fault.Errorf(fault.Invalid, "The client didn't request this scope. Nothing was allowed.")
	case !r.AsMember():
		return checkMayAllow(a)
	case a.UserID == nil || a.Kind != auth.KindPerson || a.Program != nil:
		return fault.Errorf(fault.Denied, "Only people can authorize clients.")
	case !slices.Contains(r.Scopes, c.Scope):
		return fault.InvalidFields(fault.Field{Location: "scope", Message: "Choose the client's access."})
	default:
		return a.Require(connectors.PermRead)
	}
}

// Allow authorizes a client and returns the redirect URL with the code.
func (s *Server) Allow(ctx context.Context, a auth.Actor, r Request, c Choice) (string, error) {
	if err := s.CheckChoice(a, r, c); err != nil {
		return "", err
	}
	id := store.NewAgentClientID()
	code := secret.NewBearer(secret.CodeBearer, id.UUID).Bound(codeBinding(r.key, r.Client.NeedsProof))
	mac, err := s.store.Keyring().SignBearer(code)
	if err != nil {
		return "", err
	}
	salt := make([]byte, 32)
	_, _ = rand.Read(salt) // never fails
	client := store.NewAgentClient{
		ID: id, UserID: *a.UserID, ClientID: r.Client.ID, Name: r.Client.Name, Host: r.Client.Host, Resource: r.Resource, RedirectURI: r.RedirectURI,
		Scope: c.Scope, BySSO: a.BySSO, CodeMAC: mac, Challenge: r.challenge, CodeTTL: codeLife, Salt: salt,
		Key: r.key, NeedsProof: r.Client.NeedsProof,
	}
	for n := 1; ; n++ {
		err = s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error { return s.storeGrant(ctx, tx, a, client, c, n) })
		if r.AsMember() || c.Agent != "" || n > 9 || !isSlugFault(err) {
			break
		}
	}
	if err != nil {
		return "", err
	}
	s.markClientUsed(ctx, r.Client.ID)
	return s.redirectURL(r, url.Values{"code": {code.Text().Reveal()}}), nil
}

func (s *Server) storeGrant(ctx context.Context, tx *store.Tenant, a auth.Actor, client store.NewAgentClient, c Choice, n int) error {
	e := a.Event("member_client.allow", a.Email)
	if client.Scope == "" {
		agent, err := s.chooseAgent(ctx, tx, a, client, c, n)
		if err != nil {
			return err
		}
		client.AgentID = &agent.ID
		e = a.Event("agent_client.allow", agent.Slug)
	}
	if err := tx.Agents().CreateClient(ctx, client); err != nil {
		return err
	}
	e.Detail = auditDetail(client)
	return tx.RecordChange(ctx, e, nil, store.OfAgentClient(client.ID))
}

// chooseAgent returns the agent of a choice. An agent that the person may not choose is NotFound.
func (s *Server) chooseAgent(ctx context.Context, tx *store.Tenant, a auth.Actor, client store.NewAgentClient, c Choice, n int) (connectors.Agent, error) {
	if c.Agent == "" {
		return s.makeAgent(ctx, tx, a, client.Name, n)
	}
	agent, err := tx.Agents().Get(ctx, c.Agent)
	if err != nil {
		return connectors.Agent{}, err
	}
	if ok, err := canChooseAgent(ctx, tx.Agents(), *a.UserID, a.Role, agent.ID); err != nil || !ok {
		return connectors.Agent{}, maskDenied(err)
	}
	return agent, nil
}

// canChooseAgent reports whether a person may let clients act as an agent.
func canChooseAgent(ctx context.Context, tx store.Agents, user connectors.UserID, role connectors.Role, agent connectors.AgentID) (bool, error) {
	if role.May(connectors.PermManage) || !role.May(connectors.PermOperate) {
		return role.May(connectors.PermManage), nil
	}
	return tx.IsPersonalAgent(ctx, user, agent)
}

func maskDenied(err error) error {
	if err != nil {
		return err
	}
	return fault.Errorf(fault.NotFound, "No such agent.")
}

// makeAgent makes a personal agent without grants, with the tenant's defaults for approval.
func (s *Server) makeAgent(ctx context.Context, tx *store.Tenant, a auth.Actor, client string, n int) (connectors.Agent, error) {
	own, err := tx.Agents().PersonalAgents(ctx, *a.UserID)
	if err != nil {
		return connectors.Agent{}, err
	}
	if len(own) >= maxPersonalAgents {
		return connectors.Agent{}, fault.Errorf(fault.Conflict, "You already have %d agents for your clients. Choose one.", len(own))
	}
	agent := connectors.Agent{Name: truncateRunes(a.Name, 35) + ": " + client, Approval: a.Tenant.Defaults.Approval, Enabled: true}.Normalized()
	if n > 1 {
		tail := fmt.Sprintf("-%d", n)
		agent.Slug = strings.TrimRight(agent.Slug[:min(len(agent.Slug), connectors.MaxSlug-len(tail))], "-") + tail
	}
	if err := fault.InvalidFields(agent.Validate()...); err != nil {
		return connectors.Agent{}, err
	}
	made, err := tx.Agents().Create(ctx, agent)
	if err != nil {
		return connectors.Agent{}, err
	}
	if err := tx.Agents().MakePersonal(ctx, *a.UserID, made.ID); err != nil {
		return connectors.Agent{}, err
	}
	e := a.Event("agent.create", made.Slug)
	e.Detail = map[string]any{"agent_id": made.ID.String(), "name": made.Name}
	return made, tx.RecordChange(ctx, e, nil, store.OfAgent(made.ID))
}

func truncateRunes(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func isSlugFault(err error) bool {
	if !fault.Is(err, fault.Conflict) {
		return false
	}
	for _, f := range fault.As(err).Fields {
		if f.Location == "slug" {
			return true
		}
	}
	return false
}

// Deny returns the redirect URL of a refused request.
func (s *Server) Deny(r Request) string {
	return s.redirectURL(r, url.Values{"error": {"access_denied"}, "error_description": {"the person denied access"}})
}

// redirectURL adds the response and iss (RFC 9207), which protects a client against mix-up of authorization
// servers.
func (s *Server) redirectURL(r Request, answer url.Values) string {
	answer.Set("iss", s.issuer)
	if r.state != "" {
		answer.Set("state", r.state)
	}
	return addParameters(r.RedirectURI, answer)
}

// auditDetail describes a client in an audit event.
func auditDetail(c store.NewAgentClient) map[string]any {
	d := map[string]any{"agent_client_id": c.ID.String(), "client_id": c.ClientID, "name": c.Name, "host": c.Host, "resource": c.Resource}
	if c.AgentID != nil {
		d["agent_id"] = c.AgentID.String()
	} else {
		d["user_id"], d["scope"] = c.UserID.String(), string(c.Scope)
	}
	return d
}

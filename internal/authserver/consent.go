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

// mostPersonal bounds the agents that somebody who is no admin makes.
const mostPersonal = 20

// Choice is which agent a person lets a program be, or how far it may act as them.
type Choice struct {
	Agent connectors.Ref         // of the tenant; empty: one that is made for it, and was granted nothing yet
	Scope connectors.ClientScope // of a program that acts as the person, and of no other
}

// Agents lists those that a person may let a program be: an admin all of the tenant's, from cursor on; a member the ones that they made for programs
// of their own, which are few.
func (s *Server) Agents(ctx context.Context, a auth.Actor, cursor string) (store.List[connectors.Agent], error) {
	if err := mayAllow(a); err != nil {
		return store.List[connectors.Agent]{}, err
	}
	tenant := s.store.Tenant(a.Tenant.ID)
	if !a.Role.May(connectors.PermManage) {
		own, err := tenant.PersonalAgents(ctx, *a.UserID)
		return store.List[connectors.Agent]{Items: own}, err
	}
	return tenant.Agents(ctx, store.Page{Limit: store.MaxLimit, Cursor: cursor})
}

// mayAllow tells whether somebody may let programs in. A viewer only reads; a key is nobody whom a program acts for.
func mayAllow(a auth.Actor) error {
	if a.UserID == nil {
		return fault.Errorf(fault.Denied, "Only a person can let a program in.")
	}
	return a.Require(connectors.PermOperate)
}

// MayAllow tells whether somebody may let a program in as they chose. What is chosen for one resource is none of the other's.
func (s *Server) MayAllow(a auth.Actor, r Request, c Choice) error {
	switch {
	case !r.AsMember() && c.Scope != "" || r.AsMember() && c.Agent != "":
		return fault.Errorf(fault.Invalid, "What was chosen is none of what the program asks for. Nothing was allowed.")
	case !r.AsMember():
		return mayAllow(a)
	case a.UserID == nil || a.Kind != auth.KindPerson || a.Program != nil:
		return fault.Errorf(fault.Denied, "Only a person can let a program in.")
	case !slices.Contains(r.Scopes, c.Scope):
		return fault.InvalidFields(fault.Field{Location: "scope", Message: "Choose what the program may do."})
	default:
		return a.Require(connectors.PermRead)
	}
}

// Allow lets a program be an agent, or act as the person, and returns where the browser goes with the code.
func (s *Server) Allow(ctx context.Context, a auth.Actor, r Request, c Choice) (string, error) {
	if err := s.MayAllow(a, r, c); err != nil {
		return "", err
	}
	id := store.NewAgentClientID()
	code := secret.NewBearer(secret.CodeBearer, id.UUID)
	mac, err := s.store.Keyring().SignBearer(code)
	if err != nil {
		return "", err
	}
	salt := make([]byte, 32)
	_, _ = rand.Read(salt) // never fails
	client := store.NewAgentClient{
		ID: id, UserID: *a.UserID, ClientID: r.Client.ID, Name: r.Client.Name, Host: r.Client.Host, Resource: r.Resource, RedirectURI: r.RedirectURI,
		Scope: c.Scope, BySSO: a.BySSO, CodeMAC: mac, Challenge: r.challenge, CodeLife: codeLife, Salt: salt,
	}
	for n := 1; ; n++ {
		err = s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error { return s.allow(ctx, tx, a, client, c, n) })
		if r.AsMember() || c.Agent != "" || n > 9 || !aboutSlug(err) {
			break
		}
	}
	if err != nil {
		return "", err
	}
	s.used(ctx, r.Client.ID)
	return s.back(r, url.Values{"code": {code.Text().Reveal()}}), nil
}

func (s *Server) allow(ctx context.Context, tx *store.Tenant, a auth.Actor, client store.NewAgentClient, c Choice, n int) error {
	e := a.Event("member_client.allow", a.Email)
	if client.Scope == "" {
		agent, err := s.chosen(ctx, tx, a, client, c, n)
		if err != nil {
			return err
		}
		client.AgentID = &agent.ID
		e = a.Event("agent_client.allow", agent.Slug)
	}
	if err := tx.CreateAgentClient(ctx, client); err != nil {
		return err
	}
	e.Detail = detail(client)
	return tx.RecordChange(ctx, e, nil, store.OfAgentClient(client.ID))
}

// chosen is the agent of a choice. One that the person may not choose is as unknown as one that there is not.
func (s *Server) chosen(ctx context.Context, tx *store.Tenant, a auth.Actor, client store.NewAgentClient, c Choice, n int) (connectors.Agent, error) {
	if c.Agent == "" {
		return s.makeAgent(ctx, tx, a, client.Name, n)
	}
	agent, err := tx.Agent(ctx, c.Agent)
	if err != nil {
		return connectors.Agent{}, err
	}
	if ok, err := mayBe(ctx, tx, *a.UserID, a.Role, agent.ID); err != nil || !ok {
		return connectors.Agent{}, orMissing(err)
	}
	return agent, nil
}

// mayBe tells whether a person of a role may let programs be an agent.
func mayBe(ctx context.Context, tx *store.Tenant, user connectors.UserID, role connectors.Role, agent connectors.AgentID) (bool, error) {
	if role.May(connectors.PermManage) || !role.May(connectors.PermOperate) {
		return role.May(connectors.PermManage), nil
	}
	return tx.IsPersonalAgent(ctx, user, agent)
}

func orMissing(err error) error {
	if err != nil {
		return err
	}
	return fault.Errorf(fault.NotFound, "There is no such agent.")
}

// makeAgent makes an agent for a program of one person. It was granted nothing, and its calls wait as the tenant's new agents' do.
func (s *Server) makeAgent(ctx context.Context, tx *store.Tenant, a auth.Actor, client string, n int) (connectors.Agent, error) {
	own, err := tx.PersonalAgents(ctx, *a.UserID)
	if err != nil {
		return connectors.Agent{}, err
	}
	if len(own) >= mostPersonal {
		return connectors.Agent{}, fault.Errorf(fault.Conflict, "You have %d agents for programs of your own already. Choose one of them.", len(own))
	}
	agent := connectors.Agent{Name: cut(a.Name, 35) + ": " + client, Approval: a.Tenant.Defaults.Approval, Enabled: true}.Normalized()
	if n > 1 {
		tail := fmt.Sprintf("-%d", n)
		agent.Slug = strings.TrimRight(agent.Slug[:min(len(agent.Slug), connectors.MaxSlug-len(tail))], "-") + tail
	}
	if err := fault.InvalidFields(agent.Validate()...); err != nil {
		return connectors.Agent{}, err
	}
	made, err := tx.CreateAgent(ctx, agent)
	if err != nil {
		return connectors.Agent{}, err
	}
	if err := tx.MakePersonal(ctx, *a.UserID, made.ID); err != nil {
		return connectors.Agent{}, err
	}
	e := a.Event("agent.create", made.Slug)
	e.Detail = map[string]any{"agent_id": made.ID.String(), "name": made.Name}
	return made, tx.RecordChange(ctx, e, nil, store.OfAgent(made.ID))
}

func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func aboutSlug(err error) bool {
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

// Deny is where the browser goes when the person has said no.
func (s *Server) Deny(r Request) string {
	return s.back(r, url.Values{"error": {"access_denied"}, "error_description": {"the person said no"}})
}

// back sends an answer to a program, with who gives it (RFC 9207): a program that asked somebody else must not take it for theirs.
func (s *Server) back(r Request, answer url.Values) string {
	answer.Set("iss", s.issuer)
	if r.state != "" {
		answer.Set("state", r.state)
	}
	return withAnswer(r.RedirectURI, answer)
}

// detail is what an audit event tells of a program.
func detail(c store.NewAgentClient) map[string]any {
	d := map[string]any{"agent_client_id": c.ID.String(), "client_id": c.ClientID, "name": c.Name, "host": c.Host, "resource": c.Resource}
	if c.AgentID != nil {
		d["agent_id"] = c.AgentID.String()
	} else {
		d["user_id"], d["scope"] = c.UserID.String(), string(c.Scope)
	}
	return d
}

package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/sso"
)

// ssoJSON has the tenant's SSO settings, without the client's secret.
type ssoJSON struct {
	Issuer          string          `json:"issuer" doc:"Empty if never set up."`
	ClientID        string          `json:"client_id"`
	RedirectURI     string          `json:"redirect_uri" doc:"To register at the provider."`
	GroupsClaim     string          `json:"groups_claim"`
	Groups          []ssoGroupJSON  `json:"groups" nullable:"false" doc:"Roles by group, applied at each sign-in; the highest wins. Empty: members keep their role."`
	Joins           bool            `json:"joins" doc:"Whether people who sign in become members."`
	DefaultRole     *string         `json:"default_role" enum:"viewer,member,admin" doc:"Role of people in none of the groups. Null: no access."`
	Enabled         bool            `json:"enabled"`
	Enforced        bool            `json:"enforced" doc:"Whether password sign-in is off, except for one owner."`
	BreakGlassOwner *string         `json:"break_glass_owner" format:"uuid" doc:"The owner who can still use a password. Null if none."`
	TestedAt        *time.Time      `json:"tested_at" doc:"When an owner last tested this provider and client. Null if not yet."`
	Domains         []ssoDomainJSON `json:"domains" nullable:"false"`
	ManagedAccounts bool            `json:"managed_accounts" doc:"Whether members' sign-ins give their own agents accounts at MCP servers (enterprise-managed authorization)."`
	ManagedClients  bool            `json:"managed_clients" doc:"Whether MCP clients sign members in with an identity assertion (ID-JAG) of the provider."`
}

// ssoGroupJSON maps a group of the provider to a role.
type ssoGroupJSON struct {
	Group string `json:"group" minLength:"1" maxLength:"200"`
	Role  string `json:"role" enum:"viewer,member,admin,owner,auditor"`
}

// ssoDomainJSON is a claimed e-mail domain.
type ssoDomainJSON struct {
	Domain     string     `json:"domain"`
	VerifiedAt *time.Time `json:"verified_at" doc:"Null if not verified."`
	VerifiedBy *string    `json:"verified_by" enum:"dns,operator"`
	RecordName string     `json:"record_name" doc:"Name of the TXT record."`
	RecordText string     `json:"record_text" doc:"Content of the TXT record."`
}

// ssoPatch changes the settings. An absent field keeps its value.
type ssoPatch struct {
	Issuer          *string         `json:"issuer,omitempty" doc:"Changing it requires client_secret, and turns single sign-on off until tested in the dashboard."`
	ClientID        *string         `json:"client_id,omitempty"`
	ClientSecret    *string         `json:"client_secret,omitempty" doc:"Write-only."`
	GroupsClaim     *string         `json:"groups_claim,omitempty"`
	Groups          *[]ssoGroupJSON `json:"groups,omitempty"`
	Joins           *bool           `json:"joins,omitempty"`
	DefaultRole     *string         `json:"default_role,omitempty" doc:"viewer, member or admin. Empty: no access."`
	Enabled         *bool           `json:"enabled,omitempty" doc:"Requires a test in the dashboard and a verified domain."`
	Enforced        *bool           `json:"enforced,omitempty"`
	BreakGlassOwner *string         `json:"break_glass_owner,omitempty" doc:"An owner's id. Empty for none."`
	ManagedAccounts *bool           `json:"managed_accounts,omitempty" doc:"Turning it off deletes these accounts and the sign-ins that they depend on."`
	ManagedClients  *bool           `json:"managed_clients,omitempty"`
}

// ssoDomainInput names an e-mail domain.
type ssoDomainInput struct {
	Domain string `json:"domain" doc:"The part of email addresses after @."`
}

func (h *Handler) viewSSO(s connectors.SSO) ssoJSON {
	out := ssoJSON{
		Issuer: s.Issuer, ClientID: s.ClientID, RedirectURI: h.sso.RedirectURI(), GroupsClaim: s.GroupsClaim, Groups: []ssoGroupJSON{}, Joins: s.Joins,
		Enabled: s.Enabled, Enforced: s.Enforced, TestedAt: toUTC(s.TestedAt), Domains: []ssoDomainJSON{}, ManagedAccounts: s.ManagedAccounts,
		ManagedClients: s.ManagedClients,
	}
	if s.DefaultRole != "" {
		out.DefaultRole = new(string(s.DefaultRole))
	}
	if s.BreakGlass != nil {
		out.BreakGlassOwner = new(s.BreakGlass.String())
	}
	for _, g := range s.Groups {
		out.Groups = append(out.Groups, ssoGroupJSON{Group: g.Group, Role: string(g.Role)})
	}
	for _, d := range s.Domains {
		row := ssoDomainJSON{Domain: d.Domain, VerifiedAt: toUTC(d.VerifiedAt), RecordName: connectors.ProofHost(d.Domain), RecordText: d.Proof}
		if d.VerifiedBy != "" {
			row.VerifiedBy = new(string(d.VerifiedBy))
		}
		out.Domains = append(out.Domains, row)
	}
	return out
}

func (p ssoPatch) toChange() (sso.Change, error) {
	c := sso.Change{
		Issuer: p.Issuer, ClientID: p.ClientID, GroupsClaim: p.GroupsClaim, Joins: p.Joins, Enabled: p.Enabled, Enforced: p.Enforced,
		ManagedAccounts: p.ManagedAccounts, ManagedClients: p.ManagedClients,
	}
	if p.ClientSecret != nil {
		c.ClientSecret = secret.Text(*p.ClientSecret)
	}
	if p.DefaultRole != nil {
		c.DefaultRole = new(connectors.Role(*p.DefaultRole))
	}
	if p.Groups != nil {
		groups := []connectors.GroupRole{}
		for _, g := range *p.Groups {
			groups = append(groups, connectors.GroupRole{Group: g.Group, Role: connectors.Role(g.Role)})
		}
		c.Groups = &groups
	}
	if p.BreakGlassOwner != nil {
		c.BreakGlass = &connectors.UserID{}
		if *p.BreakGlassOwner != "" {
			id, ok := connectors.Ref(*p.BreakGlassOwner).UUID()
			if !ok {
				return c, fault.InvalidFields(fault.Field{Location: "break_glass_owner", Message: "Not a member's id."})
			}
			c.BreakGlass.UUID = id
		}
	}
	return c, nil
}

func (h *Handler) mountSSO() {
	const tag = "Single sign-on"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/sso", id: "getSSO", tag: tag,
		summary: "Get the tenant's single sign-on settings", permission: connectors.PermOwn,
	}, h.getSSO)
	registerOperation(h, operation{
		method: http.MethodPatch, path: "/api/v1/sso", id: "updateSSO", tag: tag,
		summary: "Update, enable, disable or enforce single sign-on", permission: connectors.PermOwn,
		description: "To enable it, an owner must first test it in the dashboard under Settings, Single sign-on.",
	}, h.updateSSO)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/sso", id: "deleteSSO", tag: tag,
		summary: "Delete the provider; domains and members stay", permission: connectors.PermOwn,
	}, h.deleteSSO)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/sso/check", id: "checkSSO", tag: tag,
		summary: "Check the provider's metadata, without signing in", permission: connectors.PermOwn, status: http.StatusNoContent,
	}, h.checkSSO)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/sso/domains", id: "claimSSODomain", tag: tag,
		summary: "Claim an email domain", permission: connectors.PermOwn, status: http.StatusOK,
	}, h.ssoDomain(h.sso.Claim))
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/sso/domains/verify", id: "verifySSODomain", tag: tag,
		summary: "Verify a claimed domain by its TXT record", permission: connectors.PermOwn, status: http.StatusOK,
	}, h.ssoDomain(h.sso.Verify))
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/sso/domains/release", id: "releaseSSODomain", tag: tag,
		summary: "Release a domain", permission: connectors.PermOwn, status: http.StatusOK,
	}, h.ssoDomain(h.sso.Release))
}

func (h *Handler) getSSO(ctx context.Context, actor auth.Actor, _ *struct{}) (*response[ssoJSON], error) {
	s, err := h.sso.Settings(ctx, actor)
	if err != nil {
		return nil, err
	}
	return &response[ssoJSON]{Body: h.viewSSO(s)}, nil
}

func (h *Handler) updateSSO(ctx context.Context, actor auth.Actor, in *struct{ JSON requestBody[ssoPatch] }) (*response[ssoJSON], error) {
	patch, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	change, err := patch.toChange()
	if err != nil {
		return nil, err
	}
	s, err := h.sso.Save(ctx, actor, change)
	if err != nil {
		return nil, err
	}
	return &response[ssoJSON]{Body: h.viewSSO(s)}, nil
}

func (h *Handler) deleteSSO(ctx context.Context, actor auth.Actor, _ *struct{}) (*noContent, error) {
	return nil, h.sso.Forget(ctx, actor)
}

func (h *Handler) checkSSO(ctx context.Context, actor auth.Actor, _ *struct{}) (*noContent, error) {
	return nil, h.sso.Check(ctx, actor)
}

type ssoDomainBody struct{ JSON requestBody[ssoDomainInput] }

// ssoDomain applies an action to a domain, and responds with all settings.
func (h *Handler) ssoDomain(act func(context.Context, auth.Actor, string) error) handlerFunc[ssoDomainBody, response[ssoJSON]] {
	return func(ctx context.Context, actor auth.Actor, in *ssoDomainBody) (*response[ssoJSON], error) {
		doc, err := in.JSON.readJSON()
		if err != nil {
			return nil, err
		}
		if err := act(ctx, actor, doc.Domain); err != nil {
			return nil, err
		}
		return h.getSSO(ctx, actor, nil)
	}
}

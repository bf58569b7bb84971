package settings

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// ssoShow shows the organisation's SSO settings.
func (h *Handler) ssoShow(w http.ResponseWriter, r *http.Request) error {
	return h.ssoPage(w, r, http.StatusOK, ssoPageState{})
}

// ssoPageState is the result of an action on the page.
type ssoPageState struct {
	form  *templates.Form // with its errors; nil: the stored settings
	claim templates.Form
}

func (h *Handler) ssoPage(w http.ResponseWriter, r *http.Request, status int, state ssoPageState) error {
	s, err := h.SSO.Settings(r.Context(), shell.Actor(r))
	if err != nil {
		return err
	}
	var owners []templates.Option
	err = h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) error {
		owners, err = ownerOptions(r.Context(), tx.People())
		return err
	})
	if err != nil {
		return err
	}
	page := templates.SSOPage{
		Frame:  h.NewFrame(r, templates.NavSettings, shell.NewCrumb(i18n.T(r.Context(), "Settings"), "/settings"), shell.NewCrumb(i18n.T(r.Context(), "Single sign-on"), "")),
		Form:   ssoForm(s),
		SetUp:  s.IsSetUp(),
		Roles:  defaultRoleOptions(r.Context()),
		Owners: owners,
		Facts:  h.ssoFacts(r.Context(), s),
		Claim:  state.claim,
	}
	page.State, page.Reason = ssoState(r.Context(), s)
	if state.form != nil {
		page.Form = *state.form
	}
	for _, d := range s.Domains {
		page.Domains = append(page.Domains, ssoDomainRow(r.Context(), d))
	}
	return h.Respond.Page(w, r, status, templates.SSO(page))
}

func ssoForm(s connectors.SSO) templates.Form {
	v := map[string]string{
		"issuer": s.Issuer, "client_id": s.ClientID, "groups_claim": s.GroupsClaim, "default_role": string(s.DefaultRole), "groups": groupLines(s.Groups),
		"joins": strconv.FormatBool(s.Joins), "enabled": strconv.FormatBool(s.Enabled), "enforced": strconv.FormatBool(s.Enforced),
		"managed_accounts": strconv.FormatBool(s.ManagedAccounts), "managed_clients": strconv.FormatBool(s.ManagedClients),
	}
	if s.GroupsClaim == "" {
		v["groups_claim"] = "groups"
	}
	if s.BreakGlass != nil {
		v["break_glass"] = s.BreakGlass.String()
	}
	return templates.Form{Values: v}
}

// groupLines formats the group table as lines of "group = role".
func groupLines(groups []connectors.GroupRole) string {
	lines := make([]string, len(groups))
	for i, g := range groups {
		lines[i] = g.Group + " = " + string(g.Role)
	}
	return strings.Join(lines, "\n")
}

func ssoState(ctx context.Context, s connectors.SSO) (templates.State, string) {
	verified := false
	for _, d := range s.Domains {
		verified = verified || d.VerifiedAt != nil
	}
	switch {
	case s.Enforced:
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "On, required")}, ""
	case s.Enabled:
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "On")}, ""
	case !s.IsSetUp():
		return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Off")}, i18n.T(ctx, "Enter provider and client below, then register the redirect URI with the provider.")
	case s.TestedAt == nil:
		return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Off")}, i18n.T(ctx, "Test the connection first.")
	case !verified:
		return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Off")}, i18n.T(ctx, "Verify an email domain first.")
	}
	return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Off")}, i18n.T(ctx, "Tested and ready to turn on.")
}

func (h *Handler) ssoFacts(ctx context.Context, s connectors.SSO) []templates.Fact {
	facts := []templates.Fact{{Label: i18n.T(ctx, "Redirect URI"), Value: h.SSO.RedirectURI(), Mono: true, Copy: true}}
	if s.IsSetUp() {
		tested := shell.NewWhenOrNever(ctx, s.TestedAt, h.Now())
		facts = append(facts, templates.Fact{Label: i18n.T(ctx, "Tested"), When: &tested})
	}
	return facts
}

func ssoDomainRow(ctx context.Context, d connectors.SSODomain) templates.SSODomainRow {
	row := templates.SSODomainRow{Domain: d.Domain}
	switch {
	case d.VerifiedAt == nil:
		row.State, row.Host, row.Proof = templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Not verified")}, connectors.ProofHost(d.Domain), d.Proof
	case d.VerifiedBy == connectors.ProofOperator:
		row.State = templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Verified by operator")}
	default:
		row.State = templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Verified")}
	}
	return row
}

// defaultRoleOptions offers the role of members in no mapped group.
func defaultRoleOptions(ctx context.Context) []templates.Option {
	options := []templates.Option{{Value: "", Label: i18n.T(ctx, "No access")}}
	for _, o := range shell.RoleOptions(ctx) {
		if o.Value != string(connectors.RoleOwner) {
			options = append(options, o)
		}
	}
	return options
}

func ownerOptions(ctx context.Context, tenant store.People) ([]templates.Option, error) {
	options := []templates.Option{{Value: "", Label: i18n.T(ctx, "No one")}}
	page := store.Page{Limit: store.MaxLimit}
	for {
		list, err := tenant.Members(ctx, page)
		if err != nil {
			return nil, err
		}
		for _, m := range list.Items {
			if m.Role == connectors.RoleOwner {
				options = append(options, templates.Option{Value: m.UserID.String(), Label: m.DisplayName() + " (" + m.Email + ")"})
			}
		}
		if page.Cursor = list.Next; page.Cursor == "" {
			return options, nil
		}
	}
}

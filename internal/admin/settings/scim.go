package settings

import (
	"net/http"
	"strconv"

	"patchbay/internal/admin/shell"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/web/templates"
)

func (h *Handler) scimShow(w http.ResponseWriter, r *http.Request) error { return h.scimPage(w, r, "") }

// scimEnable turns SCIM on and shows the token on the response page alone.
func (h *Handler) scimEnable(w http.ResponseWriter, r *http.Request) error {
	_, token, err := h.SCIM.Enable(r.Context(), shell.Actor(r))
	if err != nil {
		return err
	}
	return h.scimPage(w, r, token)
}

func (h *Handler) scimRotate(w http.ResponseWriter, r *http.Request) error {
	_, token, err := h.SCIM.RotateToken(r.Context(), shell.Actor(r))
	if err != nil {
		return err
	}
	return h.scimPage(w, r, token)
}

func (h *Handler) scimDisable(w http.ResponseWriter, r *http.Request) error {
	if err := h.SCIM.Disable(r.Context(), shell.Actor(r)); err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/settings/scim", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "SCIM is off.")})
}

// scimPage shows the SCIM address. token is a new one; empty: none.
func (h *Handler) scimPage(w http.ResponseWriter, r *http.Request, token secret.Text) error {
	ctx := r.Context()
	s, err := h.SCIM.Settings(ctx, shell.Actor(r))
	off := fault.Is(err, fault.NotFound)
	if err != nil && !off {
		return err
	}
	page := templates.SCIMPage{
		Frame:   h.NewFrame(r, templates.NavSettings, shell.NewCrumb(i18n.T(ctx, "Settings"), "/settings"), shell.NewCrumb("SCIM", "")),
		Enabled: !off, Token: token.Reveal(), URL: h.SCIM.URL(),
		State: templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Off")},
		Facts: []templates.Fact{{Label: i18n.T(ctx, "URL"), Value: h.SCIM.URL(), Mono: true, Copy: true}},
	}
	if !off {
		page.State = templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "On")}
		last, rotated := shell.NewWhenOrNever(ctx, s.LastRequestAt, h.Now()), shell.NewWhenOrNever(ctx, s.RotatedAt, h.Now())
		page.Facts = append(page.Facts,
			templates.Fact{Label: i18n.T(ctx, "Token"), Value: s.TokenPrefix + "…", Mono: true}, templates.Fact{Label: i18n.T(ctx, "Last request"), When: &last},
			templates.Fact{Label: i18n.T(ctx, "Token changed"), When: &rotated}, templates.Fact{Label: i18n.T(ctx, "People"), Value: strconv.Itoa(s.Users)},
			templates.Fact{Label: i18n.T(ctx, "Members"), Value: strconv.Itoa(s.Members)}, templates.Fact{Label: i18n.T(ctx, "Groups"), Value: strconv.Itoa(s.Groups)},
		)
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.SCIM(page))
}

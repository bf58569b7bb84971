package people

import (
	"patchbay/internal/admin/shell"
	"patchbay/internal/admin/signin"
	"patchbay/internal/auth"
	"patchbay/internal/authserver"
	"patchbay/internal/mailing"
)

// Handler serves the pages of members, invitations and the own account. All fields but Mailing are required.
type Handler struct {
	*shell.Shell

	Auth       *auth.Service
	AuthServer *authserver.Server // the authorization server for programs
	Mailing    *mailing.Service   // nil: no e-mail is sent

	SigninPages *signin.Handler
}

// Mount adds the routes.
func (h *Handler) Mount(r shell.Routes) {
	r.Enrolling.Post("/tenant", h.tenantSwitch)
	r.Viewers.Get("/account", h.accountShow)
	r.Viewers.Get(shell.FilePrefix+"/account", h.sessionFile)
	// Sessions and the password are a person's own, so a viewer may change them.
	r.Viewers.Post("/account/password", h.passwordSave)
	r.Viewers.Post("/account/mail", h.mailSave)
	r.Viewers.Post("/account/sessions/{id}/revoke", h.sessionRevoke)
	r.Viewers.Post("/account/programs/{id}/revoke", h.ownProgramRevoke)
	r.Viewers.Post("/account/sign-out", h.sessionsRevokeAll)
	r.Admins.Post("/agents/{id}/programs/{program}/revoke", h.clientRevoke)
	r.Owners.Get(shell.FilePrefix+"/members", h.memberFile)
	r.Owners.Get("/members", h.memberList)
	r.Owners.Post("/members", h.memberAdd)
	r.Owners.Post("/members/{id}/role", h.memberRole)
	r.Owners.Post("/members/{id}/programs/{program}/revoke", h.memberProgramRevoke)
	r.Owners.Post("/members/{id}/sign-out", h.memberSignOut)
	r.Owners.Post("/members/{id}/second-factor/remove", h.memberFactorRemove)
	r.Owners.Post("/members/{id}/delete", h.memberRemove)
	r.Owners.Post("/invitations", h.inviteSend)
	r.Owners.Post("/invitations/{id}/send", h.inviteAgain)
	r.Owners.Post("/invitations/{id}/revoke", h.inviteRevoke)
}

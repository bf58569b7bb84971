package signin

import (
	"net/netip"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/authserver"
	"patchbay/internal/limit"
	"patchbay/internal/mailing"
	"patchbay/internal/sso"
)

// Handler serves the pages of signing in, second factors and the consent of programs. All fields but Mailing are required.
type Handler struct {
	*shell.Shell

	Auth       *auth.Service
	AuthServer *authserver.Server // the authorization server for programs
	SSO        *sso.Service
	Mailing    *mailing.Service        // nil: no e-mail is sent
	SSOStarts  *limit.Rate[netip.Addr] // made by NewSSOStarts
}

// Mount adds the routes.
func (h *Handler) Mount(r shell.Routes) {
	r.Public.Post("/language", h.languageSave) // signed in or not
	r.Public.Get("/setup", h.setupShow)
	r.Public.Post("/setup", h.setupFinish)
	r.Public.Get("/setup/invitation", h.joinShow)
	r.Public.Post("/setup/invitation", h.joinFinish)
	r.Public.Get("/forgot", h.forgotShow)
	r.Public.Post("/forgot", h.forgotFinish)
	r.Public.Get("/reset", h.resetShow)
	r.Public.Post("/reset", h.resetFinish)
	r.Public.Get("/login", h.loginShow)
	r.Public.Post("/login", h.loginFinish)
	r.Public.Get("/login/code", h.codeShow)
	r.Public.Post("/login/code", h.codeFinish)
	r.Public.Post("/login/sso", h.loginSSO)
	r.Public.Get(sso.CallbackPath, h.ssoCallback)
	r.Enrolling.Get(factorPath, h.factorShow)
	r.Enrolling.Post(factorPath, h.factorStart)
	r.Enrolling.Post(factorPath+"/confirm", h.factorConfirm)
	r.Enrolling.Post(factorPath+"/codes", h.factorCodes)
	r.Enrolling.Post(factorPath+"/remove", h.factorRemove)
	r.Enrolling.Get("/confirm", h.confirmShow)
	r.Enrolling.Post("/confirm", h.confirmSave)
	r.Enrolling.Post("/confirm/sso", h.confirmSSO)
	r.Enrolling.Post("/logout", h.logout)
	r.Viewers.Get(shell.UnsentPath, h.UnsentPage)
	r.Viewers.Get(authserver.AuthorizePath, h.authorizeShow) // a viewer gets a page that names the missing role
	r.Viewers.Post(authserver.AuthorizePath, h.authorizeDecide)
}

// NewSSOStarts limits the starts of single sign-on by network.
func NewSSOStarts() *limit.Rate[netip.Addr] {
	return limit.NewRate[netip.Addr](ssoStartsPerSecond, ssoStartsAtOnce)
}

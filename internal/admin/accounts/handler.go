package accounts

import (
	"time"

	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connect"
	"patchbay/internal/manage"
	"patchbay/internal/toolsync"
)

// Handler serves the pages of credentials and connected accounts. All fields are required.
type Handler struct {
	*shell.Shell

	Auth     *auth.Service
	Connect  *connect.Broker
	Registry *manage.Registry
	SyncWait time.Duration // how long a browser waits for the first sync after a connection
	Syncer   *toolsync.Syncer

	ConnectorPages *connectorpages.Handler
}

// Mount adds the routes.
func (h *Handler) Mount(r shell.Routes) {
	r.Public.Get("/oauth/callback", h.oauthCallback)
	r.Public.Get("/connect/done", h.connectDone)
	r.Public.Get("/connect/{token}", h.connectShow)
	r.Public.Post("/connect/{token}", h.connectAccept)
	r.Viewers.Get("/connectors/{id}/credentials", h.credentialList)
	r.Viewers.Get(shell.FilePrefix+"/connectors/{id}/credentials", h.credentialFile)
	r.Viewers.Get("/connectors/{id}/credentials/missing", h.credentialsMissing)
	r.Viewers.Get(ownAccountsPath, h.ownAccountList)
	r.Viewers.Get(ownAccountRoute, h.ownAccountShow)
	r.Viewers.Post(ownAccountRoute+"/connect", h.ownAccountConnect)
	r.Viewers.Post(ownAccountRoute+"/credential", h.ownAccountSave)
	r.Viewers.Post(ownAccountRoute+"/disconnect", h.ownAccountDisconnect)
	r.Viewers.Post(ownAccountRoute+"/account/rename", h.ownAccountRename)
	r.Admins.Post("/connectors/{id}/credential", h.credentialSave)
	r.Admins.Post("/connectors/{id}/credential/delete", h.credentialDelete)
	r.Admins.Post("/connectors/{id}/agents/{agent}/credential", h.credentialSave)
	r.Admins.Post("/connectors/{id}/agents/{agent}/credential/delete", h.credentialDelete)
	for _, owner := range []string{"/connectors/{id}", "/connectors/{id}/agents/{agent}"} {
		r.Admins.Post(owner+"/connect", h.connectStart)
		r.Admins.Post(owner+"/connect-link", h.connectLink)
		r.Admins.Post(owner+"/disconnect", h.connectDisconnect)
		r.Admins.Post(owner+"/account/rename", h.accountRename)
		r.Admins.Post(owner+"/account/syncs", h.accountSyncs)
	}
	r.Admins.Post("/connectors/{id}/diagnose", h.connectDiagnose)
}

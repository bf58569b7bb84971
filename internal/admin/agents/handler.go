package agents

import (
	"patchbay/internal/admin/shell"
	"patchbay/internal/agentview"
	"patchbay/internal/authserver"
	"patchbay/internal/manage"
	"patchbay/internal/toolcall"
)

// Handler serves the pages of agents, their grants and tokens. All fields are required.
type Handler struct {
	*shell.Shell

	AuthServer *authserver.Server
	Access     *agentview.Cache
	Calls      *toolcall.Executor
	Registry   *manage.Registry
}

// Mount adds the routes.
func (h *Handler) Mount(r shell.Routes) {
	r.Viewers.Get("/agents", h.agentList)
	r.Viewers.Get("/access", h.accessMatrix)
	r.Viewers.Get("/access/requests", h.accessRequestList)
	r.Viewers.Get("/access/requests/{id}", h.accessRequestShow)
	r.Members.Get("/access/request", h.accessAskShow)
	r.Members.Post("/access/request", h.accessAsk)
	r.Members.Post("/access/requests/{id}/withdraw", h.accessRequestWithdraw)
	r.Admins.Post("/access/requests/{id}/accept", h.accessRequestAccept)
	r.Admins.Post("/access/requests/{id}/refuse", h.accessRequestRefuse)
	r.Viewers.Get("/agents/{id}", h.agentShow)
	r.Viewers.Get("/agents/{id}/access", h.agentAccess)
	r.Viewers.Get("/agents/{id}/tools", h.agentTools)
	r.Viewers.Get("/agents/{id}/tools/{exposed}", h.agentTool)
	r.Viewers.Get("/agents/{id}/resources", h.agentItems)
	r.Viewers.Get("/agents/{id}/unused", h.agentUnused)
	r.Viewers.Get("/agents/{id}/connect", h.agentConnect)
	r.Viewers.Get("/agents/{id}/connectors/{connector}", h.grantShow)
	r.Viewers.Get(shell.FilePrefix+"/agents", h.agentFile)
	r.Viewers.Get(shell.FilePrefix+"/agents/{id}/access", h.agentAccessFile)
	r.Viewers.Get(shell.FilePrefix+"/agents/{id}/connect", h.agentTokenFile)
	r.Viewers.Get(shell.FilePrefix+"/agents/{id}/tools", h.agentToolFile)
	r.Viewers.Get(shell.FilePrefix+"/agents/{id}/resources", h.agentItemFile)
	r.Members.Post("/agents/{id}/connectors/{connector}/allowances/{tool}/end", h.allowanceEnd)
	r.Admins.Get("/agents/new", h.agentNew)
	r.Admins.Get("/start/agent", h.setupShow)
	r.Admins.Post("/start/agent", h.setupCreate)
	r.Admins.Post("/agents", h.agentCreate)
	r.Admins.Get("/agents/{id}/settings", h.agentSettings)
	r.Admins.Post("/agents/{id}", h.agentSave)
	r.Admins.Post("/agents/{id}/access", h.agentAccessSave)
	r.Admins.Post("/agents/{id}/unused", h.agentNarrow)
	r.Admins.Post("/agents/{id}/pins", h.agentPin)
	r.Admins.Post("/agents/{id}/tools/{exposed}/shaping", h.shapingSave)
	r.Admins.Post("/agents/{id}/delete", h.agentDelete)
	r.Admins.Post("/agents/{id}/tokens", h.tokenCreate)
	r.Admins.Post("/agents/{id}/tokens/{token}/revoke", h.tokenRevoke)
	r.Admins.Post("/agents/{id}/workloads", h.workloadAdd)
	r.Admins.Post("/agents/{id}/workloads/{workload}/remove", h.workloadRemove)
	r.Admins.Post("/agents/{id}/connectors/{connector}", h.grantSave)
	r.Admins.Post("/agents/{id}/connectors/{connector}/choose", h.grantChoose)
	r.Admins.Post("/agents/{id}/connectors/{connector}/remove", h.grantRemove)
}

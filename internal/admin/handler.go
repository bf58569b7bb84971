package admin

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/agentview"
	"patchbay/internal/auth"
	"patchbay/internal/authserver"
	"patchbay/internal/calllog"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/limit"
	"patchbay/internal/manage"
	"patchbay/internal/mcpregistry"
	"patchbay/internal/middleware"
	"patchbay/internal/respond"
	"patchbay/internal/sso"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
	"patchbay/internal/toolsync"
	"patchbay/internal/webhooks"
)

// Options are the services and settings of the dashboard. All are required but Log, Now, Done, Streams,
// SyncWait and ProgramSync.
type Options struct {
	Store       *store.Store
	Auth        *auth.Service
	SSO         *sso.Service
	AuthServer  *authserver.Server // the authorization server for programs
	Registry    *manage.Registry
	Syncer      *toolsync.Syncer
	Connect     *connect.Broker
	Access      *agentview.Cache
	Calls       *toolcall.Executor
	Webhooks    *webhooks.Post
	History     *calllog.Writer
	ServerLists *mcpregistry.Reader // of MCP registries
	Respond     *respond.Responder
	Log         *slog.Logger
	Now         func() time.Time // nil: time.Now
	BaseURL     string           // for examples: "https://patchbay.example.com"
	Version     string           // of the program
	Done        <-chan struct{}  // closed when the server stops, which ends event streams; nil: never
	Streams     int              // maximum of open event streams; 0: 500
	SyncWait    time.Duration    // how long a browser waits for the first sync after a connection; 0: 10 seconds

	// ProgramSync serves POST /connectors/{id}/sync_tools for programs; nil: only browsers are served.
	ProgramSync http.Handler
}

// Handler serves the dashboard.
type Handler struct {
	store       *store.Store
	auth        *auth.Service
	sso         *sso.Service
	programs    *authserver.Server
	registry    *manage.Registry
	syncer      *toolsync.Syncer
	connect     *connect.Broker
	access      *agentview.Cache
	calls       *toolcall.Executor
	webhooks    *webhooks.Post
	history     *calllog.Writer
	serverLists *mcpregistry.Reader
	respond     *respond.Responder
	log         *slog.Logger
	now         func() time.Time
	baseURL     string
	version     string
	done        <-chan struct{}
	streams     *limit.Gate[connectors.UserID]
	syncWait    time.Duration
	programSync http.Handler
	ssoStarts   *limit.Rate[netip.Addr]
}

// New returns a Handler.
func New(o Options) *Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.SyncWait == 0 {
		o.SyncWait = defaultSyncWait
	}
	h := &Handler{
		store: o.Store, auth: o.Auth, sso: o.SSO, programs: o.AuthServer, registry: o.Registry, syncer: o.Syncer, connect: o.Connect,
		access: o.Access, calls: o.Calls, webhooks: o.Webhooks, history: o.History, serverLists: o.ServerLists, respond: o.Respond,
		log: o.Log, now: o.Now, baseURL: o.BaseURL, version: o.Version, done: o.Done, streams: limit.NewGate[connectors.UserID](maxPersonStreams, cmp.Or(o.Streams, maxStreams)),
		syncWait: o.SyncWait, programSync: o.ProgramSync,
	}
	h.ssoStarts = limit.NewRate[netip.Addr](ssoStartsPerSecond, ssoStartsAtOnce)
	h.respond.SetFailureFrame(h.failureFrame)
	return h
}

// Mount adds the dashboard's routes to r, which must have the middleware of package middleware.
func (h *Handler) Mount(r chi.Router) {
	r.Group(func(r chi.Router) {
		r.Use(h.auth.Sessions().LoadAndSave)
		h.mountPublic(r)
	})
	r.Group(func(r chi.Router) {
		r.Use(h.auth.Sessions().LoadAndSave, middleware.Authenticate(h.auth.IdentifyEnrolling, h.respond.Failure))
		h.mountEnrolment(h.withPermission(r, connectors.PermRead))
	})
	r.Group(func(r chi.Router) {
		r.Use(h.routeProgramsToAPI)
		r.Use(h.requireSession()...)
		h.withPermission(r, connectors.PermOperate).post("/connectors/{id}/sync_tools", h.connectorSync)
	})
	r.Group(func(r chi.Router) {
		r.Use(h.requireSession()...)
		r.Use(h.rememberSize)
		h.mountForViewers(h.withPermission(r, connectors.PermRead))
		h.mountForMembers(h.withPermission(r, connectors.PermOperate))
		h.mountForAdmins(h.withPermission(r, connectors.PermManage))
		h.mountForAuditors(h.withPermission(r, connectors.PermAudit))
		h.mountForOwners(h.withPermission(r, connectors.PermOwn))
	})
}

// mountPublic adds the routes that need no session.
func (h *Handler) mountPublic(r chi.Router) {
	r.Post("/language", h.respond.Browser(h.languageSave)) // signed in or not
	r.Get("/setup", h.respond.Browser(h.setupShow))
	r.Post("/setup", h.respond.Browser(h.setupFinish))
	r.Get("/setup/invitation", h.respond.Browser(h.joinShow))
	r.Post("/setup/invitation", h.respond.Browser(h.joinFinish))
	r.Get("/login", h.respond.Browser(h.loginShow))
	r.Post("/login", h.respond.Browser(h.loginFinish))
	r.Get("/login/code", h.respond.Browser(h.codeShow))
	r.Post("/login/code", h.respond.Browser(h.codeFinish))
	r.Post("/login/sso", h.respond.Browser(h.loginSSO))
	r.Get(sso.CallbackPath, h.respond.Browser(h.ssoCallback))
	r.Get("/oauth/callback", h.respond.Browser(h.oauthCallback))
	r.Get("/connect/done", h.respond.Browser(h.connectDone))
	r.Get("/connect/{token}", h.respond.Browser(h.connectShow))
	r.Post("/connect/{token}", h.respond.Browser(h.connectAccept))
}

// mountEnrolment adds the routes that work before a required second factor is set up.
func (h *Handler) mountEnrolment(r routeGroup) {
	r.get(factorPath, h.factorShow)
	r.post(factorPath, h.factorStart)
	r.post(factorPath+"/confirm", h.factorConfirm)
	r.post(factorPath+"/codes", h.factorCodes)
	r.post(factorPath+"/remove", h.factorRemove)
	r.get("/confirm", h.confirmShow)
	r.post("/confirm", h.confirmSave)
	r.post("/confirm/sso", h.confirmSSO)
	r.post("/tenant", h.tenantSwitch)
	r.post("/logout", h.logout)
}

func (h *Handler) mountForViewers(r routeGroup) {
	r.get("/", h.homeShow)
	r.get("/events", h.streamEvents)
	r.get("/connectors", h.connectorList)
	r.get("/connectors/export", h.connectorExport)
	r.get("/connectors/{id}", h.connectorShow)
	r.get("/connectors/{id}/tools", h.connectorTools)
	r.get("/connectors/{id}/tools/{tool}", h.toolShow)
	r.get("/connectors/{id}/tools/{tool}/changes", h.changeCurrent)
	r.get("/connectors/{id}/tools/{tool}/changes/{change}", h.changeShow)
	r.get("/connectors/{id}/instructions/changes", h.instructionsChange)
	r.get("/connectors/{id}/credentials", h.credentialList)
	r.get("/connectors/{id}/runs", h.connectorRuns)
	r.get("/connectors/{id}/runs/{run}", h.runShow)
	r.get("/catalog", h.catalogList)
	r.get("/search", h.searchShow)
	r.get("/tools", h.toolSearch)
	r.get("/agents", h.agentList)
	r.get("/agents/{id}", h.agentShow)
	r.get("/agents/{id}/access", h.agentAccess)
	r.get("/agents/{id}/tools", h.agentTools)
	r.get("/agents/{id}/tools/{exposed}", h.agentTool)
	r.get("/agents/{id}/unused", h.agentUnused)
	r.get("/agents/{id}/connect", h.agentConnect)
	r.get("/agents/{id}/connectors/{connector}", h.grantShow)
	r.get("/calls", h.callList)
	r.get("/calls/{id}", h.callShow)
	r.get("/tasks", h.taskList)
	r.get(filePrefix+"/connectors", h.connectorFile)
	r.get(filePrefix+"/connectors/{id}/tools", h.connectorToolFile)
	r.get(filePrefix+"/connectors/{id}/runs", h.syncRunFile)
	r.get(filePrefix+"/tools", h.toolFile)
	r.get(filePrefix+"/agents", h.agentFile)
	r.get(filePrefix+"/calls", h.callFile)
	r.get(filePrefix+"/tasks", h.taskFile)
	r.get(filePrefix+"/approvals", h.approvalFile)
	r.get(filePrefix+"/changes", h.changeFile)
	r.get("/calls/{id}/pictures/{n}", h.callPicture)
	r.get("/changes", h.changeList)
	r.get("/approvals", h.approvalList)
	r.get("/approvals/{id}", h.approvalShow)
	r.get("/notices", h.noticeList)
	r.get("/account", h.accountShow)
	r.get(authserver.AuthorizePath, h.authorizeShow) // a viewer gets a page that names the missing role
	r.post(authserver.AuthorizePath, h.authorizeDecide)
	// Sessions, password and read marks are a person's own, so a viewer may change them.
	r.post("/account/password", h.passwordSave)
	r.post("/account/sessions/{id}/revoke", h.sessionRevoke)
	r.post("/account/programs/{id}/revoke", h.ownProgramRevoke)
	r.post("/account/sign-out", h.sessionsRevokeAll)
	r.get(ownAccountsPath, h.ownAccountList)
	r.get(ownAccountRoute, h.ownAccountShow)
	r.post(ownAccountRoute+"/connect", h.ownAccountConnect)
	r.post(ownAccountRoute+"/credential", h.ownAccountSave)
	r.post(ownAccountRoute+"/disconnect", h.ownAccountDisconnect)
	r.post("/notices/read", h.noticeRead)
}

func (h *Handler) mountForMembers(r routeGroup) {
	r.post("/sync_tools", h.syncAll)
	r.post("/connectors/{id}/tools/{tool}/try", h.toolTry)
	r.post("/calls/{id}/cancel", h.callCancel)
	r.post("/approvals/{id}/approve", h.approvalApprove)
	r.post("/approvals/{id}/deny", h.approvalDeny)
}

func (h *Handler) mountForAdmins(r routeGroup) {
	r.post("/usage/reset", h.usageReset)
	r.get("/connectors/new", h.connectorNew)
	r.post("/connectors", h.connectorCreate)
	r.post("/connectors/test", h.connectorTest)
	r.get("/connectors/import", h.connectorImportNew)
	r.post("/connectors/import", h.connectorImport)
	r.post("/connectors/import/preview", h.connectorImportPreview)
	r.post("/catalog/{slug}/add", h.catalogAdd)
	r.get("/catalog/registry", h.listingNew)
	r.post("/catalog/registry/preview", h.listingPreview)
	r.post("/catalog/registry", h.registryImport)
	r.get("/connectors/{id}/settings", h.connectorSettings)
	r.post("/connectors/{id}", h.connectorSave)
	r.post("/connectors/{id}/enabled", h.connectorEnable)
	r.post("/connectors/{id}/listen", h.connectorListen)
	r.post("/connectors/{id}/delete", h.connectorDelete)
	r.post("/connectors/{id}/credential", h.credentialSave)
	r.post("/connectors/{id}/credential/delete", h.credentialDelete)
	r.post("/connectors/{id}/agents/{agent}/credential", h.credentialSave)
	r.post("/connectors/{id}/agents/{agent}/credential/delete", h.credentialDelete)
	for _, owner := range []string{"/connectors/{id}", "/connectors/{id}/agents/{agent}"} {
		r.post(owner+"/connect", h.connectStart)
		r.post(owner+"/connect-link", h.connectLink)
		r.post(owner+"/disconnect", h.connectDisconnect)
	}
	r.post("/connectors/{id}/diagnose", h.connectDiagnose)
	r.post("/connectors/{id}/tools", h.toolBulk)
	r.post("/connectors/{id}/tools/{tool}/curate", h.toolCurate)
	r.post("/connectors/{id}/tools/{tool}/accept", h.changeAccept)
	r.post("/connectors/{id}/tools/{tool}/reject", h.changeReject)
	r.post("/connectors/{id}/instructions/accept", h.changeAccept)
	r.post("/connectors/{id}/instructions/reject", h.changeReject)
	r.post("/changes/accept_cosmetic", h.changeAcceptCosmetic)
	r.get("/agents/new", h.agentNew)
	r.post("/agents", h.agentCreate)
	r.get("/agents/{id}/settings", h.agentSettings)
	r.post("/agents/{id}", h.agentSave)
	r.post("/agents/{id}/unused", h.agentNarrow)
	r.post("/agents/{id}/delete", h.agentDelete)
	r.post("/agents/{id}/tokens", h.tokenCreate)
	r.post("/agents/{id}/tokens/{token}/revoke", h.tokenRevoke)
	r.post("/agents/{id}/programs/{program}/revoke", h.clientRevoke)
	r.post("/agents/{id}/connectors/{connector}", h.grantSave)
	r.post("/agents/{id}/connectors/{connector}/choose", h.grantChoose)
	r.post("/agents/{id}/connectors/{connector}/remove", h.grantRemove)
	r.get(filePrefix+"/webhooks/{id}", h.deliveryFile)
	r.get("/webhooks", h.webhookList)
	r.post("/webhooks", h.webhookCreate)
	r.get("/webhooks/{id}", h.webhookShow)
	r.post("/webhooks/{id}", h.webhookSave)
	r.post("/webhooks/{id}/test", h.webhookTest)
	r.post("/webhooks/{id}/rotate", h.webhookRotate)
	r.post("/webhooks/{id}/delete", h.webhookDelete)
	r.post("/webhooks/{id}/deliveries/{delivery}/redeliver", h.webhookRedeliver)
}

// mountForAuditors adds the audit log's routes, which admins and owners have too.
func (h *Handler) mountForAuditors(r routeGroup) {
	r.get("/audit", h.auditList)
	r.post("/audit/verify", h.auditVerify)
	r.get("/audit/export.jsonl", h.auditExport)
	r.get("/audit/export.sig", h.auditSignature)
	r.get(filePrefix+"/audit", h.auditFile)
}

func (h *Handler) mountForOwners(r routeGroup) {
	r.get("/api-keys", h.keyList)
	r.post("/api-keys", h.keyCreate)
	r.post("/api-keys/{id}/revoke", h.keyRevoke)
	r.get(filePrefix+"/members", h.memberFile)
	r.get(filePrefix+"/api-keys", h.keyFile)
	r.get("/members", h.memberList)
	r.post("/members", h.memberAdd)
	r.post("/members/{id}/role", h.memberRole)
	r.post("/members/{id}/programs/{program}/revoke", h.memberProgramRevoke)
	r.post("/members/{id}/sign-out", h.memberSignOut)
	r.post("/members/{id}/second-factor/remove", h.memberFactorRemove)
	r.post("/members/{id}/delete", h.memberRemove)
	r.post("/invitations", h.inviteSend)
	r.post("/invitations/{id}/send", h.inviteAgain)
	r.post("/invitations/{id}/revoke", h.inviteRevoke)
	r.get("/settings", h.settingsShow)
	r.post("/settings", h.settingsSave)
	r.get("/settings/sso", h.ssoShow)
	r.post("/settings/sso", h.ssoSave)
	r.post("/settings/sso/test", h.ssoTest)
	r.post("/settings/sso/delete", h.ssoForget)
	r.post("/settings/sso/domains", h.ssoClaim)
	r.post("/settings/sso/domains/verify", h.ssoVerify)
	r.post("/settings/sso/domains/release", h.ssoRelease)
}

// routeGroup adds routes that need one permission.
type routeGroup struct {
	router chi.Router
	h      *Handler
}

// withPermission returns r behind a check of the role, so that a refusal comes before any read.
func (h *Handler) withPermission(r chi.Router, p connectors.Permission) routeGroup {
	check := func(next http.Handler) http.Handler {
		return h.respond.Browser(func(w http.ResponseWriter, r *http.Request) error {
			if err := actor(r).Require(p); err != nil {
				return err
			}
			next.ServeHTTP(w, r)
			return nil
		})
	}
	return routeGroup{router: r.With(check), h: h}
}

func (r routeGroup) get(path string, f respond.HandlerFunc) {
	if confirmRules["GET "+path].confirms {
		f = r.h.requireConfirmation("GET "+path, f)
	}
	r.router.Get(path, r.h.respond.Browser(f))
}

func (r routeGroup) post(path string, f respond.HandlerFunc) {
	r.router.Post(path, r.h.respond.Browser(r.h.requireConfirmation("POST "+path, f)))
}

// requireSession lets people with a session through, and no programs.
func (h *Handler) requireSession() []middleware.Middleware {
	return []middleware.Middleware{
		h.auth.Sessions().LoadAndSave,
		middleware.Authenticate(h.auth.IdentifyPerson, h.redirectToEnrolment),
	}
}

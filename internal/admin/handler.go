package admin

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/admin/accounts"
	"patchbay/internal/admin/agents"
	"patchbay/internal/admin/calls"
	"patchbay/internal/admin/catalog"
	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/admin/events"
	"patchbay/internal/admin/home"
	"patchbay/internal/admin/people"
	"patchbay/internal/admin/settings"
	"patchbay/internal/admin/shell"
	"patchbay/internal/admin/signin"
	"patchbay/internal/admin/tools"
	"patchbay/internal/agentview"
	"patchbay/internal/auditstreams"
	"patchbay/internal/auth"
	"patchbay/internal/authserver"
	"patchbay/internal/calllog"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/mailing"
	"patchbay/internal/manage"
	"patchbay/internal/mcpregistry"
	"patchbay/internal/middleware"
	"patchbay/internal/publicregistry"
	"patchbay/internal/respond"
	"patchbay/internal/scim"
	"patchbay/internal/sso"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
	"patchbay/internal/toolsync"
	"patchbay/internal/webhooks"
)

// Options are the services and settings of the dashboard. All are required but Log, Now, Done, Streams,
// SyncWait and ProgramSync.
type Options struct {
	Store        *store.Store
	Auth         *auth.Service
	SSO          *sso.Service
	AuthServer   *authserver.Server // the authorization server for programs
	Registry     *manage.Registry
	Syncer       *toolsync.Syncer
	Connect      *connect.Broker
	Access       *agentview.Cache
	Calls        *toolcall.Executor
	Webhooks     *webhooks.Post
	Registries   *publicregistry.Service
	AuditStreams *auditstreams.Service
	SCIM         *scim.Service
	Mailing      *mailing.Service // nil: no e-mail is sent
	History      *calllog.Writer
	ServerLists  *mcpregistry.Reader // of MCP registries
	Respond      *respond.Responder
	Log          *slog.Logger
	Now          func() time.Time // nil: time.Now
	BaseURL      string           // for examples: "https://patchbay.example.com"
	Version      string           // of the program
	Done         <-chan struct{}  // closed when the server stops, which ends event streams; nil: never
	Streams      int              // maximum of open event streams; 0: 500
	SyncWait     time.Duration    // how long a browser waits for the first sync after a connection; 0: 10 seconds

	// ProgramSync serves POST /connectors/{id}/sync_tools for programs; nil: only browsers are served.
	ProgramSync http.Handler
}

// Handler serves the dashboard.
type Handler struct {
	auth       *auth.Service
	shell      *shell.Shell
	signin     *signin.Handler
	connectors *connectorpages.Handler
	pages      []interface{ Mount(shell.Routes) }
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
		o.SyncWait = accounts.DefaultSyncWait
	}
	base := shell.New(shell.Options{
		Store: o.Store, Auth: o.Auth, SSO: o.SSO, Registry: o.Registry, Calls: o.Calls,
		Respond: o.Respond, Log: o.Log, Now: o.Now, BaseURL: o.BaseURL,
	})
	callPages := &calls.Handler{Shell: base, Calls: o.Calls, Registry: o.Registry, Store: o.Store}
	toolPages := &tools.Handler{Shell: base, Access: o.Access, Calls: o.Calls, Done: o.Done, Registry: o.Registry, Syncer: o.Syncer}
	agentPages := &agents.Handler{Shell: base, AuthServer: o.AuthServer, Access: o.Access, Calls: o.Calls, Registry: o.Registry}
	connectorPages := &connectorpages.Handler{Shell: base, Calls: o.Calls, ProgramSync: o.ProgramSync, Registry: o.Registry, Syncer: o.Syncer, ToolPages: toolPages}
	accountPages := &accounts.Handler{
		Shell: base, Auth: o.Auth, Connect: o.Connect, Registry: o.Registry, SyncWait: o.SyncWait, Syncer: o.Syncer, ConnectorPages: connectorPages,
	}
	catalogPages := &catalog.Handler{Shell: base, Registry: o.Registry, ServerLists: o.ServerLists, ConnectorPages: connectorPages}
	signinPages := &signin.Handler{Shell: base, Auth: o.Auth, AuthServer: o.AuthServer, SSO: o.SSO, Mailing: o.Mailing, SSOStarts: signin.NewSSOStarts()}
	peoplePages := &people.Handler{Shell: base, Auth: o.Auth, AuthServer: o.AuthServer, Mailing: o.Mailing, SigninPages: signinPages}
	settingPages := &settings.Handler{
		Shell: base, Auth: o.Auth, Connect: o.Connect, Registry: o.Registry, SSO: o.SSO, Version: o.Version, Webhooks: o.Webhooks, Registries: o.Registries, AuditStreams: o.AuditStreams, SCIM: o.SCIM,
	}
	eventPages := &events.Handler{
		Shell: base, Auth: o.Auth, Calls: o.Calls, Done: o.Done, History: o.History, Store: o.Store, Streams: events.NewStreams(o.Streams), Syncer: o.Syncer,
		CallPages: callPages, ToolPages: toolPages,
	}
	return &Handler{
		auth: o.Auth, shell: base, signin: signinPages, connectors: connectorPages,
		pages: []interface{ Mount(shell.Routes) }{
			&home.Handler{Shell: base}, connectorPages, accountPages, catalogPages, toolPages, agentPages, callPages, peoplePages,
			signinPages, settingPages, eventPages,
		},
	}
}

// Mount adds the dashboard's routes to r, which must have the middleware of package middleware.
func (h *Handler) Mount(r chi.Router) {
	session, auth := h.auth.Sessions().LoadAndSave, middleware.Authenticate(h.auth.IdentifyPerson, h.signin.RedirectToEnrolment)
	signedIn := r.With(session, auth, h.shell.RememberSize)
	routes := shell.Routes{
		Public: h.shell.PublicGroup(r.With(session)),
		Enrolling: h.shell.GroupFor(
			r.With(session, middleware.Authenticate(h.auth.IdentifyEnrolling, h.shell.Respond.Failure)), connectors.PermRead),
		Viewers:  h.shell.GroupFor(signedIn, connectors.PermRead),
		Members:  h.shell.GroupFor(signedIn, connectors.PermOperate),
		Admins:   h.shell.GroupFor(signedIn, connectors.PermManage),
		Auditors: h.shell.GroupFor(signedIn, connectors.PermAudit),
		Owners:   h.shell.GroupFor(signedIn, connectors.PermOwn),
	}
	for _, p := range h.pages {
		p.Mount(routes)
	}
	programs := r.With(h.connectors.RouteProgramsToAPI, session, auth)
	h.connectors.MountSync(h.shell.GroupFor(programs, connectors.PermOperate))
}

package gateway

import (
	"context"
	"encoding/json"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/limit"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/toolcall"
)

// Bounds of the log messages that one session gets outside its requests, per second and at once. Further ones are dropped.
// One for a stream in another process is a row.
const (
	logsPerSecond, maxLogBurst        = 10, 600
	relayedPerSecond, maxRelayedBurst = 1, 60
	logReadTimeout                    = 2 * time.Second // of the level and the view: the server's next message waits
)

// logRates are these bounds, by session.
type logRates struct{ all, relayed *limit.Rate[string] }

func newLogRates() logRates {
	return logRates{
		all: limit.NewRate[string](logsPerSecond, maxLogBurst), relayed: limit.NewRate[string](relayedPerSecond, maxRelayedBurst),
	}
}

// sessionLogger sends a client the log messages that come outside its requests. It outlives the request that made it, and
// keeps no view.
type sessionLogger struct {
	h       *Handler
	caller  string
	tenant  connectors.TenantID
	agent   connectors.AgentID
	session string
	isOfAll bool // at the address of all connectors
}

func (b *backend) newSessionLogger(session string) *sessionLogger {
	return &sessionLogger{
		h: b.h, caller: callerKey(b), tenant: b.view.Tenant.ID, agent: b.view.Agent.ID, session: session, isOfAll: b.connectorSlug == "",
	}
}

// sendMessage sends a log message of a connector's server on the stream of the session's GET, in whichever process, if the
// client wants its level and the agent may use the connector.
func (l *sessionLogger) sendMessage(slug string, params json.RawMessage) {
	ctx, cancel := context.WithTimeout(context.Background(), logReadTimeout)
	defer cancel()
	level := l.h.server.SessionLogLevel(ctx, l.caller, l.session)
	if level == "" || serve.IsBelowLevel(params, level) {
		return
	}
	if wait, _ := l.h.logRates.all.Take(l.session, l.h.now()); wait > 0 || !l.mayReceive(ctx, slug) {
		return
	}
	if l.isOfAll {
		params = withLogger(slug, params)
	}
	const method = "notifications/message"
	if l.h.server.NotifySession(l.caller, l.session, method, params) {
		return
	}
	if wait, _ := l.h.logRates.relayed.Take(l.session, l.h.now()); wait > 0 {
		return
	}
	mail, err := toolcall.NewNotificationMail(l.agent, l.session, toolcall.Notification{Method: method, Params: params}, time.Now())
	if err == nil {
		l.h.router.postInBackground(l.tenant, mail)
	}
}

func (l *sessionLogger) mayReceive(ctx context.Context, slug string) bool {
	view, err := l.h.views.ByAgent(ctx, l.tenant, connectors.Ref(l.agent.String()))
	if err != nil || !view.Agent.Enabled {
		return false
	}
	connector := view.Connector(slug)
	return connector != nil && !connector.PermitsNothing()
}

// withLogger puts a connector's slug in front of a message's logger: at the address of all connectors, a client cannot tell
// their servers apart otherwise.
func withLogger(slug string, params json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(params, &members) != nil {
		return params
	}
	logger := slug
	var own string
	if json.Unmarshal(members["logger"], &own) == nil && own != "" {
		logger += "/" + own
	}
	var err error
	if members["logger"], err = json.Marshal(logger); err != nil {
		return params
	}
	if raw, err := json.Marshal(members); err == nil {
		return raw
	}
	return params
}

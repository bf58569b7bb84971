package toolcall

import (
	"context"
	"log/slog"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/limit"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

// Options configure a [Executor]. Store, Access, Credentials, Dialer, Target, History and Instance are required.
type Options struct {
	Store       *store.Store
	Access      *agentview.Cache
	Credentials *credentials.Resolver
	Dialer      *mcp.Dialer
	// Target builds the connector's target, with authentication headers.
	Target func(context.Context, connectors.TenantID, connectors.Connector, []credentials.Header) (mcp.Target, error)
	// AcquireSlot reserves a session with the connector's server until release is called; see [upstream.Options].
	AcquireSlot func(_ context.Context, _ connectors.TenantID, _ connectors.Connector, full func(ofTenant bool)) (release func(), err error)
	History     *calllog.Writer
	Instance    connectors.InstanceID // this process
	BaseURL     string                // the public URL, without a trailing slash

	// Resync syncs a connector's tools before a destructive call with an old definition; nil: no maximum age.
	Resync func(context.Context, connectors.TenantID, connectors.ConnectorID) error
	// ReadTool reads a tool's definition with an account of an agent, where syncs have none, and stores nothing; required with Resync.
	ReadTool func(
		_ context.Context, _ connectors.TenantID, _ connectors.ConnectorID, of credentials.Account, account connectors.CredentialID, name string,
	) (connectors.Hash, error)

	// ConnectURL makes a link for connecting a missing account with a name, empty for the only one; an empty link or nil: there is none.
	ConnectURL func(ctx context.Context, t connectors.TenantID, c connectors.Connector, a connectors.Agent, account string) string
	// AccountPage is the page for an agent's own account at a connector. It requires a sign-in. nil: there is none.
	AccountPage func(ctx context.Context, t connectors.TenantID, c connectors.Connector, a connectors.Agent, account string) string
	// OnEnd receives every call that ended in this process, for metrics; nil: none.
	OnEnd func(connectors.ToolCall)
	// OnOverQuota receives every refusal by a quota, for metrics: its owner (tool, tenant) and period (minute,
	// day); nil: none.
	OnOverQuota func(whose, period string)
	AnswerBytes int64            // bound of the whole answers of a tenant that are kept beside shortened ones; 0: 1 GiB
	Log         *slog.Logger     // nil: discarded
	Now         func() time.Time // nil: time.Now
}

// Executor makes calls. It is safe for concurrent use.
type Executor struct {
	o       *Options
	running *runningCalls

	// The steps of a call, in order (pipeline.go).
	accounts    *accountRequests
	authorizer  *authorizer
	validator   *validator
	limits      *callLimits
	definitions *definitionAges
	approvals   *approvals
	sender      *callSender
	recorder    *callRecorder

	// What the steps share.
	explainer *explainer
	handles   *handleSealer
	mail      *mailboxes
	progress  *progressSaver
	waiters   *waiterSet
	shaper    *answerShaper

	// Calls that go on in other requests, and requests besides calls.
	multiRound *multiRoundCalls
	requests   *requestSender
	tasks      *taskRequests
	canceller  *canceller
	sweeper    *sweeper
	mailReader *mailReader
}

// New makes an Executor. Start starts its background work, Stop ends it.
func New(o Options) *Executor {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Executor{o: &o, running: newRunningCalls(), explainer: &explainer{&o}, mail: &mailboxes{&o}, limits: newCallLimits(&o), validator: &validator{&o}}
	c.waiters, c.shaper = &waiterSet{}, newAnswerShaper(&o, c.mail)
	c.handles = &handleSealer{&o, c.mail, c.explainer}
	c.progress = &progressSaver{o: &o, running: c.running}
	c.authorizer = &authorizer{&o, c.explainer, c.validator}
	c.sender = newCallSender(&o, c.running, c.explainer, c.progress)
	c.definitions = &definitionAges{o: &o, authorizer: c.authorizer, sender: c.sender}
	c.recorder = &callRecorder{o: &o, running: c.running, handles: c.handles, limits: c.limits}
	announcer := &taskAnnouncer{&o, c.handles}
	c.approvals = &approvals{&o, c.running, c.waiters, c.explainer, c.handles, c.mail, c.limits, c.sender, c.recorder, announcer}
	c.accounts = &accountRequests{
		&o, c.running, c.waiters, c.explainer, c.handles, c.authorizer, c.limits, c.recorder, limit.NewGate[connectors.AccountRequestID](1, 0),
	}
	c.multiRound = &multiRoundCalls{
		o: &o, running: c.running, waiters: c.waiters, explainer: c.explainer, handles: c.handles, mail: c.mail, runCall: c.runCall,
	}
	c.requests = &requestSender{&o, c.running, c.explainer, c.handles, c.authorizer, c.limits, c.sender, c.recorder, c.approvals}
	c.tasks = &taskRequests{
		o: &o, sender: c.sender, running: c.running, handles: c.handles, limits: c.limits, approvals: c.approvals, requests: c.requests, recorder: c.recorder,
		questions: newTaskQuestions(&o, c.running, c.sender, c.mail),
	}
	c.canceller = &canceller{&o, c.running, c.waiters, c.approvals, c.tasks, c.recorder, announcer}
	c.sweeper = &sweeper{&o, c.waiters, c.recorder, announcer}
	c.mailReader = &mailReader{&o, c.running, c.multiRound, c.tasks.questions}
	return c
}

// Start starts the background loops: the sweep, the publishing of limit uses, and the saving of progress.
func (c *Executor) Start(ctx context.Context) {
	c.limits.loaded = c.limits.loadQuotas(ctx)
	c.running.startLoop("calls to be closed", sweepInterval, c.Sweep)
	c.running.startLoop("uses of limits", usePublishInterval, c.limits.exchangeUses)
	c.running.startLoop("progress of calls", progressInterval, c.progress.saveProgress)
}

// Stop refuses new calls, waits for running ones until ctx is done, then aborts them and waits. Stop the
// history after it.
func (c *Executor) Stop(ctx context.Context) {
	c.running.refuseCalls()
	c.waiters.wakeAll() // calls that wait for approval are refused as pending
	c.running.waitForCalls(ctx)
	c.limits.countQuotas(context.WithoutCancel(ctx))
	c.sender.pool.Stop(ctx)
}

// OnNotify handles a notification of [store.Store.Watch].
func (c *Executor) OnNotify(n store.ChangeEvent) {
	switch n.Kind {
	case "credential", "connector":
		c.sender.invalidateCache(n)
	case "approval":
		if id, ok := connectors.Ref(n.ID).UUID(); ok {
			c.waiters.wake(connectors.ToolCallID{UUID: id})
		}
	case "agent":
		if agent, ok := connectors.Ref(n.ID).UUID(); ok {
			c.sender.pool.RecheckAgent(n.Tenant, connectors.AgentID{UUID: agent})
		}
	case store.NoticeAccount:
		if agent, ok := connectors.Ref(n.ID).UUID(); ok {
			c.waiters.wake(connectors.ToolCallID{UUID: agent})
		}
	case store.NoticeUses:
		c.limits.handleUses(n.ID)
	case "mail":
		c.mailReader.handleMail(n.ID)
	}
}

// invalidateCache drops cached credentials of a connector, and its sessions if the connector changed.
func (cs *callSender) invalidateCache(n store.ChangeEvent) {
	uuid, ok := connectors.Ref(n.ID).UUID()
	if !ok {
		return
	}
	id := connectors.ConnectorID{UUID: uuid}
	cs.pool.InvalidateCredentials(n.Tenant, id)
	if n.Kind == "connector" {
		cs.pool.RecheckConnector(n.Tenant, id)
		return
	}
	cs.pool.RecheckCredentials(n.Tenant, id)
}

// SetConnected handles the connection state of [store.Store.Watch]. While disconnected, a cached credential is
// used for at most a second. When connected again, it reads mail that came without a notice.
func (c *Executor) SetConnected(connected bool) {
	c.sender.pool.SetListening(connected)
	c.waiters.wakeAll()
	if connected {
		c.running.runBackground(c.mailReader.readMissedMail)
	}
}

// Watch handles notifications until ctx ends, in a process that does not call OnNotify and SetConnected itself.
func (c *Executor) Watch(ctx context.Context) error {
	return c.o.Store.Watch(ctx, c.OnNotify, c.SetConnected)
}

package gateway

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/safe"
)

// A client of the handshake era subscribes to a resource by a request, and hears of it on a stream that may end at another process. What
// it subscribed to are messages in a box of its session, which the stream's process reads.
const (
	subscriptionBox   = "resources-" // and the session
	subscriptionLife  = 24 * time.Hour
	mostSubscriptions = 500 // messages in a box: subscriptions and their ends
	mostWatched       = 500 // resources of one listener; what is beyond is not heard of
)

// subscription is one message.
type subscription struct {
	URI string `json:"uri"`
	On  bool   `json:"on"`
}

// subscribe notes that a session wants to hear of a resource, or does not any more.
func (b *backend) subscribe(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	if err := tooLong(r.Name); err != nil {
		return nil, err
	}
	reach, _ := b.owner(r.Name)
	switch {
	case reach == nil:
		return nil, noResource(r)
	case !canSubscribe(reach):
		return nil, &serve.RPCError{Code: mcp.CodeMethodNotFound, Message: "The server of this resource does not tell of its changes."}
	case r.Peer.Session == "":
		return nil, serve.InvalidParams("Subscriptions need a session. Begin with initialize.")
	}
	box := subscriptionBox + r.Peer.Session
	already, err := b.h.router.Fetch(ctx, who(b), box)
	if err != nil {
		return nil, refusedRequest(err, noPage)
	}
	if len(already) >= mostSubscriptions {
		return nil, serve.InvalidParams("This session has subscribed too often. Begin a new one.")
	}
	message, err := json.Marshal(subscription{URI: r.Name, On: r.Method == "resources/subscribe"})
	if err != nil {
		return nil, err
	}
	if err := b.h.router.Post(ctx, who(b), box, message, subscriptionLife); err != nil {
		return nil, refusedRequest(err, noPage)
	}
	return []byte("{}"), nil
}

// noPage is for a refusal that no page mends.
func noPage() string { return "" }

func canSubscribe(r *access.Reach) bool {
	c := offered(r)
	return c.Resources != nil && c.Resources.Subscribe
}

// subscribed are the URIs that a session wants to hear of.
func (b *backend) subscribed(ctx context.Context, session string) ([]string, error) {
	messages, err := b.h.router.Fetch(ctx, who(b), subscriptionBox+session)
	if err != nil {
		return nil, err
	}
	var uris []string
	on := map[string]bool{}
	for _, message := range messages {
		var s subscription
		if json.Unmarshal(message, &s) != nil {
			continue
		}
		if s.On && !on[s.URI] {
			uris = append(uris, s.URI)
		}
		on[s.URI] = s.On
	}
	var wanted []string
	for _, uri := range uris {
		if on[uri] {
			wanted, on[uri] = append(wanted, uri), false
		}
	}
	return wanted, nil
}

// watches are the streams on which a listener hears of resources, one to each server.
type watches struct {
	*backend
	ctx   context.Context //nolint:containedctx // of the listener, which all of them end with
	hear  func(method string, params json.RawMessage)
	of    map[string]*watch // by the connector's slug; nil: none yet
	tasks sync.WaitGroup
}

// stop ends them all.
func (w *watches) stop() {
	for _, one := range w.of {
		one.end()
	}
	w.tasks.Wait()
}

type watch struct {
	uris string // all of them, to compare
	end  context.CancelFunc
}

// now is what the agent finds at this address by now.
func (b *backend) now(ctx context.Context) *backend {
	view, reach := b.reachNow(ctx, b.slug)
	if view == nil || b.slug != "" && reach == nil {
		return b
	}
	fresh := *b
	fresh.view, fresh.reach = view, reach
	return &fresh
}

// wantOf watches what a session has subscribed to.
func (w *watches) wantOf(session string) {
	if uris, err := w.subscribed(w.ctx, session); err == nil {
		w.want(uris)
	}
}

// want watches these resources and no others. Those of servers that tell nothing are left out.
func (w *watches) want(uris []string) {
	wanted := map[string][]string{}
	if len(uris) == 0 && len(w.of) == 0 {
		return
	}
	now := w.now(w.ctx)
	for _, uri := range uris[:min(len(uris), mostWatched)] {
		if reach, own := now.owner(uri); reach != nil && canSubscribe(reach) {
			wanted[reach.Connector.Slug] = append(wanted[reach.Connector.Slug], own)
		}
	}
	if w.of == nil {
		w.of = map[string]*watch{}
	}
	for slug, under := range w.of {
		if under.uris != strings.Join(wanted[slug], "\n") {
			under.end()
			delete(w.of, slug)
		}
	}
	for slug, own := range wanted {
		if w.of[slug] == nil {
			ctx, end := context.WithCancel(w.ctx)
			w.of[slug] = &watch{uris: strings.Join(own, "\n"), end: end}
			safe.GoIn(&w.tasks, safe.Stream, func() {
				safe.RunLoop(ctx, "resource subscriptions", func(ctx context.Context) { w.watch(ctx, slug, own) })
			})
		}
	}
}

// How long a server that ended its stream is left alone.
const (
	firstPause   = time.Second
	longestPause = time.Minute
)

// watch hears of a server's resources for as long as the agent may read them.
func (w *watches) watch(ctx context.Context, slug string, uris []string) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		view, reach := w.reachNow(ctx, slug)
		if reach == nil {
			return
		}
		began := time.Now()
		_ = w.h.caller.WatchResources(ctx, view, reach, uris, func(params json.RawMessage) { w.tell(ctx, slug, params) })
		if time.Since(began) > longestPause {
			pause = firstPause
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// reachNow is the connector as the agent has it by now; nil: it has it no more.
func (b *backend) reachNow(ctx context.Context, slug string) (*access.View, *access.Reach) {
	view, err := b.h.access.ByAgent(ctx, b.view.Tenant.ID, connectors.Ref(b.view.Agent.ID.String()))
	if err != nil || !view.Agent.Enabled {
		return nil, nil
	}
	return view, view.Reach(slug)
}

// tell says that a resource changed, under the name that it has here, unless the agent may not read it any more. What else the server
// says with it (the id of its subscription) is between it and us.
func (w *watches) tell(ctx context.Context, slug string, params json.RawMessage) {
	var said struct {
		URI string `json:"uri"`
	}
	_, reach := w.reachNow(ctx, slug)
	if reach == nil || json.Unmarshal(params, &said) != nil {
		return
	}
	if w.slug == "" {
		said.URI = reach.Expose(said.URI)
	}
	if told, err := json.Marshal(said); err == nil {
		w.hear("notifications/resources/updated", told)
	}
}

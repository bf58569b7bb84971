package admin

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/a-h/templ"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/toolsync"
	"patchbay/internal/words"
	"patchbay/web"
	"patchbay/web/templates"
)

// stream is one browser's event stream.
type stream struct {
	h       *Handler
	ctx     context.Context
	w       http.ResponseWriter
	control *http.ResponseController
	actor   auth.Actor
	size    int // rows of a page
	token   secret.Text
	checked time.Time // when the session was last seen to be good
	running map[connectors.ConnectorID]underWay
	shown   store.ConnectorFilter // what the page shows: at first as its address says, then by their ids
	sent    map[connectors.ConnectorID]look
	sweep   sweeping
	news    *store.News // as the page's badges say; nil: not known
}

func (h *Handler) newStream(w http.ResponseWriter, r *http.Request) (*stream, error) {
	cookie, err := r.Cookie(h.auth.Sessions().Cookie.Name)
	if err != nil {
		return nil, fault.Wrap(fault.Unauthenticated, err, "Sign in to go on.")
	}
	w.Header().Set("Content-Type", eventStream)
	w.Header().Set("X-Accel-Buffering", "no") // a proxy in front passes events on as they come
	return &stream{
		h: h, ctx: r.Context(), w: w, control: http.NewResponseController(w), actor: actor(r), size: pageSize(r),
		token: secret.Text(cookie.Value), checked: h.now(),
		running: map[connectors.ConnectorID]underWay{}, sent: map[connectors.ConnectorID]look{},
	}, nil
}

func (s *stream) run(progress <-chan toolsync.Progress) error {
	tick, often := time.NewTicker(keepAlive), time.NewTicker(lookAnyway)
	defer tick.Stop()
	defer often.Stop()
	if err := s.send([]byte(": connected\n\n")); err != nil {
		return err
	}
	if err := s.lookAround(); err != nil {
		return err
	}
	for {
		select {
		case <-s.ctx.Done():
			return nil
		case <-s.h.done:
			return nil
		case p, ok := <-progress:
			if !ok {
				return nil
			}
			if err := s.hear(p); err != nil {
				return err
			}
		case <-often.C:
			if err := s.followSweep(); err != nil {
				return err
			}
		case <-tick.C:
			if err := s.send([]byte(": keep-alive\n\n")); err != nil {
				return err
			}
			if err := s.lookAround(); err != nil {
				return err
			}
		}
	}
}

// look is what of a connector makes its row another one.
type look struct {
	busy           bool
	status         connectors.ConnectorStatus
	synced, failed time.Time
}

func lookOf(c connectors.Connector) look {
	l := look{busy: c.Running != nil, status: c.Status}
	if c.ToolsLastSyncedAt != nil {
		l.synced = *c.ToolsLastSyncedAt
	}
	if c.LastError != nil {
		l.failed = c.LastError.At
	}
	return l
}

// refresh sends the rows of the page that changed without this process: by another replica, or between the page and its stream. At the
// start these are the ones that are busy or were so a moment ago.
func (s *stream) refresh() error {
	if err := s.badge(); err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	list, err := s.onPage()
	if err != nil {
		return fmt.Errorf("list connectors: %w", err)
	}
	recent := s.h.now().Add(-2 * keepAlive)
	for _, c := range list {
		now := lookOf(c)
		before, known := s.sent[c.ID]
		changed := known && before != now || !known && (now.busy || now.synced.After(recent) || now.failed.After(recent))
		s.sent[c.ID] = now
		if _, here := s.running[c.ID]; !changed || here {
			continue
		}
		if err := s.row(c, connectorState(s.ctx, c)); err != nil {
			return err
		}
	}
	return nil
}

// onPage are the connectors of the page. What once was on it stays, also where its state is not the one that the page asked for any more.
func (s *stream) onPage() ([]connectors.Connector, error) {
	list, err := s.h.store.Tenant(s.actor.Tenant.ID).Connectors(s.ctx, s.shown)
	if err != nil || len(s.shown.IDs) > 0 {
		return list.Items, err
	}
	ids := make([]connectors.ConnectorID, len(list.Items))
	for i, c := range list.Items {
		ids[i] = c.ID
	}
	if len(ids) > 0 {
		s.shown = store.ConnectorFilter{IDs: ids, Page: store.Page{Limit: len(ids)}}
	}
	return list.Items, nil
}

// progress sends the row of a connector whose run has moved on.
func (s *stream) progress(p toolsync.Progress) error {
	if err := s.check(); err != nil {
		return err
	}
	now, known := s.running[p.Connector]
	if !known || p.Done {
		delete(s.running, p.Connector)
		c, err := s.h.store.Tenant(s.actor.Tenant.ID).Connector(s.ctx, connectors.Ref(p.Connector.String()))
		if fault.Is(err, fault.NotFound) {
			return nil // deleted meanwhile
		}
		if err != nil {
			return fmt.Errorf("read connector: %w", err)
		}
		now = underWay{connector: c}
	}
	if p.Done {
		s.sent[p.Connector] = lookOf(now.connector)
		return s.row(now.connector, connectorState(s.ctx, now.connector))
	}
	text := progressText(s.ctx, p)
	if text == now.text {
		return nil // another step that looks the same
	}
	now.text = text
	s.running[p.Connector] = now
	return s.row(now.connector, templates.State{Kind: templates.StateBusy, Text: text})
}

// underWay is a run in this process: its connector, so that a step needs no query, and what was last said of it.
type underWay struct {
	connector connectors.Connector
	text      string
}

// row sends a connector's row, and its state for its own page.
func (s *stream) row(c connectors.Connector, state templates.State) error {
	row := connectorRow(s.ctx, c, abilities(s.actor.Role), "", s.h.now())
	row.State = state
	if state.Kind == templates.StateBusy {
		row.Reason = ""
	}
	return s.show(templates.ConnectorChanged(templates.ConnectorChange{Asset: web.Asset, Row: row}))
}

// show sends pieces of the page.
func (s *stream) show(pieces templ.Component) error {
	var body bytes.Buffer
	if err := pieces.Render(s.ctx, &body); err != nil {
		return fmt.Errorf("render event: %w", err)
	}
	return s.send(event(body.Bytes()))
}

// progressText says how far a run is: "Syncing, page 2".
func progressText(ctx context.Context, p toolsync.Progress) string {
	if p.Page > 0 {
		return words.T(ctx, "Syncing, page %d", p.Page)
	}
	return words.T(ctx, "Syncing")
}

// check ends the stream of a person who was signed out, removed or moved to another tenant.
func (s *stream) check() error {
	if s.h.now().Sub(s.checked) < checkEvery {
		return nil
	}
	// A context of its own: the request's remembers the session as it was when the stream began.
	ctx, cancel := context.WithTimeout(context.Background(), writeLimit)
	defer cancel()
	a, err := s.h.auth.FromToken(ctx, s.token)
	if err != nil {
		return err
	}
	if a.Tenant.ID != s.actor.Tenant.ID {
		return fault.Errorf(fault.Unauthenticated, "The session has moved to another tenant.")
	}
	s.actor.Role, s.actor.Tenant, s.checked = a.Role, a.Tenant, s.h.now()
	return nil
}

// send writes one event whole, or fails.
func (s *stream) send(b []byte) error {
	if err := s.check(); err != nil {
		return err
	}
	// A writer without deadlines, as in a test, has none to set.
	_ = s.control.SetWriteDeadline(time.Now().Add(writeLimit))
	if _, err := s.w.Write(b); err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	if err := s.control.Flush(); err != nil {
		return fmt.Errorf("flush event: %w", err)
	}
	return nil
}

// event frames data as one server-sent event: each line of it is a data line.
func event(data []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(data) {
		out.WriteString("data: ")
		out.Write(bytes.TrimRight(line, "\r\n"))
		out.WriteByte('\n')
	}
	out.WriteByte('\n')
	return out.Bytes()
}

package events

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/a-h/templ"

	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/internal/toolsync"
	"patchbay/web"
	"patchbay/web/templates"
)

// stream is one browser's connection for server-sent events.
type stream struct {
	h            *Handler
	ctx          context.Context
	events       *shell.EventWriter
	actor        auth.Actor
	size         int // rows per page
	session      *shell.OpenSession
	runningSyncs map[connectors.ConnectorID]runningSync
	filter       store.ConnectorFilter // the page's connectors: first by its query, then by their ids
	sent         map[connectors.ConnectorID]connectorAppearance
	sweep        sweepState
	badges       badges
	announces    bool // a call that begins to wait is announced: the page does not list it
}

func (h *Handler) newStream(w http.ResponseWriter, r *http.Request) (*stream, error) {
	session, err := h.NewOpenSession(r)
	if err != nil {
		return nil, err
	}
	return &stream{
		h: h, ctx: r.Context(), events: shell.NewEventWriter(w), actor: shell.Actor(r), size: shell.PageSize(r),
		session: session, announces: true,
		runningSyncs: map[connectors.ConnectorID]runningSync{}, sent: map[connectors.ConnectorID]connectorAppearance{},
	}, nil
}

func (s *stream) run(progress <-chan toolsync.Progress) error {
	tick, often := time.NewTicker(keepAliveInterval), time.NewTicker(pollInterval)
	defer tick.Stop()
	defer often.Stop()
	if err := s.send([]byte(": connected\n\n")); err != nil {
		return err
	}
	if err := s.pollReplicas(); err != nil {
		return err
	}
	for {
		select {
		case <-s.ctx.Done():
			return nil
		case <-s.h.Done:
			return nil
		case p, ok := <-progress:
			if !ok {
				return nil
			}
			if err := s.onProgress(p); err != nil {
				return err
			}
		case <-often.C:
			if err := s.sendBadges(); err != nil {
				return err
			}
			if err := s.pollSweep(); err != nil {
				return err
			}
		case <-tick.C:
			if err := s.send([]byte(": keep-alive\n\n")); err != nil {
				return err
			}
			if err := s.pollReplicas(); err != nil {
				return err
			}
		}
	}
}

// connectorAppearance is the part of a connector that changes its row.
type connectorAppearance struct {
	busy           bool
	status         connectors.ConnectorStatus
	synced, failed time.Time
}

func newConnectorAppearance(c connectors.Connector) connectorAppearance {
	l := connectorAppearance{busy: c.Running != nil, status: c.Status}
	if c.ToolsLastSyncedAt != nil {
		l.synced = *c.ToolsLastSyncedAt
	}
	if c.LastError != nil {
		l.failed = c.LastError.At
	}
	return l
}

// sendChangedRows sends the page's rows that another replica changed, or that changed between the page and its
// stream. On the first call these are the rows of running or just ended syncs.
func (s *stream) sendChangedRows() error {
	if err := s.sendBadges(); err != nil {
		return err
	}
	if err := s.checkSession(); err != nil {
		return err
	}
	list, err := s.pageConnectors()
	if err != nil {
		return fmt.Errorf("list connectors: %w", err)
	}
	recent := s.h.Now().Add(-2 * keepAliveInterval)
	for _, c := range list {
		now := newConnectorAppearance(c)
		before, known := s.sent[c.ID]
		changed := known && before != now || !known && (now.busy || now.synced.After(recent) || now.failed.After(recent))
		s.sent[c.ID] = now
		if _, running := s.runningSyncs[c.ID]; !changed || running {
			continue
		}
		if err := s.sendRow(c, shell.ConnectorState(s.ctx, c)); err != nil {
			return err
		}
	}
	return nil
}

// pageConnectors are the page's connectors. They stay even when their state no longer matches the page's
// filter.
func (s *stream) pageConnectors() ([]connectors.Connector, error) {
	list, err := s.h.Store.Tenant(s.actor.Tenant.ID).Connectors().List(s.ctx, s.filter)
	if err != nil || len(s.filter.IDs) > 0 {
		return list.Items, err
	}
	ids := make([]connectors.ConnectorID, len(list.Items))
	for i, c := range list.Items {
		ids[i] = c.ID
	}
	if len(ids) > 0 {
		s.filter = store.ConnectorFilter{IDs: ids, Page: store.Page{Limit: len(ids)}}
	}
	return list.Items, nil
}

// sendProgress sends the row of a connector whose sync progressed.
func (s *stream) sendProgress(p toolsync.Progress) error {
	if err := s.checkSession(); err != nil {
		return err
	}
	now, known := s.runningSyncs[p.Connector]
	if !known || p.Done {
		delete(s.runningSyncs, p.Connector)
		c, err := s.h.Store.Tenant(s.actor.Tenant.ID).Connectors().Get(s.ctx, connectors.Ref(p.Connector.String()))
		if fault.Is(err, fault.NotFound) {
			return nil // deleted in between
		}
		if err != nil {
			return fmt.Errorf("read connector: %w", err)
		}
		now = runningSync{connector: c}
	}
	if p.Done {
		s.sent[p.Connector] = newConnectorAppearance(now.connector)
		return s.sendRow(now.connector, shell.ConnectorState(s.ctx, now.connector))
	}
	text := progressText(s.ctx, p)
	if text == now.text {
		return nil // the step looks the same
	}
	now.text = text
	s.runningSyncs[p.Connector] = now
	return s.sendRow(now.connector, templates.State{Kind: templates.StateBusy, Text: text})
}

// runningSync is a sync in this process. It caches the connector, so that a step needs no query, and the text
// sent last.
type runningSync struct {
	connector connectors.Connector
	text      string
}

// sendRow sends a connector's row, and its state for its own page.
func (s *stream) sendRow(c connectors.Connector, state templates.State) error {
	row := connectorpages.ConnectorRow(s.ctx, c, shell.ToPermissions(s.actor.Role), "", s.h.Now())
	row.Mark = s.h.ConnectorMark(c)
	figures, err := s.h.Store.Tenant(s.actor.Tenant.ID).Lists().ConnectorFigures(s.ctx, s.h.CountsSince(), c.ID)
	if err != nil {
		return fmt.Errorf("read figures: %w", err)
	}
	connectorpages.AddFigures(s.ctx, &row, c, figures[c.ID])
	row.State = state
	if state.Kind == templates.StateBusy {
		row.Reason = ""
	}
	return s.sendComponent(templates.ConnectorChanged(templates.ConnectorChange{Asset: web.Asset, Row: row}))
}

// sendComponent renders a component into one event.
func (s *stream) sendComponent(pieces templ.Component) error {
	event, err := shell.EncodeComponent(s.ctx, pieces)
	if err != nil {
		return err
	}
	return s.send(event)
}

// progressText words a sync's progress: "Syncing, page 2".
func progressText(ctx context.Context, p toolsync.Progress) string {
	if p.Page > 0 {
		return i18n.T(ctx, "Syncing, page %d", p.Page)
	}
	return i18n.T(ctx, "Syncing")
}

// checkSession ends the stream of a person that was signed out, removed, or switched tenants.
func (s *stream) checkSession() error {
	err := s.session.Check()
	s.actor = s.session.Actor
	return err
}

// send writes one event, with a deadline, while the session lives.
func (s *stream) send(b []byte) error {
	if err := s.checkSession(); err != nil {
		return err
	}
	_, err := s.events.Write(b)
	return err
}

package listchanges

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
)

// eventTimeout bounds storing an event for webhooks.
const eventTimeout = 10 * time.Second

// listNames are the lists in events for webhooks.
var listNames = [kindMissed]string{"tools", "prompts", "resources"}

// errorLevels are the levels of log messages that are events.
var errorLevels = []string{"error", "critical", "alert", "emergency"}

// logMessage is a notifications/message of level error or above.
type logMessage struct {
	Level  string          `json:"level"`
	Logger string          `json:"logger"`
	Data   json.RawMessage `json:"data"`
}

// logMessages are the messages of a server since the last event. The first one is an event at once, the others are
// counted: at most one event each Options.MessageInterval.
type logMessages struct {
	last  logMessage
	count int
	timer *time.Timer // ends the interval; nil: a message is an event at once
}

// sendListsEvent tells webhooks which lists the server said to have changed.
func (s *serverStream) sendListsEvent(handled [numKinds]bool) {
	var lists []string
	for l, name := range listNames {
		if handled[l] {
			lists = append(lists, name)
		}
	}
	if len(lists) == 0 {
		return
	}
	s.sendEvent(connectors.EventListChanged, func(_ context.Context, c connectors.Connector) connectors.NewNotice {
		return connectors.ListChangedEvent(connectors.ConnectorName{ID: c.ID, Slug: c.Slug, Name: c.Name}, lists)
	})
}

// onLogMessage tells webhooks of a message of level error or above, or counts it.
func (s *serverStream) onLogMessage(params json.RawMessage) {
	var m logMessage
	if json.Unmarshal(params, &m) != nil || !slices.Contains(errorLevels, m.Level) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages.last = m
	s.messages.count++
	if s.messages.timer == nil && !s.changes.ended {
		s.startInterval()
	}
}

// startInterval sends what was counted, and counts on for an interval. The caller holds mu.
func (s *serverStream) startInterval() {
	s.messages.timer = time.AfterFunc(s.manager.o.MessageInterval, safe.Func(safe.Timer, s.endInterval))
	m, count := s.messages.last, s.messages.count
	s.messages.last, s.messages.count = logMessage{}, 0
	s.manager.runInBackground(func() { s.sendMessageEvent(m, count-1) })
}

func (s *serverStream) endInterval() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages.timer = nil
	if s.messages.count > 0 && !s.changes.ended {
		s.startInterval()
	}
}

// sendLastMessage sends what was counted when the stream has ended.
func (s *serverStream) sendLastMessage() {
	s.mu.Lock()
	m, count := s.messages.last, s.messages.count
	s.messages.count = 0
	if s.messages.timer != nil {
		s.messages.timer.Stop()
	}
	s.mu.Unlock()
	if count > 0 {
		s.sendMessageEvent(m, count-1)
	}
}

func (s *serverStream) sendMessageEvent(m logMessage, suppressed int) {
	s.sendEvent(connectors.EventMessage, func(ctx context.Context, c connectors.Connector) connectors.NewNotice {
		excerpt := func(text string) string { return s.manager.o.Syncer.Excerpt(ctx, s.owner.Tenant, c, text) }
		var text string
		if json.Unmarshal(m.Data, &text) != nil {
			text = string(m.Data)
		}
		return connectors.MessageEvent(connectors.ConnectorName{ID: c.ID, Slug: c.Slug, Name: c.Name}, connectors.ServerMessage{
			Level: m.Level, Logger: excerpt(m.Logger), Text: excerpt(text), Suppressed: suppressed,
		})
	})
}

// sendEvent stores an event for the webhooks that name its kind. A failure is logged, and the event lost.
func (s *serverStream) sendEvent(kind connectors.NoticeKind, newEvent func(context.Context, connectors.Connector) connectors.NewNotice) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), eventTimeout)
	defer cancel()
	if err := s.storeEvent(ctx, kind, newEvent); err != nil {
		s.manager.o.Log.WarnContext(ctx, "server event not sent to webhooks", slog.String("kind", string(kind)),
			slog.String("tenant_id", s.owner.Tenant.String()), slog.String("connector_id", s.owner.ID.String()), slog.Any("error", err))
	}
}

func (s *serverStream) storeEvent(ctx context.Context, kind connectors.NoticeKind, newEvent func(context.Context, connectors.Connector) connectors.NewNotice) error {
	tenant := s.tenantStore()
	isNamed, err := tenant.Webhooks().NamesKind(ctx, kind)
	if err != nil || !isNamed {
		return err
	}
	c, err := tenant.Connectors().Get(ctx, connectors.Ref(s.owner.ID.String()))
	if err != nil {
		return err
	}
	return tenant.Webhooks().AddEvent(ctx, newEvent(ctx, c))
}

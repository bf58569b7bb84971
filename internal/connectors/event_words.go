package connectors

import "fmt"

// ListChangedEvent is the event that a server announced changes of lists: tools, prompts, resources.
func ListChangedEvent(c ConnectorName, lists []string) NewNotice {
	return NewNotice{
		Kind:  EventListChanged,
		Title: c.Name + " announces changes",
		Body:  "Its lists have changed. Sync to read them.",
		Link:  c.dashboardPath(),
		Data:  c.noticeData(map[string]any{"lists": lists}),
	}
}

// ServerMessage is a log message of a server, in which secrets are replaced.
type ServerMessage struct {
	Level      string // as in MCP
	Logger     string // empty: not named
	Text       string // at most 2 KiB
	Suppressed int    // messages since the last event that caused none
}

// MessageEvent is the event that a server reported an error.
func MessageEvent(c ConnectorName, m ServerMessage) NewNotice {
	n := NewNotice{
		Kind:  EventMessage,
		Title: c.Name + " reports: " + m.Level,
		Body:  m.Text,
		Link:  c.dashboardPath(),
		Data:  c.noticeData(map[string]any{"level": m.Level, "logger": m.Logger, "message": m.Text, "suppressed": m.Suppressed}),
	}
	if m.Suppressed > 0 {
		n.Title = fmt.Sprintf("%s (and %d more)", n.Title, m.Suppressed)
	}
	return n
}

package connectors

import (
	"fmt"
	"time"
)

// VanishedTools are tools that a server lists no more: all, or more than half of those before.
type VanishedTools struct {
	At    time.Time // of the sync that missed them
	Tools int       // missing still
	Of    int       // tools before
}

// Vanished returns how many tools of the list before are gone, and how many there were. ok reports whether these
// are all of them, or more than half.
func (d ToolDiff) Vanished() (gone, before int, ok bool) {
	gone = len(d.Removed)
	before = gone + len(d.Changed) + d.Unchanged
	return gone, before, gone*2 > before
}

// HasReturned reports whether a removed tool is listed again.
func (d ToolDiff) HasReturned() bool {
	for i := range d.Added {
		if d.Added[i].Returned {
			return true
		}
	}
	return false
}

// ToolsVanishedNotice is the notice that all or most tools of a connector are gone, with some of their names.
func ToolsVanishedNotice(c ConnectorName, v VanishedTools, names []string) NewNotice {
	return NewNotice{
		Kind:  NoticeToolsVanished,
		Title: fmt.Sprintf("%s lost tools: %d of %d", c.Name, v.Tools, v.Of),
		Body:  "The server no longer lists them, so agents can't call them.",
		Link:  c.dashboardPath(),
		Key:   "vanished " + c.ID.String(),
		Data:  c.noticeData(map[string]any{"vanished": v.Tools, "of": v.Of, "tools": names[:min(len(names), maxNamedTools)]}),
	}
}

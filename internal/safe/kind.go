package safe

// Kind is the kind of code that panicked. It labels a metric, so the kinds are few.
type Kind uint8

// The kinds.
const (
	Handler    Kind = iota // an HTTP handler: pages, JSON API, OAuth
	Message                // an MCP message that a client sent
	Connection             // a client's connection, outside of a handler
	Stream                 // an event stream or a listener of a client
	Call                   // an agent's call
	View                   // the load of an agent's view
	Upstream               // a session with a server, or a message of it
	Program                // a program that is run as a server
	Sync                   // a sync run
	Job                    // a queued job
	Background             // a background loop
	Timer                  // a function that a timer or a context's end calls
	Database               // the care for PostgreSQL, and what it notifies of
	Task                   // anything else that is done once, in the background
	kinds
)

// String names the kind, as the metric's label does.
func (k Kind) String() string {
	if k >= kinds {
		return "unknown"
	}
	return [...]string{
		"handler", "message", "connection", "stream", "call", "view", "upstream", "program", "sync", "job", "loop", "timer", "database", "task",
	}[k]
}

// Kinds are all kinds.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

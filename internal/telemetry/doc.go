// Package telemetry is how the program tells its operator what it does: the logger, the metrics, and the private
// listener that serves them.
//
//	Logger       slog: text on a terminal, JSON lines elsewhere
//	Metrics      Prometheus: requests by route and status class, sync runs by outcome, the connection pool, what
//	             waits in the database, the process
//	Private      an http.Handler with /metrics and /debug/pprof, for an address that the public cannot reach
//
// Nothing here is global: cmd/server makes one of each and hands them out. Labels hold route patterns and outcomes,
// never ids, so that their number stays bounded.
package telemetry

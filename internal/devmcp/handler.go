package devmcp

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// Options configure a server.
type Options struct {
	// Mode is the mode at /mcp; empty: "json".
	Mode string
	// Tools is the number of tools; 0: twelve. Further ones are generated.
	Tools int
	// Token is required by bearer, api-key and basic (as the password); empty: DefaultToken.
	Token string
	// Delay is the pause of slow before each response; 0: 3 s.
	Delay time.Duration
}

// DefaultToken is the default of Options.Token. It is no secret.
const DefaultToken = "dev-token"

const (
	defaultDelay = 3 * time.Second
	pageSize     = 5
)

// Mode is one behaviour of the server.
type Mode struct {
	Name     string // as "bearer"
	Path     string // as "/bearer"
	Sentence string // what it does
}

// Modes lists all modes. Each is served at its path.
var Modes = []Mode{
	{"json", "/mcp", "Answers with JSON."},
	{"sse", "/sse-replies", "Answers with event streams."},
	{"paged", "/paged", "Lists its tools in pages of five."},
	{"bearer", "/bearer", "Asks for a bearer token."},
	{"api-key", "/api-key", "Asks for a key in the header x-api-key."},
	{"basic", "/basic", "Asks for the user dev and a password."},
	{"slow", "/slow", "Waits before it answers."},
	{"failing", "/failing", "Answers everything with status 500."},
}

// Handler serves every mode at its path, and an index at /.
func Handler(o Options) http.Handler {
	if o.Token == "" {
		o.Token = DefaultToken
	}
	if o.Delay <= 0 {
		o.Delay = defaultDelay
	}
	tools := newCatalog(o.Tools)
	mux := http.NewServeMux()
	for i, mode := range Modes {
		name := mode.Name
		if i == 0 && o.Mode != "" {
			name = o.Mode
		}
		mux.Handle(mode.Path, newModeHandler(name, o, tools))
	}
	mux.HandleFunc("GET /{$}", serveIndex)
	return allowLoopback(mux)
}

func serveIndex(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, mode := range Modes {
		_, _ = fmt.Fprintf(w, "http://%s%-14s %s\n", r.Host, mode.Path, mode.Sentence)
	}
}

// allowLoopback refuses requests that a foreign web page could cause: by DNS rebinding or across origins.
func allowLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		from, err := url.Parse(origin)
		if !isLoopback(r.Host) || origin != "" && (err != nil || !isLoopback(from.Host)) {
			http.Error(w, "This server answers requests from this machine only.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	if len(host) > 1 && host[0] == '[' && host[len(host)-1] == ']' {
		host = host[1 : len(host)-1]
	}
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

package devmcp

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// Options describe a server.
type Options struct {
	// Mode is what the path /mcp does; empty: "json".
	Mode string
	// Tools is how many tools are listed; 0: the dozen. More are made up.
	Tools int
	// Token is what bearer, api-key and basic (as the password) ask for; empty: DefaultToken.
	Token string
	// Delay is how long slow waits before each answer; 0: 3 s.
	Delay time.Duration
}

// DefaultToken is asked for where Options name no other. It is no secret.
const DefaultToken = "dev-token"

const (
	defaultDelay = 3 * time.Second
	pageSize     = 5
)

// Mode is one way to behave.
type Mode struct {
	Name     string // as "bearer"
	Path     string // as "/bearer"
	Sentence string // what it does
}

// Modes lists every mode; all are served side by side.
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

// Handler serves every mode at its path, and a list of them at /.
func Handler(o Options) http.Handler {
	if o.Token == "" {
		o.Token = DefaultToken
	}
	if o.Delay <= 0 {
		o.Delay = defaultDelay
	}
	tools := catalog(o.Tools)
	mux := http.NewServeMux()
	for i, mode := range Modes {
		name := mode.Name
		if i == 0 && o.Mode != "" {
			name = o.Mode
		}
		mux.Handle(mode.Path, behave(name, o, tools))
	}
	mux.HandleFunc("GET /{$}", index)
	return onlyLocal(mux)
}

func index(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, mode := range Modes {
		_, _ = fmt.Fprintf(w, "http://%s%-14s %s\n", r.Host, mode.Path, mode.Sentence)
	}
}

// onlyLocal refuses what a foreign web page could send here: by a name of its own that it points at loopback (DNS
// rebinding), or across origins.
func onlyLocal(next http.Handler) http.Handler {
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

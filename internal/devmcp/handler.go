package devmcp

import (
	"net/http"
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

// Handler serves every mode at its path.
func Handler(o Options) http.Handler { return http.NotFoundHandler() }

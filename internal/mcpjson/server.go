package mcpjson

import (
	"maps"
	"slices"
	"strings"
	"time"

	"patchbay/internal/connectors"
)

// reading is one server while it is read.
type reading struct {
	Entry
	kind, transport string
	urls            map[string]string
	command         string
	args            []string
	env             map[string]string
	dir             string
	headers         []header
	fields          map[string]node
	secretive       []string // headers that are said to be secret, whatever they are called
}

// reader takes one field of a server.
type reader func(r *reading, at string, n node)

// readers are the fields that mean something here. Those that clients have beside them (autoApprove, alwaysAllow, trust, tools,
// icon, comment, …) mean nothing to a connector.
var readers = map[string]reader{
	"name":        text(func(r *reading, s string) { r.title = strings.TrimSpace(s) }),
	"slug":        text(func(*reading, string) {}),
	"description": (*reading).readDescription,
	"type":        text(func(r *reading, s string) { r.kind = s }),
	"transport":   text(func(r *reading, s string) { r.transport = s }),
	"url":         (*reading).readURL,
	"serverUrl":   (*reading).readURL, // Windsurf
	"httpUrl":     (*reading).readURL, // Gemini
	"headers":     (*reading).readHeaders,
	"command":     (*reading).readCommand,
	"args":        (*reading).readArgs,
	"env":         (*reading).readEnv,
	"cwd":         text(func(r *reading, s string) { r.dir = strings.TrimSpace(s) }),

	"credential_mode": word(func(d *connectors.Draft, s string) { d.CredentialMode = connectors.CredentialMode(s) }),
	"tool_changes":    word(func(d *connectors.Draft, s string) { d.ToolChanges = connectors.ToolChangePolicy(s) }),
	"listen":          word(func(d *connectors.Draft, s string) { d.Listen = connectors.ListenPolicy(s) }),
	"timeout":         (*reading).readTimeout,
	"timeout_ms":      count(func(d *connectors.Draft, n int) { d.Timeout = time.Duration(n) * time.Millisecond }),
	"retry_attempts":  count(func(d *connectors.Draft, n int) { d.RetryAttempts = n }),
	"sync_interval_s": count(func(d *connectors.Draft, n int) { d.SyncInterval = time.Duration(n) * time.Second }),

	"max_definition_age_s": count(func(d *connectors.Draft, n int) { d.DefinitionAge = time.Duration(n) * time.Second }),

	"calls_per_minute": count(func(d *connectors.Draft, n int) { d.CallsPerMinute = n }),

	"enabled":  flag(func(d *connectors.Draft, yes bool) { d.Enabled = yes }),
	"disabled": flag(func(d *connectors.Draft, yes bool) { d.Enabled = !yes }),
}

func readServer(m member) Entry {
	if isListed(m.node) {
		return readListing(m)
	}
	r := &reading{fields: m.fields(), urls: map[string]string{}, env: map[string]string{}}
	if !m.is('{') {
		r.named(m.name, "", "")
		r.refuse("", "A server must be an object with a url or a command.")
		return r.Entry
	}
	for _, name := range slices.Sorted(maps.Keys(r.fields)) {
		if read, ok := readers[name]; ok && !r.fields[name].isNull() {
			read(r, name, r.fields[name])
		}
	}
	r.crossBridge()
	r.readAddress()
	r.authenticate()
	key, slug := m.name, ""
	if key == "" { // in an array, and alone, the name is the key
		key, r.title = r.title, ""
	}
	if n, ok := r.fields["slug"]; ok {
		slug, _ = n.text()
	}
	r.named(key, slug, r.command)
	return r.Entry
}

func text(take func(*reading, string)) reader {
	return func(r *reading, at string, n node) {
		s, ok := n.text()
		if !ok {
			r.refuse(at, "This must be a text.")
			return
		}
		take(r, s)
	}
}

func word(take func(*connectors.Draft, string)) reader {
	return text(func(r *reading, s string) { r.set(func(d *connectors.Draft) { take(d, s) }) })
}

func flag(take func(*connectors.Draft, bool)) reader {
	return func(r *reading, at string, n node) {
		yes, ok := n.boolean()
		if !ok {
			r.refuse(at, "This must be true or false.")
			return
		}
		r.set(func(d *connectors.Draft) { take(d, yes) })
	}
}

// largest keeps a number within what a duration can hold; the rules of a draft refuse far smaller ones.
const largest = 1 << 31

func count(take func(*connectors.Draft, int)) reader {
	return func(r *reading, at string, n node) {
		f, ok := n.number()
		if !ok || f < 0 || f >= largest || f != float64(int(f)) {
			r.refuse(at, "This must be a whole number.")
			return
		}
		r.set(func(d *connectors.Draft) { take(d, int(f)) })
	}
}

// readDescription leaves alone what is no text: it is a field of some clients, in other forms.
func (r *reading) readDescription(_ string, n node) {
	if s, ok := n.text(); ok {
		r.set(func(d *connectors.Draft) { d.Description = s })
	}
}

// readTimeout takes the clients' own field, whose unit is theirs: seconds in Cline and Roo, milliseconds in the others. Nobody
// means less than a second, or a quarter of an hour of seconds.
func (r *reading) readTimeout(at string, n node) {
	f, ok := n.number()
	if !ok || f <= 0 || f >= largest {
		r.refuse(at, "This must be a number of milliseconds.")
		return
	}
	unit := time.Millisecond
	if f < 1000 {
		unit = time.Second
	}
	timeout := time.Duration(f * float64(unit))
	if timeout > connectors.MaxTimeout {
		timeout = connectors.MaxTimeout
		r.note("Its timeout is 5 minutes, which is the longest.")
	}
	r.set(func(d *connectors.Draft) { d.Timeout = timeout })
}

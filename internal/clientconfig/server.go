package clientconfig

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"patchbay/internal/connectors"
)

type serverReader struct {
	Entry
	kind, transport string
	urls            map[string]string
	endpoint        string // a path that replaces the URL's
	command         string
	args            []string
	env             map[string]string
	dir             string
	headers         []header
	fields          map[string]node
	secretHeaders   []string // marked as secret, whatever their name
	ignored         []string // fields that are not read
}

type fieldReader func(r *serverReader, location string, n node)

// fieldReaders are the fields that are read. The others are told; see ignored.go.
var fieldReaders = map[string]fieldReader{
	"name":        textField(func(r *serverReader, s string) { r.title = strings.TrimSpace(s) }),
	"slug":        textField(func(*serverReader, string) {}),
	"description": (*serverReader).readDescription,
	"tags":        (*serverReader).readTags,
	"type":        textField(func(r *serverReader, s string) { r.kind = s }),
	"transport":   textField(func(r *serverReader, s string) { r.transport = s }),
	"url":         (*serverReader).readURL,
	"serverUrl":   (*serverReader).readURL, // Windsurf
	"httpUrl":     (*serverReader).readURL, // Gemini
	"server_url":  (*serverReader).readURL, // ruby-mcp-client, as the next two
	"base_url":    (*serverReader).readURL,
	"endpoint":    textField(func(r *serverReader, s string) { r.endpoint = strings.TrimSpace(s) }),
	"baseUrl":     (*serverReader).readURL, // Cherry Studio
	"headers":     (*serverReader).readHeaders,
	"command":     (*serverReader).readCommand,
	"args":        (*serverReader).readArgs,
	"env":         (*serverReader).readEnv,
	"environment": (*serverReader).readEnv, // OpenCode
	"cwd":         textField(func(r *serverReader, s string) { r.dir = strings.TrimSpace(s) }),

	"working_directory": textField(func(r *serverReader, s string) { r.dir = strings.TrimSpace(s) }), // Warp

	"credential_mode": settingField(func(d *connectors.Draft, s string) { d.CredentialMode = connectors.CredentialMode(s) }),
	"timeout":         (*serverReader).readTimeout,
	"read_timeout":    (*serverReader).readTimeout, // ruby-mcp-client, as retries
	"retries":         (*serverReader).readRetries,
	"retry_backoff":   secondsField(func(d *connectors.Draft, pause time.Duration) { d.RetryBackoff = pause }),
	"open_timeout_s":  secondsField(func(d *connectors.Draft, timeout time.Duration) { d.ConnectTimeout = timeout }),

	"sse_max_reconnects": countField(func(d *connectors.Draft, n int) { d.Reconnects = n }),

	"disabled": boolField(func(d *connectors.Draft, yes bool) { d.Enabled = !yes }),
	"isActive": boolField(func(d *connectors.Draft, yes bool) { d.Enabled = yes }), // Cherry Studio

	// Codex. tool_timeout_sec bounds a call.
	"http_headers":         (*serverReader).readHeaders,
	"env_http_headers":     (*serverReader).readEnvHeaders,
	"env_vars":             (*serverReader).readEnvNames,
	"bearer_token_env_var": textField(func(r *serverReader, s string) { r.addBearer("${" + s + "}") }),
	"bearer_token":         textField((*serverReader).addBearer),
	"tool_timeout_sec":     (*serverReader).readTimeout,

	"auth":  func(*serverReader, string, node) {}, // read by readAuth, as oauth is
	"oauth": func(*serverReader, string, node) {},
}

// settingReaders read the fields of connectors.SettingsPatch, by name.
var settingReaders = sync.OnceValue(func() map[string]fieldReader {
	readers := map[string]fieldReader{}
	for field := range reflect.TypeFor[connectors.SettingsPatch]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		readers[name] = patchField(name, field.Type.Elem().Kind())
	}
	return readers
})

// patchField reads a field of connectors.SettingsPatch.
func patchField(name string, kind reflect.Kind) fieldReader {
	apply := func(d *connectors.Draft, value any) {
		var p connectors.SettingsPatch
		text, _ := json.Marshal(map[string]any{name: value})
		_ = json.Unmarshal(text, &p)
		p.Apply(&d.Settings)
	}
	switch kind {
	case reflect.String:
		return settingField(func(d *connectors.Draft, s string) { apply(d, s) })
	case reflect.Bool:
		return boolField(func(d *connectors.Draft, yes bool) { apply(d, yes) })
	case reflect.Slice:
		return func(r *serverReader, location string, n node) {
			list, ok := n.stringList()
			if !ok {
				r.addProblem(location, "Must be an array of strings.")
				return
			}
			r.addSetting(func(d *connectors.Draft) { apply(d, list) })
		}
	default:
		return countField(func(d *connectors.Draft, n int) { apply(d, n) })
	}
}

func readServer(m namedNode) Entry {
	if isListed(m.node) {
		return readListing(m)
	}
	r := &serverReader{fields: m.fields(), urls: map[string]string{}, env: map[string]string{}}
	if !m.isKind('{') {
		r.setName(m.name, "", "")
		r.addProblem("", "Must be an object with a url or command.")
		return r.Entry
	}
	isAPI := r.readAPI()
	for _, name := range slices.Sorted(maps.Keys(r.fields)) {
		read, ok := fieldReaders[name]
		if !ok {
			read, ok = settingReaders()[name]
		}
		switch {
		case r.fields[name].isNull():
		case ok:
			read(r, name, r.fields[name])
		case r.fields[name].isUnset(), isAllTools(name, r.fields[name]):
		default:
			r.ignored = append(r.ignored, name)
		}
	}
	if isAPI {
		r.readAPIAddress()
	} else {
		r.splitCommand()
		r.unwrapBridge()
		r.readAddress()
	}
	r.readAuth()
	key, slug := m.name, ""
	if key == "" { // in an array, and alone, the name is the key
		key, r.title = r.title, ""
	}
	if n, ok := r.fields["slug"]; ok {
		slug, _ = n.stringValue()
	}
	r.setName(key, slug, r.programName())
	r.tellIgnored()
	return r.Entry
}

func textField(take func(*serverReader, string)) fieldReader {
	return func(r *serverReader, location string, n node) {
		s, ok := n.stringValue()
		if !ok {
			r.addProblem(location, "Must be a string.")
			return
		}
		take(r, s)
	}
}

func settingField(take func(*connectors.Draft, string)) fieldReader {
	return textField(func(r *serverReader, s string) { r.addSetting(func(d *connectors.Draft) { take(d, s) }) })
}

func boolField(take func(*connectors.Draft, bool)) fieldReader {
	return func(r *serverReader, location string, n node) {
		yes, ok := n.boolValue()
		if !ok {
			r.addProblem(location, "Must be true or false.")
			return
		}
		r.addSetting(func(d *connectors.Draft) { take(d, yes) })
	}
}

// maxCount keeps a number within a duration; the rules of a draft refuse far smaller ones.
const maxCount = 1 << 31

func countField(take func(*connectors.Draft, int)) fieldReader {
	return func(r *serverReader, location string, n node) {
		f, ok := n.numberValue()
		if !ok || f < 0 || f >= maxCount || f != float64(int(f)) {
			r.addProblem(location, "Must be a whole number.")
			return
		}
		r.addSetting(func(d *connectors.Draft) { take(d, int(f)) })
	}
}

// secondsField reads a duration.
func secondsField(take func(*connectors.Draft, time.Duration)) fieldReader {
	return func(r *serverReader, location string, n node) {
		f, ok := n.numberValue()
		if !ok || f < 0 || f >= maxCount/1e3 {
			r.addProblem(location, "Must be a number of seconds.")
			return
		}
		r.addSetting(func(d *connectors.Draft) { take(d, time.Duration(f*float64(time.Second))) })
	}
}

// readDescription reads a text only: some clients have a field of that name with another type.
func (r *serverReader) readDescription(location string, n node) {
	s, ok := n.stringValue()
	if !ok {
		r.ignored = append(r.ignored, location)
		return
	}
	r.addSetting(func(d *connectors.Draft) { d.Description = s })
}

// readTags reads the tags of Patchbay's own form: those of other clients follow other rules.
func (r *serverReader) readTags(location string, n node) {
	list, ok := n.stringList()
	if _, own := r.fields["credential_mode"]; !ok || !own {
		r.ignored = append(r.ignored, location)
		return
	}
	r.addSetting(func(d *connectors.Draft) { d.Tags = list })
}

func (r *serverReader) readRetries(location string, n node) {
	f, ok := n.numberValue()
	if !ok || f < 0 || f != math.Trunc(f) {
		r.addProblem(location, "Must be a whole number.")
		return
	}
	if f > connectors.MaxRetries {
		f = connectors.MaxRetries
		r.addNotice(fmt.Sprintf("Retries capped at %d.", connectors.MaxRetries))
	}
	r.addSetting(func(d *connectors.Draft) { d.RetryAttempts = int(f) })
}

// readTimeout reads the clients' field, in seconds (Cline, Roo, Zed, Crush, Codex) or milliseconds (others). Values below
// 1000 are seconds, and all values of Roo, which allows an hour.
func (r *serverReader) readTimeout(location string, n node) {
	f, ok := n.numberValue()
	if !ok || f <= 0 || f >= maxCount {
		r.addProblem(location, "Must be a number: seconds, or milliseconds from 1000.")
		return
	}
	unit := time.Millisecond
	_, isRoo := r.fields["alwaysAllow"]
	if f < 1000 || isRoo || location == "tool_timeout_sec" {
		unit = time.Second
	}
	timeout := time.Duration(f * float64(unit))
	if f >= maxCount/1e3 || timeout > connectors.MaxTimeout {
		timeout = connectors.MaxTimeout
		r.addNotice("Timeout capped at 5 minutes.")
	}
	r.addSetting(func(d *connectors.Draft) { d.Timeout = timeout })
}

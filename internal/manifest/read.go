package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"patchbay/client"
)

// Bounds of a file.
const (
	MaxBytes   = 64 << 20 // it may hold documents of HTTP APIs
	MaxEntries = 10_000   // connectors and agents
)

// File is the wanted state of an installation.
type File struct {
	Connectors map[string]Connector // by slug
	Agents     map[string]Agent     // by slug
}

// Connector is a wanted connector.
type Connector struct {
	Fields  Document // of the API's ConnectorCreate, without secrets
	Secrets map[string]string
	// Accounts are the secrets of named accounts; nil: not in the file. Then Secrets is empty.
	Accounts map[string]map[string]string
	Env      map[string]string   // of a program; nil: not in the file
	Tools    map[string]Document // settings by the server's tool names; nil: not in the file
	API      *API                // nil: an MCP server
}

// Agent is a wanted agent.
type Agent struct {
	Fields Document         // of the API's AgentCreate
	Grants map[string]Grant // by connector; nil: not in the file
}

// Grant is a wanted grant.
type Grant struct {
	Put     client.AgentGrantPut
	Secrets map[string]string // the agent's credential; nil: not in the file
	// Accounts are the secrets of the agent's named accounts; nil: not in the file. Then Secrets is nil.
	Accounts map[string]map[string]string
	Shaping  map[string]client.Shaping // how answers are shortened, by tool; nil: not in the file
}

// secretFields are the secret fields of auth.
var secretFields = []string{"token", "key", "password", "client_secret", "private_key"}

// Read parses a YAML file and returns all its errors.
func Read(text []byte, sources Sources) (File, error) {
	if len(text) > MaxBytes {
		return File{}, fmt.Errorf("the file is longer than %d MiB", MaxBytes>>20)
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var whole any
	if err := dec.Decode(&whole); err != nil {
		if errors.Is(err, io.EOF) {
			return File{}, errors.New("the file is empty")
		}
		return File{}, fmt.Errorf("the file is not valid YAML: %w", err)
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		return File{}, errors.New("the file has more than one document")
	}
	r := fileReader{sources: sources}
	file := r.readFile(whole)
	r.checkBoundAccounts(file)
	if len(file.Connectors)+len(file.Agents) > MaxEntries {
		r.addError("", "exceeds the limit of %d connectors and agents", MaxEntries)
	}
	return file, errors.Join(r.errs...)
}

type fileReader struct {
	sources Sources
	errs    []error
}

func (r *fileReader) addError(location, form string, args ...any) {
	if location != "" {
		form = location + ": " + form
	}
	r.errs = append(r.errs, fmt.Errorf(form, args...))
}

func (r *fileReader) readObject(location string, v any) map[string]any {
	switch v := v.(type) {
	case nil:
		return nil
	case map[string]any:
		return v
	}
	r.addError(location, "must be a mapping of names to entries")
	return nil
}

// eachMember iterates over an object's members by name, for a stable order of errors.
func (r *fileReader) eachMember(location string, v any) iter.Seq2[string, any] {
	all := r.readObject(location, v)
	return func(yield func(string, any) bool) {
		for _, name := range sortedKeys(all) {
			if !yield(name, all[name]) {
				return
			}
		}
	}
}

func (r *fileReader) readFile(whole any) File {
	f := File{Connectors: map[string]Connector{}, Agents: map[string]Agent{}}
	for key, v := range r.eachMember("the file", whole) {
		switch key {
		case "connectors":
			for slug, v := range r.eachMember(key, v) {
				f.Connectors[slug] = r.readConnector(key+"."+slug, r.readObject(key+"."+slug, v))
			}
		case "agents":
			for slug, v := range r.eachMember(key, v) {
				f.Agents[slug] = r.readAgent(key+"."+slug, r.readObject(key+"."+slug, v))
			}
		default:
			r.addError("", "unknown key %q: a manifest has only connectors and agents", key)
		}
	}
	return f
}

func (r *fileReader) readConnector(location string, v map[string]any) Connector {
	v = maps.Clone(v)
	c := Connector{}
	if env, ok := v["env"]; ok {
		c.Env = map[string]string{}
		for name, v := range r.eachMember(location+".env", env) {
			c.Env[name] = r.readValue(location+".env."+name, v, true)
		}
		delete(v, "env")
	}
	if tools, ok := v["tools"]; ok {
		c.Tools = r.readTools(location+".tools", tools)
		delete(v, "tools")
	}
	c.API = r.readAPI(location, v)
	if auth, ok := v["auth"]; ok {
		fields := maps.Clone(r.readObject(location+".auth", auth))
		if _, ok := fields["type"].(string); !ok {
			r.addError(location+".auth.type", "is required")
		}
		c.Secrets = r.readSecrets(location+".auth", fields)
		v["auth"] = fields
		if _, ok := v["url"].(string); !ok && (len(c.Secrets) > 0 || v["credentials"] != nil) && (c.API == nil || c.API.DocumentURL == "") {
			r.addError(location+".url", "is required with a secret")
		}
	}
	if accounts, ok := v["credentials"]; ok {
		c.Accounts = r.readAccounts(location+".credentials", accounts)
		delete(v, "credentials")
		if len(c.Secrets) > 0 {
			r.addError(location+".credentials", "must not be with a secret in auth: name its account too")
		}
		if _, ok := v["auth"]; !ok {
			r.addError(location+".auth", "is required with credentials")
		}
	}
	c.Fields = r.readDocument(location, v, new(client.ConnectorCreate))
	return c
}

// readSecrets moves the secrets out of auth. The user name is one, because it is sealed with the password, and so is the name of a
// workload token.
func (r *fileReader) readSecrets(location string, fields map[string]any) map[string]string {
	found := map[string]string{}
	for _, name := range secretFields {
		if v, ok := fields[name]; ok {
			found[name] = r.readValue(location+"."+name, v, false)
			delete(fields, name)
		}
	}
	for _, name := range []string{"username", "workload_token"} {
		v, ok := fields[name]
		if !ok {
			continue
		}
		text, isText := v.(string)
		if !isText {
			r.addError(location+"."+name, "must be a string")
		}
		found[name] = text
		delete(fields, name)
	}
	return found
}

func (r *fileReader) readValue(location string, v any, plain bool) string {
	ref, err := parseReference(location, v, plain)
	if err == nil {
		var text string
		if text, err = r.sources.resolveReference(location, ref); err == nil {
			return text
		}
	}
	r.errs = append(r.errs, err)
	return ""
}

func (r *fileReader) readAgent(location string, v map[string]any) Agent {
	v = maps.Clone(v)
	a := Agent{}
	if grants, ok := v["connectors"]; ok {
		a.Grants = map[string]Grant{}
		for connector, v := range r.eachMember(location+".connectors", grants) {
			a.Grants[connector] = r.readGrant(location+".connectors."+connector, v)
		}
		delete(v, "connectors")
	}
	a.Fields = r.readDocument(location, v, new(client.AgentCreate))
	return a
}

// readGrant reads "all", a list of tools, or an object.
func (r *fileReader) readGrant(location string, v any) (g Grant) {
	fields, isObject := v.(map[string]any)
	if !isObject {
		fields = map[string]any{"tools": v}
	}
	fields = maps.Clone(fields)
	if v, ok := fields["credential"]; ok {
		g.Secrets = r.readCredential(location+".credential", v)
		delete(fields, "credential")
	}
	if v, ok := fields["credentials"]; ok {
		g.Accounts = r.readAccounts(location+".credentials", v)
		delete(fields, "credentials")
		if g.Secrets != nil {
			r.addError(location+".credential", "must not be with credentials: name its account too")
		}
	}
	if v, ok := fields["shaping"]; ok {
		g.Shaping = r.readShaping(location+".shaping", v)
		delete(fields, "shaping")
	}
	if fields["tools"] == nil {
		r.addError(location+".tools", `must be "all" or a list of the server's tool names`)
		return g
	}
	if text, ok := fields["tools"].(string); ok && text != "all" {
		r.addError(location+".tools", `%q is neither "all" nor a list of tools`, text)
		return g
	}
	r.decodeEntry(location, fields, &g.Put)
	return g
}

// readDocument validates an entry by the API's type.
func (r *fileReader) readDocument(location string, v map[string]any, form any) Document {
	if v == nil {
		v = map[string]any{}
	}
	if _, ok := v["slug"]; ok {
		r.addError(location+".slug", "must not be set: the key of the entry is the slug")
	}
	delete(v, "slug")
	return r.decodeEntry(location, v, form)
}

// decodeEntry decodes v into the API's type and returns its JSON.
func (r *fileReader) decodeEntry(location string, v map[string]any, form any) Document {
	text, err := json.Marshal(v)
	if err != nil {
		r.addError(location, "%v", err)
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(form); err != nil {
		r.addError(location, "%s", decodeMessage(err))
		return nil
	}
	doc := Document{}
	_ = json.Unmarshal(text, &doc) // encoded above
	return doc
}

// decodeMessage rewrites an error of encoding/json without Go's names.
func decodeMessage(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%s can't be a %s", e.Field, e.Value)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

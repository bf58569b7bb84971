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
	MaxBytes   = 4 << 20
	MaxEntries = 10_000 // connectors and agents
)

// File is what an installation is to be like.
type File struct {
	Connectors map[string]Connector // by slug
	Agents     map[string]Agent     // by slug
}

// Connector is one that is to be there.
type Connector struct {
	Fields  Document // of the API's ConnectorCreate, without secrets
	Secrets map[string]string
	Env     map[string]string   // of a program; nil: the file says nothing of it
	Tools   map[string]Document // by the server's names: what agents are told of them, and how often they may be called; nil: nothing is said
}

// Agent is one that is to be there.
type Agent struct {
	Fields Document         // of the API's AgentCreate
	Grants map[string]Grant // by connector; nil: the file says nothing of them
}

// Grant is what an agent may use of a connector.
type Grant struct {
	Put     client.AgentGrantPut
	Secrets map[string]string // its own credential there; nil: the file says nothing of it
}

// secretFields are those of auth that are secrets.
var secretFields = []string{"token", "key", "password", "client_secret", "private_key"}

// Read reads a file in YAML. Where several things are wrong with it, all of them are told.
func Read(text []byte, from Sources) (File, error) {
	if len(text) > MaxBytes {
		return File{}, fmt.Errorf("the file is longer than %d MiB", MaxBytes>>20)
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var whole any
	if err := dec.Decode(&whole); err != nil {
		if errors.Is(err, io.EOF) {
			return File{}, errors.New("the file is empty")
		}
		return File{}, fmt.Errorf("the file is no YAML: %w", err)
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		return File{}, errors.New("the file has more than one document")
	}
	r := reader{from: from}
	file := r.file(whole)
	if len(file.Connectors)+len(file.Agents) > MaxEntries {
		r.wrong("", "a file has at most %d connectors and agents", MaxEntries)
	}
	return file, errors.Join(r.errs...)
}

// reader collects what is wrong.
type reader struct {
	from Sources
	errs []error
}

func (r *reader) wrong(at, form string, args ...any) {
	if at != "" {
		form = at + ": " + form
	}
	r.errs = append(r.errs, fmt.Errorf(form, args...))
}

// entries are the members of an object.
func (r *reader) entries(at string, v any) map[string]any {
	switch v := v.(type) {
	case nil:
		return nil
	case map[string]any:
		return v
	}
	r.wrong(at, "it must be an object, with a name before each entry")
	return nil
}

// each goes through the members of an object by their names, so that what is wrong is always told in the same order.
func (r *reader) each(at string, v any) iter.Seq2[string, any] {
	all := r.entries(at, v)
	return func(yield func(string, any) bool) {
		for _, name := range slugs(all) {
			if !yield(name, all[name]) {
				return
			}
		}
	}
}

func (r *reader) file(whole any) File {
	f := File{Connectors: map[string]Connector{}, Agents: map[string]Agent{}}
	for key, v := range r.each("the file", whole) {
		switch key {
		case "connectors":
			for slug, v := range r.each(key, v) {
				f.Connectors[slug] = r.connector(key+"."+slug, r.entries(key+"."+slug, v))
			}
		case "agents":
			for slug, v := range r.each(key, v) {
				f.Agents[slug] = r.agent(key+"."+slug, r.entries(key+"."+slug, v))
			}
		default:
			r.wrong("", "there is no %q in a manifest, only connectors and agents", key)
		}
	}
	return f
}

func (r *reader) connector(at string, v map[string]any) Connector {
	v = maps.Clone(v)
	c := Connector{}
	if env, ok := v["env"]; ok {
		c.Env = map[string]string{}
		for name, v := range r.each(at+".env", env) {
			c.Env[name] = r.value(at+".env."+name, v, true)
		}
		delete(v, "env")
	}
	if tools, ok := v["tools"]; ok {
		c.Tools = r.tools(at+".tools", tools)
		delete(v, "tools")
	}
	if auth, ok := v["auth"]; ok {
		fields := maps.Clone(r.entries(at+".auth", auth))
		if _, ok := fields["type"].(string); !ok {
			r.wrong(at+".auth.type", "it must be said")
		}
		c.Secrets = r.secrets(at+".auth", fields)
		v["auth"] = fields
		if _, ok := v["url"].(string); !ok && len(c.Secrets) > 0 {
			r.wrong(at+".url", "it must be said where a secret goes")
		}
	}
	c.Fields = r.document(at, v, new(client.ConnectorCreate))
	return c
}

// secrets takes the secrets out of an auth's fields. A user name counts among them: it is sealed with the password.
func (r *reader) secrets(at string, fields map[string]any) map[string]string {
	found := map[string]string{}
	for _, name := range secretFields {
		if v, ok := fields[name]; ok {
			found[name] = r.value(at+"."+name, v, false)
			delete(fields, name)
		}
	}
	if v, ok := fields["username"]; ok {
		text, isText := v.(string)
		if !isText {
			r.wrong(at+".username", "it must be a text")
		}
		found["username"] = text
		delete(fields, "username")
	}
	return found
}

func (r *reader) value(at string, v any, plain bool) string {
	ref, err := reference(at, v, plain)
	if err == nil {
		var text string
		if text, err = r.from.resolve(at, ref); err == nil {
			return text
		}
	}
	r.errs = append(r.errs, err)
	return ""
}

func (r *reader) agent(at string, v map[string]any) Agent {
	v = maps.Clone(v)
	a := Agent{}
	if grants, ok := v["connectors"]; ok {
		a.Grants = map[string]Grant{}
		for connector, v := range r.each(at+".connectors", grants) {
			a.Grants[connector] = r.grant(at+".connectors."+connector, v)
		}
		delete(v, "connectors")
	}
	a.Fields = r.document(at, v, new(client.AgentCreate))
	return a
}

// grant reads what an agent may use: "all", a list of tools, or an object with more.
func (r *reader) grant(at string, v any) (g Grant) {
	fields, isObject := v.(map[string]any)
	if !isObject {
		fields = map[string]any{"tools": v}
	}
	fields = maps.Clone(fields)
	if v, ok := fields["credential"]; ok {
		entered := maps.Clone(r.entries(at+".credential", v))
		if id, ok := entered["client_id"]; ok { // of a machine: its own
			text, isText := id.(string)
			if !isText {
				r.wrong(at+".credential.client_id", "it must be a text")
			}
			delete(entered, "client_id")
			g.Secrets = r.secrets(at+".credential", entered)
			g.Secrets["client_id"] = text
		} else {
			g.Secrets = r.secrets(at+".credential", entered)
		}
		for _, name := range slugs(entered) {
			r.wrong(at+".credential."+name, "there is no such part of a credential")
		}
		delete(fields, "credential")
	}
	if fields["tools"] == nil {
		r.wrong(at+".tools", `say "all", or list the tools by the names that their server gives them`)
		return g
	}
	if text, ok := fields["tools"].(string); ok && text != "all" {
		r.wrong(at+".tools", `%q is neither "all" nor a list of tools`, text)
		return g
	}
	r.decode(at, fields, &g.Put)
	return g
}

// document holds an entry to the API's own form of it, and keeps what it says.
func (r *reader) document(at string, v map[string]any, form any) Document {
	if v == nil {
		v = map[string]any{}
	}
	if _, ok := v["slug"]; ok {
		r.wrong(at+".slug", "it is the name before the entry")
	}
	delete(v, "slug")
	return r.decode(at, v, form)
}

// decode is v as JSON has it, in the form of the API.
func (r *reader) decode(at string, v map[string]any, form any) Document {
	text, err := json.Marshal(v)
	if err != nil {
		r.wrong(at, "%v", err)
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(form); err != nil {
		r.wrong(at, "%s", plainly(err))
		return nil
	}
	doc := Document{}
	_ = json.Unmarshal(text, &doc) // it was just written
	return doc
}

// plainly says what encoding/json found, without the names that things have in Go.
func plainly(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%s cannot be a %s", e.Field, e.Value)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// slugs are the names of entries, in order.
func slugs[T any](of map[string]T) []string { return slices.Sorted(maps.Keys(of)) }

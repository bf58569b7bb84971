package openapi

import (
	"slices"
	"strings"

	"patchbay/internal/fault"
	"patchbay/internal/jsonschema"
)

// Operation is an operation of a document.
type Operation struct {
	Name        string // of the tool
	Method      string // in capitals
	Path        string // as the document writes it
	Title       string
	Description string
	Tags        []string
	Deprecated  bool
	Servers     []Server // of its own; empty: the document's
	Security    []Requirement
	Annotations map[string]bool // of the tool, in place of those that follow from the method

	id         string
	node       value
	parameters []value // of the path
}

// Key names the operation in its document: "GET /pets/{id}".
func (o *Operation) Key() string { return o.Method + " " + o.Path }

// methods are the members of a Path Item that are operations.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"}

const (
	maxTags       = 20
	maxParameters = 300
	maxPathBytes  = 2 << 10
)

// readOperations lists the operations.
func (d *Document) readOperations() error {
	paths, _ := d.followRef(d.rootValue().Get("paths"))
	for _, m := range paths.Fields() {
		if !strings.HasPrefix(m.Name, "/") {
			if !strings.HasPrefix(m.Name, "x-") {
				d.addProblem(m.Name, "The path doesn't begin with a slash.")
			}
			continue
		}
		item, _ := d.followRef(value{m.Value, paths.source})
		if len(m.Name) > maxPathBytes {
			d.addProblem(m.Name, "The path is too long.")
			continue
		}
		d.readPathItem(m.Name, item)
		if len(d.Operations) > MaxOperations {
			return fault.Errorf(fault.TooLarge, "The document has more than %d operations.", MaxOperations)
		}
	}
	if len(d.Operations) == 0 {
		return fault.Errorf(fault.Invalid, "The document has no operations.")
	}
	nameOperations(d.Operations, d.options.Names)
	return nil
}

func (d *Document) readPathItem(path string, item value) {
	parameters, servers := item.Get("parameters").Values(), d.operationServers(item)
	for _, method := range methods {
		if v, _ := d.followRef(item.Get(method)); v.Is(jsonschema.Object) { // a reference is against the rules, and in use
			d.addOperation(strings.ToUpper(method), path, v, parameters, servers)
		}
	}
	for _, m := range item.Get("additionalOperations").Fields() { // OpenAPI 3.2
		if m.Value.Is(jsonschema.Object) && isToken(m.Name) {
			d.addOperation(strings.ToUpper(m.Name), path, value{m.Value, item.source}, parameters, servers)
		}
	}
}

func (d *Document) operationServers(v value) []Server {
	if d.dialect == swagger2 {
		return nil
	}
	return d.readServers(v)
}

func (d *Document) addOperation(method, path string, v value, parameters []value, servers []Server) {
	if method == "CONNECT" || method == "TRACE" {
		d.addProblem(method+" "+path, "The method isn't supported.")
		return
	}
	o := &Operation{
		Method: method, Path: path, Title: shortenText(v.GetText("summary"), 120), Description: shortenText(v.GetText("description"), 4000),
		Deprecated: v.IsTrue("deprecated"), Servers: d.operationServers(v), Security: d.security,
		id: v.GetText("operationId"), node: v, parameters: parameters,
	}
	if len(o.Servers) == 0 {
		o.Servers = servers
	}
	for _, tag := range v.Get("tags").List() {
		if text := shortenText(tag.Text(), 100); text != "" && len(o.Tags) < maxTags && !slices.Contains(o.Tags, text) {
			o.Tags = append(o.Tags, text)
		}
	}
	if own, said := readRequirements(v.Get("security")); said {
		o.Security = own
	}
	d.Operations = append(d.Operations, o)
}

// isToken reports whether a text is a token of HTTP (RFC 9110 section 5.6.2).
func isToken(text string) bool {
	for _, c := range []byte(text) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return text != "" && len(text) <= 100
}

// mergeParameters returns the parameters of an operation. Those of the operation replace those of its path.
func (d *Document) mergeParameters(o *Operation) ([]value, error) {
	type place struct{ in, name string }
	var all []value
	at := map[place]int{}
	for _, p := range slices.Concat(o.parameters, o.node.Get("parameters").Values()) {
		p, ref := d.followRef(p)
		if !p.Is(jsonschema.Object) {
			if ref != "" {
				return nil, fault.Errorf(fault.Invalid, "A parameter refers to something that isn't in the document.")
			}
			continue
		}
		key := place{p.GetText("in"), p.GetText("name")}
		if i, known := at[key]; known {
			all[i] = p
			continue
		}
		at[key] = len(all)
		all = append(all, p)
	}
	if len(all) > maxParameters {
		return nil, fault.Errorf(fault.TooLarge, "The operation has more than %d parameters.", maxParameters)
	}
	return all, nil
}

package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// prefix is where the operations are that the client has. The one outside has a twin in there.
const prefix = "/api/v1/"

// method is one operation at its place.
type method struct {
	operation
	verb, path string
}

func (g *generator) operations() error {
	g.head("context", "encoding/json", "iter", "net/http", "net/url", "strconv")
	var all []method
	for path, operations := range g.doc.Paths {
		for verb, op := range operations {
			if strings.HasPrefix(path, prefix) {
				all = append(all, method{op, strings.ToUpper(verb), path})
			}
		}
	}
	slices.SortFunc(all, func(a, b method) int { return cmp.Compare(a.ID, b.ID) })
	for _, m := range all {
		if err := g.method(m); err != nil {
			return fmt.Errorf("%s: %w", m.ID, err)
		}
	}
	return nil
}

// method writes an operation as a method, and another one that reads all pages where there are several.
func (g *generator) method(m method) error {
	name := exported(m.ID)
	query, err := g.query(name, m.in("query"))
	if err != nil {
		return err
	}
	args, names := m.arguments(query)
	in := "nil"
	if body, ok := m.Body.json(); ok {
		of, err := g.bodyType(body)
		if err != nil {
			return err
		}
		args, names, in = append(args, "in "+of), append(names, "in"), "in"
	}
	result, err := m.result(g)
	if err != nil {
		return err
	}
	g.describe(name, m)
	asked := "nil"
	if query != "" {
		asked = "q.values()"
	}
	call := fmt.Sprintf("c.do(ctx, http.Method%s, %s, %s, %s", verbs[m.verb], m.place(), asked, in)
	params := strings.Join(append([]string{"ctx context.Context"}, args...), ", ")
	if result == "" {
		g.line("func (c *Client) %s(%s) error {\nreturn %s, nil)\n}", name, params, call)
		return nil
	}
	g.line("func (c *Client) %s(%s) (%s, error) {\nvar out %s\nerr := %s, &out)\nreturn out, err\n}", name, params, result, result, call)
	if item, ok := g.paged(m, result); ok {
		all := "All" + strings.TrimPrefix(name, "List")
		g.line("\n// %s goes through all pages of [Client.%s].", all, name)
		g.line("func (c *Client) %s(%s) iter.Seq2[%s, error] {", all, params, item)
		g.line("return pages(func(cursor string) ([]%s, *string, error) {\nq.Cursor = cursor\npage, err := c.%s(%s)\nreturn page.Items, page.NextCursor, err\n})\n}",
			item, name, strings.Join(append([]string{"ctx"}, names...), ", "))
	}
	return nil
}

var verbs = map[string]string{
	http.MethodGet: "Get", http.MethodPost: "Post", http.MethodPut: "Put", http.MethodPatch: "Patch", http.MethodDelete: "Delete",
}

func (g *generator) describe(name string, m method) {
	g.line("\n// %s: %s. It needs the role %s.", name, strings.TrimSuffix(m.Summary, "."), m.Role)
	for line := range strings.SplitSeq(m.Description, "\n") {
		if line != "" {
			g.line("// %s", line)
		}
	}
}

func (m method) in(where string) []parameter {
	return slices.DeleteFunc(slices.Clone(m.Parameters), func(p parameter) bool { return p.In != where })
}

// arguments are what the method takes for its path, in the path's order, and for its query.
func (m method) arguments(query string) (args, names []string) {
	for part := range strings.SplitSeq(m.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			name = argument(strings.TrimSuffix(name, "}"))
			args, names = append(args, name+" string"), append(names, name)
		}
	}
	if query != "" {
		args, names = append(args, "q "+query), append(names, "q")
	}
	return args, names
}

func argument(name string) string {
	name = exported(name)
	if name == strings.ToUpper(name) {
		return strings.ToLower(name)
	}
	return strings.ToLower(name[:1]) + name[1:]
}

// place is the path as an expression.
func (m method) place() string {
	var parts []string
	for part := range strings.SplitSeq(strings.TrimPrefix(m.path, "/"), "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			parts = append(parts, "url.PathEscape("+argument(strings.TrimSuffix(name, "}"))+")")
			continue
		}
		parts = append(parts, fmt.Sprintf("%q", part))
	}
	return "[]string{" + strings.Join(parts, ", ") + "}"
}

// query writes the struct of an operation's query, and returns its name; empty: it has none.
func (g *generator) query(name string, params []parameter) (string, error) {
	if len(params) == 0 {
		return "", nil
	}
	name += "Query"
	g.line("\n// %s says more of what is asked for. What is zero is left out.\ntype %s struct {", name, name)
	var lines []string
	for _, p := range params {
		field := exported(p.Name)
		var of, line string
		switch {
		case len(p.Schema.Type) != 1:
			return "", fmt.Errorf("the parameter %s is one of %v", p.Name, p.Schema.Type)
		case p.Schema.Type[0] == "string":
			of, line = "string", fmt.Sprintf("if q.%s != \"\" {\nv.Set(%q, q.%s)\n}", field, p.Name, field)
		case p.Schema.Type[0] == "integer":
			of, line = "int", fmt.Sprintf("if q.%s != 0 {\nv.Set(%q, strconv.Itoa(q.%s))\n}", field, p.Name, field)
		case p.Schema.Type[0] == "boolean":
			of, line = "*bool", fmt.Sprintf("if q.%s != nil {\nv.Set(%q, strconv.FormatBool(*q.%s))\n}", field, p.Name, field)
		default:
			return "", fmt.Errorf("nobody has said what the parameter %s is in Go", p.Name)
		}
		p.Schema.Description = p.Description
		g.comment(p.Schema)
		g.line("%s %s", field, of)
		lines = append(lines, line)
	}
	g.line("}\n\nfunc (q %s) values() url.Values {\nv := url.Values{}\n%s\nreturn v\n}", name, strings.Join(lines, "\n"))
	return name, nil
}

// bodyType is what the method takes as body: JSON as it is where the document says of no one form.
func (g *generator) bodyType(s schema) (string, error) {
	if len(s.AnyOf) > 0 {
		return raw, nil
	}
	return g.goType(s)
}

// result is what the method returns; empty: nothing.
func (m method) result(g *generator) (string, error) {
	found := ""
	for _, status := range slices.Sorted(maps.Keys(m.Responses)) {
		r := m.Responses[status]
		s, ok := r.json()
		if status == "default" || !ok {
			continue
		}
		of, err := g.goType(s)
		if err != nil {
			return "", err
		}
		if found != "" && found != of {
			return "", fmt.Errorf("it answers with %s or %s", found, of)
		}
		found = of
	}
	return found, nil
}

// paged is the type of the items where the answer is one page of several.
func (g *generator) paged(m method, result string) (string, bool) {
	if !slices.ContainsFunc(m.Parameters, func(p parameter) bool { return p.Name == "cursor" }) {
		return "", false
	}
	for name, s := range g.doc.Components.Schemas {
		if items, ok := s.Properties["items"]; ok && exported(name) == result {
			of, err := g.goType(*items.Items)
			return of, err == nil
		}
	}
	return "", false
}

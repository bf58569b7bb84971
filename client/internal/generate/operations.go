package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// prefix begins the paths of the client's operations. An operation without it has an equivalent with it.
const prefix = "/api/v1/"

type apiMethod struct {
	operation
	verb, path string
}

func (g *generator) writeOperations() error {
	g.printHeader("context", "encoding/json", "iter", "net/http", "net/url", "strconv")
	var all []apiMethod
	for path, operations := range g.doc.Paths {
		for verb, op := range operations {
			if strings.HasPrefix(path, prefix) {
				all = append(all, apiMethod{op, strings.ToUpper(verb), path})
			}
		}
	}
	slices.SortFunc(all, func(a, b apiMethod) int { return cmp.Compare(a.ID, b.ID) })
	for _, m := range all {
		if err := g.writeMethod(m); err != nil {
			return fmt.Errorf("%s: %w", m.ID, err)
		}
	}
	return nil
}

// lateQueries are operations that had no query at first. It is their last argument and may be left out, so that older callers compile.
var lateQueries = []string{"compareAgentCredential", "compareCredential", "deleteAgentCredential", "deleteCredential", "setAgentCredential", "setCredential"}

// writeMethod writes an operation as a method, and a second one that reads all pages of a list.
func (g *generator) writeMethod(m apiMethod) error {
	name := exportedName(m.ID)
	query, err := g.writeQuery(name, m.parametersIn("query"))
	if err != nil {
		return err
	}
	isLate, asked := slices.Contains(lateQueries, m.ID), "nil"
	switch {
	case isLate:
		asked = "firstQuery(q).values()"
	case query != "":
		asked = "q.values()"
	}
	args, names := m.goArguments(query, isLate)
	in := "nil"
	if body, ok := m.Body.jsonSchema(); ok {
		of, err := g.bodyType(body)
		if err != nil {
			return err
		}
		args, names, in = append(args, "in "+of), append(names, "in"), "in"
	}
	if isLate {
		args = append(args, "q ..."+query)
	}
	result, err := m.resultType(g)
	if err != nil {
		return err
	}
	g.writeDescription(name, m)
	call := fmt.Sprintf("c.do(ctx, http.Method%s, %s, %s, %s", verbs[m.verb], m.pathExpression(), asked, in)
	params := strings.Join(append([]string{"ctx context.Context"}, args...), ", ")
	if result == "" {
		g.printLine("func (c *Client) %s(%s) error {\nreturn %s, nil)\n}", name, params, call)
		return nil
	}
	g.printLine("func (c *Client) %s(%s) (%s, error) {\nvar out %s\nerr := %s, &out)\nreturn out, err\n}", name, params, result, result, call)
	if item, ok := g.itemType(m, result); ok {
		all := "All" + strings.TrimPrefix(name, "List")
		g.printLine("\n// %s iterates over all pages of [Client.%s].", all, name)
		g.printLine("func (c *Client) %s(%s) iter.Seq2[%s, error] {", all, params, item)
		g.printLine("return pages(func(cursor string) ([]%s, *string, error) {\nq.Cursor = cursor\npage, err := c.%s(%s)\nreturn page.Items, page.NextCursor, err\n})\n}",
			item, name, strings.Join(append([]string{"ctx"}, names...), ", "))
	}
	return nil
}

var verbs = map[string]string{
	http.MethodGet: "Get", http.MethodPost: "Post", http.MethodPut: "Put", http.MethodPatch: "Patch", http.MethodDelete: "Delete",
}

func (g *generator) writeDescription(name string, m apiMethod) {
	g.printLine("\n// %s: %s. Requires role %s.", name, strings.TrimSuffix(m.Summary, "."), m.Role)
	for line := range strings.SplitSeq(m.Description, "\n") {
		if line != "" {
			g.printLine("// %s", line)
		}
	}
}

func (m apiMethod) parametersIn(where string) []parameter {
	return slices.DeleteFunc(slices.Clone(m.Parameters), func(p parameter) bool { return p.In != where })
}

// goArguments returns the arguments for path, in its order, and query unless it is the last one.
func (m apiMethod) goArguments(query string, isLate bool) (args, names []string) {
	for part := range strings.SplitSeq(m.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			name = argumentName(strings.TrimSuffix(name, "}"))
			args, names = append(args, name+" string"), append(names, name)
		}
	}
	if query != "" && !isLate {
		args, names = append(args, "q "+query), append(names, "q")
	}
	return args, names
}

func argumentName(name string) string {
	name = exportedName(name)
	if name == strings.ToUpper(name) {
		return strings.ToLower(name)
	}
	return strings.ToLower(name[:1]) + name[1:]
}

func (m apiMethod) pathExpression() string {
	var parts []string
	for part := range strings.SplitSeq(strings.TrimPrefix(m.path, "/"), "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			parts = append(parts, "url.PathEscape("+argumentName(strings.TrimSuffix(name, "}"))+")")
			continue
		}
		parts = append(parts, fmt.Sprintf("%q", part))
	}
	return "[]string{" + strings.Join(parts, ", ") + "}"
}

// writeQuery writes the struct of an operation's query and returns its name; "": none.
func (g *generator) writeQuery(name string, params []parameter) (string, error) {
	if len(params) == 0 {
		return "", nil
	}
	name += "Query"
	g.printLine("\n// %s has optional query parameters. Zero values are omitted.\ntype %s struct {", name, name)
	var lines []string
	for _, p := range params {
		field := exportedName(p.Name)
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
			return "", fmt.Errorf("no Go type is defined for the parameter %s", p.Name)
		}
		p.Schema.Description = p.Description
		g.writeComment(p.Schema)
		g.printLine("%s %s", field, of)
		lines = append(lines, line)
	}
	g.printLine("}\n\nfunc (q %s) values() url.Values {\nv := url.Values{}\n%s\nreturn v\n}", name, strings.Join(lines, "\n"))
	return name, nil
}

// bodyType returns the type of the body: raw JSON if the document has no single schema.
func (g *generator) bodyType(s schema) (string, error) {
	if len(s.AnyOf) > 0 {
		return raw, nil
	}
	return g.goType(s)
}

// resultType returns the result's type; "": none.
func (m apiMethod) resultType(g *generator) (string, error) {
	found := ""
	for _, status := range slices.Sorted(maps.Keys(m.Responses)) {
		r := m.Responses[status]
		s, ok := r.jsonSchema()
		if status == "default" || !ok {
			continue
		}
		of, err := g.goType(s)
		if err != nil {
			return "", err
		}
		if found != "" && found != of {
			return "", fmt.Errorf("it responds with %s or %s", found, of)
		}
		found = of
	}
	return found, nil
}

// itemType returns the items' type if the response is a page of a list.
func (g *generator) itemType(m apiMethod, result string) (string, bool) {
	if !slices.ContainsFunc(m.Parameters, func(p parameter) bool { return p.Name == "cursor" }) {
		return "", false
	}
	for name, s := range g.doc.Components.Schemas {
		if items, ok := s.Properties["items"]; ok && exportedName(name) == result {
			of, err := g.goType(*items.Items)
			return of, err == nil
		}
	}
	return "", false
}

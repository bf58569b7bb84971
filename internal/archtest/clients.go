package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
)

// DefaultTransport allows a package to use http.DefaultTransport.
type DefaultTransport struct {
	Room    string
	Name    string // what it uses: import path, dot, name
	Because string
}

// DefaultTransports lists all of them. httptest.Server.Close closes the idle connections of http.DefaultTransport, so
// that a request of a parallel test fails by chance. All other clients have transports of their own, in tests too.
var DefaultTransports = []DefaultTransport{
	{Room: "client", Name: "net/http.Client", Because: "programs configure http.DefaultTransport, and a test of New without options uses it"},
}

// sdk is the official Go SDK of MCP.
const sdk = "github.com/modelcontextprotocol/go-sdk"

// defaultNames are functions and variables that use http.DefaultTransport.
var defaultNames = map[string][]string{
	"net/http":          {"DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"},
	"net/http/httputil": {"NewSingleHostReverseProxy"},
}

// clientTypes are structs that use http.DefaultTransport unless a field is set.
var clientTypes = []struct{ path, name, field string }{
	{"net/http", "Client", "Transport"},
	{"net/http/httputil", "ReverseProxy", "Transport"},
	{sdk + "/auth", "AuthorizationCodeHandlerConfig", "Client"},
	{sdk + "/mcp", "SSEClientTransport", "HTTPClient"},
	{sdk + "/mcp", "StreamableClientTransport", "HTTPClient"},
}

// minClients is the least number of clients with a transport that the tree has.
const minClients = 60

// CheckClients reports uses of http.DefaultTransport that the list does not allow, rows of the list without a reason,
// and rows that nothing uses.
func CheckClients(list []DefaultTransport, packages []Package) ([]string, error) {
	var wrong []string
	used, clients := map[[2]string]bool{}, 0
	for _, p := range packages {
		scans, err := readFiles(p)
		if err != nil {
			return nil, err
		}
		for i := range scans {
			s := &scans[i]
			found, own := s.defaultTransports()
			clients += own
			for _, f := range found {
				used[[2]string{p.Path, f.name}] = true
				if !slices.ContainsFunc(list, func(d DefaultTransport) bool { return d.Room == p.Path && d.Name == f.name }) {
					s.complain(f.at, "%s uses http.DefaultTransport, whose idle connections any test server closes", f.name)
				}
			}
			wrong = append(wrong, s.wrong...)
		}
	}
	for _, d := range list {
		if !used[[2]string{d.Room, d.Name}] {
			wrong = append(wrong, fmt.Sprintf("%s does not use %s: take its row out of clients.go", d.Room, d.Name))
		}
		if d.Because == "" {
			wrong = append(wrong, fmt.Sprintf("%s uses %s, and nothing says why", d.Room, d.Name))
		}
	}
	if clients < minClients {
		wrong = append(wrong, fmt.Sprintf("%d clients with a transport are seen, and %d are the least", clients, minClients))
	}
	return wrong, nil
}

// defaultTransports returns the uses of http.DefaultTransport, and the number of clients with another transport.
func (s *scan) defaultTransports() (found []wayOut, own int) {
	for path, names := range defaultNames {
		if s.localName(path) == "." {
			found = append(found, wayOut{s.file.Package, path + ".*"})
		}
		found = append(found, s.mentions(path, names)...)
	}
	for _, t := range clientTypes {
		of, set := s.withoutField(s.localName(t.path), t.name, t.field)
		own += set
		for _, at := range of {
			found = append(found, wayOut{at, t.path + "." + t.name})
		}
	}
	slices.SortFunc(found, func(a, b wayOut) int { return int(a.at - b.at) })
	return found, own
}

// withoutField returns where a struct is made without the field, and how often it is made with it. A pointer type
// makes nothing; a type in any other place does.
func (s *scan) withoutField(local, name, field string) (without []token.Pos, with int) {
	fine := map[ast.Node]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StarExpr:
			fine[n.X] = true
		case *ast.CompositeLit:
			if isSelector(n.Type, local, name) && setsField(n, field) {
				fine[n.Type] = true
				with++
			}
		}
		if isSelector(n, local, name) && !fine[n] {
			without = append(without, n.Pos())
		}
		return true
	})
	return without, with
}

// setsField reports whether a literal gives a field a value other than nil.
func setsField(lit *ast.CompositeLit, field string) bool {
	return slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		key, ok := pair.Key.(*ast.Ident)
		value, isName := pair.Value.(*ast.Ident)
		return ok && key.Name == field && !(isName && value.Name == "nil")
	})
}

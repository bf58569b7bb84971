package words_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const room = "patchbay/internal/words"

// use is a text of the code: the key, and the form for one where it is a count.
type use struct {
	key   string
	one   string
	parts bool
	at    string
}

// keysOfCode are all texts that the code says, by their keys. They stand where the type Key is wanted: as arguments, as values
// of tables, as constants.
func keysOfCode(t *testing.T) map[string]use {
	t.Helper()
	all := map[string]use{}
	for dir, files := range speakers(t) {
		r := reader{t: t, keys: all, params: map[string][]int{}, fields: map[string]bool{}}
		for _, f := range files {
			r.declared(f)
		}
		for _, f := range files {
			ast.Inspect(f, r.visit)
		}
		if len(files) == 0 {
			t.Errorf("%s has no files", dir)
		}
	}
	addSentences(t, all)
	return all
}

// speakers are the files of each package that says something, without tests.
func speakers(t *testing.T) map[string][]*ast.File {
	t.Helper()
	packages := map[string][]*ast.File{}
	root := filepath.Join("..", "..")
	for _, top := range []string{"cmd", "internal", "web"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(text), `"`+room+`"`) && d.Name() != "fragments.go" {
				return err
			}
			f, err := parser.ParseFile(positions, path, text, 0)
			if err != nil {
				return err
			}
			packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], f)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(packages) < 5 {
		t.Fatalf("%d packages say something", len(packages))
	}
	return packages
}

var positions = token.NewFileSet()

// reader gathers the keys of one package.
type reader struct {
	t      *testing.T
	keys   map[string]use
	params map[string][]int // of functions of the package: which of their arguments are keys
	fields map[string]bool  // of its structs: those that are keys
}

// declared learns where a file's functions and structs want a key.
func (r *reader) declared(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			at := 0
			for _, p := range n.Type.Params.List {
				for range max(1, len(p.Names)) {
					if isKey(p.Type) {
						r.params[n.Name.Name] = append(r.params[n.Name.Name], at)
					}
					at++
				}
			}
		case *ast.StructType:
			for _, field := range n.Fields.List {
				for _, name := range field.Names {
					if isKey(field.Type) {
						r.fields[name.Name] = true
					}
				}
			}
		}
		return true
	})
}

// isKey tells the type: words.Key, and Key in package words itself.
func isKey(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return isSelector(e, "words", "Key") || ok && id.Name == "Key"
}

func isSelector(e ast.Expr, x, sel string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != sel {
		return false
	}
	id, ok := s.X.(*ast.Ident)
	return ok && id.Name == x
}

func (r *reader) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		r.call(n)
	case *ast.CompositeLit:
		r.table(n)
	case *ast.KeyValueExpr:
		if id, ok := n.Key.(*ast.Ident); ok && r.fields[id.Name] {
			r.add(n.Value)
		}
	case *ast.ValueSpec:
		if n.Type != nil && isKey(n.Type) {
			for _, v := range n.Values {
				r.add(v)
			}
		}
	}
	return true
}

func (r *reader) call(c *ast.CallExpr) {
	switch {
	case isSelector(c.Fun, "words", "T"):
		r.add(c.Args[1])
	case isSelector(c.Fun, "words", "Parts"):
		r.addUse(use{key: r.text(c.Args[1]), parts: true, at: positions.Position(c.Pos()).String()})
	case isSelector(c.Fun, "words", "N"):
		r.count(c.Args[2], c.Args[3])
	case isSelector(c.Fun, "words", "Forms"):
		r.count(c.Args[1], c.Args[2])
	case isSelector(c.Fun, "words", "Key"):
		r.add(c.Args[0])
	default:
		id, ok := c.Fun.(*ast.Ident)
		if !ok {
			return
		}
		if at := r.params[id.Name]; len(at) == 2 {
			r.count(c.Args[at[0]], c.Args[at[1]])
		} else if len(at) == 1 {
			r.add(c.Args[at[0]])
		}
	}
}

// table reads the values of a table of keys, and the elements of a list of them.
func (r *reader) table(c *ast.CompositeLit) {
	switch typ := c.Type.(type) {
	case *ast.MapType:
		if !isKey(typ.Value) {
			return
		}
		for _, e := range c.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				r.add(kv.Value)
			}
		}
	case *ast.ArrayType:
		if !isKey(typ.Elt) {
			return
		}
		for _, e := range c.Elts {
			r.add(e)
		}
	}
}

// add adds a key that is written out. One that is not comes from elsewhere, where it is found.
func (r *reader) add(e ast.Expr) {
	r.addUse(use{key: r.text(e), at: positions.Position(e.Pos()).String()})
}

func (r *reader) count(one, other ast.Expr) {
	r.addUse(use{key: r.text(other), one: r.text(one), at: positions.Position(other.Pos()).String()})
}

func (r *reader) addUse(u use) {
	if u.key == "" {
		return
	}
	before, there := r.keys[u.key]
	if there && (before.parts != u.parts || before.one != "" && u.one != "" && before.one != u.one) {
		r.t.Errorf("%q is said in two ways: %s, %s", u.key, before.at, u.at)
	}
	if there && u.one == "" {
		return // a count says more than a text
	}
	r.keys[u.key] = u
}

func (r *reader) text(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		r.t.Fatal(err)
	}
	return text
}

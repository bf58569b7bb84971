package i18n_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	room  = "patchbay/internal/i18n"
	shell = "patchbay/internal/admin/shell" // it has functions with keys
)

// keyUse is a text of the code: the key, and its singular for a count.
type keyUse struct {
	key   string
	one   string
	parts bool
	at    string
}

// keysOfCode finds all keys in the code, wherever the type Key is required: arguments, table values, constants.
func keysOfCode(t *testing.T) map[string]keyUse {
	t.Helper()
	all, exported := map[string]keyUse{}, map[string][]int{}
	var readers []keyReader
	packages := translatingPackages(t)
	dirs := slices.Sorted(maps.Keys(packages))
	for _, dir := range dirs {
		r := keyReader{t: t, keys: all, params: map[string][]int{}, exported: exported, fields: map[string]bool{}}
		for _, f := range packages[dir] {
			r.declared(f)
		}
		readers = append(readers, r)
	}
	if len(exported) == 0 {
		t.Error("no package exports a function with keys")
	}
	for i, dir := range dirs {
		r, files := readers[i], packages[dir]
		for _, f := range files {
			ast.Inspect(f, r.handle)
		}
		if len(files) == 0 {
			t.Errorf("%s has no files", dir)
		}
	}
	addSentences(t, all)
	return all
}

// translatingPackages are the files of each package with keys, without tests.
func translatingPackages(t *testing.T) map[string][]*ast.File {
	t.Helper()
	packages := map[string][]*ast.File{}
	root := filepath.Join("..", "..")
	for _, top := range []string{"cmd", "internal", "web"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(text), `"`+room+`"`) && !strings.Contains(string(text), `"`+shell+`"`) && d.Name() != "fragments.go" {
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

// keyReader collects the keys of one package.
type keyReader struct {
	t      *testing.T
	keys   map[string]keyUse
	params map[string][]int // indexes of key arguments, by function
	fields map[string]bool  // struct fields that are keys

	exported map[string][]int // as params, by package and function, of all packages
}

// declared finds the functions and structs with keys in a file.
func (r *keyReader) declared(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			at := 0
			for _, p := range n.Type.Params.List {
				for range max(1, len(p.Names)) {
					if isKey(p.Type) {
						r.params[n.Name.Name] = append(r.params[n.Name.Name], at)
						if name := f.Name.Name + "." + n.Name.Name; n.Recv == nil && n.Name.IsExported() && f.Name.Name != "i18n" {
							r.exported[name] = append(r.exported[name], at)
						}
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

// isKey reports whether a type is words.Key, or Key in package i18n.
func isKey(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return isSelector(e, "i18n", "Key") || ok && id.Name == "Key"
}

func isSelector(e ast.Expr, x, sel string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != sel {
		return false
	}
	id, ok := s.X.(*ast.Ident)
	return ok && id.Name == x
}

func (r *keyReader) handle(n ast.Node) bool {
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

func (r *keyReader) call(c *ast.CallExpr) {
	switch {
	case isSelector(c.Fun, "i18n", "T"):
		r.add(c.Args[1])
	case isSelector(c.Fun, "i18n", "Parts"):
		r.addUse(keyUse{key: r.text(c.Args[1]), parts: true, at: positions.Position(c.Pos()).String()})
	case isSelector(c.Fun, "i18n", "N"):
		r.count(c.Args[2], c.Args[3])
	case isSelector(c.Fun, "i18n", "Forms"):
		r.count(c.Args[1], c.Args[2])
	case isSelector(c.Fun, "i18n", "Key"):
		r.add(c.Args[0])
	default:
		var at []int
		switch f := c.Fun.(type) {
		case *ast.Ident:
			at = r.params[f.Name]
		case *ast.SelectorExpr:
			if pkg, ok := f.X.(*ast.Ident); ok {
				at = r.exported[pkg.Name+"."+f.Sel.Name]
			}
		}
		if len(at) == 2 {
			r.count(c.Args[at[0]], c.Args[at[1]])
		} else if len(at) == 1 {
			r.add(c.Args[at[0]])
		}
	}
}

// table reads the keys in a composite literal.
func (r *keyReader) table(c *ast.CompositeLit) {
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

// add adds a literal key. Any other is found where it is declared.
func (r *keyReader) add(e ast.Expr) {
	r.addUse(keyUse{key: r.text(e), at: positions.Position(e.Pos()).String()})
}

func (r *keyReader) count(one, other ast.Expr) {
	r.addUse(keyUse{key: r.text(other), one: r.text(one), at: positions.Position(other.Pos()).String()})
}

func (r *keyReader) addUse(u keyUse) {
	if u.key == "" {
		return
	}
	before, there := r.keys[u.key]
	if there && (before.parts != u.parts || before.one != "" && u.one != "" && before.one != u.one) {
		r.t.Errorf("%q is said in two ways: %s, %s", u.key, before.at, u.at)
	}
	if there && u.one == "" {
		return // a count has more than a text
	}
	r.keys[u.key] = u
}

func (r *keyReader) text(e ast.Expr) string {
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

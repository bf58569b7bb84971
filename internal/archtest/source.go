package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxLines is where a file has become two thoughts.
const maxLines = 500

// CheckSource tells which files of the packages break the rules about files. Generated files are left alone.
func CheckSource(rooms []Room, packages []Package) ([]string, error) {
	var wrong []string
	for _, p := range packages {
		if !slices.Contains(p.Files, "doc.go") {
			wrong = append(wrong, fmt.Sprintf("%s has no doc.go", p.Path))
		}
		for _, name := range p.Files {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			complaints, err := CheckFile(rooms, p.Path, name, text)
			if err != nil {
				return nil, err
			}
			wrong = append(wrong, complaints...)
		}
	}
	return wrong, nil
}

// CheckFile tells which rules one file breaks.
func CheckFile(rooms []Room, pkg, name string, text []byte) ([]string, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, pkg+"/"+name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	s := scan{files: files, file: file}
	if lines := files.File(file.FileStart).LineCount(); lines > maxLines {
		s.complain(file.Package, "the file has %d lines, and %d are the limit", lines, maxLines)
	}
	if name == "doc.go" && file.Doc == nil {
		s.complain(file.Package, "doc.go says nothing about the package")
	}
	test := strings.HasSuffix(name, "_test.go") || isTestRoom(rooms, pkg)
	s.inits()
	if test && s.localName("testing/synctest") == "" { // in a bubble, to sleep is to move the clock
		s.uses("time", "Sleep", "tests wait for a signal")
	}
	if !test {
		s.exits(pkg)
		s.orders()
	}
	return s.wrong, nil
}

type scan struct {
	files *token.FileSet
	file  *ast.File
	wrong []string
}

func (s *scan) complain(at token.Pos, format string, args ...any) {
	p := s.files.Position(at)
	s.wrong = append(s.wrong, fmt.Sprintf("%s:%d: ", p.Filename, p.Line)+fmt.Sprintf(format, args...))
}

// inits refuses func init: what runs before main cannot be configured, ordered or tested.
func (s *scan) inits() {
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			s.complain(f.Pos(), "func init: build it where it is needed")
		}
	}
}

// uses refuses every mention of one name of a package.
func (s *scan) uses(path, name, because string) {
	local := s.localName(path)
	ast.Inspect(s.file, func(n ast.Node) bool {
		if isSelector(n, local, name) {
			s.complain(n.Pos(), "%s.%s: %s", path, name, because)
		}
		return true
	})
}

// localName is how the file calls the package, or "" where it does not import it.
func (s *scan) localName(path string) string {
	for _, spec := range s.file.Imports {
		if have, err := strconv.Unquote(spec.Path.Value); err != nil || have != path {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path[strings.LastIndex(path, "/")+1:]
	}
	return ""
}

func isSelector(n ast.Node, pkg, name string) bool {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok || pkg == "" || sel.Sel.Name != name {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == pkg
}

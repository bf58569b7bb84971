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

// CheckSource reports the files of the packages that break the rules about files, and the rules that found nothing to judge. Generated
// files are left alone.
func CheckSource(rooms []Room, packages []Package) ([]string, error) {
	var wrong []string
	var seen sights
	for _, p := range packages {
		if !slices.Contains(p.Files, "doc.go") {
			wrong = append(wrong, fmt.Sprintf("%s has no doc.go", p.Path))
		}
		scans, err := readFiles(p)
		if err != nil {
			return nil, err
		}
		of := declarationsOf(scans)
		for i, name := range p.Files {
			scans[i].check(rooms, p.Path, name, of)
			seen.add(scans[i].seen)
			wrong = append(wrong, scans[i].wrong...)
		}
	}
	return append(wrong, seen.missing()...), nil
}

// readFiles reads the files of a package.
func readFiles(p Package) ([]scan, error) {
	scans := make([]scan, len(p.Files))
	for i, name := range p.Files {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return nil, err
		}
		if scans[i], err = readFile(p.Path, name, text); err != nil {
			return nil, err
		}
	}
	return scans, nil
}

// declarationsOf are what all of these files declare but those of tests.
func declarationsOf(scans []scan) declared {
	var files []*ast.File
	for _, s := range scans {
		if !strings.HasSuffix(s.files.Position(s.file.Package).Filename, "_test.go") {
			files = append(files, s.file)
		}
	}
	return declarations(files...)
}

// CheckFile reports the rules that one file breaks, as the only one of its package.
func CheckFile(rooms []Room, pkg, name string, text []byte) ([]string, error) {
	s, err := readFile(pkg, name, text)
	if err != nil {
		return nil, err
	}
	s.check(rooms, pkg, name, declarations(s.file))
	return s.wrong, nil
}

func readFile(pkg, name string, text []byte) (scan, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, pkg+"/"+name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return scan{}, err
	}
	return scan{files: files, file: file, seen: sights{files: 1}}, nil
}

// check holds a file to the rules. of is what its package declares.
func (s *scan) check(rooms []Room, pkg, name string, of declared) {
	if ast.IsGenerated(s.file) {
		return
	}
	if lines := s.files.File(s.file.FileStart).LineCount(); lines > maxLines {
		s.complain(s.file.Package, "the file has %d lines, and %d are the limit", lines, maxLines)
	}
	if name == "doc.go" && s.file.Doc == nil {
		s.complain(s.file.Package, "doc.go says nothing about the package")
	}
	test := strings.HasSuffix(name, "_test.go") || isTestRoom(rooms, pkg)
	s.inits()
	if test {
		s.seen.tests++
	}
	if test && s.localName("testing/synctest") == "" { // in a bubble, to sleep is to move the clock
		s.uses("time", "Sleep", "tests wait for a signal")
	}
	if !test {
		s.exits(pkg)
		s.orders()
		s.goroutines(pkg, of)
		s.checkMutexes()
	}
}

type scan struct {
	files *token.FileSet
	file  *ast.File
	wrong []string
	seen  sights
}

// sights counts what the rules about source had to judge. A rule that finds nothing looks for the wrong thing.
type sights struct {
	files, tests, orders, safe, callbacks, mutexes int
}

// The tree has several times as many of each.
const (
	minFiles  = 500
	minTests  = 200
	minOrders = 2
	minSafe   = 60

	minCallbacks = 20
	minMutexes   = 100
)

func (s *sights) add(of sights) {
	s.files += of.files
	s.tests += of.tests
	s.orders += of.orders
	s.safe += of.safe
	s.callbacks += of.callbacks
	s.mutexes += of.mutexes
}

// missing reports the rules that had too little to judge.
func (s *sights) missing() []string {
	var wrong []string
	for _, kind := range []struct {
		name      string
		seen, min int
	}{{"Go files", s.files, minFiles}, {"files of tests", s.tests, minTests}, {"orders and queries of " + calls, s.orders, minOrders}, {"calls of " + safely, s.safe, minSafe}, {"functions that others call", s.callbacks, minCallbacks}, {"locks of mutexes", s.mutexes, minMutexes}} {
		if kind.seen < kind.min {
			wrong = append(wrong, fmt.Sprintf("%d %s are seen, and %d are the least", kind.seen, kind.name, kind.min))
		}
	}
	return wrong
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
		if importPath(spec) != path {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path[strings.LastIndex(path, "/")+1:]
	}
	return ""
}

func importPath(spec *ast.ImportSpec) string {
	path, _ := strconv.Unquote(spec.Path.Value) // the parser has seen to it
	return path
}

func isSelector(n ast.Node, pkg, name string) bool {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok || pkg == "" || sel.Sel.Name != name {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == pkg
}

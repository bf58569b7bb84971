package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// object identifies what an identifier denotes: the place of its declaration, or a name that is not declared in the tree.
type object string

// tree is one version of the repository.
type tree struct {
	dir     string
	module  string
	files   map[string]bool           // all files, by their path below dir
	objects map[string]map[int]object // of Go files that were loaded, by path and offset of the identifier
}

// loadTree writes a commit into a folder and reads it.
func loadTree(ctx context.Context, repository, commit, dir string) (*tree, error) {
	if err := extract(ctx, repository, commit, dir); err != nil {
		return nil, err
	}
	return readTree(ctx, dir)
}

// readTree reads a folder that has nothing but the files of one version.
func readTree(ctx context.Context, dir string) (*tree, error) {
	t := &tree{dir: dir, files: map[string]bool{}, objects: map[string]map[int]object{}}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.files[t.relative(path)] = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, t.resolve(ctx)
}

// extract writes the files of a commit.
func extract(ctx context.Context, repository, commit, dir string) error {
	archive := exec.CommandContext(ctx, "git", "-C", repository, "archive", commit)
	unpack := exec.CommandContext(ctx, "tar", "-x", "-C", dir)
	archive.Stderr, unpack.Stderr = os.Stderr, os.Stderr
	var err error
	if unpack.Stdin, err = archive.StdoutPipe(); err != nil {
		return err
	}
	if err := unpack.Start(); err != nil {
		return err
	}
	return errors.Join(archive.Run(), unpack.Wait())
}

// resolve finds the object of each identifier of the Go packages, their tests included.
func (t *tree) resolve(ctx context.Context) error {
	loaded, err := packages.Load(&packages.Config{
		Context: ctx, Dir: t.dir, Tests: true, BuildFlags: []string{"-tags=e2e"}, Env: append(os.Environ(), "GOFLAGS=-trimpath -buildvcs=false"), // what was built elsewhere is used again
		Mode: packages.NeedName | packages.NeedModule | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
	}, "./...")
	if err != nil {
		return err
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			return fmt.Errorf("%s: %w", p.PkgPath, e)
		}
		if p.Module != nil {
			t.module = p.Module.Path
		}
	}
	for _, p := range loaded {
		for _, file := range p.Syntax {
			path := t.relative(p.Fset.Position(file.FileStart).Filename)
			if t.files[path] && t.objects[path] == nil {
				t.objects[path] = t.objectsOf(p, file)
			}
		}
	}
	return nil
}

func (t *tree) objectsOf(p *packages.Package, file *ast.File) map[int]object {
	found := map[int]object{}
	ast.Inspect(file, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		found[p.Fset.Position(id.Pos()).Offset] = t.object(p.Fset, id, p.TypesInfo.ObjectOf(id))
		return true
	})
	return found
}

// object is what an identifier denotes. Without one (the name of the file's package, the variable of a type switch) it is its own place.
func (t *tree) object(files *token.FileSet, id *ast.Ident, o types.Object) object {
	pos := id.Pos()
	switch o := o.(type) {
	case nil:
	case *types.PkgName:
		return object("package " + o.Imported().Path())
	default:
		if pos = o.Pos(); !pos.IsValid() { // of the universe, or of unsafe
			return object("name " + o.Name())
		}
		id = &ast.Ident{Name: o.Name()}
	}
	at := files.Position(pos)
	path := t.relative(at.Filename)
	if !t.files[path] {
		return object("name " + o.Pkg().Path() + "." + o.Name())
	}
	return object(fmt.Sprintf("%s:%d %s", path, at.Line, id.Name))
}

// relative is the path of a file below the tree. Compiled packages know their files by the module's path.
func (t *tree) relative(path string) string {
	if below, ok := strings.CutPrefix(path, t.module+"/"); ok && t.module != "" {
		return below
	}
	if r, err := filepath.Rel(t.dir, path); err == nil {
		return filepath.ToSlash(r)
	}
	return path
}

// read is the text of a file.
func (t *tree) read(path string) ([]byte, error) { return os.ReadFile(filepath.Join(t.dir, path)) }

// without are the files that other has not, in order.
func (t *tree) without(other *tree) (paths []string) {
	for path := range t.files {
		if !other.files[path] {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

func isGo(path string) bool { return strings.HasSuffix(path, ".go") }

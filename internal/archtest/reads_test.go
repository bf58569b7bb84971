package archtest_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	typed "golang.org/x/tools/go/packages"

	"patchbay/internal/archtest"
)

// exampleName begins the full names of the functions in readsExample.
const exampleName = "retention.example."

// loadReaders type-checks the store and all packages above it, and readsExample as one more file of package retention.
var loadReaders = sync.OnceValues(func() ([]*typed.Package, error) {
	root, err := archtest.Root()
	if err != nil {
		return nil, err
	}
	paths := []string{"internal/store", "internal/store/dbgen"}
	for _, room := range archtest.Rooms {
		if room.Floor >= archtest.Requests && room.Floor < archtest.Tests {
			paths = append(paths, room.Path)
		}
	}
	loaded, err := archtest.LoadTyped(root, paths...)
	if err != nil {
		return nil, err
	}
	example, err := loadExample(loaded)
	return append(loaded, example), err
})

// loadExample type-checks readsExample. As an overlay of archtest.LoadTyped, each package of the standard library and of
// others would be read from source, too.
func loadExample(loaded []*typed.Package) (*typed.Package, error) {
	known := importer{}
	for _, p := range loaded {
		if strings.HasSuffix(p.PkgPath, "/internal/store") {
			known[p.PkgPath] = p.Types
			for path, imported := range p.Imports {
				known[path] = imported.Types
			}
		}
	}
	files, path := token.NewFileSet(), archtest.Module+"/internal/retention"
	file, err := parser.ParseFile(files, "example.go", readsExample, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	checked, err := (&types.Config{Importer: known}).Check(path, files, []*ast.File{file}, info)
	return &typed.Package{PkgPath: path, Fset: files, Syntax: []*ast.File{file}, Types: checked, TypesInfo: info}, err
}

// importer has the packages that an example may import.
type importer map[string]*types.Package

func (i importer) Import(path string) (*types.Package, error) {
	if p := i[path]; p != nil {
		return p, nil
	}
	return nil, errors.New("the store does not import " + path)
}

// complaintsAbout divides complaints into those about the example, by the names of its methods, and the others.
func complaintsAbout(wrong []string) (example, others []string) {
	for _, w := range wrong {
		name, _, _ := strings.Cut(w, " ")
		if method, is := strings.CutPrefix(name, exampleName); is {
			example = append(example, method)
		} else {
			others = append(others, w)
		}
	}
	slices.Sort(example)
	return example, others
}

func TestReadsThatAreCombinedAreOfOneMoment(t *testing.T) {
	t.Parallel()
	loaded, err := loadReaders()
	if err != nil {
		t.Fatal(err)
	}
	none(t, archtest.CheckReadsSeen(archtest.ScanReads(loaded, archtest.IndependentReads)))
	allowed := maps.Clone(archtest.SeparateReads)
	allowed[exampleName+"goodSingle"] = "it is none"
	example, others := complaintsAbout(archtest.CheckReads(loaded, archtest.IndependentReads, allowed))
	none(t, others)
	want := []string{"badHelper", "badLoop", "badMethodValue", "badThroughOthers", "badTwo", "besideSnapshot", "goodSingle"}
	if !slices.Equal(example, want) {
		t.Errorf("complaints about %v of the example, want %v", example, want)
	}
}

func TestReadsOfNothingAreRefused(t *testing.T) {
	t.Parallel()
	if wrong := archtest.CheckReadsSeen(archtest.ScanReads(nil, nil)); len(wrong) != 1 {
		t.Errorf("a scan of nothing says %q", wrong)
	}
}

// readsExample has functions that are allowed, named good, and others.
const readsExample = `package retention

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

type example struct{ st *store.Store }

func (e example) tenant() *store.Tenant { return e.st.Tenant(connectors.TenantID{}) }

func (e example) badTwo(ctx context.Context) {
	_, _ = e.tenant().Self(ctx)
	_, _ = e.tenant().Agents().Get(ctx, "a")
}

func (e example) badLoop(ctx context.Context, refs []connectors.Ref) {
	for _, r := range refs {
		_, _ = e.tenant().Agents().Get(ctx, r)
	}
}

func (e example) badThroughOthers(ctx context.Context) {
	goodOne(ctx, e.tenant())
	_, _ = e.tenant().Self(ctx)
}

func (e example) badHelper(ctx context.Context) { goodTwo(ctx, e.tenant()) }

func (e example) badMethodValue(ctx context.Context) {
	read := e.tenant().Self
	_, _ = read(ctx)
	_, _ = e.tenant().Agents().Get(ctx, "a")
}

func (e example) besideSnapshot(ctx context.Context) error {
	return e.tenant().Snapshot(ctx, func(tx *store.Tenant) error {
		_, err := e.tenant().Agents().Get(ctx, "a")
		return err
	})
}

func (e example) goodSnapshot(ctx context.Context) error {
	return e.tenant().Snapshot(ctx, func(tx *store.Tenant) error {
		goodTwo(ctx, tx)
		_, err := tx.Self(ctx)
		return err
	})
}

func (e example) goodAct(ctx context.Context) error {
	if _, err := e.tenant().Agents().Get(ctx, "a"); err != nil {
		return err
	}
	_, _ = e.tenant().Self(ctx)
	return e.tenant().Rename(ctx, "b")
}

func (e example) goodSingle(ctx context.Context) { goodOne(ctx, e.tenant()) }

func goodOne(ctx context.Context, tx *store.Tenant) { _, _ = tx.Agents().Get(ctx, "a") }

func goodTwo(ctx context.Context, tx *store.Tenant) {
	goodOne(ctx, tx)
	_, _ = tx.Self(ctx)
}
`

package archtest_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	typed "golang.org/x/tools/go/packages"

	"patchbay/internal/archtest"
)

// exampleName begins the full names of the functions in readsExample.
const exampleName = "retention.example."

// loadReaders type-checks the store and all packages above it, with readsExample in one of them.
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
	example := filepath.Join(root, "internal/retention/zz_example.go")
	return archtest.LoadTyped(root, map[string][]byte{example: []byte(readsExample)}, paths...)
})

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

package archtest_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	typed "golang.org/x/tools/go/packages"

	"patchbay/internal/archtest"
)

// loadReaders type-checks the store and the given packages above it, with one more file.
func loadReaders(t *testing.T, overlay string, above ...string) []*typed.Package {
	t.Helper()
	root, err := archtest.Root()
	if err != nil {
		t.Fatal(err)
	}
	var files map[string][]byte
	if overlay != "" {
		files = map[string][]byte{filepath.Join(root, above[0], "zz_example.go"): []byte(overlay)}
	}
	loaded, err := archtest.LoadTyped(root, files, append([]string{"internal/store", "internal/store/dbgen"}, above...)...)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func TestReadsThatAreCombinedAreOfOneMoment(t *testing.T) {
	t.Parallel()
	var above []string
	for _, room := range archtest.Rooms {
		if room.Floor >= archtest.Requests && room.Floor < archtest.Tests {
			above = append(above, room.Path)
		}
	}
	loaded := loadReaders(t, "", above...)
	none(t, archtest.CheckReadsSeen(archtest.ScanReads(loaded, archtest.IndependentReads)))
	none(t, archtest.CheckReads(loaded, archtest.IndependentReads, archtest.SeparateReads))
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

func TestReadsExample(t *testing.T) {
	t.Parallel()
	loaded := loadReaders(t, readsExample, "internal/retention")
	wrong := archtest.CheckReads(loaded, nil, map[string]string{"retention.example.goodSingle": "it is none"})
	var named []string
	for _, w := range wrong {
		name, _, _ := strings.Cut(w, " ")
		if kind, is := strings.CutPrefix(name, "retention.example."); is {
			named = append(named, kind)
		}
	}
	want := []string{"badHelper", "badLoop", "badMethodValue", "badThroughOthers", "badTwo", "besideSnapshot", "goodSingle"}
	if slices.Sort(named); !slices.Equal(named, want) {
		t.Errorf("complaints about %v, want %v: %q", named, want, wrong)
	}
}

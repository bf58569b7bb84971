package store_test

import (
	"fmt"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// A server that lists other skills at each sync fills no table: the ones that it removed last are known, and those that it lists.
func TestSkills_RemovedOnesAreBounded(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	uris := func(list string, n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("github://%s/%04d/SKILL.md", list, i))
		}
		return all
	}
	count := func(like string) (n int) {
		t.Helper()
		w.AsSystem(t, `select count(*) from skills where uri like $1`, []any{like}, &n)
		return n
	}
	listed := uris("listed", store.MaxRemovedSkills+5)
	for i, withheld := range [][]string{uris("first", 700), uris("second", 700), listed, append(listed, "github://one-more/SKILL.md")} {
		write := store.SkillWrite{Hash: new(connectors.Hash{byte(i)}), Withheld: withheld}
		if err := w.Door().Skills().Save(t.Context(), c.ID, write); err != nil {
			t.Fatal(err)
		}
		if n := count("%"); n > max(store.MaxRemovedSkills, len(withheld)) {
			t.Errorf("after list %d, %d skills are known", i, n)
		}
	}
	if first, now := count("github://first/%"), count("github://listed/%"); first != 0 || now != len(listed) {
		t.Errorf("%d skills of the first list are known, and %d of the last, want none and %d", first, now, len(listed))
	}
}

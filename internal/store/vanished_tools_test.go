package store_test

import (
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
)

func definitions(names string) []connectors.Definition {
	var defs []connectors.Definition
	for name := range strings.FieldsSeq(names) {
		defs = append(defs, fixture.Definition(name))
	}
	return defs
}

func TestVanishedTools_AreToldAndEndWhenTheyReturn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lists []string // of the syncs, in their order
		want  []int    // vanished tools after each sync after the first
		told  int      // notices
	}{
		"all":                      {[]string{"a b c d", "", "a b c d"}, []int{4, 0}, 1},
		"the only one":             {[]string{"a", "", "a"}, []int{1, 0}, 1},
		"one of two":               {[]string{"a b", "a"}, []int{0}, 0},
		"half":                     {[]string{"a b c d", "a b"}, []int{0}, 0},
		"more than half":           {[]string{"a b c d", "a"}, []int{3}, 1},
		"all have other names":     {[]string{"a b", "c d", "a b c d"}, []int{2, 0}, 1},
		"one after the other":      {[]string{"a b c d", "a b c", "a b", "a", ""}, []int{0, 0, 0, 1}, 1},
		"some return":              {[]string{"a b c d e f", "", "a b", "a b c"}, []int{6, 4, 0}, 1},
		"the rest vanishes":        {[]string{"a b c d e f", "a b", "", "a b"}, []int{4, 6, 4}, 2},
		"they vanish once more":    {[]string{"a b", "", "a b", ""}, []int{2, 0, 2}, 2},
		"a new tool does not help": {[]string{"a b c", "", "d"}, []int{3, 3}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTold(t)
			c := w.Connector(t, func(d *connectors.Draft) { d.Name, d.ToolChanges = "Linear", connectors.ToolChangesAuto })
			w.Resynced(t, c.ID, definitions(tc.lists[0])...)
			for i, want := range tc.want {
				w.Resynced(t, c.ID, definitions(tc.lists[i+1])...)
				wantVanished(t, w.World, c, want)
			}
			told := 0
			for _, n := range w.notices(t, nil) {
				if n.Kind == connectors.NoticeToolsVanished {
					told++
				}
			}
			if deliveries := len(w.deliveries(t, w.hook)); told != tc.told || deliveries != tc.told {
				t.Errorf("%d notices, %d deliveries, want %d", told, deliveries, tc.told)
			}
		})
	}
}

func TestVanishedTools_EndWhenAcknowledged(t *testing.T) {
	t.Parallel()
	w := newTold(t)
	c := w.Connector(t, func(d *connectors.Draft) { d.Name = "Linear" })
	w.Resynced(t, c.ID, definitions("a b")...)
	w.Resynced(t, c.ID)
	wantVanished(t, w.World, c, 2)
	if n := w.notices(t, nil); len(n) != 1 || n[0].Title != "Linear lost tools: 2 of 2" || n[0].Link != "/connectors/"+c.Slug {
		t.Errorf("%+v", n)
	}
	if err := w.Door().Tools().AcknowledgeVanished(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	wantVanished(t, w.World, c, 0)
	w.Resynced(t, c.ID, definitions("x")...)
	wantVanished(t, w.World, c, 0)
	w.Resynced(t, c.ID) // the next loss is compared with the list before it
	wantVanished(t, w.World, c, 1)
}

// wantVanished compares the vanished tools of the tenant's only connector, and what Home says of them.
func wantVanished(t *testing.T, w *fixture.World, c connectors.Connector, want int) {
	t.Helper()
	now, told := reload(t, w, c), needs(t, w, 5).Of(connectors.NeedTools)
	switch {
	case want == 0 && (now.Vanished != nil || len(told) != 0):
		t.Errorf("vanished: %+v, %+v", now.Vanished, told)
	case want > 0 && (now.Vanished == nil || now.Vanished.Tools != want || len(told) != 1 || told[0].Vanished != *now.Vanished):
		t.Errorf("vanished: %+v, %+v; want %d", now.Vanished, told, want)
	}
}

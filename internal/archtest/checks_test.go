package archtest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/archtest"
)

// plan is a small plan for the tests of the checks.
var plan = []archtest.Room{
	{Path: "roof", Floor: archtest.Main},
	{Path: "door", Floor: archtest.Adapters},
	{Path: "window", Floor: archtest.Adapters},
	{Path: "deed", Floor: archtest.UseCases},
	{Path: "envelope", Floor: archtest.Requests},
	{Path: "store", Floor: archtest.Storage},
	{Path: "store/gen", Floor: archtest.Storage, Part: true},
	{Path: "store/cache", Floor: archtest.Storage, Part: true},
	{Path: "store/twin", Floor: archtest.Storage},
	{Path: "fixture", Floor: archtest.Tests},
}

// built is every room of the plan, with the given imports of ours for one of them.
func built(path string, imports ...string) []archtest.Package {
	var packages []archtest.Package
	for _, room := range plan {
		p := archtest.Package{Path: room.Path}
		if room.Path == path {
			for _, to := range imports {
				p.Imports = append(p.Imports, archtest.Module+"/"+to)
			}
		}
		packages = append(packages, p)
	}
	return packages
}

func TestFloorsAllowImportsDownward(t *testing.T) {
	t.Parallel()
	for from, to := range map[string]string{
		"roof": "door", "door": "store", "deed": "envelope", "store": "store/gen", "store/gen": "store/cache", "store/twin": "store/gen", "fixture": "roof",
	} {
		if wrong := archtest.CheckFloors(plan, nil, built(from, to)); wrong != nil {
			t.Errorf("%s → %s: %v", from, to, wrong)
		}
	}
}

func TestFloorsRefuse(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		packages []archtest.Package
		want     string
	}{
		"an upward import":           {built("store", "door"), "store (floor 3) imports upward: door (floor 5)"},
		"an upward import inside 4":  {built("envelope", "deed"), "envelope (floor 4a) imports upward: deed (floor 4b)"},
		"a sideways import":          {built("door", "window"), "door imports its neighbour window (floor 5)"},
		"another room's part":        {built("door", "store/gen"), "door imports store/gen, which is a part of another room"},
		"a part that looks out":      {built("store/gen", "store"), "store/gen imports its neighbour store (floor 3)"},
		"a test room in the product": {built("roof", "fixture"), "roof imports fixture, which is for tests"},
		"a package without a floor":  {append(built(""), archtest.Package{Path: "shed"}), "shed has no floor: give it a row in rooms.go"},
		"a floor without a package":  {built("")[1:], "roof has a floor and no package: take its row out of rooms.go"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff([]string{tc.want}, archtest.CheckFloors(plan, nil, tc.packages)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFloorsRefuseARoomThatIsListedTwice(t *testing.T) {
	t.Parallel()
	wrong := archtest.CheckFloors(append(plan[:len(plan):len(plan)], plan[0]), nil, built(""))
	if diff := cmp.Diff([]string{"roof stands in the list of rooms twice"}, wrong); diff != "" {
		t.Error(diff)
	}
}

func TestFloorsAllowExceptions(t *testing.T) {
	t.Parallel()
	exceptions := []archtest.Exception{{From: "door", To: "window"}, {From: "store", To: "door"}}
	have := archtest.CheckFloors(plan, exceptions, built("door", "window", "store"))
	if diff := cmp.Diff([]string{"store needs no exception for door: take its row out of rooms.go"}, have); diff != "" {
		t.Error(diff)
	}
}

func TestLocksRefuseRoomsThatDoNotNeedThem(t *testing.T) {
	t.Parallel()
	locks := []archtest.Lock{{Library: "example.com/sql", For: []string{"store", "door"}}}
	have := archtest.CheckLocks(locks, plan, []archtest.Package{{Path: "store", Imports: []string{"example.com/sql"}}, {Path: "door"}})
	if diff := cmp.Diff([]string{"door does not import example.com/sql: take it out of the lock"}, have); diff != "" {
		t.Error(diff)
	}
}

func TestBlindsRefuseARoomThatIsGone(t *testing.T) {
	t.Parallel()
	have := archtest.CheckBlinds([]archtest.Blind{{Room: "page"}}, []archtest.Package{{Path: "store"}})
	if diff := cmp.Diff([]string{"page has a blind and no package"}, have); diff != "" {
		t.Error(diff)
	}
}

func TestLocksRefuseALibraryToOthers(t *testing.T) {
	t.Parallel()
	locks := []archtest.Lock{{Library: "example.com/sql", For: []string{"store"}, Because: "SQL is the store's"}}
	imports := []string{"example.com/sql/v5", "example.com/sqlite"}
	have := archtest.CheckLocks(locks, plan, []archtest.Package{
		{Path: "store", Imports: imports}, {Path: "fixture", Imports: imports}, {Path: "door", Imports: imports},
	})
	if diff := cmp.Diff([]string{"door imports example.com/sql/v5: SQL is the store's"}, have); diff != "" {
		t.Error(diff)
	}
}

func TestBlindsRefuseWhatARoomMustNotSee(t *testing.T) {
	t.Parallel()
	blinds := []archtest.Blind{
		{Room: "page", Ours: []string{"words", "page/"}, Std: true, Others: []string{"example.com/templ"}, Because: "it shows"},
		{Room: "words", NotStd: []string{"os"}, Because: "pure"},
	}
	have := archtest.CheckBlinds(blinds, []archtest.Package{
		{Path: "page", Imports: []string{"io", "patchbay/words", "patchbay/page/icons", "example.com/templ/x", "example.com/other", "patchbay/store"}},
		{Path: "words", Imports: []string{"strings", "os", "example.com/any"}},
		{Path: "store", Imports: []string{"os"}},
	})
	want := []string{"page imports example.com/other: it shows", "page imports patchbay/store: it shows", "words imports os: pure"}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
}

func TestSourceRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ pkg, file, text, want string }{
		"init":                   {"door", "a.go", "package a\nfunc init() {}", "door/a.go:2: func init: build it where it is needed"},
		"a sleep in a test":      {"door", "a_test.go", "package a\nimport \"time\"\nfunc f() { time.Sleep(1) }", "door/a_test.go:3: time.Sleep: tests wait for a signal"},
		"a sleep in a test room": {"fixture", "a.go", "package a\nimport t \"time\"\nvar s = t.Sleep", "fixture/a.go:3: time.Sleep: tests wait for a signal"},
		"a silent doc.go":        {"door", "doc.go", "package a", "door/doc.go:1: doc.go says nothing about the package"},
		"a long file":            {"door", "a.go", "package a" + strings.Repeat("\n", 501), "door/a.go:1: the file has 501 lines, and 500 are the limit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			have, err := archtest.CheckFile(plan, tc.pkg, tc.file, []byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{tc.want}, have); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSourceAllows(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ pkg, file, text string }{
		"a method called init":        {"door", "a.go", "package a\ntype d struct{}\nfunc (d) init() {}"},
		"a bubble's clock":            {"door", "a_test.go", "package a\nimport (\n\"testing/synctest\"\n\"time\"\n)\nvar _, s = synctest.Wait, time.Sleep"},
		"a long generated file":       {"door", "a.go", "// Code generated by sqlc. DO NOT EDIT.\n\npackage a\nfunc init() {}" + strings.Repeat("\n", 600)},
		"another package called http": {"door", "a.go", "package a\nimport \"example.com/http\"\nvar c = http.Client{}"},
		"a server's method constants": {"door", "a.go", "package a\nimport \"net/http\"\nvar m = http.MethodGet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			have, err := archtest.CheckFile(plan, tc.pkg, tc.file, []byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			if have != nil {
				t.Errorf("refused: %v", have)
			}
		})
	}
}

func TestPackageWithoutDocIsRefused(t *testing.T) {
	t.Parallel()
	have, err := archtest.CheckSource(plan, []archtest.Package{{Path: "door"}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(have, "door has no doc.go") {
		t.Errorf("refused: %q", have)
	}
}

package archtest_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"patchbay/internal/archtest"
)

var tree = sync.OnceValues(func() ([]archtest.Package, error) {
	root, err := archtest.Root()
	if err != nil {
		return nil, err
	}
	return archtest.List(root)
})

func packages(t *testing.T) []archtest.Package {
	t.Helper()
	list, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func none(t *testing.T, wrong []string) {
	t.Helper()
	for _, w := range wrong {
		t.Error(w)
	}
}

func TestEveryPackageKeepsToItsFloor(t *testing.T) {
	t.Parallel()
	none(t, archtest.CheckFloors(archtest.Rooms, archtest.Exceptions, packages(t)))
}

func TestLibrariesAreSeenByTheirRoomsAlone(t *testing.T) {
	t.Parallel()
	none(t, archtest.CheckLocks(archtest.Locks, archtest.Rooms, packages(t)))
}

func TestBlindRoomsSeeNoMoreThanTheyMay(t *testing.T) {
	t.Parallel()
	none(t, archtest.CheckBlinds(archtest.Blinds, packages(t)))
}

func TestSourceFilesKeepTheRules(t *testing.T) {
	t.Parallel()
	wrong, err := archtest.CheckSource(archtest.Rooms, packages(t))
	if err != nil {
		t.Fatal(err)
	}
	none(t, wrong)
}

func TestEveryExitIsUsedAndSaysWhy(t *testing.T) {
	t.Parallel()
	wrong, err := archtest.CheckExits(archtest.Exits, packages(t))
	if err != nil {
		t.Fatal(err)
	}
	none(t, wrong)
}

func TestListSeesPackagesAndImports(t *testing.T) {
	t.Parallel()
	const minPackages, minImports, minOwn = 75, 1500, 250
	imports, own := 0, 0
	for _, p := range packages(t) {
		imports += len(p.Imports)
		for _, path := range p.Imports {
			if strings.HasPrefix(path, archtest.Module+"/") {
				own++
			}
		}
	}
	if len(packages(t)) < minPackages || imports < minImports || own < minOwn {
		t.Errorf("%d packages, %d imports, %d of them of this module are seen; at least %d, %d and %d are there",
			len(packages(t)), imports, own, minPackages, minImports, minOwn)
	}
}

func TestProgramsOfTestsAreWrittenByPackageExecutable(t *testing.T) {
	t.Parallel()
	writes := regexp.MustCompile(`(WriteFile|OpenFile)\(.*\b0o[0-7]*[1357][0-7]{0,2}\)`)
	files := 0
	for _, p := range packages(t) {
		for _, file := range p.Files {
			if !strings.HasSuffix(file, "_test.go") {
				continue
			}
			files++
			if found := writes.FindString(read(t, filepath.Join(p.Dir, file))); found != "" {
				t.Errorf("%s/%s: %s", p.Path, file, found)
			}
		}
	}
	if files < 500 {
		t.Errorf("%d files of tests are seen", files)
	}
}

// `make race` leaves these packages out.
func TestPackagesOutsideTheRaceDetectorAreSequential(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile(`(?m)^SEQUENTIAL = (.+)$`).FindString(read(t, "../../Makefile"))
	checked := 0
	for _, p := range packages(t) {
		if !slices.Contains(strings.Fields(line), "./"+p.Path) || p.Path == "internal/archtest" || p.Path == "internal/renames" {
			continue
		}
		checked++
		for _, path := range []string{"sync", "sync/atomic", archtest.Module + "/internal/safe"} {
			if slices.Contains(p.Imports, path) {
				t.Errorf("%s imports %s", p.Path, path)
			}
		}
	}
	if checked != len(strings.Fields(line))-4 {
		t.Errorf("%d packages are seen of %s", checked, line)
	}
}

func TestChecksRefuseAnEmptyTree(t *testing.T) {
	t.Parallel()
	source, err := archtest.CheckSource(archtest.Rooms, nil)
	if err != nil {
		t.Fatal(err)
	}
	exits, err := archtest.CheckExits(archtest.Exits, nil)
	if err != nil {
		t.Fatal(err)
	}
	clients, err := archtest.CheckClients(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string][]string{
		"floors":     archtest.CheckFloors(archtest.Rooms, nil, nil),
		"exceptions": archtest.CheckFloors(nil, archtest.Exceptions, nil),
		"locks":      archtest.CheckLocks(archtest.Locks, archtest.Rooms, nil),
		"blinds":     archtest.CheckBlinds(archtest.Blinds, nil),
		"source":     source,
		"exits":      exits,
		"clients":    clients,
	} {
		if len(wrong) == 0 {
			t.Errorf("%s: nothing is refused", name)
		}
	}
}

func TestEveryRoomHasASentence(t *testing.T) {
	t.Parallel()
	if len(archtest.Rooms) < 75 {
		t.Errorf("%d rooms are listed", len(archtest.Rooms))
	}
	for _, e := range archtest.Exceptions {
		if e.Because == "" {
			t.Errorf("%s imports %s, and nothing says why", e.From, e.To)
		}
	}
	for _, room := range archtest.Rooms {
		if room.Sentence == "" {
			t.Errorf("%s has no sentence", room.Path)
		}
	}
}

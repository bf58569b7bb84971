package archtest_test

import (
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
	none(t, archtest.CheckFloors(archtest.Rooms, packages(t)))
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

func TestEveryRoomHasASentence(t *testing.T) {
	t.Parallel()
	for _, room := range archtest.Rooms {
		if room.Sentence == "" {
			t.Errorf("%s has no sentence", room.Path)
		}
	}
}

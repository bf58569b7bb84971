package archtest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The guide for people who use the dashboard, and what it must not fall behind.
const (
	guideFile = "../../docs/user-guide.md"
	menuFile  = "../../web/templates/layout.templ"
)

var (
	guidePicture = regexp.MustCompile(`!\[([^\]]*)\]\(([^)#]+)\)`)
	menuEntry    = regexp.MustCompile(`@(?:navItem\(f, Nav\w+|place\(f), "[^"]*", "[^"]*", i18n\.T\(ctx, "([^"]+)"`)
)

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestTheGuidesPicturesAreThereAndHaveWords(t *testing.T) {
	t.Parallel()
	shown := map[string]bool{}
	for _, picture := range guidePicture.FindAllStringSubmatch(read(t, guideFile), -1) {
		words, file := picture[1], filepath.Join(filepath.Dir(guideFile), picture[2])
		shown[filepath.Base(file)] = true
		if info, err := os.Stat(file); err != nil || info.Size() == 0 {
			t.Errorf("%s is not there: make screenshots takes it (%v)", picture[2], err)
		}
		if words == "" {
			t.Errorf("%s says nothing to whoever does not see it", picture[2])
		}
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(guideFile), "images", "guide", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if !shown[filepath.Base(file)] {
			t.Errorf("%s is shown nowhere", file)
		}
	}
}

func TestTheGuideTellsOfEveryPageOfTheMenu(t *testing.T) {
	t.Parallel()
	guide := read(t, guideFile)
	entries := menuEntry.FindAllStringSubmatch(read(t, menuFile), -1)
	if len(entries) < 10 {
		t.Fatalf("the menu has %d entries that this test can read", len(entries))
	}
	for _, entry := range entries {
		if !strings.Contains(guide, "**"+entry[1]+"**") {
			t.Errorf("the guide does not tell of %s", entry[1])
		}
	}
}

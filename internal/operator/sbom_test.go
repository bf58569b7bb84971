package operator

import (
	"bytes"
	"encoding/json"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSBOM_HasLinkedAndVendored(t *testing.T) {
	t.Parallel()
	info := &debug.BuildInfo{GoVersion: "go1.26.0", Deps: []*debug.Module{
		{Path: "example.com/linked", Version: "v1.2.3", Sum: "h1:AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA="},
		{Path: "example.com/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/new", Version: "v1.0.1"}},
	}}
	var once, again bytes.Buffer
	for _, out := range []*bytes.Buffer{&once, &again} {
		if err := writeSBOM(out, info, "v1.0.0"); err != nil {
			t.Fatal(err)
		}
	}
	if once.String() != again.String() {
		t.Error("it is another each time")
	}
	var bom struct {
		BOMFormat, SpecVersion string
		Components             []sbomComponent
		Dependencies           []struct {
			Ref       string
			DependsOn []string
		}
	}
	if err := json.Unmarshal(once.Bytes(), &bom); err != nil || bom.BOMFormat != "CycloneDX" || bom.SpecVersion != "1.6" {
		t.Fatalf("%v: %+v", err, bom)
	}
	var have []string
	for _, c := range bom.Components {
		have = append(have, c.PURL)
	}
	want := []string{
		"pkg:golang/std@1.26.0", "pkg:golang/example.com/linked@v1.2.3", "pkg:golang/example.com/new@v1.0.1",
		"pkg:npm/htmx.org@4.0.1", "pkg:npm/basecoat-css@1.0.2", "pkg:npm/%40fontsource-variable/geist@5.3.0", "pkg:npm/%40fontsource-variable/geist-mono@5.3.0", "pkg:npm/lucide-static@1.62.0",
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	if sum := bom.Components[1].Hashes; len(sum) != 1 || sum[0].Content != "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20" {
		t.Errorf("the sum is %v", sum)
	}
	if len(bom.Dependencies) != 1 || !slices.Equal(bom.Dependencies[0].DependsOn, have) {
		t.Errorf("the program depends on %v", bom.Dependencies)
	}
}

func TestSBOM_VendoredHaveLicences(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir("../../web/static/vendor/LICENSES")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d licences: %v", len(files), err)
	}
	var have, want []string
	for _, f := range files {
		want = append(want, strings.TrimSuffix(f.Name(), ".txt"))
	}
	for _, v := range vendoredFiles {
		have = append(have, v.licence+"-"+v.version)
	}
	slices.Sort(have)
	slices.Sort(want)
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
}

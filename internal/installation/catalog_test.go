package installation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patchbay/internal/catalog"
	"patchbay/internal/fault"
)

func TestLoadCatalog_OperatorFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "catalog.yaml")
	write := func(document string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("schema: 1\ndate: 2026-11-20\nservers:\n  - name: Wiki\n    category: internal\n    description: Searches the wiki.\n    url: https://wiki.example.com/mcp\n    auth: {type: bearer}\nhide: [stripe]\n")
	offered, err := LoadCatalog(file)
	if err != nil {
		t.Fatal(err)
	}
	wiki, there := offered.Entry("wiki")
	if _, stripe := offered.Entry("stripe"); !there || !wiki.Own || stripe {
		t.Errorf("wiki %t, stripe %t", there, stripe)
	}
	write("schema: 1\ndate: 2026-11-20\nservers:\n  - name: Wiki\n    categroy: internal\n")
	_, err = LoadCatalog(file)
	if !fault.Is(err, fault.Invalid) || !strings.Contains(fault.As(err).Message, "line 5: categroy: Unknown field.") || !strings.Contains(fault.As(err).Message, file) {
		t.Errorf("%v", err)
	}
	if _, err = LoadCatalog(file + ".not"); !fault.Is(err, fault.Invalid) || !strings.Contains(fault.As(err).Message, "cannot be read") {
		t.Errorf("%v", err)
	}
	if offered, err = LoadCatalog(""); err != nil || len(offered.Entries(catalog.Filter{})) < 40 {
		t.Errorf("without a file: %v", err)
	}
}

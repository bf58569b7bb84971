package operator

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
)

// SBOMCommand prints the bill of materials.
type SBOMCommand struct{}

// Help returns the text below the flags.
func (SBOMCommand) Help() string {
	return "Lists the modules linked into this binary and the code vendored for the browser. The output is reproducible."
}

// Run prints the bill of materials.
func (SBOMCommand) Run(p IO) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return fmt.Errorf("this binary has no module list")
	}
	return writeSBOM(p.Stdout, info, p.Version)
}

// sbomComponent is a component of CycloneDX 1.6.
type sbomComponent struct {
	Type    string          `json:"type"`
	Ref     string          `json:"bom-ref"`
	Name    string          `json:"name"`
	Version string          `json:"version"`
	PURL    string          `json:"purl,omitempty"`
	Hashes  []componentHash `json:"hashes,omitempty"`
}

type componentHash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// vendoredFiles are third-party files that browsers get, by their npm package; licence is the base name of the
// licence's file.
var vendoredFiles = []struct{ licence, name, version string }{
	{"htmx", "htmx.org", "4.0.1"},
	{"basecoat-css", "basecoat-css", "1.0.2"},
	{"geist", "@fontsource-variable/geist", "5.3.0"},
	{"geist-mono", "@fontsource-variable/geist-mono", "5.3.0"},
	{"lucide-static", "lucide-static", "1.62.0"},
}

func writeSBOM(w io.Writer, info *debug.BuildInfo, version string) error {
	self := sbomComponent{Type: "application", Ref: "patchbay", Name: "patchbay", Version: version}
	components := []sbomComponent{{Type: "library", Ref: "pkg:golang/std@" + goVersion(info), Name: "std", Version: goVersion(info), PURL: "pkg:golang/std@" + goVersion(info)}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		purl := "pkg:golang/" + m.Path + "@" + m.Version
		c := sbomComponent{Type: "library", Ref: purl, Name: m.Path, Version: m.Version, PURL: purl}
		// The go command's sum is SHA-256 of the list of the module's files with their sums.
		if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) == sha256.Size {
			c.Hashes = []componentHash{{"SHA-256", hex.EncodeToString(sum)}}
		}
		components = append(components, c)
	}
	for _, v := range vendoredFiles {
		ref := "pkg:npm/" + strings.Replace(v.name, "@", "%40", 1) + "@" + v.version
		components = append(components, sbomComponent{Type: "library", Ref: ref, Name: v.name, Version: v.version, PURL: ref})
	}
	var refs []string
	for _, c := range components {
		refs = append(refs, c.Ref)
	}
	text := json.NewEncoder(w)
	text.SetEscapeHTML(false)
	text.SetIndent("", "  ")
	return text.Encode(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":     map[string]any{"component": self},
		"components":   components,
		"dependencies": []any{map[string]any{"ref": self.Ref, "dependsOn": refs}},
	})
}

func goVersion(info *debug.BuildInfo) string { return strings.TrimPrefix(info.GoVersion, "go") }

package web_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"patchbay/internal/testing/executable"
)

func TestVendorScriptPinsEachPackage(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("vendor.sh")
	if err != nil {
		t.Fatal(err)
	}
	packages := regexp.MustCompile(`(?m)^fetch \S+ "\$\w+"`).FindAllString(string(script), -1)
	pinned := regexp.MustCompile(`(?m)^fetch \S+ "\$\w+" \S+ \\\n    [0-9a-f]{128}$`).FindAllString(string(script), -1)
	if len(packages) < 5 || len(pinned) != len(packages) {
		t.Errorf("%d of %d packages have a checksum", len(pinned), len(packages))
	}
}

func TestVendorScriptRefusesAnotherTarball(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script, err := os.ReadFile("vendor.sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "vendor.sh"), script, 0o600); err != nil {
		t.Fatal(err)
	}
	npm := "#!/bin/sh\nmkdir -p package/dist/ext && echo evil >package/dist/htmx.min.js && tar czf x.tgz package && echo x.tgz\n"
	executable.Write(t, filepath.Join(dir, "npm"), npm)
	cmd := exec.CommandContext(t.Context(), "sh", filepath.Join(dir, "vendor.sh"))
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "TMPDIR="+dir)
	output, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "the SHA-512 of htmx.org@") {
		t.Errorf("%v: %s", err, output)
	}
	if _, err := os.Stat(filepath.Join(dir, "static")); err == nil {
		t.Error("something was vendored")
	}
}

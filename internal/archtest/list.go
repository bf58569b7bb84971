package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// List reads the packages of the module at root, and their imports. It downloads nothing: with -e, an import that is not in the module
// cache is listed all the same. The flag -find would leave Imports empty.
func List(root string) ([]Package, error) {
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,GoFiles,IgnoredGoFiles,TestGoFiles,XTestGoFiles,Imports", "./...")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w: %s", root, err, stderr.String())
	}
	packages, err := decode(bytes.NewReader(out))
	if err != nil {
		return nil, err
	}
	return packages, look(packages)
}

// look reads the directories themselves: go test keeps a result for as long as nothing changes that the test has looked at, and
// what go list reads is not among that.
func look(packages []Package) error {
	for _, p := range packages {
		for _, dir := range []string{p.Dir, filepath.Dir(p.Dir)} {
			if _, err := os.ReadDir(dir); err != nil {
				return fmt.Errorf("look at %s: %w", p.Path, err)
			}
		}
	}
	return nil
}

func decode(r io.Reader) ([]Package, error) {
	var packages []Package
	for d := json.NewDecoder(r); ; {
		var p struct {
			ImportPath, Dir                                             string
			GoFiles, IgnoredGoFiles, TestGoFiles, XTestGoFiles, Imports []string
		}
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		packages = append(packages, Package{
			Path:    strings.TrimPrefix(p.ImportPath, Module+"/"),
			Imports: p.Imports,
			Dir:     p.Dir,
			Files:   slices.Concat(p.GoFiles, p.IgnoredGoFiles, p.TestGoFiles, p.XTestGoFiles),
		})
	}
}

// Root finds the directory with go.mod, at or above the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = parent
	}
}

package manifest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxSecretFile bounds a secret's file, in bytes.
const maxSecretFile = 64 << 10

// Reference is the source of a value. Exactly one field is set.
type Reference struct {
	Env   string  // environment variable
	File  string  // path, relative to the manifest
	Value *string // literal, for non-secret variables of a program
}

// parseReference parses a reference. plain: a literal value is allowed.
func parseReference(location string, v any, plain bool) (Reference, error) {
	fields, ok := v.(map[string]any)
	if !ok || len(fields) != 1 {
		return Reference{}, fmt.Errorf("%s: secrets can't be in this file. Use {env: VARIABLE} or {file: PATH}", location)
	}
	for key, v := range fields {
		text, ok := v.(string)
		switch {
		case !ok || text == "" && key != "value":
			return Reference{}, fmt.Errorf("%s.%s: must be a string", location, key)
		case key == "env":
			return Reference{Env: text}, nil
		case key == "file":
			return Reference{File: text}, nil
		case key == "value" && plain:
			return Reference{Value: &text}, nil
		}
	}
	if plain {
		return Reference{}, fmt.Errorf("%s: use {env: VARIABLE}, {file: PATH} or {value: TEXT}", location)
	}
	return Reference{}, fmt.Errorf("%s: secrets can't be in this file. Use {env: VARIABLE} or {file: PATH}", location)
}

// Sources resolve references.
type Sources struct {
	Dir string                   // base of relative paths
	Env func(name string) string // looks up a variable; "": not set
}

// resolveReference reads a value and trims white space, as files end with a new line.
func (s Sources) resolveReference(location string, r Reference) (string, error) {
	switch {
	case r.Value != nil:
		return *r.Value, nil
	case strings.HasPrefix(r.Env, "PATCHBAY_"):
		return "", fmt.Errorf("%s: Patchbay's own variables can't be sent to servers", location)
	case r.Env != "":
		if text := strings.TrimSpace(s.Env(r.Env)); text != "" {
			return text, nil
		}
		return "", fmt.Errorf("%s: the variable %s is not set", location, r.Env)
	}
	text, err := s.readFile(r.File, maxSecretFile)
	switch trimmed := strings.TrimSpace(string(text)); {
	case err != nil:
		return "", fmt.Errorf("%s: %w", location, err)
	case trimmed == "":
		return "", fmt.Errorf("%s: %s is empty", location, r.File)
	default:
		return trimmed, nil
	}
}

// readFile reads a file of at most limit bytes.
func (s Sources) readFile(path string, limit int64) ([]byte, error) {
	name := path
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.Dir, name)
	}
	file, err := os.Open(name) //nolint:gosec // it is an argument of the command
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s is longer than %d KiB", path, limit>>10)
	}
	return text, err
}

package manifest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxSecretFile is more than any secret has, in bytes.
const maxSecretFile = 64 << 10

// Reference says where a value comes from. Exactly one of its fields is set.
type Reference struct {
	Env   string  // a variable of the environment
	File  string  // a file; a relative path begins where the manifest is
	Value *string // the value itself: of a program's environment alone, where not everything is a secret
}

// reference reads one. Where plain is true, a value may stand in the file itself.
func reference(at string, v any, plain bool) (Reference, error) {
	fields, ok := v.(map[string]any)
	if !ok || len(fields) != 1 {
		return Reference{}, fmt.Errorf("%s: a secret does not stand in this file. Say {env: VARIABLE} or {file: PATH}", at)
	}
	for key, v := range fields {
		text, ok := v.(string)
		switch {
		case !ok || text == "" && key != "value":
			return Reference{}, fmt.Errorf("%s.%s: it must be a text", at, key)
		case key == "env":
			return Reference{Env: text}, nil
		case key == "file":
			return Reference{File: text}, nil
		case key == "value" && plain:
			return Reference{Value: &text}, nil
		}
	}
	if plain {
		return Reference{}, fmt.Errorf("%s: say {env: VARIABLE}, {file: PATH} or {value: TEXT}", at)
	}
	return Reference{}, fmt.Errorf("%s: a secret does not stand in this file. Say {env: VARIABLE} or {file: PATH}", at)
}

// Sources are where references lead.
type Sources struct {
	Dir string                   // where relative paths begin
	Env func(name string) string // a variable; empty: it is not set
}

// resolve reads a value. White space around it is dropped, as files end with a new line.
func (s Sources) resolve(at string, r Reference) (string, error) {
	switch {
	case r.Value != nil:
		return *r.Value, nil
	case strings.HasPrefix(r.Env, "PATCHBAY_"):
		return "", fmt.Errorf("%s: the variables of Patchbay itself are no server's secrets, and go to none", at)
	case r.Env != "":
		if text := strings.TrimSpace(s.Env(r.Env)); text != "" {
			return text, nil
		}
		return "", fmt.Errorf("%s: the variable %s is not set", at, r.Env)
	}
	path := r.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Dir, path)
	}
	file, err := os.Open(path) //nolint:gosec // whoever runs the command names it
	if err != nil {
		return "", fmt.Errorf("%s: %w", at, err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxSecretFile+1))
	switch trimmed := strings.TrimSpace(string(text)); {
	case err != nil:
		return "", fmt.Errorf("%s: %w", at, err)
	case len(text) > maxSecretFile:
		return "", fmt.Errorf("%s: %s is longer than 64 KiB", at, r.File)
	case trimmed == "":
		return "", fmt.Errorf("%s: %s is empty", at, r.File)
	default:
		return trimmed, nil
	}
}

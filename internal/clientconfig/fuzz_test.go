package clientconfig_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patchbay/internal/clientconfig"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// FuzzRead checks Read for any text: lines are in the document, sentences repeat no secret, and accepted
// entries follow the rules or are refused by them.
func FuzzRead(f *testing.F) {
	names, err := filepath.Glob("testdata/*.json")
	if err != nil || len(names) == 0 {
		f.Fatal("no documents", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		entries, err := clientconfig.Read(document)
		if err != nil {
			if fault.As(err).Kind == fault.Internal {
				t.Errorf("not a sentence: %v", err)
			}
			return
		}
		lines := bytes.Count(document, []byte("\n")) + 1
		for _, e := range entries {
			if e.Line < 1 || e.Line > lines {
				t.Errorf("line %d of %d", e.Line, lines)
			}
			said := e.Placeholder + strings.Join(e.Notices, "")
			for _, p := range e.Problems {
				said += p.Message
			}
			if token := e.Secret.Token.Reveal(); len(token) > 24 && strings.Contains(said, token) {
				t.Errorf("%q is repeated in %q", token, said)
			}
			d := e.Draft().Normalized()
			if problems := d.Validate(); len(e.Problems) > 0 || len(problems) > 0 {
				continue
			}
			if _, err := json.Marshal(clientconfig.Write(clientconfig.Generic, []connectors.Connector{d.Connector()})); err != nil {
				t.Error(err)
			}
		}
	})
}

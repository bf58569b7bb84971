package store

import (
	"bytes"
	"testing"
)

// FuzzPacked checks that packed results round-trip, whatever results came before, and that other input is
// refused or is a possible result.
func FuzzPacked(f *testing.F) {
	var p packer
	text := bytes.Repeat([]byte("what was found "), 60)
	f.Add(text, text[:40], p.packResult(text, text[:40]))
	f.Add([]byte{}, text, p.packResult(nil, text))
	f.Add(text[:10], []byte{}, []byte{5, 3, 8, 'a', 'b', 'c'})
	f.Add([]byte{}, []byte{}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0})
	f.Fuzz(func(t *testing.T, content, structured, raw []byte) {
		of := packer{joined: p.joined, block: p.block, output: p.output}
		first, second := of.packResult(content, structured), of.packResult(structured, content)
		for _, of := range []struct{ packed, content, structured []byte }{{first, content, structured}, {second, structured, content}} {
			if of.packed == nil {
				continue
			}
			gotContent, gotStructured, err := unpackResult(of.packed)
			if err != nil || !bytes.Equal(gotContent, of.content) || !bytes.Equal(gotStructured, of.structured) {
				t.Errorf("%q and %q are %q and %q: %v", of.content, of.structured, gotContent, gotStructured, err)
			}
		}
		if gotContent, gotStructured, err := unpackResult(raw); err == nil && len(gotContent)+len(gotStructured) > maxPacked {
			t.Errorf("%d and %d bytes of %d", len(gotContent), len(gotStructured), len(raw))
		}
	})
}

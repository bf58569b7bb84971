package store

import (
	"bytes"
	"testing"
)

// FuzzPacked: what was packed is read as it was, however long the results before it were; anything else is what some result may be, or is refused.
func FuzzPacked(f *testing.F) {
	var p packer
	text := bytes.Repeat([]byte("what was found "), 60)
	f.Add(text, text[:40], p.pack(text, text[:40]))
	f.Add([]byte{}, text, p.pack(nil, text))
	f.Add(text[:10], []byte{}, []byte{5, 3, 8, 'a', 'b', 'c'})
	f.Add([]byte{}, []byte{}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0})
	f.Fuzz(func(t *testing.T, content, structured, raw []byte) {
		of := packer{joined: p.joined, block: p.block, kept: p.kept}
		first, second := of.pack(content, structured), of.pack(structured, content)
		for _, of := range []struct{ packed, content, structured []byte }{{first, content, structured}, {second, structured, content}} {
			if of.packed == nil {
				continue
			}
			gotContent, gotStructured, err := unpack(of.packed)
			if err != nil || !bytes.Equal(gotContent, of.content) || !bytes.Equal(gotStructured, of.structured) {
				t.Errorf("%q and %q are %q and %q: %v", of.content, of.structured, gotContent, gotStructured, err)
			}
		}
		if gotContent, gotStructured, err := unpack(raw); err == nil && len(gotContent)+len(gotStructured) > mostPacked {
			t.Errorf("%d and %d bytes of %d", len(gotContent), len(gotStructured), len(raw))
		}
	})
}

package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"patchbay/internal/mcp/wire"
)

// leaf is a JSON value or bracket with its path. An array element has the step -1.
type leaf struct {
	path  []any
	value string
}

// leaves reads a document in another way than [wire.EditStrings] does: paths are slices, so no member name is
// ambiguous.
func leaves(dec *json.Decoder, path []any) (all []leaf, err error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	all = append(all, leaf{slices.Clone(path), fmt.Sprintf("%T %v", token, token)})
	opened, nested := token.(json.Delim)
	if !nested {
		return all, nil
	}
	for dec.More() {
		step := any(-1)
		if opened == '{' {
			if step, err = dec.Token(); err != nil {
				return nil, err
			}
		}
		inside, err := leaves(dec, append(path, step))
		if err != nil {
			return nil, err
		}
		all = append(all, inside...)
	}
	_, err = dec.Token()
	return all, err
}

func readLeaves(raw []byte) ([]leaf, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return leaves(dec, nil)
}

// FuzzEdited checks that only the strings at the named paths change, in responses and in parameters.
func FuzzEdited(f *testing.F) {
	for _, seed := range []string{
		`{"contents":[{"uri":"a","text":"x"},{"uri":"b"}]}`, `{"contents[].uri":"a"}`, `{"contents":[{"uri":1,"uri":"a"}]}`, `{"contents":{"[].uri":"a"},"":{"contents[]":{"uri":"a"}}}`,
		`{"ref":{"uri":"a"},"ref.uri":"a"}`, `{"ref":[{"uri":"a"}]}`, ` { "ref" : { "\u0075ri" : "\ud800" } } `, `[]`, `"uri"`, `{"contents":[[{"uri":"a"}]]}`,
	} {
		f.Add([]byte(seed), "patchbay+a:b")
	}
	places := map[string][]any{".contents[].uri": {"contents", -1, "uri"}, ".ref.uri": {"ref", "uri"}}
	f.Fuzz(func(t *testing.T, raw []byte, text string) {
		before, err := readLeaves(raw)
		if err != nil || !json.Valid(raw) || !utf8.ValidString(text) {
			return
		}
		for place, path := range places {
			out, err := wire.EditStrings(raw, wire.StringEdits{place: func(was string) (string, bool) { return text, was != "stays" }})
			if errors.Is(err, wire.ErrDepth) || errors.Is(err, wire.ErrUTF8) {
				return
			}
			if err != nil || !json.Valid(out) {
				t.Fatalf("%s of %q is edited to %q: %v", place, raw, out, err)
			}
			after, err := readLeaves(out)
			if err != nil || len(after) != len(before) {
				t.Fatalf("%s of %q is edited to %q: %v", place, raw, out, err)
			}
			for i, was := range before {
				want := was.value
				if slices.Equal(was.path, path) && strings.HasPrefix(want, "string ") && want != "string stays" {
					want = "string " + text
				}
				if !slices.Equal(after[i].path, was.path) || after[i].value != want {
					t.Errorf("%s of %q is edited to %q: at %v is %q, not %q", place, raw, out, was.path, after[i].value, want)
				}
			}
		}
	})
}

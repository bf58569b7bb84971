package httpcall_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/itchyny/gojq"

	"patchbay/internal/openapi/httpcall"
)

// FuzzFilterInput compares what a filter gets of a document with what encoding/json decodes.
func FuzzFilterInput(f *testing.F) {
	for _, body := range []string{
		`{"a":[1,-2.5e3,{"b":null}],"c":true,"d":false}`, " [ ] ", "\t{\r\n}", `0`, `-0`, `"x"`, `null`, `[1 ,2]`, `{"a" : 1 , "a":{"b":2}}`,
		`"\u00e9\ud83d\ude00\ud800\"\\\/\n"`, `{"\u0061":1,"a":2,"\"":3}`, "[\"\xff\xfe\",\"a\xc3\"]", `[[],{},[{}],""]`, `{"":{"":""}}`,
		`{"a":1`, `[1,]`, `01`, `"`, ``, `{"a"}`, "\"a\nb\"", strings.Repeat("[", 20_000),
	} {
		f.Add(body)
	}
	same, err := httpcall.CompileFilter(`.`)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		have, err := same.Apply(t.Context(), []byte(body))
		if valid := json.Valid([]byte(body)); valid != (err == nil) {
			t.Fatalf("%q is valid JSON: %v, error: %v", body, valid, err)
		}
		if err != nil || len(body) > 64 { // a longer number is changed
			return
		}
		decoder := json.NewDecoder(strings.NewReader(body))
		decoder.UseNumber()
		var want any
		if err := decoder.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if text, err := gojq.Marshal(want); err != nil || string(text) != string(have) {
			t.Errorf("%q is %s, want %s (%v)", body, have, text, err)
		}
	})
}

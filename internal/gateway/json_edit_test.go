package gateway

import (
	"strings"
	"testing"
)

func TestEditStrings_ChangesOnlySelectedStrings(t *testing.T) {
	t.Parallel()
	shout := stringEdits{".contents[].uri": func(s string) (string, bool) { return strings.ToUpper(s), s != "keep" }}
	for _, c := range [][2]string{
		{`{"contents":[{"uri":"a"}]}`, `{"contents":[{"uri":"A"}]}`},
		{
			` { "x" : 9007199254740993 , "contents" : [ { "uri" : "a\u0062" , "uri2":"a"}, {"uri":"<c>"} ] }`,
			` { "x" : 9007199254740993 , "contents" : [ { "uri" : "AB" , "uri2":"a"}, {"uri":"<C>"} ] }`,
		},
		{`{"contents":[{"uri":"keep"},{"uri":7},{"uri":{"uri":"a"}},[{"uri":"a"}],"a"]}`, `{"contents":[{"uri":"keep"},{"uri":7},{"uri":{"uri":"a"}},[{"uri":"a"}],"a"]}`},
		{`{"contents[].uri":"a","contents[]":{"uri":"a"},"contents":[{".uri":"a"}]}`, `{"contents[].uri":"a","contents[]":{"uri":"a"},"contents":[{".uri":"a"}]}`},
		{`{"contents":{"uri":"a"},"uri":"a"}`, `{"contents":{"uri":"a"},"uri":"a"}`},
		{`{"uri":"a","contents":[{"text":"\"uri\":\"a\"","uri":"é"}],"b":[1e2,true,null]}`, `{"uri":"a","contents":[{"text":"\"uri\":\"a\"","uri":"É"}],"b":[1e2,true,null]}`},
	} {
		in, want := c[0], c[1]
		got, err := editStrings([]byte(in), shout)
		if err != nil || string(got) != want {
			t.Errorf("%s\nbecame %s\n  want %s (%v)", in, got, want, err)
		}
	}
	if _, err := editStrings([]byte(`{"contents":[`), shout); err == nil {
		t.Error("half a document was edited")
	}
}

package wire_test

import (
	"runtime"
	"strings"
	"testing"

	"patchbay/internal/mcp/wire"
)

func TestEditStrings_ChangesOnlySelectedStrings(t *testing.T) {
	t.Parallel()
	shout := wire.StringEdits{".contents[].uri": func(s string) (string, bool) { return strings.ToUpper(s), s != "keep" }}
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
		got, err := wire.EditStrings([]byte(in), shout)
		if err != nil || string(got) != want {
			t.Errorf("%s\nbecame %s\n  want %s (%v)", in, got, want, err)
		}
	}
	if _, err := wire.EditStrings([]byte(`{"contents":[`), shout); err == nil {
		t.Error("half a document was edited")
	}
}

// TestEditStrings_IsLinear checks that memory is bound by the document's size, whatever its shape.
func TestEditStrings_IsLinear(t *testing.T) { //nolint:paralleltest // it measures allocations
	const link = `{"type":"resource_link","uri":"ui://app/main.html"}`
	edits := wire.StringEdits{}
	for _, path := range []string{".content[].uri", "._meta.ui.resourceUri", ".content[].resource.uri", ".messages[].content.uri"} {
		edits[path] = func(own string) (string, bool) { return "ui://one/" + strings.TrimPrefix(own, "ui://"), true }
	}
	name := strings.Repeat("n", 8000)
	for shape, tc := range map[string]struct {
		raw  string
		most uint64 // bytes for each byte of the document
	}{
		"deep, long names":          {`{"content":[` + link + `],"x":` + strings.Repeat(`{"`+name+`":`, 480) + "0" + strings.Repeat("}", 480) + `}`, 3},
		"deep in the path":          {`{"content":[` + link + `,` + strings.Repeat(`{"`+name+`":`, 480) + "0" + strings.Repeat("}", 480) + `]}`, 3},
		"flat":                      {`{"content":[` + link + `],"x":[` + strings.Repeat("0,", 4<<20) + `0]}`, 3},
		"flat in the path":          {`{"content":[` + link + strings.Repeat(",0", 4<<20) + `]}`, 3},
		"objects in the path":       {`{"content":[` + link + strings.Repeat(",{}", 1<<20) + `]}`, 3},
		"strings off the path":      {`{"content":[` + link + `],"uri":[` + strings.Repeat(`"a",`, 1<<20) + `0]}`, 3},
		"links":                     {`{"content":[` + link + strings.Repeat(","+link, 1<<14) + `]}`, 16},
		"escaped names in the path": {`{"content":[` + link + `,{` + strings.Repeat(`"\u0061":0,`, 1<<18) + `"b":0}]}`, 6}, // the race detector adds to small allocations
		"escaped names off path":    {`{"content":[` + link + `],"x":{` + strings.Repeat(`"\u0061":0,`, 1<<18) + `"b":0}}`, 6},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, err := wire.EditStrings([]byte(tc.raw), edits)
		runtime.ReadMemStats(&after)
		if err != nil || !strings.Contains(string(out), `"ui://one/app/main.html"`) {
			t.Errorf("%s: %v", shape, err)
		}
		if got, limit := after.TotalAlloc-before.TotalAlloc, tc.most*uint64(len(tc.raw)); got > limit {
			t.Errorf("%s: %d bytes are allocated for %d", shape, got, len(tc.raw))
		}
	}
}

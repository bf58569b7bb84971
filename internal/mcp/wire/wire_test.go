package wire_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/mcp/wire"
	"unicode/utf8"
)

func findPage(text []byte, id int) (*wire.Reply, error) {
	return wire.Finder{ID: id, Paged: true}.Find(text)
}

func TestFind_ReplyOfTheRequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"a reply":                     {`{"jsonrpc":"2.0","id":7,"result":{"a":1}}`, `{"a":1}`},
		"the id as a text":            {`{"id":"7","result":{"a":1}}`, `{"a":1}`},
		"the result first":            {`{"result":{"a":1},"id":7}`, `{"a":1}`},
		"white space":                 {" {\n\"id\" : 7 ,\t\"result\" : [ ]\r\n} \n", `[ ]`},
		"a batch":                     {`[{"method":"x"},{"id":6,"result":1},{"id":7,"result":2}]`, `2`},
		"several after one another":   {"{\"method\":\"x\"}\n{\"id\":7,\"result\":2}\nrubbish", `2`},
		"a request with the same id":  {`[{"id":7,"method":"ping","result":1},{"id":7,"result":2}]`, `2`},
		"an error that is null":       {`{"id":7,"error":null,"result":2}`, `2`},
		"the last of two equal keys":  {`{"id":7,"result":1,"result":2}`, `2`},
		"keys spelled with escapes":   {`{"\u0069d":7,"r\u0065sult":2}`, `2`},
		"integers past 2^53":          {`{"id":7,"result":9007199254740993.10e400}`, `9007199254740993.10e400`},
		"any characters in a string":  {`{"id":7,"result":"\ud800\u0000ü\/"}`, `"\ud800\u0000ü\/"`},
		"elements that are no object": {`[1,null,{"id":7,"result":2}]`, `2`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply, err := wire.Find([]byte(c.text), 7)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(reply.Result); got != c.want {
				t.Errorf("result %s, want %s", got, c.want)
			}
		})
	}
}

func TestFind_InvalidText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		``:                                      wire.ErrNoReply,
		`{}`:                                    wire.ErrNoReply,
		`[]`:                                    wire.ErrNoReply,
		`"text"`:                                wire.ErrNoReply,
		`{"id":8,"result":1}`:                   wire.ErrNoReply,
		`{"id":7}`:                              wire.ErrNoReply,
		`{"result":1}`:                          wire.ErrNoReply,
		`{"id":7,"method":"ping"}`:              wire.ErrNoReply,
		`{"id":7,"result":`:                     wire.ErrSyntax,
		`{"id":7,"result":1`:                    wire.ErrSyntax,
		`{"id":7,"result":01}`:                  wire.ErrSyntax,
		`{"id":7,"result":1.}`:                  wire.ErrSyntax,
		`{"id":7,"result":+1}`:                  wire.ErrSyntax,
		`{"id":7,"result":NaN}`:                 wire.ErrSyntax,
		`{"id":7,"result":truth}`:               wire.ErrSyntax,
		`{"id":7,"result":"a` + "\n" + `"}`:     wire.ErrSyntax,
		`{"id":7,"result":"\x41"}`:              wire.ErrSyntax,
		`{"id":7,"result":"\u00g0"}`:            wire.ErrSyntax,
		`{"id":7,"result":1,}`:                  wire.ErrSyntax,
		`{'id':7}`:                              wire.ErrSyntax,
		"\x00":                                  wire.ErrSyntax,
		"{\"id\":7,\"result\":\"\xff\"}":        wire.ErrUTF8,
		strings.Repeat("[", 1000):               wire.ErrDepth,
		strings.Repeat(`{"a":`, 1000) + `1`:     wire.ErrDepth,
		`{"id":7,"result":` + nestJSON(600, ""): wire.ErrDepth,
	} {
		if _, err := wire.Find([]byte(text), 7); !errors.Is(err, want) {
			t.Errorf("%.60q: %v, want %v", text, err, want)
		}
	}
}

func nestJSON(n int, inner string) string {
	return strings.Repeat("[", n) + inner + strings.Repeat("]", n)
}

func TestFind_ErrorsOfEveryShape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]wire.Error{
		`{"id":7,"error":{"code":-32601,"message":"no","data":{"a":1}}}`: {Code: -32601, Message: "no", Data: json.RawMessage(`{"a":1}`)},
		`{"id":null,"error":{"code":-32700,"message":"no"}}`:             {Code: -32700, Message: "no"},
		`{"error":{"code":-32700,"message":"no"}}`:                       {Code: -32700, Message: "no"},
		`{"id":7,"error":{"code":"-32000","message":1}}`:                 {Code: -32000},
		`{"id":7,"error":{"code":-32000.0}}`:                             {Code: -32000},
		`{"id":7,"error":{"code":1e99}}`:                                 {},
		`{"id":7,"error":"boom"}`:                                        {},
	} {
		reply, err := wire.Find([]byte(text), 7)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(&want, reply.Error); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// formatEntries lists a page as "name: raw" and "defect: raw".
func formatEntries(page *wire.Page) []string {
	var got []string
	for _, e := range page.Entries {
		label := e.Defect
		if label == "" {
			label = *e.Name
		}
		got = append(got, label+" "+string(e.Raw))
	}
	return got
}

func TestFindPage_ToolsAreByteForByte(t *testing.T) {
	t.Parallel()
	first := `{ "inputSchema" : {"type":"object","maximum":9007199254740993},  "name":"ümlaut\u0041", "x-own":[1e2,{}] }`
	second := `{"name":"b","_meta":{"a":"\u003c"}}`
	reply, err := findPage([]byte(`{"result":{"tools":[ `+first+" ,\n"+second+` ],"nextCursor":"a\"b"},"id":1}`), 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"ümlautA " + first, "b " + second}
	if diff := cmp.Diff(want, formatEntries(reply.Page)); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if reply.Page.Next == nil || *reply.Page.Next != `a"b` {
		t.Errorf("cursor %v", reply.Page.Next)
	}
}

func TestFindPage_QuarantinesBadEntries(t *testing.T) {
	t.Parallel()
	const ok = `{"name":"ok"}`
	long := `{"name":"` + strings.Repeat("ü", 129) + `"}`
	deep := `{"name":"deep","inputSchema":{"a":` + nestJSON(600, "1") + `}}`
	for name, c := range map[string]struct{ entry, defect string }{
		"a text":                 {`"a"`, `Not an object. "a"`},
		"null":                   {`null`, `Not an object. null`},
		"an array":               {`[{}]`, `Not an object. [{}]`},
		"no name":                {`{}`, `Missing name. {}`},
		"another case":           {`{"Name":"a"}`, `Missing name. {"Name":"a"}`},
		"a number for a name":    {`{"name":1}`, `The name isn't a string. {"name":1}`},
		"null for a name":        {`{"name":null}`, `The name isn't a string. {"name":null}`},
		"an empty name":          {`{"name":""}`, `The name is empty. {"name":""}`},
		"a name with NUL":        {`{"name":"a\u0000"}`, `The name contains a NUL character. {"name":"a\u0000"}`},
		"a long name":            {long, `The name exceeds 128 characters. ` + long},
		"no object for a schema": {`{"name":"a","inputSchema":[]}`, `The inputSchema isn't an object. {"name":"a","inputSchema":[]}`},
		"null for a schema":      {`{"name":"a","inputSchema":null}`, `The inputSchema isn't an object. {"name":"a","inputSchema":null}`},
		"broken JSON":            {`{"name":"a",}`, `Not valid JSON. "{\"name\":\"a\",}"`},
		"a broken string":        {"{\"name\":\"a\nb\"}", `Not valid JSON. "{\"name\":\"a\nb\"}"`},
		"NaN":                    {`{"name":"a","inputSchema":{"maximum":NaN}}`, `Not valid JSON. "{\"name\":\"a\",\"inputSchema\":{\"maximum\":NaN}}"`},
		"invalid UTF-8":          {"{\"name\":\"\xff\"}", `Not valid UTF-8. "{\"name\":\"\ufffd\"}"`},
		"nested too deeply":      {deep, `Nested too deeply. ` + quoteJSON(deep)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reply, err := findPage([]byte(`{"id":1,"result":{"tools":[`+c.entry+`,`+ok+`]}}`), 1)
			if err != nil {
				t.Fatal(err)
			}
			want := []string{c.defect, "ok " + ok}
			if diff := cmp.Diff(want, formatEntries(reply.Page)); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

func quoteJSON(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

func TestFindPage_AcceptsTrailingComma(t *testing.T) {
	t.Parallel()
	reply, err := findPage([]byte(`{"id":1,"result":{"tools":[{"name":"a"}, ]}}`), 1)
	if err != nil || len(reply.Page.Entries) != 1 {
		t.Errorf("page %+v, error %v", reply, err)
	}
}

func TestFindPage_NoToolList(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]string{
		`{"tools":[]}`:                      "",
		`{"tools":null}`:                    "",
		`{"tools":[],"nextCursor":null}`:    "",
		`{}`:                                "sent a tool list without tools",
		`{"tools":{}}`:                      "sent a tool list without tools",
		`[]`:                                "sent a non-object tool list",
		`null`:                              "sent a non-object tool list",
		`{"tools":[],"nextCursor":1}`:       "sent a non-string cursor",
		`{"tools":[],"nextCursor":{"a":1}}`: "sent a non-string cursor",
	} {
		reply, err := findPage([]byte(`{"id":1,"result":`+result+`}`), 1)
		if err != nil {
			t.Errorf("%s: %v", result, err)
			continue
		}
		if reply.Page.Defect != want {
			t.Errorf("%s: defect %q, want %q", result, reply.Page.Defect, want)
		}
	}
}

func TestRequest_IsJSONRPC(t *testing.T) {
	t.Parallel()
	got := string(wire.Request(3, "tools/list", []byte("{\"cursor\":\n\"a\"}"))) + string(wire.Notification("x", nil))
	want := `{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor": "a"}}{"jsonrpc":"2.0","method":"x"}`
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The result equals that of encoding/json, and shown entries are valid JSON.
func FuzzFindPage(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{}},{"name":1}],"nextCursor":"b"}}`))
	f.Add([]byte(`[{"id":"1","result":{"tools":[{"name":"a",},{"name":"\u0062"}]}}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		reply, err := findPage(text, 1)
		if err != nil || reply.Page == nil {
			return
		}
		for _, entry := range reply.Page.Entries {
			if !json.Valid(entry.Raw) {
				t.Fatalf("entry %q is no JSON", entry.Raw)
			}
			if entry.Defect != "" {
				continue
			}
			var tool map[string]json.RawMessage
			if err := json.Unmarshal(entry.Raw, &tool); err != nil {
				t.Fatalf("tool %q: %v", entry.Raw, err)
			}
			var name string
			if err := json.Unmarshal(tool["name"], &name); err != nil || name != *entry.Name {
				t.Fatalf("tool %q: name %q, want %q (%v)", entry.Raw, *entry.Name, name, err)
			}
		}
	})
}

// FuzzFind checks that a found result is JSON, and that JSON is no syntax error.
func FuzzFind(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"a":[1,-0.5e+7,"\u00e9",true,false,null]}}`))
	f.Add([]byte("{\"id\":1,\"result\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		reply, err := wire.Find(text, 1)
		if err == nil && reply.Error == nil && !json.Valid(reply.Result) {
			t.Fatalf("result %q is no JSON", reply.Result)
		}
		if errors.Is(err, wire.ErrSyntax) && json.Valid(text) {
			t.Fatalf("%q is JSON", text)
		}
	})
}

// Long texts are read in blocks, so bytes of every kind are tested at every position of several blocks.
func TestFind_ChecksEachByteOfALongText(t *testing.T) {
	t.Parallel()
	const before = `{"id":1,"result":"`
	for _, length := range []int{5, 70, 127, 128, 129, 200, 300} {
		text := []byte(before + strings.Repeat("a", length) + `"}`)
		for at := range length {
			for _, c := range "\x00\x1f !\"#[\\]\x7f\u0080\u00c3\u00ff" {
				text[len(before)+at] = byte(c)
				want := json.Valid(text) && utf8.Valid(text)
				if _, err := wire.Find(text, 1); (err == nil) != want {
					t.Fatalf("byte %#x at %d of %d: %v", c, at, length, err)
				}
			}
			text[len(before)+at] = 'a'
		}
	}
}

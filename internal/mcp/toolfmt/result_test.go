package toolfmt_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/mcp/toolfmt"
)

func TestResult_BecomesProviderMessage(t *testing.T) {
	t.Parallel()
	const (
		image  = `{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}`
		gone   = "[An image of type image/png, 5 bytes: cannot be shown here.]"
		source = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGVsbG8="}}`
		inline = `{"inlineData":{"mimeType":"image/png","data":"aGVsbG8="}}`
	)
	for name, test := range map[string]struct{ result, openAI, anthropic, google string }{
		"a text": {
			`{"content":[{"type":"text","text":"It is <5> & \"sunny\"."}]}`,
			`"It is <5> & \"sunny\"."`,
			`[{"type":"text","text":"It is <5> & \"sunny\"."}]`,
			`{"output":"It is <5> & \"sunny\"."}`,
		},
		"texts": {
			`{"content":[{"type":"text","text":"a"},{"type":"text","text":""},{"type":"text","text":"b"}]}`,
			`"a\n\nb"`, `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, `{"output":"a\n\nb"}`,
		},
		"a failure": {
			`{"content":[{"type":"text","text":"no such issue"}],"isError":true}`,
			`"The tool failed: no such issue"`, `[{"type":"text","text":"no such issue"}],"is_error":true`, `{"error":"no such issue"}`,
		},
		"an image": {
			`{"content":[{"type":"text","text":"Here:"},` + image + `]}`,
			`"Here:\n\n` + gone + `"`, `[{"type":"text","text":"Here:"},` + source + `]`,
			`{"output":"Here:"},"parts":[` + inline + `]`,
		},
		"an image of a failure": {
			`{"isError":true,"content":[` + image + `]}`,
			`"The tool failed: ` + gone + `"`, `[{"type":"text","text":"` + gone + `"}],"is_error":true`, `{"error":"` + gone + `"}`,
		},
		"structured content that a text says, too": {
			`{"content":[{"type":"text","text":"{\"n\": 9007199254740993}"}],"structuredContent":{"n":9007199254740993}}`,
			`"{\"n\": 9007199254740993}"`, `[{"type":"text","text":"{\"n\": 9007199254740993}"}]`, `{"output":{"n":9007199254740993}}`,
		},
		"structured content alone": {
			`{"structuredContent":{"b":1.50,"a":"<"}}`,
			`"{\"b\":1.50,\"a\":\"<\"}"`, `[{"type":"text","text":"{\"b\":1.50,\"a\":\"<\"}"}]`, `{"output":{"b":1.50,"a":"<"}}`,
		},
		"structured content beside another text": {
			`{"content":[{"type":"text","text":"Two."}],"structuredContent":{"n":2}}`,
			`"Two.\n\n{\"n\":2}"`, `[{"type":"text","text":"Two."},{"type":"text","text":"{\"n\":2}"}]`, `{"output":"Two.\n\n{\"n\":2}"}`,
		},
		"resources": {
			`{"content":[{"type":"resource_link","uri":"file:///a.txt","name":"a","mimeType":"text/plain"},{"type":"resource","resource":{"uri":"file:///b","text":"B"}}]}`,
			`"[Resource a: file:///a.txt, text/plain]\n\n[file:///b]\nB"`,
			`[{"type":"text","text":"[Resource a: file:///a.txt, text/plain]"},{"type":"text","text":"[file:///b]\nB"}]`,
			`{"output":"[Resource a: file:///a.txt, text/plain]\n\n[file:///b]\nB"}`,
		},
		"a document": {
			`{"content":[{"type":"resource","resource":{"uri":"file:///c.pdf","mimeType":"application/pdf","blob":"aGVsbG8="}}]}`,
			`"[A file of type application/pdf, 5 bytes, file:///c.pdf: cannot be shown here.]"`,
			`[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGVsbG8="}}]`,
			`{"output":"(no content)"},"parts":[{"inlineData":{"mimeType":"application/pdf","data":"aGVsbG8="}}]`,
		},
		"a sound": {
			`{"content":[{"type":"audio","data":"aGVsbG8=","mimeType":"audio/wav"}]}`,
			`"[An audio of type audio/wav, 5 bytes: cannot be shown here.]"`,
			`[{"type":"text","text":"[An audio of type audio/wav, 5 bytes: cannot be shown here.]"}]`,
			`{"output":"[An audio of type audio/wav, 5 bytes: cannot be shown here.]"}`,
		},
		"an image that is none": {
			`{"content":[{"type":"image","data":"!!!!","mimeType":"image/png"}]}`,
			`"[An image of type image/png, 0 bytes: cannot be shown here.]"`,
			`[{"type":"text","text":"[An image of type image/png, 0 bytes: cannot be shown here.]"}]`,
			`{"output":"[An image of type image/png, 0 bytes: cannot be shown here.]"}`,
		},
		"nothing": {
			`{"content":[]}`, `"(no content)"`, `[{"type":"text","text":"(no content)"}]`, `{"output":"(no content)"}`,
		},
		"a sloppy server's text": {
			`{"content":"done","isError":"yes"}`, `"done"`, `[{"type":"text","text":"done"}]`, `{"output":"done"}`,
		},
		"an unknown block": {
			`{"content":[{"type":"hologram"},17]}`,
			`"[A block of unknown type \"hologram\".]\n\n[An unreadable block.]"`,
			`[{"type":"text","text":"[A block of unknown type \"hologram\".]"},{"type":"text","text":"[An unreadable block.]"}]`,
			`{"output":"[A block of unknown type \"hologram\".]\n\n[An unreadable block.]"}`,
		},
		"no result": {
			`<html>`, `"The tool failed: The tool's result cannot be read."`,
			`[{"type":"text","text":"The tool's result cannot be read."}],"is_error":true`, `{"error":"The tool's result cannot be read."}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := json.RawMessage(test.result)
			rest, parts, found := strings.Cut(test.google, `,"parts":`)
			if found {
				parts = `,"parts":` + parts
			}
			for provider, pair := range map[string][2]string{
				"openai": {string(toolfmt.Result(toolfmt.OpenAI, toolfmt.Call{ID: "call_1"}, raw)), `{"role":"tool","tool_call_id":"call_1","content":` + test.openAI + `}`},
				"anthropic": {
					string(toolfmt.Result(toolfmt.Anthropic, toolfmt.Call{ID: "toolu_1"}, raw)), `{"type":"tool_result","tool_use_id":"toolu_1","content":` + test.anthropic + `}`,
				},
				"google": {
					string(toolfmt.Result(toolfmt.Google, toolfmt.Call{Tool: "mcp_x__y"}, raw)), `{"functionResponse":{"name":"mcp_x__y","response":` + rest + parts + `}}`,
				},
			} {
				if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", provider, diff)
				}
			}
		})
	}
}

func TestGoogleResult_RepeatsCallID(t *testing.T) {
	t.Parallel()
	got := string(toolfmt.Result(toolfmt.Google, toolfmt.Call{Tool: "mcp_x__y", ID: "call-7"}, json.RawMessage(`{"content":[]}`)))
	if !strings.HasPrefix(got, `{"functionResponse":{"id":"call-7","name":"mcp_x__y",`) {
		t.Error(got)
	}
}

func TestResult_IsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 300_000)
	blocks := strings.Repeat(`{"type":"text","text":"x"},`, 10_000)
	picture := base64.StdEncoding.EncodeToString(make([]byte, 5<<20+1))
	for name, test := range map[string]struct{ result, said string }{
		"a long text":      {`{"content":[{"type":"text","text":"` + long + `"},{"type":"text","text":"more"}]}`, "more bytes omitted.]"},
		"many blocks":      {`{"content":[` + blocks + `{"type":"text","text":"last"}]}`, "[9901 more blocks omitted.]"},
		"a huge image":     {`{"content":[{"type":"image","mimeType":"image/png","data":"` + picture + `"}]}`, "bytes: cannot be shown here.]"},
		"a huge structure": {`{"structuredContent":{"a":"` + long + `"}}`, "(no content)"},
	} {
		for provider, got := range map[string]json.RawMessage{
			"openai": toolfmt.Result(toolfmt.OpenAI, toolfmt.Call{ID: "c"}, json.RawMessage(test.result)), "anthropic": toolfmt.Result(toolfmt.Anthropic, toolfmt.Call{ID: "c"}, json.RawMessage(test.result)),
			"google": toolfmt.Result(toolfmt.Google, toolfmt.Call{Tool: "n", ID: "c"}, json.RawMessage(test.result)),
			"text":   toolfmt.Result(toolfmt.Text, toolfmt.Call{}, json.RawMessage(test.result)),
		} {
			if len(got) > 250_000 || !strings.Contains(string(got), test.said) || !json.Valid(got) {
				t.Errorf("%s for %s: %d bytes, %s", name, provider, len(got), fmt.Sprintf("%.100s", got))
			}
		}
	}
}

// FuzzResults checks that any result makes valid JSON in each format.
func FuzzResults(f *testing.F) {
	for _, result := range []string{
		`{"content":[{"type":"text","text":"a"},{"type":"image","data":"aGk=","mimeType":"image/png"}],"structuredContent":{"n":9007199254740993}}`,
		`{"content":[{"type":"resource_link","uri":"file:///a","name":"a"},{"type":"resource","resource":{"uri":"u","text":"t"}},{"type":"resource","resource":{"uri":"u","blob":"aGk=","mimeType":"application/pdf"}}],"isError":true}`,
		`{"content":"bare"}`, `{"content":{"type":"text","text":"one"}}`, `[]`, ``, `{"structuredContent":{"a":[]}}`, `{"content":[null,1,"x",{}]}`,
	} {
		f.Add([]byte(result))
	}
	f.Fuzz(func(t *testing.T, result []byte) {
		for name, message := range map[string]json.RawMessage{
			"openai": toolfmt.Result(toolfmt.OpenAI, toolfmt.Call{ID: "call_1"}, result), "anthropic": toolfmt.Result(toolfmt.Anthropic, toolfmt.Call{ID: "toolu_1"}, result),
			"google": toolfmt.Result(toolfmt.Google, toolfmt.Call{Tool: "mcp_test__tool"}, result),
			"text":   toolfmt.Result(toolfmt.Text, toolfmt.Call{}, result),
		} {
			if !json.Valid(message) || !utf8.Valid(message) {
				t.Errorf("%s: %q", name, message)
			}
		}
	})
}

package gateway_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"patchbay/internal/mcp/mcptest"
)

// TestUncheckableArguments_AreNotSentUpstream sends invalid, ambiguous and unreadable arguments. Arguments that
// are too expensive to check are sent on.
func TestUncheckableArguments_AreNotSentUpstream(t *testing.T) {
	t.Parallel()
	const (
		secret  = "hunter2-hunter2"
		longest = 2 << 10 // of an error's text
	)
	var came atomic.Int64
	// Each level of x doubles the work of a check.
	upstream := mcptest.Start(t, mcptest.Script{
		Tools: []string{`{"name":"a","inputSchema":{"type":"object","additionalProperties":false,"required":["n"],
			"properties":{"n":{"type":"integer","minimum":3,"maximum":9},"kind":{"enum":["b"]},"name":{"type":"string","maxLength":9},"x":{"$ref":"#/$defs/x"}},
			"$defs":{"x":{"anyOf":[{"properties":{"a":{"$ref":"#/$defs/x"}},"required":["no"]},{"properties":{"a":{"$ref":"#/$defs/x"}},"required":["no"]}]}}}}`},
		On: map[string]mcptest.Handler{"tools/call": mcptest.Answer("application/json", func(c mcptest.Call) string {
			came.Add(1)
			return `{"jsonrpc":"2.0","id":` + string(c.ID) + `,"result":{"content":[]}}`
		})},
	})
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	b.Grant(t, agent.ID, b.newConnector(t, "one", upstream.URL).ID)
	token := bearerHeader(b.Token(t, agent.ID))
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }

	for name, arguments := range map[string]string{
		"no object":                  `["` + secret + `"]`,
		"a wrong type":               `{"n":"` + secret + `"}`,
		"none of the values":         `{"n":3,"kind":"` + secret + `"}`,
		"a text that is too long":    `{"n":3,"name":"` + strings.Repeat(secret, 10_000) + `"}`,
		"a key twice":                `{"n":3,"name":"` + secret + `","name":"b"}`,
		"a key twice, once escaped":  `{"n":3,"name":"` + secret + `","n\u0061me":"b"}`,
		"a number without end":       `{"n":` + strings.Repeat("9", 10_000) + `}`,
		"a number beyond numbers":    `{"n":1e999999999}`,
		"many that are not known":    `{"n":3,"` + secret + `":1` + strings.Repeat(`,"zz":1`, 3) + `}`,
		"thousands of unknown names": `{"n":3` + manyNames(5_000) + `}`,
		"one long name":              `{"n":3,"` + strings.Repeat("z", 100_000) + `":1}`,
		"nine thousand levels":       `{"n":3,"x":` + deep(9_000) + `}`,
	} {
		for _, at := range []string{"/mcp mcp_one__a", "/mcp/one a"} {
			path, tool, _ := strings.Cut(at, " ")
			got := callRaw(t, b.url+path, token, tool, arguments)
			e := got.rpc(t).Error
			isResult := e == nil && strings.Contains(got.body, `"isError":true`) && strings.Contains(got.body, `"code":"invalid_arguments"`)
			if !isResult && (e == nil || e.Code != -32602 && e.Code != -32600 && e.Code != -32700) {
				t.Errorf("%s at %s: %d %.300s", name, path, got.status, got.body)
				continue
			}
			if strings.Contains(got.body, secret) && name != "many that are not known" || len(got.body) > longest {
				t.Errorf("%s at %s: an error of %d bytes: %.300s", name, path, len(got.body), got.body)
			}
		}
	}
	if got := callRaw(t, b.url+"/mcp", token, "mcp_one__a", `{"n":3,"name":"`+strings.Repeat("a", 20<<20)+`"}`); got.status != http.StatusRequestEntityTooLarge || len(got.body) > longest {
		t.Errorf("20 MiB: %d %.300s", got.status, got.body)
	}
	if n := came.Load(); n != 0 {
		t.Errorf("%d calls reached the server", n)
	}
	for calls, arguments := range []string{`{"n":3}`, `{"n":3,"x":` + deep(60) + `}`} {
		if got := callRaw(t, b.url+"/mcp", token, "mcp_one__a", arguments); got.rpc(t).Error != nil || came.Load() != int64(calls+1) {
			t.Errorf("%.40s: %d %.300s, %d calls", arguments, got.status, got.body, came.Load())
		}
	}
}

// manyNames returns n unknown members.
func manyNames(n int) string {
	var s strings.Builder
	for i := range n {
		s.WriteString(`,"k` + strings.Repeat("y", i%7) + string(rune('a'+i%26)) + strconv.Itoa(i) + `":1`)
	}
	return s.String()
}

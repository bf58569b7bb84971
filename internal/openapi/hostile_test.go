//go:build !race

// The race detector finds nothing in these computations and takes ten times as long.

package openapi_test

import (
	"runtime"
	"strings"
	"testing"

	"patchbay/internal/fault"
	"patchbay/internal/openapi"
)

// readSentence reads a document, and makes its tools. It returns what is said of the first failure, or of the first part that is left out.
func readSentence(text string) (sentence string, largest int) {
	d, err := openapi.Read([]byte(text), openapi.Options{URL: "https://example.com/x"})
	if err != nil {
		return fault.As(err).Message, 0
	}
	for _, o := range d.Operations {
		made, err := d.Tool(o)
		if err != nil {
			return fault.As(err).Message, largest
		}
		largest = max(largest, len(made.Definition))
	}
	if len(d.Problems) > 0 {
		return d.Problems[0].Sentence, largest
	}
	return "", largest
}

// countWork returns the objects and the bytes that f allocates: its work, whatever else the machine does. No parallel test runs meanwhile.
func countWork(f func()) (objects, bytes uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc
}

// Each kind of hostile document has its sentence, or none where the document can be used, and a bound of its work: thousands of objects and
// KiB, each about a third above what is needed.
func TestHostileDocuments_OfEachKind(t *testing.T) {
	all := hostile()
	get := func(operation string) string { return `{"get":{` + operation + `"responses":{}}}` }
	ring := `"parameters":[{"$ref":"#/components/parameters/A"}],`
	components := `{"parameters":{"A":{"$ref":"#/components/parameters/B"},"B":{"$ref":"#/components/parameters/A"}},"requestBodies":{"C":{"$ref":"#/components/requestBodies/C"}}}`
	server := func(url string) string { return get(`"servers":[{"url":"` + url + `"}],`) }
	const values, operations = "The document has too many values.", "The document has no operations."
	for name, tc := range map[string]struct {
		text, want     string
		thousands, kib uint64
	}{
		"cycle of parameters":        {document("3.0.0", get(ring), components), "A parameter refers to something that isn't in the document.", 1, 1024},
		"cycle of a body":            {document("3.0.0", `{"post":{"requestBody":{"$ref":"#/components/requestBodies/C"},"responses":{}}}`, components), "The operation needs an unsupported type of body.", 1, 1024},
		"cycle of paths":             {all["path items"], operations, 1, 1024},
		"cycle of schemas":           {all["ring"], "", 1, 1024},
		"cycle of YAML":              {all["alias in self"], operations, 1, 1024},
		"two references each":        {all["fork"], "", 3, 1024},
		"all references to all":      {all["web"], "", 64, 5000},
		"10^6 values of JSON":        {all["values"], values, 1400, 180_000},
		"10^6 values of YAML":        {all["flow YAML"], values, 1, 6000},
		"10^6 levels of YAML":        {all["nested YAML"], values, 1, 1500},
		"bomb of YAML":               {all["bomb"], values, 4000, 145_000},
		"bomb of long texts":         {all["alias texts"], values, 42, 54_000},
		"12 000 operations":          {all["operations"], "The document has more than 10000 operations.", 75, 10_000},
		"foreign file":               {document("3.0.0", post(`{"$ref":"https://evil.example/x.json"}`), `{}`), "A reference points to another document, which Patchbay doesn't read.", 1, 1024},
		"file of this machine":       {document("3.0.0", post(`{"$ref":"file:///etc/passwd"}`), `{}`), "A reference points to another document, which Patchbay doesn't read.", 1, 1024},
		"foreign parameter":          {document("3.0.0", get(`"parameters":[{"$ref":"//169.254.169.254/p"}],`), `{}`), "A parameter refers to something that isn't in the document.", 1, 1024},
		"host without a value":       {document("3.0.0", server("https://{host}/v1"), `{}`), `The document has no value for the server variable "host". Set the connector's API URL (server_url).`, 1, 1024},
		"server of 20 000 variables": {document("3.0.0", server("https://"+strings.Repeat("{v}", 20_000)), `{}`), "The address of the server is too long.", 1, 1024},
		"server of another protocol": {document("3.0.0", server("file:///etc"), `{}`), "The address of the server must begin with https:// or http://.", 1, 1024},
		"server with a user":         {document("3.0.0", server("https://api.example.com@evil.example"), `{}`), "The address of the server must not have a user name or password.", 1, 1024},
	} {
		var sentence string
		var largest int
		objects, bytes := countWork(func() { sentence, largest = readSentence(tc.text) })
		if sentence != tc.want || largest > 128<<10 {
			t.Errorf("%s: %q, want %q; the largest definition has %d bytes", name, sentence, tc.want, largest)
		}
		if objects > 1000*tc.thousands || bytes > tc.kib<<10 {
			t.Errorf("%s: %d objects, want at most %d000; %d KiB, want at most %d", name, objects, tc.thousands, bytes>>10, tc.kib)
		}
	}
}

// Behind the bounds, a document of twice the size costs no more but for reading its bytes.
func TestHostileDocuments_WorkEndsAtTheBound(t *testing.T) {
	list := func(n int) string { return document("3.0.0", post(`{"enum":[`+strings.Repeat("1,", n)+`1]}`), `{}`) }
	bomb := func(factor int) string {
		items := strings.TrimSuffix(strings.Repeat("*b,", 1000*factor), ",")
		return "openapi: 3.0.0\npaths: {/a: {get: {responses: {}}}}\na: &a [" + strings.Repeat("x,", 1000*factor) + "x]\nb: &b [" + strings.ReplaceAll(items, "b", "a") + "]\nc: [" + items + "]\n"
	}
	for name, write := range map[string]func(factor int) string{
		"values": func(factor int) string { return list(1_100_000 * factor) }, "bomb": bomb,
		"levels": func(factor int) string { return "openapi: 3.0.0\npaths: " + strings.Repeat("[", 500_000*factor) },
	} {
		one, two := write(1), write(2)
		objects, bytes := countWork(func() { readSentence(one) })
		more, moreBytes := countWork(func() { readSentence(two) })
		if more > objects+objects/10+100 || moreBytes > bytes+bytes/10+3*uint64(len(two)) {
			t.Errorf("%s: %d objects and %d KiB become %d and %d", name, objects, bytes>>10, more, moreBytes>>10)
		}
	}
}

package shaping_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"patchbay/internal/fault"
	"patchbay/internal/mcp/toolfmt"
	"patchbay/internal/openapi/httpcall"
	"patchbay/internal/shaping"
)

var notice = shaping.Notice{ID: "0190", Tool: "read_result", URI: "patchbay://results/0190"}

// result is a tool result as clients read it.
type result struct {
	Content []struct {
		Type, Text, URI string
		Data            string
	}
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool
}

func parse(t *testing.T, raw []byte) (r result) {
	t.Helper()
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatalf("%v in %.300s", err, raw)
	}
	return r
}

func textResult(text string, more string) json.RawMessage {
	quoted, _ := json.Marshal(text)
	return json.RawMessage(`{"content":[{"type":"text","text":` + string(quoted) + `}]` + more + `}`)
}

func rows(n int) string {
	var b strings.Builder
	b.WriteString(`{"total_count":` + fmt.Sprint(n) + `,"items":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"title":"Issue number %d","body_html":"<p>Some words about it</p>","user":{"login":"ann"}}`, i, i)
	}
	return b.String() + `]}`
}

func filter(t testing.TB, text string) *httpcall.Filter {
	t.Helper()
	f, err := httpcall.CompileFilter(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestShapeKeepsWholeRows(t *testing.T) {
	raw := textResult(rows(1204), `,"structuredContent":`+rows(1204)+`,"_meta":{"a":1}`)
	s, ok := shaping.Rule{Budget: 1000}.Shape(t.Context(), raw, notice)
	if !ok || s.After > 1000 || shaping.Tokens(raw) < 20_000 {
		t.Fatalf("shaped %v, from %d to %d tokens", ok, shaping.Tokens(raw), s.After)
	}
	r := parse(t, s.Raw)
	if len(r.Content) != 3 || r.Content[2].Type != "resource_link" || r.Content[2].URI != notice.URI {
		t.Fatalf("blocks: %+v", r.Content)
	}
	var text, structured struct {
		Total     int `json:"total_count"`
		Items     []struct{ ID int }
		Shortened string `json:"_shortened"`
	}
	if err := json.Unmarshal([]byte(r.Content[0].Text), &text); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(r.Structured, &structured); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("Shortened: %d of 1,204 rows in items. Read the rest with read_result, id \"0190\".", len(text.Items))
	if text.Total != 1204 || len(text.Items) < 10 || r.Content[1].Text != want || structured.Shortened != want || len(structured.Items) != len(text.Items) {
		t.Errorf("%d and %d rows, %q and %q; want %q", len(text.Items), len(structured.Items), r.Content[1].Text, structured.Shortened, want)
	}
	for i, row := range text.Items {
		if row.ID != i {
			t.Fatalf("row %d has the id %d", i, row.ID)
		}
	}
	if !bytes.Contains(s.Raw, []byte(`"_meta":{"a":1}`)) {
		t.Error("another member is gone")
	}
}

func TestShapeChoosesFields(t *testing.T) {
	raw := textResult(rows(100), `,"structuredContent":`+rows(100))
	s, ok := shaping.Rule{Fields: filter(t, `[.items[] | {id, title}]`)}.Shape(t.Context(), raw, notice)
	r := parse(t, s.Raw)
	if !ok || s.Fields != 5 || s.Summary() != "5 fields left out" || !strings.HasPrefix(r.Content[0].Text, `[{"id":0,"title":"Issue number 0"},`) {
		t.Errorf("%v, %q: %.200s", ok, s.Summary(), s.Raw)
	}
	if !bytes.HasPrefix(r.Structured, []byte(`{"_shortened":`)) || !bytes.Contains(r.Structured, []byte(`"result":[{"id":0,`)) {
		t.Errorf("structured content is no object: %.200s", r.Structured)
	}
	s, ok = shaping.Rule{Fields: filter(t, `.nodes | map(.id)`), Budget: 500}.Shape(t.Context(), raw, notice)
	if !ok || !s.FilterFailed || !strings.Contains(s.Summary(), "didn't work on this answer") {
		t.Errorf("a filter that fails: %v, %q", ok, s.Summary())
	}
}

func TestShapeLeavesAlone(t *testing.T) {
	long := strings.Repeat("a word\n", 5000)
	image := `{"content":[{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("AAAA", 5000) + `"}]}`
	for name, tc := range map[string]struct {
		rule shaping.Rule
		raw  json.RawMessage
	}{
		"no rule":           {shaping.Rule{}, textResult(long, "")},
		"below the budget":  {shaping.Rule{Budget: 100_000}, textResult(long, "")},
		"an image":          {shaping.Rule{Budget: 100}, json.RawMessage(image)},
		"a short error":     {shaping.Rule{Budget: 100}, textResult(long[:3500], `,"isError":true`)},
		"no fields to drop": {shaping.Rule{Fields: filter(t, ".")}, textResult(`{"a":1}`, "")},
		"not UTF-8":         {shaping.Rule{Budget: 100}, json.RawMessage("{\"content\":[{\"type\":\"text\",\"text\":\"\xff" + strings.Repeat("a ", 5000) + "\"}]}")},
		"two contents":      {shaping.Rule{Budget: 100}, textResult(long, `,"content":[]`)},
	} {
		if s, ok := tc.rule.Shape(t.Context(), tc.raw, notice); ok {
			t.Errorf("%s: shaped to %.300s", name, s.Raw)
		}
	}
	if s, ok := (shaping.Rule{Budget: 100}).Shape(t.Context(), textResult(long, `,"isError":true`), notice); !ok || s.After > shaping.ErrorBudget || s.After < 1000 {
		t.Errorf("a long error: %v, %d tokens", ok, s.After)
	}
}

// TestShapeOffCostsNothing checks that an answer without a rule, or within its budget, is not even parsed.
func TestShapeOffCostsNothing(t *testing.T) {
	raw := textResult(rows(1000), "")
	for name, rule := range map[string]shaping.Rule{"no rule": {}, "a large budget": {Budget: len(raw)}} {
		if n := testing.AllocsPerRun(10, func() { _, _ = rule.Shape(t.Context(), raw, notice) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestSummaries(t *testing.T) {
	lines := strings.Repeat("a line with some words\n", 1000)
	for name, tc := range map[string]struct{ text, want string }{
		"lines":         {lines, "of 1,000 lines"},
		"one line":      {strings.ReplaceAll(lines, "\n", " "), "of 23,000 characters"},
		"array":         {"[" + strings.Repeat("1234,", 5000) + "0]", "of 5,001 rows"},
		"string":        {`{"id":1,"body":` + string(mustJSON(lines)) + `}`, "of 1,000 lines in body"},
		"first row":     {`[{"id":1,"body":` + string(mustJSON(lines)) + `},2]`, "1 of 2 rows; 34 of 1,000 lines in [0].body"},
		"many members":  {"{" + strings.TrimSuffix(strings.Repeat(`"ab":"a value",`, 3000), ",") + "}", "of 3,000 entries"},
		"deep document": {strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "0 of 1 rows"},
	} {
		s, ok := shaping.Rule{Budget: 300}.Shape(t.Context(), textResult(tc.text, ""), notice)
		if !ok || !strings.Contains(s.Summary(), tc.want) || s.After > 330 {
			t.Errorf("%s: %v, %d tokens, %q", name, ok, s.After, s.Summary())
		}
	}
}

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// randomJSON returns a random document.
func randomJSON(r *rand.Rand, depth int) any {
	switch n := r.IntN(8); {
	case depth > 0 && n < 3:
		list := make([]any, r.IntN(30))
		for i := range list {
			list[i] = randomJSON(r, depth-1)
		}
		return list
	case depth > 0 && n < 6:
		object := map[string]any{}
		for range r.IntN(12) {
			object[randomText(r, 6)] = randomJSON(r, depth-1)
		}
		return object
	case n == 6:
		return r.Float64() * 1e6
	}
	return randomText(r, 60)
}

func randomText(r *rand.Rand, most int) string {
	const alphabet = "abc \n\t\"\\{}[]:,é世🙂_9"
	letters := []rune(alphabet)
	text := make([]rune, r.IntN(most+1))
	for i := range text {
		text[i] = letters[r.IntN(len(letters))]
	}
	return string(text)
}

// readAll reads a part page by page.
func readAll(t *testing.T, raw []byte, q shaping.ReadRequest) string {
	t.Helper()
	var all strings.Builder
	for {
		page, err := shaping.Read(t.Context(), raw, q)
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(page.Text) {
			t.Fatalf("a page that is not UTF-8: %q", page.Text)
		}
		all.WriteString(page.Text)
		if page.To == page.Total {
			return all.String()
		}
		q.Offset = page.To
	}
}

// TestHeadAndReadsAreTheOriginal checks on random results that nothing is lost: what reads return are the original bytes, the head
// is their beginning, and the shortened result is valid.
func TestHeadAndReadsAreTheOriginal(t *testing.T) {
	shaped := 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // repeatable
		texts, blocks := []string{}, []any{}
		for range 1 + r.IntN(3) {
			text := randomText(r, 2000)
			if r.IntN(2) == 0 {
				text = string(mustJSON(randomJSON(r, 3)))
			}
			texts = append(texts, text)
			blocks = append(blocks, map[string]any{"type": "text", "text": text, "annotations": map[string]any{"priority": 1}})
		}
		doc := map[string]any{"content": blocks}
		if r.IntN(2) == 0 {
			doc["structuredContent"] = map[string]any{"rows": randomJSON(r, 3)}
		}
		raw := mustJSON(doc)
		rule := shaping.Rule{Budget: 20 + r.IntN(600)}
		if r.IntN(3) == 0 {
			rule.Fields = filter(t, `if type == "array" then map(.) else del(.a, .b) end`)
		}
		original := bytes.Clone(raw)
		s, ok := rule.Shape(t.Context(), raw, notice)
		if !bytes.Equal(raw, original) {
			t.Fatalf("seed %d: the original was changed", seed)
		}
		limit := min(4+r.IntN(200)+len(raw)/6, shaping.MaxPage)
		if got := readAll(t, raw, shaping.ReadRequest{Part: "result", Limit: limit}); got != string(raw) {
			t.Fatalf("seed %d: the reads are not the original", seed)
		}
		for i, text := range texts {
			if got := readAll(t, raw, shaping.ReadRequest{Part: fmt.Sprint(i), Limit: limit}); got != text {
				t.Fatalf("seed %d: the reads of block %d are not its text", seed, i)
			}
		}
		if !ok {
			continue
		}
		shaped++
		if !utf8.Valid(s.Raw) {
			t.Fatalf("seed %d: not UTF-8", seed)
		}
		head := parse(t, s.Raw)
		for i, text := range texts {
			checkHead(t, head.Content[i].Text, text, rule.Fields != nil)
			if !json.Valid([]byte(text)) && readAll(t, raw, shaping.ReadRequest{Part: fmt.Sprint(i), Offset: len(head.Content[i].Text), Limit: limit}) != text[len(head.Content[i].Text):] {
				t.Fatalf("seed %d: head and rest are not the text", seed)
			}
		}
	}
	if shaped < 100 {
		t.Errorf("only %d of 150 results were shaped", shaped)
	}
}

// checkHead checks that a head is valid JSON if the text is, and else its beginning.
func checkHead(t *testing.T, head, text string, filtered bool) {
	t.Helper()
	var whole, part any
	if trimmed := strings.TrimSpace(text); trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[') && json.Unmarshal([]byte(text), &whole) == nil {
		if err := json.Unmarshal([]byte(head), &part); err != nil {
			t.Fatalf("the head of JSON is not JSON: %v in %.200s", err, head)
		}
		if !filtered {
			checkPart(t, part, whole)
		}
		return
	}
	if !strings.HasPrefix(text, head) {
		t.Fatalf("%q is not the beginning of %q", head, text)
	}
}

// checkPart checks that a value is the beginning of another.
func checkPart(t *testing.T, part, whole any) {
	t.Helper()
	switch w := whole.(type) {
	case []any:
		p, _ := part.([]any)
		if len(p) > len(w) {
			t.Fatal("rows were added")
		}
		for i := range p {
			checkPart(t, p[i], w[i])
		}
	case map[string]any:
		p, _ := part.(map[string]any)
		for name, v := range p {
			checkPart(t, v, w[name])
		}
	case string:
		if p, _ := part.(string); !strings.HasPrefix(w, p) {
			t.Fatalf("%q is not the beginning of %q", p, w)
		}
	default:
		if part != whole {
			t.Fatalf("%v became %v", whole, part)
		}
	}
}

func TestRead(t *testing.T) {
	raw := textResult(rows(50), "")
	text := textResult("one\ntwo apples\nthree\nfour apples\nfive\n", "")
	for name, tc := range map[string]struct {
		raw        json.RawMessage
		q          shaping.ReadRequest
		want, foot string
	}{
		"jq":            {raw, shaping.ReadRequest{JQ: ".items[48:] | map(.id)"}, "[48,49]", "Bytes 0–7 of 7."},
		"grep":          {text, shaping.ReadRequest{Grep: "apples$"}, "2:two apples\n4:four apples\n", "2 of 6 lines match. Bytes 0–27 of 27."},
		"grep context":  {text, shaping.ReadRequest{Grep: "two", Context: 1}, "1-one\n2:two apples\n3-three\n", "1 of 6 lines match. Bytes 0–27 of 27."},
		"grep JSON":     {raw, shaping.ReadRequest{Grep: "number 31"}, "254:\"title\": \"Issue number 31\",\n", "1 of 405 lines match. Bytes 0–32 of 32."},
		"line":          {text, shaping.ReadRequest{Line: 4, Limit: 5}, "four ", "Bytes 21–26 of 38. Go on with offset 26."},
		"offset":        {text, shaping.ReadRequest{Offset: 4, Limit: 4}, "two ", "Bytes 4–8 of 38. Go on with offset 8."},
		"within a rune": {textResult("aé🙂b", ""), shaping.ReadRequest{Offset: 2, Limit: 4}, "é", "Bytes 1–3 of 8. Go on with offset 3."},
	} {
		page, err := shaping.Read(t.Context(), tc.raw, tc.q)
		if err != nil || page.Text != tc.want || page.Footer() != tc.foot {
			t.Errorf("%s: %v, %q, %q; want %q, %q", name, err, page.Text, page.Footer(), tc.want, tc.foot)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for want, q := range map[string]shaping.ReadRequest{
		"Use one of jq, grep and line.":                                          {JQ: ".", Grep: "a"},
		"This part isn't JSON. Use grep or offset.":                              {JQ: "."},
		"The pattern isn't a valid RE2 regular expression.":                      {Grep: "(?=a)"},
		"The offset is beyond the end, at 4 bytes.":                              {Offset: 5},
		`The answer has no part "1".`:                                            {Part: "1"},
		`The answer has no part "structured".`:                                   {Part: "structured"},
		`part must be "result", "structured", or the number of a content block.`: {Part: "first"},
		"offset and line must not be negative, and limit must be 4–65536 bytes.": {Limit: 1 << 20},
		"context must be 0–50 lines.":                                            {Grep: "a", Context: 51},
	} {
		if _, err := shaping.Read(t.Context(), textResult("text", ""), q); err == nil || fault.As(err).Message != want {
			t.Errorf("%+v: %v, want %q", q, err, want)
		}
	}
}

func BenchmarkShape(b *testing.B) {
	text := rows(450)
	raw, alone := textResult(text, `,"structuredContent":`+text), textResult(text, "")
	for name, rule := range map[string]shaping.Rule{
		"off": {}, "budget": {Budget: 1000}, "fields": {Fields: filter(b, `.items |= map({id, title})`)}, "below": {Budget: 1 << 20},
		"both": {Budget: 1000, Fields: filter(b, `.items |= map({id, title})`)},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				_, _ = rule.Shape(b.Context(), raw, notice)
			}
		})
		b.Run(name+" of a text alone", func(b *testing.B) { // structured content that repeats the text is shortened once
			b.SetBytes(int64(len(alone)))
			for b.Loop() {
				_, _ = rule.Shape(b.Context(), alone, notice)
			}
		})
	}
	b.Run("tokens", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		for b.Loop() {
			toolfmt.Tokens(toolfmt.OpenAI, raw)
		}
	})
}

// TestShape_EmptyTexts has answers with an empty text, beside a long one and without structured content.
func TestShape_EmptyTexts(t *testing.T) {
	t.Parallel()
	rule := shaping.Rule{Budget: 1000, Fields: filter(t, `.items |= map({id, title})`)}
	if _, changed := rule.Shape(t.Context(), json.RawMessage(`{"content":[{"type":"text","text":""}]}`), notice); changed {
		t.Error("an empty text was shortened")
	}
	text, err := json.Marshal(rows(200))
	if err != nil {
		t.Fatal(err)
	}
	raw := json.RawMessage(`{"content":[{"type":"text","text":""},{"type":"text","text":` + string(text) + `}]}`)
	shaped, changed := rule.Shape(t.Context(), raw, notice)
	if !changed || shaped.Fields == 0 || strings.Contains(string(shaped.Raw), "body_html") {
		t.Errorf("%v, %d fields left out", changed, shaped.Fields)
	}
}

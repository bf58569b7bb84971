package toolsearch_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"patchbay/internal/toolsearch"
	"patchbay/internal/toolsearch/searchset"
)

// corpus is one part of the set: tools, and questions by the tool that answers them.
type corpus struct {
	tools     []toolsearch.Tool
	byTool    map[int][]string
	questions int
}

// retrievalSet is what testdata holds.
type retrievalSet struct {
	sources     map[string]searchset.Source
	definitions []searchset.Definition
	questions   []searchset.Question
}

var readOnce = sync.OnceValues(func() (*retrievalSet, error) {
	set := &retrievalSet{sources: map[string]searchset.Source{}}
	sources, err := searchset.ReadSources("testdata")
	if err != nil {
		return nil, err
	}
	for _, s := range sources {
		set.sources[s.Server] = s
	}
	if set.definitions, err = searchset.ReadDefinitions("testdata"); err != nil {
		return nil, err
	}
	set.questions, err = searchset.ReadQuestions("testdata")
	return set, err
})

func readSet(tb testing.TB) *retrievalSet {
	tb.Helper()
	set, err := readOnce()
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// tool returns a tool as the gateway lists it: the name begins with the slug of its connector.
func (s *retrievalSet) tool(d *searchset.Definition) toolsearch.Tool {
	return toolsearch.Tool{
		Name: d.Server + "__" + d.Name, Title: d.Title, Description: d.Description, Connector: d.Server, ConnectorName: s.sources[d.Server].Title,
		Tags: d.Tags, Params: toolsearch.ReadParams(d.InputSchema),
	}
}

func readCorpus(tb testing.TB, part string) *corpus {
	tb.Helper()
	set := readSet(tb)
	c := &corpus{byTool: map[int][]string{}}
	at := map[[2]string]int{}
	for i := range set.definitions {
		if d := &set.definitions[i]; set.sources[d.Server].Part == part {
			at[[2]string{d.Server, d.Name}] = len(c.tools)
			c.tools = append(c.tools, set.tool(d))
		}
	}
	for _, q := range set.questions {
		if q.Part != part {
			continue
		}
		tool, found := at[[2]string{q.Server, q.Tool}]
		if !found {
			tb.Fatalf("no tool %s of %s for a question", q.Tool, q.Server)
		}
		c.byTool[tool] = append(c.byTool[tool], q.Text)
		c.questions++
	}
	return c
}

// ranking returns the best tools for a question.
type ranking func(words string) []int

// rates are shares of questions, in per cent, of which the tool is the first, among five and among ten.
type rates struct{ top1, top5, top10 float64 }

type counter struct{ asked, top1, top5, top10 int }

func (c *counter) add(found []int, want int) {
	c.asked++
	at := slices.Index(found[:min(10, len(found))], want)
	if at < 0 {
		return
	}
	c.top10++
	if at < 5 {
		c.top5++
	}
	if at == 0 {
		c.top1++
	}
}

func (c *counter) rates() rates {
	share := func(n int) float64 { return math.Round(1000*float64(n)/float64(max(1, c.asked))) / 10 }
	return rates{share(c.top1), share(c.top5), share(c.top10)}
}

// measureConnector asks among the tools of the connector that has the right one.
func (c *corpus) measureConnector(x *toolsearch.Index) rates {
	var n counter
	for tool, questions := range c.byTool {
		for _, q := range questions {
			n.add(toolsOf(x.SearchConnector(c.tools[tool].Connector, q, 10, nil)), tool)
		}
	}
	return n.rates()
}

func (c *corpus) measure(find ranking) rates {
	var n counter
	for tool, questions := range c.byTool {
		for _, q := range questions {
			n.add(find(q), tool)
		}
	}
	return n.rates()
}

func searchWith(x *toolsearch.Index, learned toolsearch.Learned) ranking {
	return func(words string) []int { return toolsOf(x.Search(words, 10, learned)) }
}

func toolsOf(hits []toolsearch.Hit) []int {
	var found []int
	for _, hit := range hits {
		found = append(found, hit.Tool)
	}
	return found
}

// measureHistory learns one question of each tool and asks the others, for each question in turn.
func (c *corpus) measureHistory(x *toolsearch.Index) rates {
	var n counter
	for turn := range 2 {
		learned := toolsearch.Learned(nil)
		for _, tool := range slices.Sorted(maps.Keys(c.byTool)) {
			questions := c.byTool[tool]
			if turn < len(questions) {
				learned = toolsearch.Learn(learned, x.KnownTerms(questions[turn]), c.tools[tool].Name)
			}
		}
		find := searchWith(x, learned)
		for tool, questions := range c.byTool {
			if len(questions) > 1 {
				n.add(find(questions[1-turn]), tool)
			}
		}
	}
	return n.rates()
}

// allText returns what the baselines search: the text of all fields.
func allText(t *toolsearch.Tool) string {
	var b strings.Builder
	b.WriteString(strings.Join([]string{t.Name, t.Title, t.Description}, "\n"))
	for _, p := range t.Params {
		b.WriteString("\n" + p.Name + " " + p.Description)
	}
	return b.String()
}

func plainWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// plainBM25 ranks by BM25 over one field, without stems, synonyms or stop words.
func plainBM25(tools []toolsearch.Tool) ranking {
	const k1, b = 1.2, 0.75
	type entry struct{ tool, frequency int }
	lists := map[string][]entry{}
	lengths, total := make([]int, len(tools)), 0
	for i := range tools {
		counts := map[string]int{}
		for _, word := range plainWords(allText(&tools[i])) {
			counts[word]++
			lengths[i]++
		}
		for word, n := range counts {
			lists[word] = append(lists[word], entry{i, n})
		}
		total += lengths[i]
	}
	mean := float64(total) / float64(len(tools))
	return func(words string) []int {
		points := make([]float64, len(tools))
		for _, word := range plainWords(words) {
			list := lists[word]
			idf := math.Log(1 + (float64(len(tools)-len(list))+0.5)/(float64(len(list))+0.5))
			for _, e := range list {
				f := float64(e.frequency)
				points[e.tool] += idf * f * (k1 + 1) / (f + k1*(1-b+b*float64(lengths[e.tool])/mean))
			}
		}
		return bestOf(points)
	}
}

// anyWord ranks as the regular expression word|word|… does: by the number of different words of the question that
// match, also within words. It finds the matches by the vocabulary, since the expression takes a second a question.
func anyWord(tools []toolsearch.Tool) ranking {
	having := map[string][]int{}
	for i := range tools {
		words := plainWords(allText(&tools[i]))
		slices.Sort(words)
		for _, word := range slices.Compact(words) {
			having[word] = append(having[word], i)
		}
	}
	matches := map[string][]bool{}
	return func(words string) []int {
		points := make([]float64, len(tools))
		asked := plainWords(words)
		slices.Sort(asked)
		for _, part := range slices.Compact(asked) {
			if matches[part] == nil {
				matches[part] = make([]bool, len(tools))
				for word, list := range having {
					if !strings.Contains(word, part) {
						continue
					}
					for _, tool := range list {
						matches[part][tool] = true
					}
				}
			}
			for tool, match := range matches[part] {
				if match {
					points[tool]++
				}
			}
		}
		return bestOf(points)
	}
}

func bestOf(points []float64) []int {
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case points[a] > points[b]:
			return -1
		case points[a] < points[b]:
			return 1
		}
		return 0
	})
	return order[:min(10, len(order))]
}

// BenchmarkRetrieval reports, for each part of the set and each ranking, the share of the questions of which the tool
// is found first, among five and among ten, in per cent.
func BenchmarkRetrieval(b *testing.B) {
	for _, part := range []string{searchset.Tuning, searchset.HeldOut} {
		c := readCorpus(b, part)
		x := toolsearch.New(c.tools)
		for _, row := range []struct {
			name    string
			measure func() rates
		}{
			{"index", func() rates { return c.measure(searchWith(x, nil)) }},
			{"connector", func() rates { return c.measureConnector(x) }},
			{"history", func() rates { return c.measureHistory(x) }},
			{"bm25", func() rates { return c.measure(plainBM25(c.tools)) }},
			{"regexp", func() rates { return c.measure(anyWord(c.tools)) }},
		} {
			b.Run(part+"/"+row.name, func(b *testing.B) {
				var r rates
				for b.Loop() {
					r = row.measure()
				}
				b.ReportMetric(r.top1, "top1")
				b.ReportMetric(r.top5, "top5")
				b.ReportMetric(r.top10, "top10")
				b.ReportMetric(float64(len(c.tools)), "tools")
				b.ReportMetric(float64(c.questions), "questions")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// TestRetrieval_IsAsDocumented asserts shares a point below those of the table in doc.go. The goals, 60 and 95 without
// history and 75 and 98 with it, are not reached.
func TestRetrieval_IsAsDocumented(t *testing.T) {
	if testing.Short() {
		t.Skip("asks 4,000 questions")
	}
	c := readCorpus(t, searchset.HeldOut)
	x := toolsearch.New(c.tools)
	for _, row := range []struct {
		name       string
		got        rates
		top1, top5 float64
	}{
		{"index", c.measure(searchWith(x, nil)), 44.4, 70.4},
		{"connector", c.measureConnector(x), 50.3, 80.5},
		{"history", c.measureHistory(x), 52.6, 81.4},
	} {
		if row.got.top1 < row.top1 || row.got.top5 < row.top5 {
			t.Errorf("%s: %.1f %% are first and %.1f %% among five; documented are %.1f and %.1f", row.name, row.got.top1, row.got.top5, row.top1, row.top5)
		}
	}
	if plain := c.measure(plainBM25(c.tools)); plain.top5 > 60 {
		t.Errorf("plain BM25 finds %.1f %%: the set became easier, so measure the goals again", plain.top5)
	}
}

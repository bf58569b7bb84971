package toolsearch

import (
	"cmp"
	"slices"
	"strings"
)

// Hit is a tool that was found.
type Hit struct {
	Tool    int // position in the list that New got
	Score   float64
	Reasons []Reason // the strongest first, at most maxReasons
}

// Reason says which word of the question matched in which field.
type Reason struct {
	Word  string // as in the question
	Term  string // stem in the index, another one for a synonym or a misspelled word
	Field Field
	Share float64 // of the score; the shares of all reasons sum up to 1 at most
}

const (
	maxReasons = 6
	maxHits    = 100
)

// fieldWeights of BM25F: what a match counts, and which share of it depends on the length of the field.
var fieldWeights = [fieldCount]struct{ weight, lengthShare float64 }{
	FieldName:        {4.8, 0.78},
	FieldTitle:       {3, 0.5},
	FieldConnector:   {7.2, 0.38},
	FieldTags:        {2.9, 0.8},
	FieldParam:       {1.25, 0.5},
	FieldParamText:   {0.64, 1},
	FieldLead:        {3.2, 0.7},
	FieldDescription: {0.56, 0.72},
}

var (
	saturation        = 1.8 // k1 of BM25
	synonymWeight     = 0.55
	verbSynonymWeight = 0.58
	splitWeight       = 0.64
	prefixWeight      = 0.36
	spellingWeight    = 0.7
	weakWeight        = 0.5
	pluralWeight      = 0.1
	numberWeight      = 0.36
	coverageWeight    = 0.3
	groupWeight       = 1.0
	calledWeight      = 0.3
	nameWeight        = 0.5
	actionWeight      = 0.12
	otherAction       = 0.14
	historyWeight     = 1.1
	historySaturate   = 0.5
)

// Search returns the best tools for words, at most limit and at most 100, best first. Equal ones are in the order
// of their names. learned may be nil.
func (x *Index) Search(words string, limit int, learned Learned) []Hit {
	q := readQuestion(words)
	s := newScores(x)
	concepts := x.findConcepts(q.words, learned)
	for i := range concepts {
		s.addConcept(&concepts[i])
	}
	s.addBoosts(concepts, &q)
	hits := s.bestHits(min(limit, maxHits))
	for i := range hits {
		hits[i].Reasons = x.explainHit(uint32(hits[i].Tool), hits[i].Score, concepts)
	}
	return hits
}

// scores collects the points of each tool.
type scores struct {
	index   *Index
	points  []float64
	best1   []float64 // of the concept that is added
	covered []float64 // sum of the idf of the concepts that a tool has
	named   []float64 // number of the words of its name that the question has
	groups  []float64 // of connectors: points of the best tool for each concept
	called  []bool    // connectors that the question calls by name
}

func newScores(x *Index) *scores {
	n := len(x.names)
	all := make([]float64, 4*n)
	return &scores{index: x, points: all[:n], best1: all[n : 2*n], covered: all[2*n : 3*n], named: all[3*n:], groups: make([]float64, x.groupLen), called: make([]bool, x.groupLen)}
}

// addConcept adds the best variant of a concept to each tool that has one.
func (s *scores) addConcept(c *concept) {
	var touched, learned []uint32
	weight := c.idf * c.weight
	for _, v := range c.variants {
		limit := s.index.variantPoints(c, v)
		postings := s.index.postingList(v.term)
		if v.weight == 1 {
			s.markConnector(postings)
		}
		for _, p := range postings {
			points := limit * s.index.saturatedFrequency(p)
			if s.best1[p.tool] == 0 {
				touched = append(touched, p.tool)
			}
			s.best1[p.tool] = max(s.best1[p.tool], points)
			if p.fieldFrequency(FieldName) > 0 {
				s.named[p.tool] += v.weight
			}
		}
	}
	for _, l := range c.learned {
		for name := range l.tools {
			tool, found := s.index.byName[name]
			if !found || slices.Contains(learned, tool) {
				continue
			}
			learned = append(learned, tool)
			if s.best1[tool] == 0 {
				touched = append(touched, tool)
			}
			s.best1[tool] += s.index.historyPoints(c, name)
		}
	}
	best := make([]float64, len(s.groups))
	for _, tool := range touched {
		group := s.index.groups[tool]
		best[group] = max(best[group], s.best1[tool])
		s.points[tool] += s.best1[tool]
		s.covered[tool] += weight
		s.best1[tool] = 0
	}
	for group, points := range best {
		s.groups[group] += points
	}
}

// markConnector marks the connector that alone has a term in its name.
func (s *scores) markConnector(postings []posting) {
	only := -1
	for _, p := range postings {
		if p.fieldFrequency(FieldConnector) == 0 {
			continue
		}
		group := int(s.index.groups[p.tool])
		if only >= 0 && only != group {
			return
		}
		only = group
	}
	if only >= 0 {
		s.called[only] = true
	}
}

// saturatedFrequency returns the BM25F frequency of a posting, between 0 and 1.
func (x *Index) saturatedFrequency(p posting) float64 {
	var sum float32
	norms := &x.norms[p.tool]
	for f, bits := 0, p.frequencies; bits != 0; f, bits = f+1, bits>>4 {
		sum += float32(bits&maxFrequency) * norms[f]
	}
	return float64(sum) / (saturation + float64(sum))
}

// addBoosts raises tools that have many words of the question, those of which the question has the name, and those
// that do what the question asks.
func (s *scores) addBoosts(concepts []concept, q *question) {
	all := 0.0
	for i := range concepts {
		all += concepts[i].idf * concepts[i].weight
	}
	bestGroup := 0.0
	for _, points := range s.groups {
		bestGroup = max(bestGroup, points)
	}
	for tool, points := range s.points {
		if points == 0 {
			continue
		}
		group := s.groups[s.index.groups[tool]] / bestGroup
		if s.called[s.index.groups[tool]] {
			points *= 1 + calledWeight
		}
		coverage := s.covered[tool] / all
		named := min(1, s.named[tool]/float64(max(1, s.index.nameLens[tool])))
		s.points[tool] = points * (1 + coverageWeight*coverage + nameWeight*named) * (1 + groupWeight*group*group) * actionFactor(s.index.actions[tool], q.first, q.all) * numberFactor(s.index.numbers[tool], q.number)
	}
}

// actionFactor compares what a tool does with what the question asks: first by its first verb, asked by all.
func actionFactor(does, first, asked actions) float64 {
	switch {
	case does == 0 || asked == 0:
		return 1
	case does&first != 0:
		return 1 + actionWeight
	case does&asked != 0:
		return 1 + actionWeight/2
	case does&reading != 0 && asked&reading != 0:
		return 1 + actionWeight/4
	}
	return 1 - otherAction
}

// numberFactor raises tools that read as many things as the question asks for.
func numberFactor(reads, asked grammaticalNumber) float64 {
	if asked&numberMany != 0 {
		asked = numberMany
	}
	if reads != 0 && reads == asked {
		return 1 + pluralWeight
	}
	return 1
}

// historyPoints returns what a tool has of a concept by history: at most historyWeight times its idf.
func (x *Index) historyPoints(c *concept, tool string) float64 {
	points := 0.0
	for _, l := range c.learned {
		if weight := l.tools[tool]; weight > 0 {
			idf := inverseFrequency(len(x.names), len(l.tools))
			points = max(points, historyWeight*min(idf, max(c.idf, idf/2))*c.weight*l.weight*weight/(weight+historySaturate))
		}
	}
	return points
}

// bestHits returns the tools with the most points.
func (s *scores) bestHits(limit int) []Hit {
	if limit <= 0 {
		return nil
	}
	hits := make([]Hit, 0, limit+1)
	for tool, points := range s.points {
		if points == 0 {
			continue
		}
		hit := Hit{Tool: tool, Score: points}
		if len(hits) == limit && s.compareHits(hits[limit-1], hit) < 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(hits, hit, s.compareHits)
		hits = slices.Insert(hits, at, hit)
		hits = hits[:min(len(hits), limit)]
	}
	return hits
}

// compareHits orders by points, then by name.
func (s *scores) compareHits(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(s.index.names[a.Tool], s.index.names[b.Tool]), cmp.Compare(a.Tool, b.Tool))
}

// explainHit explains the score of one tool.
func (x *Index) explainHit(tool uint32, score float64, concepts []concept) []Reason {
	var all []Reason
	for i := range concepts {
		for _, v := range concepts[i].variants {
			list := x.postingList(v.term)
			at, found := slices.BinarySearchFunc(list, tool, func(p posting, tool uint32) int { return cmp.Compare(p.tool, tool) })
			if !found {
				continue
			}
			points := x.variantPoints(&concepts[i], v) * x.saturatedFrequency(list[at])
			var sum float64
			for f := range fieldCount {
				sum += float64(list[at].fieldFrequency(Field(f))) * float64(x.norms[tool][f])
			}
			for f := range fieldCount {
				if part := float64(list[at].fieldFrequency(Field(f))) * float64(x.norms[tool][f]); part > 0 {
					all = append(all, Reason{concepts[i].word, x.terms[v.term], Field(f), points * part / sum / score})
				}
			}
		}
	}
	for i := range concepts {
		if points := x.historyPoints(&concepts[i], x.names[tool]); points > 0 {
			all = append(all, Reason{concepts[i].word, concepts[i].word, FieldHistory, points / score})
		}
	}
	slices.SortStableFunc(all, func(a, b Reason) int { return cmp.Compare(b.Share, a.Share) })
	return slices.Clone(all[:min(len(all), maxReasons)])
}

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
	Share float64 // of what all words count; the shares of the reasons of a hit sum up to 1 at most
}

const (
	maxReasons = 6
	// MaxHits is the number of hits that a search gives at most.
	MaxHits = 100
)

// fieldWeights of BM25F: what a match counts, and which share of it depends on the length of the field.
var fieldWeights = [fieldCount]struct{ weight, lengthShare float64 }{
	FieldName:        {4.8, 0.6},
	FieldTitle:       {4.5, 0.5},
	FieldConnector:   {7.2, 0.5},
	FieldTags:        {3.9, 0.8},
	FieldParam:       {1.25, 0.67},
	FieldParamText:   {0.48, 1},
	FieldLead:        {4.3, 0.93},
	FieldDescription: {0.56, 0.72},
}

// What counts more and less. The numbers, and those of the fields, are tuned on the tuning part of testdata.
const (
	saturation        = 1.8  // k1 of BM25
	idfPower          = 0.8  // a rare word counts a little less than by BM25
	synonymWeight     = 0.55 // of a noun
	verbSynonymWeight = 0.68
	splitWeight       = 0.64 // of half of a compound
	prefixWeight      = 0.48 // of a longer word
	spellingWeight    = 0.7  // of a word with another letter
	weakWeight        = 0.5  // of weakWords
	numberWeight      = 0.36 // of digits
	coverageWeight    = 0.4  // of having all words of the question
	nameWeight        = 0.5  // of a question with all words of the name
	pluralWeight      = 0.1  // of reading one or many, as asked
	actionWeight      = 0.09 // of doing what is asked
	otherAction       = 0.1  // less for doing something else
	groupWeight       = 0.56 // of a connector with tools that together have all words
	calledWeight      = 0.22 // of a connector that the question calls by name
	historyWeight     = 1.1  // of a word that led to the tool
	historySaturate   = 0.5  // how often it led there for half of that
)

// Search returns the best tools for words, at most limit and at most MaxHits, best first. Equal ones are in the order
// of their names. learned may be nil.
func (x *Index) Search(words string, limit int, learned Learned) []Hit {
	return x.searchGroup(words, limit, learned, everyGroup)
}

// SearchConnector is Search among the tools of one connector, by its slug.
func (x *Index) SearchConnector(connector, words string, limit int, learned Learned) []Hit {
	group, found := x.groupIDs[connector]
	if !found {
		return nil
	}
	return x.searchGroup(words, limit, learned, int(group))
}

// everyGroup stands for the connectors of all tools.
const everyGroup = -1

func (x *Index) searchGroup(words string, limit int, learned Learned, group int) []Hit {
	q := readQuestion(words)
	s := newScores(x, &q)
	concepts := x.findConcepts(q.words, learned)
	for i := range concepts {
		s.addConcept(&concepts[i])
	}
	s.addBoosts(concepts, &q)
	hits := s.bestHits(min(limit, MaxHits), group)
	for i := range hits {
		hits[i].Reasons = s.explainHit(uint32(hits[i].Tool), concepts)
	}
	return hits
}

// scores collects the points of each tool.
type scores struct {
	index   *Index
	points  []float64
	current []float64 // of the concept that is added
	covered []float64 // sum of the idf of the concepts that a tool has
	named   []float64 // number of the words of its name that the question has
	history []float64 // the part of points that is by history
	verbs   actions   // of the question
	asked   int       // number of words of the question
	byName  bool      // the question is the name of a tool
	groups  []float64 // of connectors: points of the best tool for each concept
	called  []bool    // connectors that the question calls by name
}

func newScores(x *Index, q *question) *scores {
	n := len(x.names)
	all := make([]float64, 5*n)
	return &scores{
		index: x, points: all[:n], current: all[n : 2*n], covered: all[2*n : 3*n], named: all[3*n : 4*n], history: all[4*n:],
		verbs: q.verbs, asked: len(q.words), groups: make([]float64, len(x.groupIDs)), called: make([]bool, len(x.groupIDs)),
	}
}

// suitsVerbs reports whether history may lead the question to a tool. A tool that deletes is found by history only if the question
// deletes, or has no verb: no earlier call makes it the answer to "get the invoice".
func (s *scores) suitsVerbs(tool uint32) bool {
	return s.index.actions[tool]&actDelete == 0 || s.verbs == 0 || s.verbs&s.index.actions[tool] != 0
}

// isNamed reports whether the question is the name of the tool.
func (s *scores) isNamed(tool uint32) bool {
	return s.asked == int(s.index.nameLens[tool]) && s.named[tool] >= float64(s.asked)
}

// usesHistory reports whether history counts for a tool: where the question is a name, for tools of that name alone.
func (s *scores) usesHistory(tool uint32) bool {
	return s.suitsVerbs(tool) && (!s.byName || s.isNamed(tool))
}

// addConcept adds the best variant of a concept to each tool that has one.
func (s *scores) addConcept(c *concept) {
	var touched []uint32
	learned := map[uint32]bool{}
	weight := c.idf * c.weight
	for _, v := range c.variants {
		limit := s.index.variantPoints(c, v)
		postings := s.index.postingList(v.term)
		if v.weight == 1 {
			s.markConnector(postings)
		}
		for _, p := range postings {
			points := limit * s.index.saturatedFrequency(p)
			if s.current[p.tool] == 0 {
				touched = append(touched, p.tool)
			}
			s.current[p.tool] = max(s.current[p.tool], points)
			if p.fieldFrequency(FieldName) > 0 {
				s.named[p.tool] += v.weight
			}
		}
	}
	for _, l := range c.learned {
		for key := range l.tools {
			tool, found := s.index.byKey[key]
			if !found || learned[tool] || !s.suitsVerbs(tool) {
				continue
			}
			learned[tool] = true
			if s.current[tool] == 0 {
				touched = append(touched, tool)
			}
			points := s.index.historyPoints(c, key)
			s.current[tool] += points
			s.history[tool] += points
		}
	}
	best := make([]float64, len(s.groups))
	for _, tool := range touched {
		group := s.index.groups[tool]
		best[group] = max(best[group], s.current[tool])
		s.points[tool] += s.current[tool]
		s.covered[tool] += weight
		s.current[tool] = 0
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
		s.byName = s.byName || points > s.history[tool] && s.index.nameLens[tool] > 1 && s.isNamed(uint32(tool))
	}
	for tool, points := range s.points {
		if !s.usesHistory(uint32(tool)) {
			points -= s.history[tool]
		}
		if s.points[tool] = max(0, points); points <= 0 {
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

// historyPoints returns what a tool has of a concept by history, by its key: at most historyWeight times its idf.
func (x *Index) historyPoints(c *concept, key string) float64 {
	points := 0.0
	for _, l := range c.learned {
		if weight := l.tools[key]; weight > 0 {
			idf := inverseFrequency(len(x.names), len(l.tools))
			points = max(points, historyWeight*min(idf, max(c.idf, idf/2))*c.weight*l.weight*weight/(weight+historySaturate))
		}
	}
	return points
}

// bestHits returns the tools of a group with the most points.
func (s *scores) bestHits(limit, group int) []Hit {
	if limit <= 0 {
		return nil
	}
	hits := make([]Hit, 0, limit+1)
	for tool, points := range s.points {
		if points == 0 || group != everyGroup && int(s.index.groups[tool]) != group {
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

// explainHit returns the words that count for a tool, by field.
func (s *scores) explainHit(tool uint32, concepts []concept) []Reason {
	x := s.index
	var all []Reason
	for i := range concepts {
		c := &concepts[i]
		if best, points := x.bestVariant(tool, c); points > 0 {
			all = x.appendFields(all, c.word, best, points)
		}
		if points := x.historyPoints(c, x.keys[tool]); points > 0 && s.usesHistory(tool) {
			all = append(all, Reason{c.word, c.word, FieldHistory, points})
		}
	}
	total := 0.0
	for i := range all {
		total += all[i].Share
	}
	for i := range all {
		all[i].Share /= total
	}
	slices.SortStableFunc(all, func(a, b Reason) int { return cmp.Compare(b.Share, a.Share) })
	return slices.Clone(all[:min(len(all), maxReasons)])
}

// termMatch is a term in a tool.
type termMatch struct {
	term    uint32
	posting posting
}

// bestVariant returns the variant of a concept that counts for a tool: the one with the most points.
func (x *Index) bestVariant(tool uint32, c *concept) (best termMatch, points float64) {
	for _, v := range c.variants {
		list := x.postingList(v.term)
		at, found := slices.BinarySearchFunc(list, tool, func(p posting, tool uint32) int { return cmp.Compare(p.tool, tool) })
		if !found {
			continue
		}
		if of := x.variantPoints(c, v) * x.saturatedFrequency(list[at]); of > points {
			best, points = termMatch{v.term, list[at]}, of
		}
	}
	return best, points
}

// appendFields divides points among the fields that have a term.
func (x *Index) appendFields(all []Reason, word string, m termMatch, points float64) []Reason {
	var parts [fieldCount]float64
	sum := 0.0
	for f := range parts {
		parts[f] = float64(m.posting.fieldFrequency(Field(f))) * float64(x.norms[m.posting.tool][f])
		sum += parts[f]
	}
	for f, part := range parts {
		if part > 0 {
			all = append(all, Reason{word, x.terms[m.term], Field(f), points * part / sum})
		}
	}
	return all
}

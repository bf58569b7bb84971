package toolsearch

import (
	"cmp"
	"maps"
	"slices"
)

// Bounds of what one tenant's history keeps.
const (
	MaxLearnedTerms  = 4096 // terms
	MaxLearnedTools  = 24   // tools of one term
	MaxQuestionTerms = 16   // terms of one question
	minLearned       = 0.1  // weights below are forgotten
	forgetShare      = 0.02 // what a term forgets of other tools when it leads to one
)

// What history translates: a word that led to at least two tools, into words that are in most of their names.
const (
	minTranslated    = 2
	translatedShare  = 0.4
	translatedWeight = 0.8
)

// Learned is the history of a tenant: stemmed term, then key of a tool, then how often the term led there.
// Counts decay in the store, so they are fractions. A Learned is never changed: Learn returns a new one.
type Learned map[string]map[string]float64

// Learn returns l with one question more, that led to the tool with that key. Its size stays within MaxLearnedTerms
// and MaxLearnedTools: the least weights leave.
func Learn(l Learned, terms []string, tool string) Learned {
	learned := maps.Clone(l)
	if learned == nil {
		learned = Learned{}
	}
	for _, term := range terms {
		learned[term] = learnTool(learned[term], tool)
	}
	return trimTerms(learned)
}

// KnownTerms returns the stemmed terms of a question that may be learned, each once, at most MaxQuestionTerms: those that a
// tool of the index or a synonym has. A question may hold personal data, so other words and numbers are not among them.
func (x *Index) KnownTerms(words string) []string {
	var terms []string
	for _, word := range readQuestion(words).words {
		_, isKnown := x.findTerm(word.stem)
		if (isKnown || synonyms[word.stem] != nil) && !isNumber(word.text) && len(terms) < MaxQuestionTerms {
			terms = append(terms, word.stem)
		}
	}
	return terms
}

func learnTool(old map[string]float64, tool string) map[string]float64 {
	tools := make(map[string]float64, len(old)+1)
	for name, weight := range old {
		if name != tool {
			weight *= 1 - forgetShare
		}
		if weight >= minLearned {
			tools[name] = weight
		}
	}
	tools[tool]++
	for len(tools) > MaxLearnedTools {
		delete(tools, lightestTool(tools, tool))
	}
	return tools
}

// lightestTool returns the tool with the least weight, but not kept.
func lightestTool(tools map[string]float64, kept string) string {
	var least string
	for name, weight := range tools {
		if name != kept && (least == "" || weight < tools[least] || weight == tools[least] && name < least) {
			least = name
		}
	}
	return least
}

// trimTerms removes the terms with the least weight until MaxLearnedTerms are left. It changes l.
func trimTerms(l Learned) Learned {
	excess := len(l) - MaxLearnedTerms
	if excess <= 0 {
		return l
	}
	terms := slices.Collect(maps.Keys(l))
	sums := make(map[string]float64, len(l))
	for term, tools := range l {
		for _, weight := range tools {
			sums[term] += weight
		}
	}
	slices.SortFunc(terms, func(a, b string) int { return cmp.Or(cmp.Compare(sums[a], sums[b]), cmp.Compare(a, b)) })
	for _, term := range terms[:excess] {
		delete(l, term)
	}
	return l
}

// translateWord adds the words of the names of the tools to which history leads from a word: a tenant that calls
// contacts "address book" finds other tools for contacts by it.
func (x *Index) translateWord(c *concept, tools map[string]float64) {
	if len(tools) < minTranslated {
		return
	}
	total := 0.0
	shares := map[string]float64{}
	for _, key := range slices.Sorted(maps.Keys(tools)) { // sums of floats depend on the order
		total += tools[key]
		for _, stem := range x.nameStems(key) {
			shares[stem] += tools[key]
		}
	}
	for _, stem := range slices.Sorted(maps.Keys(shares)) {
		if share := shares[stem] / total; share >= translatedShare {
			c.addVariant(x, stem, translatedWeight*share)
		}
	}
}

// nameStems returns the stems of the name of a tool, each once, without verbs. It is empty for tools that are not in
// the index.
func (x *Index) nameStems(key string) []string {
	tool, found := x.byKey[key]
	if !found {
		return nil
	}
	var stems []string
	splitWords(cutText(x.names[tool], maxNameText), func(word []byte) bool {
		stem := stemWord(string(word))
		if !stopWords[string(word)] && actionsByStem[stem] == 0 && !slices.Contains(stems, stem) {
			stems = append(stems, stem)
		}
		return true
	})
	return stems
}

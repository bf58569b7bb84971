package toolsearch

import "slices"

// Bounds of a question.
const (
	MaxQuestion = 4 << 10 // bytes; the rest is not read
	maxTerms    = 64

	maxCorrections = 8 // words of a question that are compared with all terms
)

// questionWords returns the words of a question in lower case, without stop words.
func questionWords(text string) []string {
	var words []string
	splitWords(cutText(text, MaxQuestion), func(word []byte) bool {
		if s := string(word); !stopWords[s] {
			words = append(words, s)
		}
		return len(words) < maxTerms
	})
	return words
}

// concept is a word of the question with the terms of the index that stand for it.
type concept struct {
	word     string
	weight   float64 // of the word
	idf      float64 // of the word itself, else of its rarest variant
	variants []variant
}

type variant struct {
	term   uint32
	weight float64
}

// addVariant adds the term with that stem, if the index has it.
func (c *concept) addVariant(x *Index, stem string, weight float64) {
	term, found := x.findTerm(stem)
	if !found {
		return
	}
	for i := range c.variants {
		if c.variants[i].term == term {
			c.variants[i].weight = max(c.variants[i].weight, weight)
			return
		}
	}
	c.variants = append(c.variants, variant{term, weight})
}

// findConcepts returns the words of a question that some tool has: itself, by a synonym, or misspelled.
func (x *Index) findConcepts(words []string) []concept {
	var found []concept
	var seen []string
	corrections := maxCorrections
	for i, word := range words {
		stem := stemWord(word)
		if slices.Contains(seen, stem) {
			continue
		}
		seen = append(seen, stem)
		c := concept{word: word, weight: 1}
		if isNumber(word) {
			c.weight = numberWeight
		}
		c.addVariant(x, stem, 1)
		for _, s := range synonyms[stem] {
			c.addVariant(x, s.stem, s.weight())
		}
		x.addJoined(&c, words, i)
		if len(c.variants) == 0 && corrections > 0 {
			corrections--
			x.correctWord(&c, word, stem)
		}
		if len(c.variants) > 0 {
			c.idf = x.conceptIDF(&c, stem)
			found = append(found, c)
		}
	}
	return found
}

func (x *Index) conceptIDF(c *concept, stem string) float64 {
	if term, found := x.findTerm(stem); found {
		return x.termIDF(term)
	}
	idf := 0.0
	for _, v := range c.variants {
		idf = max(idf, x.termIDF(v.term)*v.weight)
	}
	return idf
}

// variantPoints returns what a match of a variant counts at most. A rare synonym of a common word counts as the word.
func (x *Index) variantPoints(c *concept, v variant) float64 {
	return min(c.idf, x.termIDF(v.term)) * c.weight * v.weight
}

// addJoined adds the terms that a word makes with its neighbors: "web hook" is "webhook". Verbs are not joined.
func (x *Index) addJoined(c *concept, words []string, i int) {
	if actionsByStem[stemWord(words[i])] != 0 {
		return
	}
	if i > 0 && actionsByStem[stemWord(words[i-1])] == 0 {
		c.addVariant(x, stemWord(words[i-1]+words[i]), 1)
	}
	if i+1 < len(words) && actionsByStem[stemWord(words[i+1])] == 0 {
		c.addVariant(x, stemWord(words[i]+words[i+1]), 1)
	}
}

func isNumber(word string) bool {
	for i := range len(word) {
		if word[i] < '0' || word[i] > '9' {
			return false
		}
	}
	return true
}

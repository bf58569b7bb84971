package toolsearch

import "slices"

// Bounds of a question.
const (
	MaxQuestion = 4 << 10 // bytes; the rest is not read
	maxTerms    = 64

	maxCorrections = 8 // words of a question that are compared with all terms
)

// askedWord is a word of a question in lower case, with its stem.
type askedWord struct{ text, stem string }

// questionWords returns the words of a question without stop words, each stem once.
func questionWords(text string) []askedWord {
	var words []askedWord
	read := 0
	splitWords(cutText(text, MaxQuestion), func(word []byte) bool {
		if read++; read > maxTerms {
			return false
		}
		if stopWords[string(word)] {
			return true
		}
		w := askedWord{text: string(word)}
		w.stem = stemWord(w.text)
		if !slices.ContainsFunc(words, func(other askedWord) bool { return other.stem == w.stem }) {
			words = append(words, w)
		}
		return true
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
func (x *Index) findConcepts(asked []askedWord) []concept {
	var found []concept
	corrections := maxCorrections
	for i, word := range asked {
		c := concept{word: word.text, weight: 1}
		if isNumber(word.text) {
			c.weight = numberWeight
		}
		c.addVariant(x, word.stem, 1)
		for _, s := range synonyms[word.stem] {
			c.addVariant(x, s.stem, s.weight())
		}
		x.addJoined(&c, asked, i)
		if len(c.variants) == 0 && corrections > 0 {
			corrections--
			x.correctWord(&c, word)
		}
		if len(c.variants) > 0 {
			c.idf = x.conceptIDF(&c, word.stem)
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
func (x *Index) addJoined(c *concept, asked []askedWord, i int) {
	if i > 0 {
		c.addPair(x, asked[i-1], asked[i])
	}
	if i+1 < len(asked) {
		c.addPair(x, asked[i], asked[i+1])
	}
}

func (c *concept) addPair(x *Index, left, right askedWord) {
	if actionsByStem[left.stem] == 0 && actionsByStem[right.stem] == 0 {
		c.addVariant(x, stemWord(left.text+right.text), 1)
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

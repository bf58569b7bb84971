package toolsearch

import "slices"

// Bounds of a question.
const (
	MaxQuestion = 4 << 10 // bytes; the rest is not read
	maxTerms    = 64

	maxCorrections = 8 // words of a question that are compared with all terms
)

// question is a question as it is searched.
type question struct {
	words  []askedWord
	first  actions // of its first verb
	all    actions // of all verbs; reading without a verb
	verbs  actions // of all verbs
	number grammaticalNumber
}

// askedWord is a word of a question in lower case, with its stem.
type askedWord struct{ text, stem string }

// readQuestion reads a bounded part of text.
func readQuestion(text string) question {
	var q question
	for i, word := range replacePhrases(allWords(text)) {
		q.addActions(word, i == 0)
		q.number.addWord(word)
		if !stopWords[word] && len(word) > 1 {
			q.addWord(word)
		}
	}
	q.verbs = q.all
	if q.all == 0 {
		q.first, q.all = reading, reading // "status of the build"
	}
	return q
}

// allWords returns the words of a question, without the parts of "GitHub" beside it.
func allWords(text string) []string {
	var words []string
	read := 0
	splitWords(cutText(text, MaxQuestion), func(word []byte) bool {
		if read++; read > maxTerms {
			return false
		}
		if n := len(words); n > 1 && len(word) > 3 && string(word) == words[n-2]+words[n-1] {
			words = words[:n-2]
		}
		words = append(words, string(word))
		return true
	})
	return words
}

// addWord adds a word unless there is one with its stem.
func (q *question) addWord(word string) {
	w := askedWord{word, stemWord(word)}
	if !slices.ContainsFunc(q.words, func(other askedWord) bool { return other.stem == w.stem }) {
		q.words = append(q.words, w)
	}
}

// concept is a word of the question with the terms of the index that stand for it.
type concept struct {
	word     string
	weight   float64 // of the word
	idf      float64 // of the word itself, else of its rarest variant
	variants []variant
	learned  []learnedTerm
}

type learnedTerm struct {
	tools  map[string]float64
	weight float64
}

// addLearned adds what history says of a word, and less of its synonyms.
func (c *concept) addLearned(learned Learned, stem string) {
	if tools := learned[stem]; len(tools) > 0 {
		c.learned = append(c.learned, learnedTerm{tools, 1})
	}
	for _, s := range synonyms[stem] {
		if tools := learned[s.stem]; len(tools) > 0 {
			c.learned = append(c.learned, learnedTerm{tools, s.variantWeight()})
		}
	}
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
func (x *Index) findConcepts(asked []askedWord, learned Learned) []concept {
	var found []concept
	corrections := maxCorrections
	for i, word := range asked {
		c := concept{word: word.text, weight: 1}
		switch {
		case isNumber(word.text):
			c.weight = numberWeight
		case weakWords[word.text]:
			c.weight = weakWeight
		}
		c.addVariant(x, word.stem, 1)
		for _, s := range synonyms[word.stem] {
			c.addVariant(x, s.stem, s.variantWeight())
		}
		x.addJoined(&c, asked, i)
		c.addLearned(learned, word.stem)
		x.translateWord(&c, learned[word.stem])
		if len(c.variants) == 0 && len(c.learned) == 0 && corrections > 0 {
			corrections--
			x.correctWord(&c, word)
		}
		if len(c.variants) > 0 || len(c.learned) > 0 {
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
	for _, l := range c.learned {
		idf = max(idf, inverseFrequency(len(x.names), len(l.tools))*l.weight)
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

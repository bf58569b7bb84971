package toolsearch

import "slices"

// Bounds of a question.
const (
	MaxQuestion = 4 << 10 // bytes; the rest is not read
	maxTerms    = 64
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
	variants []variant
}

type variant struct {
	term   uint32
	weight float64
}

// findConcepts returns the words of a question that some tool has, itself or by a synonym.
func (x *Index) findConcepts(words []string) []concept {
	var found []concept
	var seen []string
	for _, word := range words {
		stem := stemWord(word)
		if slices.Contains(seen, stem) {
			continue
		}
		seen = append(seen, stem)
		c := concept{word: word}
		if term, ok := x.findTerm(stem); ok {
			c.variants = append(c.variants, variant{term, 1})
		}
		for _, synonym := range synonyms[stem] {
			if term, ok := x.findTerm(synonym); ok {
				c.variants = append(c.variants, variant{term, synonymWeight})
			}
		}
		if len(c.variants) > 0 {
			found = append(found, c)
		}
	}
	return found
}

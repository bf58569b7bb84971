package toolsearch

import (
	"cmp"
	"slices"
	"strings"
)

const (
	maxSpellings = 3     // terms that stand for one misspelled word
	maxCompared  = 5_000 // terms that are compared with it
)

// correctWord adds terms for a word that no tool has: the two words that it consists of ("webhook" for "web hook"),
// else terms that begin with it, else those with few other letters.
func (x *Index) correctWord(c *concept, asked askedWord) {
	word, stem := asked.text, asked.stem
	if len(word) < 4 {
		return
	}
	for i := 3; i+3 <= len(word); i++ {
		left, okLeft := x.findTerm(stemWord(word[:i]))
		right, okRight := x.findTerm(stemWord(word[i:]))
		if okLeft && okRight {
			c.variants = append(c.variants, variant{left, splitWeight}, variant{right, splitWeight})
			return
		}
	}
	start, _ := slices.BinarySearch(x.terms, stem)
	for term := start; term < len(x.terms) && strings.HasPrefix(x.terms[term], stem) && len(c.variants) < maxSpellings; term++ {
		c.variants = append(c.variants, variant{uint32(term), prefixWeight})
	}
	if len(c.variants) == 0 {
		c.variants = x.similarTerms(stem)
	}
}

// similarTerms returns the terms with the same first letter that differ least from stem.
func (x *Index) similarTerms(stem string) []variant {
	limit := 1
	if len(stem) >= 8 {
		limit = 2
	}
	type candidate struct {
		term     int
		distance int
	}
	var all []candidate
	start, end := x.comparedTerms(stem)
	for term := start; term < end && x.terms[term][0] == stem[0]; term++ {
		if distance := editDistance(stem, x.terms[term], limit); distance <= limit {
			all = append(all, candidate{term, distance})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var found []variant
	for _, c := range all[:min(len(all), maxSpellings)] {
		found = append(found, variant{uint32(c.term), spellingWeight / float64(c.distance)})
	}
	return found
}

// comparedTerms returns the range of the terms that are compared with a misspelled word: from the first with its first
// letter or, where that has many, the terms around its place.
func (x *Index) comparedTerms(stem string) (start, end int) {
	start, _ = slices.BinarySearch(x.terms, stem[:1])
	place, _ := slices.BinarySearch(x.terms, stem)
	start = max(start, place-maxCompared/2)
	return start, min(len(x.terms), start+maxCompared)
}

// editDistance returns the number of letters to insert, remove, replace or swap that make b of a, or limit+1 where it is
// above limit. It compares bytes.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit || len(a) > maxWord || len(b) > maxWord {
		return limit + 1
	}
	var rows [3][maxWord + 1]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		least := row[0]
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
			least = min(least, row[j+1])
		}
		if least > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit+1)
}

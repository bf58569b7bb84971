package toolsearch

import (
	_ "embed"
	"slices"
	"strings"
)

// synonymGroups are words that mean the same or nearly the same in names of tools, one group a line. A word may be in
// several groups; it gets the others of each. The verbs stand before the empty line.
//
//go:embed synonyms.txt
var synonymGroups string

type synonym struct {
	stem string
	verb bool
}

func (s synonym) variantWeight() float64 {
	if s.verb {
		return verbSynonymWeight
	}
	return synonymWeight
}

// synonyms has the other stems of the groups of a stem.
var synonyms = readSynonyms(synonymGroups)

func readSynonyms(groups string) map[string][]synonym {
	all := map[string][]synonym{}
	verbs := true
	for line := range strings.Lines(groups) {
		if line == "\n" && len(all) > 0 {
			verbs = false
		}
		var stems []string
		for word := range strings.FieldsSeq(line) {
			stems = append(stems, stemWord(word))
		}
		for _, stem := range stems {
			for _, other := range stems {
				if other != stem && !slices.ContainsFunc(all[stem], func(s synonym) bool { return s.stem == other }) {
					all[stem] = append(all[stem], synonym{other, verbs})
				}
			}
		}
	}
	return all
}

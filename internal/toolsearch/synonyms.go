package toolsearch

import (
	"slices"
	"strings"
)

// synonymGroups are words that mean the same in names of tools, one group a line.
const synonymGroups = `
create add new make open insert
list show get find search fetch read view retrieve query
delete remove drop erase destroy
update edit change modify set rename
send post message
issue ticket bug
repository repo
`

// synonyms has the other stems of the groups of a stem.
var synonyms = readSynonyms(synonymGroups)

func readSynonyms(groups string) map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(groups) {
		var stems []string
		for word := range strings.FieldsSeq(line) {
			stems = append(stems, stemWord(word))
		}
		for _, stem := range stems {
			for _, other := range stems {
				if other != stem && !slices.Contains(all[stem], other) {
					all[stem] = append(all[stem], other)
				}
			}
		}
	}
	return all
}

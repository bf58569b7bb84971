package toolsearch

import "strings"

// actions is a set of what tools do, one bit each.
type actions uint16

const (
	actRead actions = 1 << iota
	actList
	actSearch
	actCreate
	actUpdate
	actDelete
	actSend
	actStart
	actStop
	actMove
	actUpload
	actDownload
	actReply

	reading = actRead | actList | actSearch | actDownload
)

// actionWords are the verbs of each action. Some verbs stand for several.
var actionWords = map[actions]string{
	actRead:   "get read view retrieve fetch describe show inspect check display see look give tell",
	actList:   "list show browse enumerate all every",
	actSearch: "search find query lookup locate discover look filter",
	actCreate: "create add new make insert register generate build write open post put append provision attach start set install " +
		"grant allow store save draft schedule book",
	actUpdate: "update edit change modify set rename patch alter replace amend configure adjust put mark upsert enable disable toggle move " +
		"assign close reopen replace reset rotate resize lower raise increase decrease grant correct fix overwrite tag label",
	actDelete:   "delete remove drop erase destroy clear purge trash discard wipe rid bin dismiss revoke forget withdraw unsubscribe unassign detach clean uninstall",
	actSend:     "send post notify deliver email message publish share invite forward submit",
	actStart:    "start run execute launch trigger begin invoke perform restart resume play rerun retry deploy enable activate",
	actStop:     "stop cancel abort terminate end halt kill pause suspend disable deactivate shutdown",
	actMove:     "move transfer relocate migrate copy duplicate clone fork",
	actUpload:   "upload import push attach",
	actDownload: "download export save",
	actReply:    "reply respond answer comment",
}

var actionsByStem = stemActions()

func stemActions() map[string]actions {
	all := map[string]actions{}
	for action, words := range actionWords {
		for word := range strings.FieldsSeq(words) {
			all[stemWord(word)] |= action
		}
	}
	return all
}

// toolActions returns what a tool does, by the first verb of its name, else by the first word of its description.
func (b *builder) toolActions(name, lead string) actions {
	found := b.firstAction(name, 8)
	if found == 0 {
		found = b.firstAction(lead, 2)
	}
	return found
}

func (b *builder) firstAction(text string, limit int) (found actions) {
	splitWordsInto(b.buf[:0], text, func(word []byte) bool {
		if term := b.internTerm(word); term >= 0 {
			found = actionsByStem[b.stems[term]]
		}
		limit--
		return found == 0 && limit > 0
	})
	return found
}

// addActions adds what a word says about what is to be done. "What", "is" and the like count without a verb.
func (q *question) addActions(word string, first bool) {
	found := askedAction(word, first)
	if q.first == 0 || q.first == reading && found != 0 { // "how do I create"
		q.first = found
	}
	q.all |= found
}

// askedAction returns the actions of a word. Words with these ends are mostly no verbs: "configured", "settings", "meeting".
func askedAction(word string, first bool) actions {
	if interrogatives[word] || first && openings[word] {
		return reading
	}
	switch {
	case word == "feed", word == "dismiss", word == "process":
	case strings.HasSuffix(word, "ing") && !first, strings.HasSuffix(word, "ed"), strings.HasSuffix(word, "s"):
		return 0
	}
	return actionsByStem[stemWord(word)]
}

var (
	interrogatives = wordSet("what which who whose where when how why whether")
	openings       = wordSet("is are was were does do did has have can any")
)

// grammaticalNumber says whether one or many things are asked for or returned.
type grammaticalNumber uint8

const (
	numberOne grammaticalNumber = 1 << iota
	numberMany
)

var (
	oneWords  = wordSet("one single specific particular id this that its identifier a an")
	manyWords = wordSet("all every list many several each any overview which everything")
)

func (n *grammaticalNumber) addWord(word string) {
	switch {
	case manyWords[word]:
		*n |= numberMany
	case oneWords[word]:
		*n |= numberOne
	}
}

// toolNumber returns whether a tool reads one or many things, by its name: get_issue, list_issues. Others have none.
func toolNumber(name string, does actions) (n grammaticalNumber) {
	if does&reading == 0 {
		return 0
	}
	var last string
	splitWords(name, func(word []byte) bool {
		switch string(word) {
		case "list", "search", "find", "query", "all", "many", "batch", "bulk":
			n = numberMany
		case "id", "by", "one":
			n = numberOne
		}
		last = string(word)
		return true
	})
	switch {
	case n != 0:
		return n
	case strings.HasSuffix(last, "s") && !strings.HasSuffix(last, "ss") && !strings.HasSuffix(last, "us"):
		return numberMany
	}
	return numberOne
}

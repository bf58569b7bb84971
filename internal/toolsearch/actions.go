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
	actRead:     "get read view retrieve fetch describe show inspect check display see look give tell",
	actList:     "list show browse enumerate all every",
	actSearch:   "search find query lookup locate discover look filter",
	actCreate:   "create add new make insert register generate build write open post put append provision attach start set install",
	actUpdate:   "update edit change modify set rename patch alter replace amend configure adjust put mark upsert enable disable toggle move assign close reopen",
	actDelete:   "delete remove drop erase destroy clear purge trash discard revoke unassign detach clean uninstall",
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
	for word := range strings.FieldsSeq("what which who where when how") {
		all[word] = reading
	}
	return all
}

// toolActions returns what a tool does, by the first verb of its name, else by the first word of its description.
func toolActions(name, lead string) actions {
	found := firstAction(name, 8)
	if found == 0 {
		found = firstAction(lead, 2)
	}
	return found
}

func firstAction(text string, limit int) (found actions) {
	splitWords(text, func(word []byte) bool {
		found = actionsByStem[stemWord(string(word))]
		limit--
		return found == 0 && limit > 0
	})
	return found
}

// askedActions returns what a question wants done, by its verbs: those of its first verb, and those of all.
// "What", "which" and the like count without a verb.
func askedActions(text string) (first, all actions) {
	words := 0
	splitWords(cutText(text, MaxQuestion), func(word []byte) bool {
		found := actionsByStem[stemWord(string(word))]
		if first == 0 || first == reading && found != 0 { // "how do I create"
			first = found
		}
		all |= found
		words++
		return words < maxTerms
	})
	return first, all
}

package toolchange

import (
	"regexp"
	"strings"
)

// rule is one way to order a model about. Its form is looked for in a text of which plain has one of the hints.
type rule struct {
	hints    []string       // in lower case, each enough to look closer
	form     *regexp.Regexp // nil: a hint is enough
	sentence string
}

func form(expression string) *regexp.Regexp { return regexp.MustCompile(expression) }

// rules are what servers were seen to write, and the same in some other languages. They are few and narrow: who writes "call X first"
// is no attacker. Texts come in lower case, with one blank where there is white space.
var rules = []rule{
	{[]string{"ignore", "disregard", "forget", "override", "overrule"},
		form(`\b(?:ignore|disregard|forget|override|overrule)s? (?:\w+ ){0,3}?(?:previous|prior|above|earlier|preceding|other|existing|all|system|safety|user'?s?)\b(?: \w+){0,2} (?:instructions?|rules|prompts?|messages|guidelines|directions|policies|tools?)\b`),
		overrules},
	{[]string{"ignorier", "missachte", "vergiss"},
		form(`\b(?:ignorieren?|missachten?|vergiss) (?:\w+ ){0,3}?(?:vorherigen?|bisherigen?|vorigen?|obigen?|früheren?|anderen?|alle)\b(?: \w+){0,2} (?:anweisung|regel|vorgabe)`), overrules},
	{[]string{"ignore", "oublie"}, form(`\b(?:ignore[sz]?|oublie[sz]?) (?:\w+ ){0,3}?(?:instructions|consignes|règles)`), overrules},
	{[]string{"ignora", "olvida", "esqueça", "dimentica"}, form(`\b(?:ignora|ignore|olvida|esqueça|dimentica) (?:\w+ ){0,3}?(?:instrucciones|instruções|istruzioni|reglas|regras|regole)`), overrules},
	{[]string{"игнорир", "забудь"}, form(`(?:игнорируй|игнорируйте|забудь|забудьте) (?:\S+ ){0,3}?(?:инструкции|указания|правила)`), overrules},
	{[]string{"忽略", "无视", "無視"}, form(`(?:忽略|无视|無視)[^。.]{0,12}(?:指令|指示|说明|規則|规则|提示)|(?:指示|命令)を無視`), overrules},

	{[]string{"user", "anyone"},
		form(`\b(?:do not|don't|never|must not|should not|without) (?:\w+ ){0,2}?(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|notify(?:ing)?|alert(?:ing)?|warn(?:ing)?|show(?:ing)?)\b[^.!?]{0,40}\b(?:user|anyone)\b`), conceals},
	{[]string{"the user"}, form(`\b(?:hide|conceal|keep) (?:\w+ ){0,4}?(?:secret )?from the user\b|\bthe user (?:must|should) (?:not|never) (?:know|see|notice|be told|learn)`), conceals},
	{[]string{"nutzer", "utilisateur", "usuario", "utente"},
		form(`\b(?:sage?|erzähle?) (?:dem|der) (?:be)?nutzer(?:in)? nicht|ohne (?:den|die) (?:be)?nutzer(?:in)? zu|ne (?:\S+ )?(?:dites?|dis|mentionnez|informez) (?:pas|rien)[^.]{0,30}utilisateur|no (?:le )?(?:digas|menciones|informes)[^.]{0,30}usuario|non (?:dire|menzionare|informare)[^.]{0,30}utente`), conceals},
	{[]string{"пользовател", "用户", "ユーザー"},
		form(`не (?:говори|сообщай|показывай)\S* [^.]{0,20}пользовател|(?:不要|别|勿)(?:告诉|告知|通知|向)[^。]{0,4}用户|ユーザーに(?:は)?(?:言わない|知らせない|伝えない|教えない)`), conceals},

	{[]string{"before "},
		form(`\bbefore (?:using|calling|invoking|running|you (?:use|call|run)) (?:this|any|the|other|another)\b[^.!?]{0,60}?\b(?:read|open|cat|fetch|send|include|collect|list the files|copy)\b`),
		"The text wants something done before the tool is used."},
	{[]string{"this tool"},
		form(`\b(?:always|must|only) (?:use|call|prefer|choose) this tool (?:instead|over|rather|before|first|for (?:all|every|any))|\bthis tool (?:replaces|supersedes|overrides)\b`),
		"The text wants the tool used in place of others."},
	{[]string{"instead of", "in place of"}, form(`\b(?:use|call) (?:this|it) (?:instead|in place) of (?:any|all|every|the) other tools?\b`), "The text wants the tool used in place of others."},
	{[]string{"system prompt", "chat history", "conversation history", "whole conversation", "full conversation", "previous messages"},
		form(`\b(?:send|pass|include|append|forward|attach|repeat|reveal|print|put|insert|provide)\b[^.!?]{0,60}(?:system prompt|chat history|conversation history|(?:whole|full|entire) conversation|previous messages)`),
		"The text wants the conversation handed over."},

	{[]string{"<important>", "<system>", "</system>", "<secret>", "<instructions>", "<hidden>", "<|im_start|>", "<|system|>", "[inst]", "<<sys>>", "[system]", "### system", "<assistant>"},
		nil, "The text has marks that set words apart for a model alone."},
	{[]string{"~/.ssh", "id_rsa", "id_ed25519", ".cursor/mcp.json", "claude_desktop_config", "/etc/passwd", "/etc/shadow", ".aws/credentials", ".netrc", ".kube/config", ".npmrc", ".git-credentials"},
		nil, "The text names a file in which secrets are kept."},
}

const (
	overrules = "The text tells a model to set other instructions aside."
	conceals  = "The text tells a model to keep something from the user."
)

// asSaid is the text as it was written, where what was found in it stands at the same place.
func asSaid(text, said string) string {
	if strings.ToLower(said) == text && len(said) == len(text) {
		return said
	}
	return text
}

// orders finds what orders a model about. What is said in letters that look like others is found, too.
func orders(p passage) []finding {
	if p.seen == toEyes || len(p.text) < 4 {
		return nil
	}
	var found []finding
	said := spaced(p.text)
	texts := []string{strings.ToLower(said)}
	if p := plain(p.text); p != texts[0] {
		texts = append(texts, p)
	}
	for _, r := range rules {
		for _, text := range texts {
			if from, to, ok := r.find(text); ok {
				found = append(found, finding{key: r.sentence + text[from:to], shown: around(asSaid(text, said), from, to), sentence: r.sentence})
				break
			}
		}
	}
	if blob := encoded(p.text); blob != "" {
		found = append(found, finding{key: blob, shown: blob, sentence: "The text has a long encoded part that no person can read."})
	}
	return found
}

func (r rule) find(text string) (from, to int, ok bool) {
	for _, hint := range r.hints {
		at := strings.Index(text, hint)
		switch {
		case at < 0:
			continue
		case r.form == nil:
			return at, at + len(hint), true
		}
		if place := r.form.FindStringIndex(text); place != nil {
			return place[0], place[1], true
		}
		return 0, 0, false
	}
	return 0, 0, false
}

// leastEncoded is the length from which on letters and digits without a blank are no word and no id.
const leastEncoded = 80

// encoded finds a part that looks like base64: long, of capitals, small letters and digits.
func encoded(text string) string {
	for start := 0; start+leastEncoded <= len(text); {
		end, classes := start, 0
		for end < len(text) && base64Class(text[end]) != 0 {
			classes |= base64Class(text[end])
			end++
		}
		if end-start >= leastEncoded && classes&every == every {
			return text[start:end]
		}
		start = end + 1
	}
	return ""
}

const (
	upper = 1 << iota
	lower
	digit
	mark
	every = upper | lower | digit
)

func base64Class(b byte) int {
	switch {
	case b >= 'A' && b <= 'Z':
		return upper
	case b >= 'a' && b <= 'z':
		return lower
	case b >= '0' && b <= '9':
		return digit
	case b == '+', b == '/', b == '=':
		return mark
	default:
		return 0
	}
}

package toolchange

import (
	"regexp"
	"strings"
)

// instructionRule detects one kind of instruction to a model. pattern is matched only if a hint occurs in the
// normalized text.
type instructionRule struct {
	hints    []string       // in lower case
	pattern  *regexp.Regexp // nil: a hint is enough
	sentence string
}

func compilePattern(expression string) *regexp.Regexp { return regexp.MustCompile(expression) }

// instructionRules cover attacks that were seen, and translations of them. They are few and narrow, because
// "call X first" is usually harmless. Texts are in lower case with single spaces.
var instructionRules = []instructionRule{
	{[]string{"ignore", "disregard", "forget", "override", "overrule"},
		compilePattern(`\b(?:ignore|disregard|forget|override|overrule)s? (?:\w+ ){0,3}?(?:previous|prior|above|earlier|preceding|other|existing|all|system|safety|user'?s?)\b(?: \w+){0,2} (?:instructions?|rules|prompts?|messages|guidelines|directions|policies|tools?)\b`),
		overrules},
	{[]string{"ignorier", "missachte", "vergiss"},
		compilePattern(`\b(?:ignorieren?|missachten?|vergiss) (?:\w+ ){0,3}?(?:vorherigen?|bisherigen?|vorigen?|obigen?|früheren?|anderen?|alle)\b(?: \w+){0,2} (?:anweisung|regel|vorgabe)`), overrules},
	{[]string{"ignore", "oublie"}, compilePattern(`\b(?:ignore[sz]?|oublie[sz]?) (?:\w+ ){0,3}?(?:instructions|consignes|règles)`), overrules},
	{[]string{"ignora", "olvida", "esqueça", "dimentica"}, compilePattern(`\b(?:ignora|ignore|olvida|esqueça|dimentica) (?:\w+ ){0,3}?(?:instrucciones|instruções|istruzioni|reglas|regras|regole)`), overrules},
	{[]string{"игнорир", "забудь"}, compilePattern(`(?:игнорируй|игнорируйте|забудь|забудьте) (?:\S+ ){0,3}?(?:инструкции|указания|правила)`), overrules},
	{[]string{"忽略", "无视", "無視"}, compilePattern(`(?:忽略|无视|無視)[^。.]{0,12}(?:指令|指示|说明|規則|规则|提示)|(?:指示|命令)を無視`), overrules},

	{[]string{"user", "anyone"},
		compilePattern(`\b(?:do not|don't|never|must not|should not|without) (?:\w+ ){0,2}?(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|notify(?:ing)?|alert(?:ing)?|warn(?:ing)?|show(?:ing)?)\b[^.!?]{0,40}\b(?:user|anyone)\b`), conceals},
	{[]string{"the user"}, compilePattern(`\b(?:hide|conceal|keep) (?:\w+ ){0,4}?(?:secret )?from the user\b|\bthe user (?:must|should) (?:not|never) (?:know|see|notice|be told|learn)`), conceals},
	{[]string{"nutzer", "utilisateur", "usuario", "utente"},
		compilePattern(`\b(?:sage?|erzähle?) (?:dem|der) (?:be)?nutzer(?:in)? nicht|ohne (?:den|die) (?:be)?nutzer(?:in)? zu|ne (?:\S+ )?(?:dites?|dis|mentionnez|informez) (?:pas|rien)[^.]{0,30}utilisateur|no (?:le )?(?:digas|menciones|informes)[^.]{0,30}usuario|non (?:dire|menzionare|informare)[^.]{0,30}utente`), conceals},
	{[]string{"пользовател", "用户", "ユーザー"},
		compilePattern(`не (?:говори|сообщай|показывай)\S* [^.]{0,20}пользовател|(?:不要|别|勿)(?:告诉|告知|通知|向)[^。]{0,4}用户|ユーザーに(?:は)?(?:言わない|知らせない|伝えない|教えない)`), conceals},

	{[]string{"before "},
		compilePattern(`\bbefore (?:using|calling|invoking|running|you (?:use|call|run)) (?:this|any|the|other|another)\b[^.!?]{0,60}?\b(?:read|open|cat|fetch|send|include|collect|list the files|copy)\b`),
		"The text demands another action before using the tool."},
	{[]string{"this tool"},
		compilePattern(`\b(?:always|must|only) (?:use|call|prefer|choose) this tool (?:instead|over|rather|before|first|for (?:all|every|any))|\bthis tool (?:replaces|supersedes|overrides)\b`),
		"The text wants the tool used instead of others."},
	{[]string{"instead of", "in place of"}, compilePattern(`\b(?:use|call) (?:this|it) (?:instead|in place) of (?:any|all|every|the) other tools?\b`), "The text wants the tool used instead of others."},
	{[]string{"system prompt", "chat history", "conversation history", "whole conversation", "full conversation", "previous messages"},
		compilePattern(`\b(?:send|pass|include|append|forward|attach|repeat|reveal|print|put|insert|provide)\b[^.!?]{0,60}(?:system prompt|chat history|conversation history|(?:whole|full|entire) conversation|previous messages)`),
		"The text asks for the conversation."},

	{[]string{"<important>", "<system>", "</system>", "<secret>", "<instructions>", "<hidden>", "<|im_start|>", "<|system|>", "[inst]", "<<sys>>", "[system]", "### system", "<assistant>"},
		nil, "The text has markers meant only for models."},
	{[]string{"~/.ssh", "id_rsa", "id_ed25519", ".cursor/mcp.json", "claude_desktop_config", "/etc/passwd", "/etc/shadow", ".aws/credentials", ".netrc", ".kube/config", ".npmrc", ".git-credentials"},
		nil, "The text names a file that holds secrets."},
}

const (
	overrules = "The text tells models to ignore other instructions."
	conceals  = "The text tells models to hide something from the user."
)

// originalText returns the text before lower-casing if offsets are the same in both.
func originalText(text, original string) string {
	if strings.ToLower(original) == text && len(original) == len(text) {
		return original
	}
	return text
}

// findInstructions finds instructions to a model, also in look-alike letters.
func (c *comparison) findInstructions(p definitionText) []finding {
	if p.audience == forPeople || len(p.text) < 4 || !c.work.spendUnits(ruleSetWork+hintByteWork*len(p.text)) {
		return nil
	}
	var found []finding
	original := collapseSpace(p.text)
	texts := []string{strings.ToLower(original)}
	if p := normalizeText(p.text); p != texts[0] {
		texts = append(texts, p)
	}
	for _, r := range instructionRules {
		for _, text := range texts {
			if from, to, ok := r.findMatch(text, c.work); ok {
				found = append(found, finding{key: r.sentence + text[from:to], shown: excerptAround(originalText(text, original), from, to), sentence: r.sentence})
				break
			}
		}
	}
	if blob := findBase64(p.text); blob != "" {
		found = append(found, finding{key: blob, shown: blob, sentence: "The text has a long encoded part, unreadable to people."})
	}
	return found
}

func (r instructionRule) findMatch(text string, w *work) (from, to int, ok bool) {
	for _, hint := range r.hints {
		index := strings.Index(text, hint)
		switch {
		case index < 0:
			continue
		case r.pattern == nil:
			return index, index + len(hint), true
		case !w.spendUnits(patternByteWork * len(text)):
			return 0, 0, false
		}
		if place := r.pattern.FindStringIndex(text); place != nil {
			return place[0], place[1], true
		}
		return 0, 0, false
	}
	return 0, 0, false
}

// minEncodedLength is the length from which letters and digits without spaces are no word or id.
const minEncodedLength = 80

// findBase64 returns a long run of capitals, small letters and digits.
func findBase64(text string) string {
	for start := 0; start+minEncodedLength <= len(text); {
		end, classes := start, 0
		for end < len(text) && base64Class(text[end]) != 0 {
			classes |= base64Class(text[end])
			end++
		}
		if end-start >= minEncodedLength && classes&allClasses == allClasses {
			return text[start:end]
		}
		start = end + 1
	}
	return ""
}

const (
	classUpper = 1 << iota
	classLower
	classDigit
	classMark
	allClasses = classUpper | classLower | classDigit
)

func base64Class(b byte) int {
	switch {
	case b >= 'A' && b <= 'Z':
		return classUpper
	case b >= 'a' && b <= 'z':
		return classLower
	case b >= '0' && b <= '9':
		return classDigit
	case b == '+', b == '/', b == '=':
		return classMark
	default:
		return 0
	}
}

package agentview

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/toolfmt"
)

const (
	findText = "Finds the agent's tools by what they do: most are not in this list. Name the product, the action and the object. " +
		"Returns the definitions of the best three tools and the names of the next seven. Call a tool with the call_with of its entry. Connectors, with the first words of their tools' names:"
	// maxDirectoryTokens bounds findText and the directory, with [toolfmt.Margin] below 600 tokens.
	maxDirectoryTokens   = 500
	maxDirectoryName     = 40 // characters of a connector's name
	maxDirectoryVerbs    = 6  // of a connector
	emptyDirectoryNotice = " none yet."
)

// directoryVerbs are the words by which the directory counts tools. Names are texts of servers, so other words are not
// repeated.
var directoryVerbs = newVerbSet("add approve archive assign cancel check close comment copy count create delete describe disable download enable execute " +
	"export fetch find get import insert invite link list lock merge move open patch post publish query read remove rename reply restart run search send set " +
	"start stop submit sync tag test transition update upload upsert validate watch write")

func newVerbSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// connectorDirectory lists the connectors with the verbs and numbers of their tools, as detailed as the bound permits. It depends
// on the view alone.
func (v *View) connectorDirectory() string {
	rows := make([]directoryRow, 0, len(v.Connectors))
	for _, connector := range v.Connectors {
		if len(connector.Tools) > 0 {
			rows = append(rows, newDirectoryRow(connector))
		}
	}
	if len(rows) == 0 {
		return emptyDirectoryNotice
	}
	for _, verbs := range []int{maxDirectoryVerbs, maxDirectoryVerbs / 2, 0} {
		if text := formatDirectory(rows, verbs); fitsDirectory(text) {
			return text
		}
	}
	shown := 0
	for shown < len(rows) && fitsDirectory(truncateDirectory(rows, shown+1)) {
		shown++
	}
	return truncateDirectory(rows, shown)
}

func fitsDirectory(text string) bool {
	return toolfmt.Tokens(toolfmt.OpenAI, encodeJSON(findText+text))+rareTokens(text) <= maxDirectoryTokens
}

// rareTokens bounds the tokens of the characters of a text that are no letters of a living script, such as emoji: a token for each
// byte. [toolfmt.Tokens] was not fitted to them.
func rareTokens(text string) (tokens int) {
	for _, r := range text {
		if r > unicode.MaxLatin1 && r != '…' && (r > 0xffff || !unicode.IsLetter(r) && !unicode.IsMark(r)) {
			tokens += utf8.RuneLen(r)
		}
	}
	return tokens
}

// directoryRow is one connector in the directory.
type directoryRow struct {
	name, slug string
	tools      int
	verbs      []verbCount // by number, then by word
}

type verbCount struct {
	verb  string
	count int
}

func newDirectoryRow(connector *ConnectorView) directoryRow {
	counts := map[string]int{}
	for _, t := range connector.Tools {
		if verb := findVerb(t.ConnectorName); verb != "" {
			counts[verb]++
		}
	}
	row := directoryRow{name: directoryName(connector.Connector.Name), slug: connector.Slug, tools: len(connector.Tools)}
	for _, verb := range slices.Sorted(maps.Keys(counts)) {
		row.verbs = append(row.verbs, verbCount{verb, counts[verb]})
	}
	slices.SortStableFunc(row.verbs, func(a, b verbCount) int { return cmp.Compare(b.count, a.count) })
	return row
}

// directoryName returns a connector's name on one line, with invisible characters escaped.
func directoryName(name string) string {
	name = connectors.Visible(strings.Join(strings.Fields(name), " "), func(r rune) bool { return connectors.Hidden(r) || unicode.IsControl(r) })
	if runes := []rune(name); len(runes) > maxDirectoryName {
		return string(runes[:maxDirectoryName-1]) + "…"
	}
	return name
}

// maxListedConnectors bounds [View.ConnectorSlugs].
const maxListedConnectors = 50

// ConnectorSlugs returns the slugs of the directory, at most maxListedConnectors, and the number of the others.
func (v *View) ConnectorSlugs() (slugs []string, others int) {
	for _, connector := range v.Connectors {
		switch {
		case len(connector.Tools) == 0:
		case len(slugs) < maxListedConnectors:
			slugs = append(slugs, connector.Slug)
		default:
			others++
		}
	}
	return slugs, others
}

// DirectoryConnector returns the connector of the directory with this slug, prefix of tools or name. nil: none, or several
// have the name.
func (v *View) DirectoryConnector(text string) *ConnectorView {
	slug := strings.Replace(strings.TrimSuffix(strings.TrimPrefix(text, "mcp_"), "__"), "_", ".", 1)
	for _, candidate := range []string{text, slug} {
		if connector := v.connectors[candidate]; connector != nil && len(connector.Tools) > 0 {
			return connector
		}
	}
	var named, exact []*ConnectorView
	for _, connector := range v.Connectors {
		name := connector.Connector.Name
		if len(connector.Tools) == 0 || !strings.EqualFold(name, text) && !strings.EqualFold(directoryName(name), text) {
			continue
		}
		if named = append(named, connector); name == text {
			exact = append(exact, connector)
		}
	}
	for _, list := range [][]*ConnectorView{exact, named} {
		if len(list) == 1 {
			return list[0]
		}
	}
	return nil
}

// findVerb returns the first known verb in a tool's name; empty: it has none.
func findVerb(name string) string {
	for _, word := range splitWords(name) {
		if directoryVerbs[word] {
			return word
		}
	}
	return ""
}

// splitWords splits snake_case, kebab-case and camelCase, in lower case.
func splitWords(name string) []string {
	var spaced strings.Builder
	before := ' '
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			spaced.WriteByte(' ')
		}
		if !unicode.IsLetter(r) {
			r = ' '
		}
		spaced.WriteRune(r)
		before = r
	}
	return strings.Fields(strings.ToLower(spaced.String()))
}

// formatRow writes the row with at most this many verbs.
func (row directoryRow) formatRow(verbs int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n- %s (mcp_%s__): %d", row.name, row.slug, row.tools)
	if verbs == 0 {
		return b.String()
	}
	rest, sign := row.tools, ": "
	for _, v := range row.verbs[:min(verbs, len(row.verbs))] {
		fmt.Fprintf(&b, "%s%s %d", sign, v.verb, v.count)
		rest, sign = rest-v.count, ", "
	}
	if rest > 0 && rest < row.tools {
		fmt.Fprintf(&b, ", other %d", rest)
	}
	return b.String()
}

func formatDirectory(rows []directoryRow, verbs int) string {
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(row.formatRow(verbs))
	}
	return b.String()
}

// truncateDirectory lists the first rows and counts the rest.
func truncateDirectory(rows []directoryRow, shown int) string {
	text := formatDirectory(rows[:shown], 0)
	if shown < len(rows) {
		tools := 0
		for _, row := range rows[shown:] {
			tools += row.tools
		}
		text += fmt.Sprintf("\n- and %d more connectors with %d tools", len(rows)-shown, tools)
	}
	return text
}

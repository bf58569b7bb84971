package toolsearch

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Tool is what the index reads of a tool.
type Tool struct {
	Name          string // as the agent calls it
	Key           string // what a [Learned] calls it; empty: Name
	Title         string
	Description   string
	Connector     string // slug
	ConnectorName string
	Tags          []string
	Params        []Param
}

// Param is a parameter of a tool.
type Param struct {
	Name        string
	Description string
}

// Field is a part of a tool that the index searches.
type Field uint8

// The fields.
const (
	FieldName Field = iota
	FieldTitle
	FieldConnector
	FieldTags
	FieldParam
	FieldParamText
	FieldLead        // first sentence of the description
	FieldDescription // the rest of it
	FieldHistory     // words of earlier questions; not in the index
	FieldMeaning     // the whole question, by its embedding; not in the index
	fieldCount       = int(FieldHistory)
)

// String returns the name of the field in a sentence.
func (f Field) String() string {
	return [...]string{"name", "title", "connector", "tags", "parameter", "parameter description", "description", "description", "history", "meaning"}[f]
}

// Bounds of one tool in the index.
const (
	maxNameText    = 256      // bytes of a name, a title, a tag
	maxDescription = 4 << 10  // bytes of a description
	maxTags        = 32       //
	maxToolWords   = 1 << 10  // words of all fields
	maxToolTerms   = 400      // different ones
	maxFrequency   = 1<<4 - 1 // of a term in a field
)

// maxIndexWords bounds the different words of an index, and so its terms. Later words are not read.
const maxIndexWords = 200_000

// posting is the occurrence of a term in a tool. It has four bits for the frequency in each field.
type posting struct {
	tool        uint32
	frequencies uint32
}

func (p posting) fieldFrequency(f Field) uint32 { return p.frequencies >> (4 * f) & maxFrequency }

// Index finds tools by words.
type Index struct {
	names    []string
	keys     []string
	byKey    map[string]uint32
	terms    []string  // sorted
	starts   []uint32  // postings[starts[i]:starts[i+1]] belong to terms[i]
	postings []posting // of one term in the order of tools
	norms    [][fieldCount]float32
	nameLens []uint8
	actions  []actions
	numbers  []grammaticalNumber
	groups   []uint32          // of tools: the number of the connector
	groupIDs map[string]uint32 // numbers of connectors, by slug
}

// New builds the index of tools.
func New(tools []Tool) *Index {
	b := newBuilder(len(tools))
	for i := range tools {
		b.addTool(&tools[i])
	}
	return b.buildIndex()
}

// Bytes estimates the memory of the index.
func (x *Index) Bytes() int {
	const stringHeader, mapEntry = 16, 40
	total := len(x.postings)*8 + len(x.starts)*4 + len(x.norms)*4*fieldCount + 8*len(x.nameLens)
	for _, term := range x.terms {
		total += stringHeader + len(term)
	}
	for _, name := range x.names {
		total += 2*stringHeader + len(name) + mapEntry
	}
	for i, key := range x.keys {
		if key != x.names[i] {
			total += len(key)
		}
	}
	return total
}

// findTerm returns the number of a stemmed term.
func (x *Index) findTerm(stem string) (uint32, bool) {
	i, found := slices.BinarySearch(x.terms, stem)
	return uint32(i), found
}

func (x *Index) postingList(term uint32) []posting {
	return x.postings[x.starts[term]:x.starts[term+1]]
}

// termIDF returns the inverse document frequency of a term.
func (x *Index) termIDF(term uint32) float64 {
	return inverseFrequency(len(x.names), int(x.starts[term+1]-x.starts[term]))
}

func inverseFrequency(all, having int) float64 {
	return math.Pow(math.Log(1+(float64(all)-float64(having)+0.5)/(float64(having)+0.5)), idfPower)
}

// builder collects the postings in the order of the tools, and sorts them by term at the end.
type builder struct {
	names    []string
	keys     []string
	ids      map[string]int32 // of words as written; -1 is a stop word
	stemIDs  map[string]int32
	stems    []string
	postings []posting
	terms    []int32 // of postings
	lengths  [][fieldCount]uint16
	actions  []actions
	numbers  []grammaticalNumber
	groups   []uint32
	groupIDs map[string]uint32
	own      []int32  // terms of the connector of the tool that is added
	current  []uint32 // frequencies in the tool that is added, by term
	touched  []int32
	words    int
	buf      [maxWord]byte
}

func newBuilder(tools int) *builder {
	return &builder{
		names: make([]string, 0, tools), keys: make([]string, 0, tools), lengths: make([][fieldCount]uint16, 0, tools),
		groupIDs: map[string]uint32{}, ids: make(map[string]int32, 8<<10), stemIDs: make(map[string]int32, 4<<10),
		postings: make([]posting, 0, 32*tools), terms: make([]int32, 0, 32*tools),
	}
}

func (b *builder) addTool(t *Tool) {
	tool := uint32(len(b.names))
	b.names = append(b.names, strings.Clone(t.Name))
	b.keys = append(b.keys, cmp.Or(strings.Clone(t.Key), b.names[tool]))
	b.lengths = append(b.lengths, [fieldCount]uint16{})
	b.touched, b.words = b.touched[:0], 0
	b.addGroup(t.Connector)
	b.addText(FieldConnector, cutText(t.Connector, maxNameText))
	b.addText(FieldConnector, cutText(t.ConnectorName, maxNameText))
	b.own = append(b.own[:0], b.touched...)
	name := cutText(localName(t.Name, t.Connector), maxNameText)
	b.addText(FieldName, name)
	b.addText(FieldTitle, cutText(t.Title, maxNameText))
	for _, tag := range t.Tags[:min(len(t.Tags), maxTags)] {
		b.addText(FieldTags, cutText(tag, maxNameText))
	}
	lead, rest := splitLead(cutText(t.Description, maxDescription))
	b.addText(FieldLead, lead)
	does := b.toolActions(name, lead)
	b.actions = append(b.actions, does)
	b.numbers = append(b.numbers, toolNumber(name, does))
	params := t.Params[:min(len(t.Params), maxParams)]
	for i := range params {
		b.addText(FieldParam, cutText(params[i].Name, maxNameText))
	}
	b.addText(FieldDescription, rest)
	for i := range params {
		b.addText(FieldParamText, cutText(params[i].Description, maxParamText+maxEnumValues*(maxWord+1)))
	}
	for _, term := range b.touched {
		b.postings = append(b.postings, posting{tool, b.current[term]})
		b.terms = append(b.terms, term)
		b.current[term] = 0
	}
}

func (b *builder) addGroup(connector string) {
	group, known := b.groupIDs[connector]
	if !known {
		group = uint32(len(b.groupIDs))
		b.groupIDs[strings.Clone(connector)] = group
	}
	b.groups = append(b.groups, group)
}

// localName returns the name of a tool without the slug of its connector: "github__create_issue" is "create_issue".
func localName(name, connector string) string {
	rest, found := strings.CutPrefix(name, connector)
	if local := strings.TrimLeft(rest, "_-./:"); found && connector != "" && local != "" && local != rest {
		return local
	}
	return name
}

// splitLead returns the first sentence of a description, and the rest.
func splitLead(text string) (lead, rest string) {
	text = strings.TrimSpace(text)
	for i := range len(text) {
		if text[i] == '\n' || text[i] == '.' && i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\n') && i > 10 {
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

func (b *builder) addText(f Field, text string) {
	tool := len(b.lengths) - 1
	shift := 4 * f
	splitWordsInto(b.buf[:0], text, func(word []byte) bool {
		if b.words++; b.words > maxToolWords {
			return false
		}
		term := b.internTerm(word)
		if term < 0 {
			return true
		}
		if f <= FieldTitle && slices.Contains(b.own, term) {
			return true // each tool of the connector has it
		}
		old := b.current[term]
		if old == 0 && len(b.touched) == maxToolTerms {
			return true
		}
		if old == 0 {
			b.touched = append(b.touched, term)
		}
		if old>>shift&maxFrequency < maxFrequency {
			b.current[term] = old + 1<<shift
		}
		b.lengths[tool][f]++
		return true
	})
}

// internTerm returns the number of the term for a word, or -1 for a stop word or a word beyond the bounds.
func (b *builder) internTerm(word []byte) int32 {
	if id, known := b.ids[string(word)]; known {
		return id
	}
	if len(b.ids) >= maxIndexWords || len(b.touched) >= maxToolTerms {
		return -1
	}
	key := string(word)
	if stopWords[key] {
		b.ids[key] = -1
		return -1
	}
	stem := stemWord(key)
	id, known := b.stemIDs[stem]
	if !known {
		id = int32(len(b.stems))
		b.stems = append(b.stems, stem)
		b.stemIDs[stem] = id
		b.current = append(b.current, 0)
	}
	b.ids[key] = id
	return id
}

// buildIndex sorts terms by name and postings by term, then by tool.
func (b *builder) buildIndex() *Index {
	order := make([]int32, len(b.stems))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int { return strings.Compare(b.stems[i], b.stems[j]) })
	x := &Index{
		names: b.names, keys: b.keys, actions: b.actions, numbers: b.numbers, groups: b.groups, groupIDs: b.groupIDs, byKey: make(map[string]uint32, len(b.keys)),
		terms: make([]string, len(order)), starts: make([]uint32, len(order)+1), postings: make([]posting, len(b.postings)),
	}
	for i, key := range b.keys {
		x.byKey[key] = uint32(i)
	}
	rank := make([]int32, len(order))
	for i, term := range order {
		x.terms[i], rank[term] = strings.Clone(b.stems[term]), int32(i)
	}
	for _, term := range b.terms {
		x.starts[rank[term]+1]++
	}
	for i := range order {
		x.starts[i+1] += x.starts[i]
	}
	next := slices.Clone(x.starts)
	for i, term := range b.terms {
		x.postings[next[rank[term]]] = b.postings[i]
		next[rank[term]]++
	}
	x.setNorms(b.lengths)
	return x
}

// setNorms computes what a frequency in each field of each tool counts: the weight of the field, less in long fields.
func (x *Index) setNorms(lengths [][fieldCount]uint16) {
	var sums, filled [fieldCount]float64
	for i := range lengths {
		for f, length := range lengths[i] {
			if length > 0 {
				sums[f] += float64(length)
				filled[f]++
			}
		}
	}
	x.norms = make([][fieldCount]float32, len(lengths))
	x.nameLens = make([]uint8, len(lengths))
	for i := range lengths {
		for f, length := range lengths[i] {
			if length == 0 {
				continue
			}
			b := fieldWeights[f].lengthShare
			x.norms[i][f] = float32(fieldWeights[f].weight / (1 - b + b*float64(length)/(sums[f]/filled[f])))
		}
		x.nameLens[i] = uint8(min(lengths[i][FieldName], math.MaxUint8))
	}
}

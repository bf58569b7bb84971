package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Vocabulary counts in one package what a newcomer stumbles over. Generated files are left out.
type Vocabulary struct {
	Functions  int // unexported functions and methods, without tests
	OneWord    int // of Functions, those whose name is one lower-case word: a verb without an object
	Words      int // in comments
	Pronouns   int // in comments: who, nobody and the like, where a noun belongs
	Metaphors  int // names and words of comments that are of no field: see metaphors
	Tells      int // comments that begin otherwise than Go's "reports whether"
	Bounds     int // names that begin with most or least; Go's words are max and min
	LongTests  int // names of tests with more than 60 characters
	unexported []string
}

// maxTestName is how long a test's name may be, in characters.
const maxTestName = 60

// pronouns are counted in comments. Where they mean people they are right, so that the goal is few, not none.
var pronouns = []string{"who", "whoever", "whom", "whomever", "whose", "nobody", "somebody", "anybody", "everybody"}

// metaphors are words of no field in which Patchbay is: a reader has to learn what they stand for. They are counted in names that are declared,
// and in comments.
var metaphors = []string{
	"accuse", "accused", "beats", "breathe", "comeback", "converse", "crew", "crowd", "deaf", "deafness", "deeds", "depart", "ear",
	"ears", "forgo", "guest", "guests", "hearken", "hearts", "house", "insist", "insists", "leftover", "leftovers", "mend",
	"mendable", "mended", "mends", "nudge", "nudges", "parcel", "parcels", "passenger", "passengers", "pile", "piles", "purse", "purses", "ripe",
	"seat", "seated", "seats", "settle", "settled", "settles", "shelf", "shelves", "strike", "surplus", "switchboard", "tape", "tapes", "tender",
	"throng", "throngs", "visit", "visits", "wallet",
}

var commentWord = regexp.MustCompile(`[A-Za-z][a-z]*(?:'[a-z]+)?`)

// CountVocabulary reads the packages below root. The keys are directories, relative to the module.
func CountVocabulary(packages []Package) (map[string]Vocabulary, error) {
	all := map[string]Vocabulary{}
	for _, p := range packages {
		var v Vocabulary
		for _, name := range p.Files {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			if err := v.count(name, text); err != nil {
				return nil, err
			}
		}
		all[p.Path] = v
	}
	return all, nil
}

// count adds one file.
func (v *Vocabulary) count(name string, text []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("count the words of %s: %w", name, err)
	}
	if ast.IsGenerated(file) {
		return nil
	}
	for _, c := range file.Comments {
		v.countComment(c.Text())
	}
	test := strings.HasSuffix(name, "_test.go")
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			v.countFunction(f, test)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		for _, id := range declaredNames(n) {
			v.countName(id.Name)
		}
		if t, ok := n.(*ast.TypeSpec); ok && !test && !t.Name.IsExported() {
			v.unexported = append(v.unexported, t.Name.Name)
		}
		return true
	})
	return nil
}

func (v *Vocabulary) countComment(text string) {
	for _, word := range commentWord.FindAllString(text, -1) {
		v.Words++
		word = strings.TrimSuffix(strings.ToLower(word), "'s")
		if slices.Contains(pronouns, word) {
			v.Pronouns++
		}
		v.countMetaphor(word)
	}
	v.Tells += strings.Count(strings.Join(strings.Fields(text), " "), "tells whether")
}

func (v *Vocabulary) countMetaphor(word string) {
	if slices.Contains(metaphors, word) {
		v.Metaphors++
	}
}

func (v *Vocabulary) countFunction(f *ast.FuncDecl, test bool) {
	name := f.Name.Name
	switch {
	case test && f.Recv == nil && isTestName(name):
		if len([]rune(name)) > maxTestName {
			v.LongTests++
		}
	case !test && !ast.IsExported(name) && !(f.Recv == nil && (name == "main" || name == "init")):
		v.Functions++
		if strings.IndexFunc(name, unicode.IsUpper) < 0 {
			v.OneWord++
		}
	}
}

func isTestName(name string) bool {
	return strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") || strings.HasPrefix(name, "Benchmark")
}

// countName looks at a name that is declared.
func (v *Vocabulary) countName(name string) {
	parts := nameParts(name)
	for _, part := range parts {
		v.countMetaphor(part)
	}
	if len(parts) > 1 && (parts[0] == "most" || parts[0] == "least") {
		v.Bounds++
	}
}

// nameParts are the words of a name in lower case: those of parseHeadOf are parse, head and of.
func nameParts(name string) (parts []string) {
	begin := 0
	for i, r := range name {
		if unicode.IsUpper(r) && i > begin {
			parts = append(parts, strings.ToLower(name[begin:i]))
			begin = i
		}
	}
	return append(parts, strings.ToLower(name[begin:]))
}

// declaredNames are the names that a node declares.
func declaredNames(n ast.Node) (names []*ast.Ident) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return []*ast.Ident{n.Name}
	case *ast.TypeSpec:
		return []*ast.Ident{n.Name}
	case *ast.ValueSpec:
		return n.Names
	case *ast.Field:
		return n.Names
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return nil
		}
		for _, left := range n.Lhs {
			if id, ok := left.(*ast.Ident); ok {
				names = append(names, id)
			}
		}
	}
	return names
}

// SharedTypeNames are the names of unexported types that at least three packages declare.
func SharedTypeNames(all map[string]Vocabulary) (names []string) {
	packages := map[string]int{}
	for _, v := range all {
		slices.Sort(v.unexported)
		for _, name := range slices.Compact(v.unexported) {
			packages[name]++
		}
	}
	for name, n := range packages {
		if n >= 3 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

package i18n_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// silentPackages have sentences that no page shows: for programs, agents, operators, or tests.
var silentPackages = []string{
	"api", "archtest", "config", "ctl", "devmcp", "export", "gateway", "kms", "jws", "kms/kmstest", "mcpadmin", "mcp/mcptest", "mcp/serve", "mcp/toolfmt", "installation", "oauth/oauthtest", "operator", "postgres", "secret", "telemetry", "testing",
}

// collectSentences finds the English sentences for people in other packages, by their form: a capital at the
// beginning and a full stop at the end, which errors and log messages lack. Concatenated texts become a format.
// It omits the keys of but.
func collectSentences(t *testing.T, but map[string]keyUse) map[string]string {
	t.Helper()
	said := map[string]string{}
	root := filepath.Join("..", "..", "internal")
	for dir, files := range packageFiles(t, root) {
		c := constantsOf(files)
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				if spec, ok := n.(*ast.ValueSpec); ok {
					for _, name := range namesIn(spec) {
						said[name] = positions.Position(n.Pos()).String()
					}
				}
				e, ok := n.(ast.Expr)
				if !ok || isWordsCall(n) {
					return !isWordsCall(n)
				}
				pieces, ok := c.pieces(e)
				for _, text := range pieces {
					if _, there := but[text]; there {
						continue
					}
					if text = alone(text); sentence(text) {
						said[text] = positions.Position(e.Pos()).String()
					}
				}
				return !ok
			})
		}
		if len(files) == 0 {
			t.Errorf("%s has no files", dir)
		}
	}
	return said
}

// packageFiles are the files of each package that may have texts for people.
func packageFiles(t *testing.T, root string) map[string][]*ast.File {
	t.Helper()
	packages := map[string][]*ast.File{}
	read := func(path string) error {
		f, err := parser.ParseFile(positions, path, nil, 0)
		packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], f)
		return err
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if room, err := filepath.Rel(root, path); err != nil || d.IsDir() && slices.Contains(silentPackages, filepath.ToSlash(room)) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		return read(path)
	})
	if err == nil {
		err = read(filepath.Join(root, "..", "cmd", "server", "routes.go"))
	}
	if err != nil || len(packages) < 25 {
		t.Fatalf("%d packages are read: %v", len(packages), err)
	}
	return packages
}

// namesIn are the texts of a table of names: a variable such as categoryNames or kindWords.
func namesIn(spec *ast.ValueSpec) []string {
	var names []string
	for i, v := range spec.Values {
		table, ok := v.(*ast.CompositeLit)
		if name := spec.Names[i].Name; !ok || !strings.HasSuffix(name, "Names") && !strings.HasSuffix(name, "Words") {
			continue
		}
		typ, ok := table.Type.(*ast.MapType)
		if key, isIdent := typeKey(typ); !ok || !isIdent || !ast.IsExported(key) {
			continue
		}
		for _, e := range table.Elts {
			if lit, ok := e.(*ast.KeyValueExpr).Value.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				name, _ := strconv.Unquote(lit.Value)
				names = append(names, name)
			}
		}
	}
	return names
}

// typeKey is the key type of a table.
func typeKey(t *ast.MapType) (string, bool) {
	if t == nil {
		return "", false
	}
	id, ok := t.Key.(*ast.Ident)
	if !ok {
		return "", false
	}
	return id.Name, true
}

// isWordsCall reports whether a text is an argument of package i18n. Formats of counts occur nowhere else.
func isWordsCall(n ast.Node) bool {
	c, ok := n.(*ast.CallExpr)
	return ok && (isSelector(c.Fun, "i18n", "N") || isSelector(c.Fun, "i18n", "Forms") || isSelector(c.Fun, "i18n", "Parts"))
}

// constants are the texts of a package's constants by name.
type constants map[string]string

func constantsOf(files []*ast.File) constants {
	c := constants{}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range spec.Names {
				if i < len(spec.Values) {
					if lit, ok := spec.Values[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
						c[name.Name], _ = strconv.Unquote(lit.Value)
					}
				}
			}
			return true
		})
	}
	return c
}

// pieces are the texts of an expression: one, or each of several concatenated sentences. ok is false if it is
// no text.
func (c constants) pieces(e ast.Expr) (pieces []string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return []string{text}, e.Kind == token.STRING && err == nil
	case *ast.ParenExpr:
		return c.pieces(e.X)
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return nil, false
		}
		left, isLeft := c.operand(e.X)
		right, isRight := c.operand(e.Y)
		if !isLeft && !isRight {
			return nil, false
		}
		if last := left[len(left)-1]; isLeft && isRight && strings.HasSuffix(last, ".") && strings.HasPrefix(right[0], " ") {
			return append(left, right...), true
		}
		return append(append(left[:len(left)-1:len(left)-1], left[len(left)-1]+right[0]), right[1:]...), true
	}
	return nil, false
}

// operand is a part of a concatenation; a value known only at run time becomes a verb.
func (c constants) operand(e ast.Expr) ([]string, bool) {
	if id, ok := e.(*ast.Ident); ok && c[id.Name] != "" {
		return []string{c[id.Name]}, true
	}
	if pieces, ok := c.pieces(e); ok {
		return pieces, true
	}
	return []string{"%s"}, false
}

// alone is a sentence without others concatenated at run time.
func alone(text string) string {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "%s "); ok && unicode.IsUpper([]rune(rest)[0]) {
		text = rest
	}
	if rest, ok := strings.CutSuffix(text, ". %s"); ok {
		text = rest + "."
	}
	return text
}

// sentence reports whether a text is a sentence by its form, with enough words to be recognised.
func sentence(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	if first != '%' && !unicode.IsUpper(first) || !strings.Contains(text, " ") {
		return false
	}
	ends := strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, ": %s")
	letters := 0
	for _, c := range formatVerb.ReplaceAllString(text, "") {
		if unicode.IsLetter(c) {
			letters++
		}
	}
	return ends && letters >= 6
}

// addSentences adds the sentences of other packages to the keys.
func addSentences(t *testing.T, all map[string]keyUse) {
	t.Helper()
	ones := map[string]bool{}
	for u := range maps.Values(all) {
		ones[u.one] = true
	}
	sentences := collectSentences(t, all)
	maps.Copy(sentences, storedSentences(t))
	for text, at := range sentences {
		if _, there := all[text]; !there && !ones[text] {
			all[text] = keyUse{key: text, at: at}
		}
	}
}

// sqlSentence matches a sentence that a query stores.
var sqlSentence = regexp.MustCompile(`'([A-Z](?:[^']|'')* (?:[^']|'')*\.)'`)

// storedSentences are the sentences that queries store, with their files.
func storedSentences(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../db/queries/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range sqlSentence.FindAllSubmatch(text, -1) {
			found[strings.ReplaceAll(string(m[1]), "''", "'")] = file
		}
	}
	if len(found) < 4 {
		t.Errorf("queries store the sentences %v", found)
	}
	return found
}

package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// vagueVerbs are first words of query names that SQL has another word for: lock, delete, insert, update, notify, record.
var vagueVerbs = []string{
	"abandon", "beat", "divide", "drop", "forget", "held", "hold", "keep", "left", "lose", "note", "pass", "retake", "say", "seen", "spend", "stamp",
	"take", "tell", "untold", "wake",
}

var (
	queryName  = regexp.MustCompile(`^-- name: (\w+) :(\w+)`)
	sqlComment = regexp.MustCompile(`--[^\n]*`)
)

// CountQueryVocabulary counts names and comments of the queries in dir, which sqlc reads. CountVocabulary leaves the generated code out.
// A query is a function. Its name counts as one word if it is the single word of a write, or begins with one of vagueVerbs.
func CountQueryVocabulary(dir string) (Vocabulary, error) {
	var v Vocabulary
	files, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil {
		return v, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return v, err
		}
		v.countQueries(string(text))
	}
	return v, nil
}

// countQueries adds one file.
func (v *Vocabulary) countQueries(sql string) {
	var text []string
	for _, comment := range sqlComment.FindAllString(sql, -1) {
		if name := queryName.FindStringSubmatch(comment); name != nil {
			v.countQueryName(name[1], name[2])
			continue
		}
		if comment = strings.TrimLeft(comment, "- "); !strings.HasPrefix(comment, "@sqlc-vet-disable") {
			text = append(text, comment)
		}
	}
	v.countComment(strings.Join(text, "\n"))
}

func (v *Vocabulary) countQueryName(name, command string) {
	v.Functions++
	v.countName(name)
	parts := nameParts(name)
	if len(parts) == 1 && strings.HasPrefix(command, "exec") || slices.Contains(vagueVerbs, parts[0]) {
		v.OneWord++
	}
}

package searchset

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Files of the set in its directory.
const (
	DefinitionsFile = "definitions.jsonl.gz"
	QuestionsFile   = "questions.jsonl.gz"
	SourcesFile     = "sources.json"
)

// Parts of the set. An index may be tuned with the first; the second only measures it.
const (
	Tuning  = "tuning"
	HeldOut = "held-out"
)

// Definition is a tool as its server lists it, shortened.
type Definition struct {
	Server      string          `json:"server"` // slug
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations json.RawMessage `json:"annotations,omitempty"`
	Tags        []string        `json:"tags,omitempty"`
}

// Question is what a person may ask when the tool is the answer.
type Question struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
	Text   string `json:"q"`
	Part   string `json:"part"`
}

// Source is where the tools of a server are from.
type Source struct {
	Server  string `json:"server"`
	Title   string `json:"title"`
	Kind    string `json:"kind"`    // npm, go, openapi or fixture
	Package string `json:"package"` // with the version
	Path    string `json:"path,omitempty"`
	Licence string `json:"licence"`
	Tools   int    `json:"tools"` // in the set
	Of      int    `json:"of"`    // that the source has
	Part    string `json:"part"`
}

// ReadDefinitions returns all definitions, sorted by server and name.
func ReadDefinitions(dir string) ([]Definition, error) {
	return readLines[Definition](filepath.Join(dir, DefinitionsFile))
}

// ReadQuestions returns all questions.
func ReadQuestions(dir string) ([]Question, error) {
	return readLines[Question](filepath.Join(dir, QuestionsFile))
}

// ReadSources returns all sources, sorted by server.
func ReadSources(dir string) (all []Source, err error) {
	text, err := os.ReadFile(filepath.Join(dir, SourcesFile))
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(text, &all)
}

// WriteDefinitions writes the same bytes each time.
func WriteDefinitions(dir string, all []Definition) error {
	return writeLines(filepath.Join(dir, DefinitionsFile), all)
}

// WriteQuestions writes the same bytes each time.
func WriteQuestions(dir string, all []Question) error {
	return writeLines(filepath.Join(dir, QuestionsFile), all)
}

// WriteSources writes one source a line.
func WriteSources(dir string, all []Source) error {
	var text bytes.Buffer
	for i, s := range all {
		line, err := json.Marshal(s)
		if err != nil {
			return err
		}
		text.WriteString(map[bool]string{true: "[\n", false: ",\n"}[i == 0])
		text.Write(line)
	}
	text.WriteString("\n]\n")
	return os.WriteFile(filepath.Join(dir, SourcesFile), text.Bytes(), 0o644)
}

func writeLines[T any](file string, lines []T) error {
	var packed bytes.Buffer
	out, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, line := range lines {
		if err := encoder.Encode(line); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, packed.Bytes(), 0o644)
}

func readLines[T any](file string) (all []T, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for decoder := json.NewDecoder(in); decoder.More(); {
		var one T
		if err := decoder.Decode(&one); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, one)
	}
	return all, nil
}

package toolfmt_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"patchbay/internal/mcp/toolfmt"
)

// trueTokenCounts returns the true counts of the samples, by file and format.
func trueTokenCounts(t *testing.T) map[string]int {
	t.Helper()
	f, err := os.Open("testdata/tokens.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	counts := map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var name string
		var n int
		if _, err := fmt.Sscan(lines.Text(), &name, &n); err == nil && !strings.HasPrefix(name, "#") {
			counts[name] = n
		}
	}
	return counts
}

func TestTokens_AreWithinMargin(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/definitions/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	counts := trueTokenCounts(t)
	told, truth, seen := 0, 0, 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tool := parseTool(t, bytes.TrimSpace(archive.Files[0].Data))
		for _, format := range formats {
			name := strings.TrimSuffix(filepath.Base(file), ".txtar") + "/" + string(format)
			want, there := counts[name]
			if !there {
				continue // a sample without a count
			}
			// All were counted with the one published vocabulary: without surcharge.
			got := toolfmt.Tokens(toolfmt.OpenAI, toolfmt.Definitions(format, []toolfmt.Tool{tool})[0])
			if off := 100 * (got - want) / want; off > toolfmt.Margin(toolfmt.OpenAI) || -off > toolfmt.Margin(toolfmt.OpenAI) {
				t.Errorf("%s: %d tokens told, %d in truth", name, got, want)
			}
			told, truth, seen = told+got, truth+want, seen+1
		}
	}
	if off := 100 * (told - truth) / max(1, truth); off > 4 || -off > 4 || seen < 40 {
		t.Errorf("%d definitions: %d tokens told, %d in truth", seen, told, truth)
	}
}

func TestTokens_OtherScripts(t *testing.T) {
	t.Parallel()
	// counts of o200k_base
	for text, want := range map[string]int{
		"Legt einen neuen Vorgang in einem Projekt an, mit Überschrift, Beschreibung und Verantwortlichen. Gibt die Nummer des Vorgangs zurück.": 28,
		"Создаёт новую задачу в проекте с заголовком, описанием и исполнителем. Возвращает номер задачи.":                                        26,
		"プロジェクトに新しい課題を作成します。タイトル、説明、担当者を指定できます。課題の番号を返します。":                                                                                      31,
		"在项目中创建新问题,可以指定标题、说明和负责人。返回问题的编号。":                                                                                                       20,
		"Example: 0189aaaa-bbbb-7ccc-8ddd-eeeeffff0000, 4f9c2b7e11d04a6f":                                                                        35,
	} {
		got := toolfmt.Tokens(toolfmt.OpenAI, []byte(text))
		if off := 100 * (got - want) / want; off > 20 || -off > 20 {
			t.Errorf("%q: %d tokens told, %d in truth", text, got, want)
		}
	}
	if got := toolfmt.Tokens(toolfmt.OpenAI, nil); got != 0 {
		t.Errorf("nothing has %d tokens", got)
	}
}

func TestTokens_SurchargeForUnpublishedVocabulary(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(map[string]string{"name": "search", "description": strings.Repeat("Finds what you look for. ", 40)})
	if err != nil {
		t.Fatal(err)
	}
	openAI, anthropic, google := toolfmt.Tokens(toolfmt.OpenAI, raw), toolfmt.Tokens(toolfmt.Anthropic, raw), toolfmt.Tokens(toolfmt.Google, raw)
	if openAI >= google || google >= anthropic || toolfmt.Margin(toolfmt.Google) <= toolfmt.Margin(toolfmt.OpenAI) {
		t.Errorf("OpenAI %d, Google %d, Anthropic %d", openAI, google, anthropic)
	}
}

func BenchmarkTokens(b *testing.B) {
	text := bytes.Repeat([]byte(`{"name":"search","description":"Finds what you look for."},`), 40)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		toolfmt.Tokens(toolfmt.OpenAI, text)
	}
}

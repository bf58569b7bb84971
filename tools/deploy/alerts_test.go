package deploy

import (
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// TestPrometheusReadsTheRules does what `promtool check rules` does: fields, expressions, durations, labels, and the templates of what is said.
func TestPrometheusReadsTheRules(t *testing.T) {
	t.Parallel()
	groups, errs := rulefmt.ParseFile("../../deploy/prometheus/alerts.yaml", false, model.LegacyValidation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Error(err)
	}
	if groups == nil || len(groups.Groups) == 0 || len(groups.Groups[0].Rules) < 10 {
		t.Fatalf("there are no rules: %+v", groups)
	}
}

func TestPrometheusReadsTheDashboard(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../deploy/grafana/patchbay.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			read++
			if _, err := parser.NewParser(parser.Options{}).ParseExpr(strings.ReplaceAll(target.Expr, "$__rate_interval", "5m")); err != nil {
				t.Errorf("%s: %s: %v", panel.Title, target.Expr, err)
			}
		}
	}
	if read < 10 {
		t.Errorf("only %d expressions", read)
	}
}

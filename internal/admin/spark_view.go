package admin

import (
	"fmt"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

// newSparkline draws value of each part, scaled from zero to the highest. Where there is no value the line has
// a gap.
func newSparkline(parts []connectors.Period, value func(*connectors.Period) (float64, bool)) templates.Sparkline {
	highest := 0.0
	for i := range parts {
		if v, ok := value(&parts[i]); ok {
			highest = max(highest, v)
		}
	}
	var line, area strings.Builder
	var run []string // points since the last gap
	endRun := func(next int) {
		if len(run) == 0 {
			return
		}
		line.WriteString("M" + strings.Join(run, "L"))
		if len(run) == 1 {
			line.WriteString("h0.1") // a single point has no length
		}
		fmt.Fprintf(&area, "M%d %dL%sL%d %dZ", (next-len(run))*barStep, barHeight, strings.Join(run, "L"), (next-1)*barStep, barHeight)
		run = nil
	}
	for i := range parts {
		v, ok := value(&parts[i])
		if !ok {
			endRun(i)
			continue
		}
		y := barHeight - 1.5
		if highest > 0 {
			y = barHeight - 1.5 - v/highest*(barHeight-4)
		}
		run = append(run, fmt.Sprintf("%d %s", i*barStep, formatCoordinate(y)))
	}
	endRun(len(parts))
	return templates.Sparkline{ViewBox: fmt.Sprintf("0 0 %d %d", (len(parts)-1)*barStep, barHeight), Line: line.String(), Area: area.String()}
}

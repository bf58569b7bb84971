package shell

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

// Units of the picture. BarStep is the width of a bar with its gap.
const (
	BarStep   = 4
	BarWidth  = 3
	BarHeight = 40
)

// FormatCoordinate rounds to tenths.
func FormatCoordinate(f float64) string { return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64) }

// NewSparkline draws value of each part, scaled from zero to the highest. Where there is no value the line has
// a gap.
func NewSparkline(parts []connectors.Period, value func(*connectors.Period) (float64, bool)) templates.Sparkline {
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
		fmt.Fprintf(&area, "M%d %dL%sL%d %dZ", (next-len(run))*BarStep, BarHeight, strings.Join(run, "L"), (next-1)*BarStep, BarHeight)
		run = nil
	}
	for i := range parts {
		v, ok := value(&parts[i])
		if !ok {
			endRun(i)
			continue
		}
		y := BarHeight - 1.5
		if highest > 0 {
			y = BarHeight - 1.5 - v/highest*(BarHeight-4)
		}
		run = append(run, fmt.Sprintf("%d %s", i*BarStep, FormatCoordinate(y)))
	}
	endRun(len(parts))
	return templates.Sparkline{ViewBox: fmt.Sprintf("0 0 %d %d", (len(parts)-1)*BarStep, BarHeight), Line: line.String(), Area: area.String()}
}

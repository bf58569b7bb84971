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

// NewSparkline draws value of each part, scaled from zero to the highest. The line leads straight to the next value where
// there is none, and is flat before the first and after the last.
func NewSparkline(parts []connectors.Period, value func(*connectors.Period) (float64, bool)) templates.Sparkline {
	highest := 0.0
	for i := range parts {
		if v, ok := value(&parts[i]); ok {
			highest = max(highest, v)
		}
	}
	toY := func(v float64) string {
		if highest == 0 {
			return FormatCoordinate(BarHeight - 1.5)
		}
		return FormatCoordinate(BarHeight - 1.5 - v/highest*(BarHeight-4))
	}
	var points []string
	var lastX int
	var lastY string
	add := func(x int, y string) {
		points = append(points, fmt.Sprintf("%d %s", x, y))
		lastX, lastY = x, y
	}
	for i := range parts {
		v, ok := value(&parts[i])
		if !ok {
			continue
		}
		if len(points) == 0 && i > 0 {
			add(0, toY(v))
		}
		add(i*BarStep, toY(v))
	}
	width := (len(parts) - 1) * BarStep
	if len(points) == 0 {
		add(0, toY(0))
	}
	if lastX < width {
		add(width, lastY)
	}
	line := strings.Join(points, "L")
	return templates.Sparkline{
		ViewBox: fmt.Sprintf("0 0 %d %d", width, BarHeight), Line: "M" + line, Area: fmt.Sprintf("M0 %dL%sL%d %dZ", BarHeight, line, width, BarHeight),
	}
}

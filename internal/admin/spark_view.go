package admin

import (
	"fmt"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

// spark draws what of says of each part, from zero up to the most there was. Where it says nothing the line has a gap.
func spark(parts []connectors.Period, of func(*connectors.Period) (float64, bool)) templates.Spark {
	most := 0.0
	for i := range parts {
		if v, ok := of(&parts[i]); ok {
			most = max(most, v)
		}
	}
	var line, area strings.Builder
	var run []string // the points since the last gap
	end := func(next int) {
		if len(run) == 0 {
			return
		}
		line.WriteString("M" + strings.Join(run, "L"))
		if len(run) == 1 {
			line.WriteString("h0.1") // a point alone has no line
		}
		fmt.Fprintf(&area, "M%d %dL%sL%d %dZ", (next-len(run))*step, full, strings.Join(run, "L"), (next-1)*step, full)
		run = nil
	}
	for i := range parts {
		v, ok := of(&parts[i])
		if !ok {
			end(i)
			continue
		}
		y := full - 1.5
		if most > 0 {
			y = full - 1.5 - v/most*(full-4)
		}
		run = append(run, fmt.Sprintf("%d %s", i*step, unit(y)))
	}
	end(len(parts))
	return templates.Spark{ViewBox: fmt.Sprintf("0 0 %d %d", (len(parts)-1)*step, full), Line: line.String(), Area: area.String()}
}

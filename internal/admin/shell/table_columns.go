package shell

import (
	"time"
)

// ToMilliseconds keeps microseconds as decimals.
func ToMilliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

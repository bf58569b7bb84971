package signin

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"

	"github.com/boombuler/barcode/qr"

	"patchbay/web/templates"
)

// qrMargin is the width of the quiet zone, in modules (ISO/IEC 18004 §6.3.8).
const qrMargin = 4

// qrCode draws a text as one SVG path, with a subpath for each run of dark modules in a row.
func qrCode(text string) (templates.QRCode, error) {
	drawn, err := qr.Encode(text, qr.M, qr.Unicode)
	if err != nil {
		return templates.QRCode{}, fmt.Errorf("draw a QR code: %w", err)
	}
	size := drawn.Bounds().Dx()
	dark := func(x, y int) bool { return x < size && drawn.At(x, y) == color.Black }
	var path strings.Builder
	for y := range size {
		for x := 0; x < size; x++ {
			if !dark(x, y) {
				continue
			}
			begin := x
			for dark(x, y) {
				x++
			}
			fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", begin+qrMargin, y+qrMargin, x-begin, x-begin)
		}
	}
	return templates.QRCode{Size: strconv.Itoa(size + 2*qrMargin), Path: path.String()}, nil
}

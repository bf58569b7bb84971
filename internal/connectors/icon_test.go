package connectors_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"image"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

func pngIcon(t testing.TB, side int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, side, side))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func jpegIcon(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := jpeg.Encode(&out, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// webpIcon is the beginning of a WebP picture with this first chunk.
func webpIcon(kind string, chunk ...byte) []byte {
	p := append([]byte("RIFF\x00\x00\x00\x00WEBP"+kind+"\x00\x00\x00\x00"), chunk...)
	return append(p, make([]byte, 20)...)
}

func dataURL(mediaType string, picture []byte) string {
	return "data:" + mediaType + ";base64," + base64.StdEncoding.EncodeToString(picture)
}

func TestReadIcon_AcceptsSmallPicturesOfTheirType(t *testing.T) {
	t.Parallel()
	small, large := pngIcon(t, 32), pngIcon(t, 2000)
	huge := append(pngIcon(t, 8), make([]byte, connectors.MaxIconBytes)...)
	lossless := binary.LittleEndian.AppendUint32([]byte{0x2f}, 31|31<<14)
	for name, tc := range map[string]struct {
		src string
		ok  bool
	}{
		"png":               {dataURL("image/png", small), true},
		"jpeg":              {dataURL("image/jpeg", jpegIcon(t)), true},
		"webp lossy":        {dataURL("image/webp", webpIcon("VP8 ", 0, 0, 0, 0x9d, 0x01, 0x2a, 32, 0, 32, 0)), true},
		"webp lossless":     {dataURL("image/webp", webpIcon("VP8L", lossless...)), true},
		"webp extended":     {dataURL("image/webp", webpIcon("VP8X", 0, 0, 0, 0, 31, 0, 0, 31, 0, 0)), true},
		"webp too wide":     {dataURL("image/webp", webpIcon("VP8X", 0, 0, 0, 0, 0, 0, 1, 31, 0, 0)), false},
		"webp unknown":      {dataURL("image/webp", webpIcon("VP9 ")), false},
		"many pixels":       {dataURL("image/png", large), false},
		"many bytes":        {dataURL("image/png", huge), false},
		"another type":      {dataURL("image/jpeg", small), false},
		"a script":          {dataURL("image/png", []byte("<script>alert(1)</script>")), false},
		"svg":               {dataURL("image/svg+xml", []byte("<svg/>")), false},
		"text":              {dataURL("text/html", []byte("<p>")), false},
		"an address":        {"https://example.com/icon.png", false},
		"no base64":         {"data:image/png,abc", false},
		"base64 with space": {"data:image/png;base64," + " " + base64.StdEncoding.EncodeToString(small), false},
		"parameters":        {"data:image/png;x=y;base64," + base64.StdEncoding.EncodeToString(small), false},
		"nothing":           {"", false},
	} {
		icons, err := json.Marshal([]map[string]string{{"src": "https://example.com/a.png"}, {"src": tc.src}})
		if err != nil {
			t.Fatal(err)
		}
		icon := connectors.ReadIcon(icons)
		if (icon != nil) != tc.ok {
			t.Errorf("%s: %v", name, icon)
		}
		if icon != nil && (icon.DataURL() != tc.src || icon.Hash() == nil || !strings.HasPrefix(icon.MediaType, "image/")) {
			t.Errorf("%s: %s became %s", name, tc.src, icon.DataURL())
		}
	}
	for _, odd := range []string{"", "null", "{}", `"x"`, `[1]`, `[{"src":5}]`, `[`} {
		if icon := connectors.ReadIcon(json.RawMessage(odd)); icon != nil || icon.Hash() != nil {
			t.Errorf("%s: %v", odd, icon)
		}
	}
}

// FuzzReadIcon checks that an accepted icon is the picture as it was sent, within its maximum size.
func FuzzReadIcon(f *testing.F) {
	f.Add("image/png", pngIcon(f, 8))
	f.Add("image/jpeg", jpegIcon(f))
	f.Add("image/webp", webpIcon("VP8X", 0, 0, 0, 0, 31, 0, 0, 31, 0, 0))
	f.Fuzz(func(t *testing.T, mediaType string, picture []byte) {
		icons, err := json.Marshal([]map[string]string{{"src": dataURL(mediaType, picture)}})
		if err != nil {
			t.Fatal(err)
		}
		icon := connectors.ReadIcon(icons)
		if icon != nil && (!bytes.Equal(icon.Picture, picture) || len(picture) > connectors.MaxIconBytes) {
			t.Errorf("%v", icon)
		}
	})
}

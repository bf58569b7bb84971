package connectors

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"image/jpeg"
	"strings"
)

const (
	// MaxIconBytes bounds an icon's picture.
	MaxIconBytes = 16 << 10
	// maxIconSide bounds its width and height, in pixels: a small file may be a large picture.
	maxIconSide = 1024
	// maxIcons bounds the icons of a server that are looked at.
	maxIcons = 16
)

// Icon is a server's own picture of itself.
type Icon struct {
	MediaType string // "image/png", "image/jpeg" or "image/webp"
	Picture   []byte
}

// iconTypes read the size of a picture, and fail for data of another type.
var iconTypes = map[string]func(picture []byte) (width, height int, ok bool){
	"image/png": pngSize, "image/jpeg": jpegSize, "image/webp": webpSize,
}

// ReadIcon returns the first icon of an MCP list of icons that may be stored: a data URL in base64 of PNG, JPEG or WebP, with at
// most [MaxIconBytes] that are of its type. Nil: there is none. An address is never fetched, and SVG may hold scripts.
func ReadIcon(icons json.RawMessage) *Icon {
	var list []struct {
		Src string `json:"src"`
	}
	if len(icons) == 0 || json.Unmarshal(icons, &list) != nil {
		return nil
	}
	for _, one := range list[:min(len(list), maxIcons)] {
		if icon := parseIcon(one.Src); icon != nil {
			return icon
		}
	}
	return nil
}

func parseIcon(src string) *Icon {
	rest, isData := strings.CutPrefix(src, "data:")
	mediaType, encoded, isBase64 := strings.Cut(rest, ";base64,")
	readSize := iconTypes[mediaType]
	if !isData || !isBase64 || readSize == nil || base64.StdEncoding.DecodedLen(len(encoded)) > MaxIconBytes+2 {
		return nil
	}
	picture, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(picture) > MaxIconBytes {
		return nil
	}
	width, height, ok := readSize(picture)
	if !ok || min(width, height) < 1 || max(width, height) > maxIconSide {
		return nil
	}
	return &Icon{MediaType: mediaType, Picture: picture}
}

// Hash identifies the icon; nil: there is none.
func (i *Icon) Hash() *Hash {
	if i == nil {
		return nil
	}
	return new(Hash(sha256.Sum256(append([]byte(i.MediaType+"\n"), i.Picture...))))
}

// DataURL returns the icon as a data URL.
func (i *Icon) DataURL() string {
	return "data:" + i.MediaType + ";base64," + base64.StdEncoding.EncodeToString(i.Picture)
}

// pngSize reads the size from the first chunk, IHDR.
func pngSize(p []byte) (width, height int, ok bool) {
	if len(p) < 24 || !bytes.HasPrefix(p, []byte("\x89PNG\r\n\x1a\n")) || string(p[12:16]) != "IHDR" {
		return 0, 0, false
	}
	return clampSide(binary.BigEndian.Uint32(p[16:])), clampSide(binary.BigEndian.Uint32(p[20:])), true
}

// clampSide keeps a side that is too large, so that it fits an int.
func clampSide(n uint32) int { return int(min(n, maxIconSide+1)) }

func jpegSize(p []byte) (width, height int, ok bool) {
	c, err := jpeg.DecodeConfig(bytes.NewReader(p))
	return c.Width, c.Height, err == nil
}

// webpSize reads the size from the first chunk: VP8 (lossy), VP8L (lossless) or VP8X (extended).
func webpSize(p []byte) (width, height int, ok bool) {
	if len(p) < 30 || string(p[:4]) != "RIFF" || string(p[8:12]) != "WEBP" {
		return 0, 0, false
	}
	switch chunk := p[20:]; string(p[12:16]) {
	case "VP8 ":
		if !bytes.Equal(chunk[3:6], []byte{0x9d, 0x01, 0x2a}) {
			return 0, 0, false
		}
		return int(binary.LittleEndian.Uint16(chunk[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(chunk[8:]) & 0x3fff), true
	case "VP8L":
		if chunk[0] != 0x2f {
			return 0, 0, false
		}
		bits := binary.LittleEndian.Uint32(chunk[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, true
	case "VP8X":
		side := func(at int) int { return int(chunk[at]) | int(chunk[at+1])<<8 | int(chunk[at+2])<<16 }
		return side(4) + 1, side(7) + 1, true
	}
	return 0, 0, false
}

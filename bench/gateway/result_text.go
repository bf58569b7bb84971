package main

import (
	"bytes"
	"strconv"
	"strings"
)

// resultText repeats the call's number throughout, so that a part of another reply is noticed.
func resultText(n int64, size int, prosaic bool) []byte {
	word := append(strconv.AppendInt(nil, n, 10), ' ')
	if !prosaic {
		return append(bytes.Repeat(word, max(size/len(word), 1)), '.')
	}
	size = max(size, len(word))
	text := make([]byte, 0, size+1)
	for start := int(n % int64(len(proseText)/2)); len(text) < size; start = 0 {
		text = append(text, proseText[start:min(len(proseText), start+size-len(text))]...)
	}
	const apart = 512
	for offset := 0; offset+len(word) <= size; offset += apart {
		copy(text[offset:], word)
	}
	return append(text, '.')
}

// proseText are words in a pseudo-random order. S2 compresses them to 67 % (1 KB) or 50 %: like prose, and less
// than JSON.
var proseText = func() []byte {
	words := strings.Fields(`the a of and to in is was it for on with as be at by this that from or an are not have had which were one all their there been
		if more when will would who so no out up into than them can only other time new some could these two may then do first any my now such like our over
		issue branch review merge deploy failed passed server request answer token account project comment label owner assigned opened closed since yesterday`)
	const size = 256 << 10
	text, seed := make([]byte, 0, size), uint32(1)
	for len(text) < size-16 {
		seed = seed*1664525 + 1013904223 // a linear congruential generator (Knuth and Lewis)
		text = append(append(text, words[(seed>>16)%uint32(len(words))]...), ' ')
	}
	return text
}()

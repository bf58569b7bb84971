package main

import (
	"bytes"
	"strconv"
	"strings"
)

// resultText tells of which call it is, all along: a part of another reply in it would be seen.
func resultText(n int64, size int, prosaic bool) []byte {
	word := append(strconv.AppendInt(nil, n, 10), ' ')
	if !prosaic {
		return append(bytes.Repeat(word, max(size/len(word), 1)), '.')
	}
	size = max(size, len(word))
	text := make([]byte, 0, size+1)
	for from := int(n % int64(len(prose)/2)); len(text) < size; from = 0 {
		text = append(text, prose[from:min(len(prose), from+size-len(text))]...)
	}
	const apart = 512
	for at := 0; at+len(word) <= size; at += apart {
		copy(text[at:], word)
	}
	return append(text, '.')
}

// prose are words in an order that does not come again, which S2 packs to two thirds (1 KB) and a half: as much as people's texts, and less than JSON.
var prose = func() []byte {
	words := strings.Fields(`the a of and to in is was it for on with as be at by this that from or an are not have had which were one all their there been
		if more when will would who so no out up into than them can only other time new some could these two may then do first any my now such like our over
		issue branch review merge deploy failed passed server request answer token account project comment label owner assigned opened closed since yesterday`)
	const size = 256 << 10
	text, seed := make([]byte, 0, size), uint32(1)
	for len(text) < size-16 {
		seed = seed*1664525 + 1013904223 // a linear congruential generator, by Knuth and Lewis
		text = append(append(text, words[(seed>>16)%uint32(len(words))]...), ' ')
	}
	return text
}()

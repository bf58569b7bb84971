package embeddings

import "math"

// Vector is a direction: a signed byte for each dimension, the largest is 127. The length does not matter.
type Vector []byte

// NewVector rounds an embedding. nil: it has no direction, or more than MaxDimensions.
func NewVector(values []float32) Vector {
	if len(values) == 0 || len(values) > MaxDimensions {
		return nil
	}
	largest := float32(0)
	for _, v := range values {
		if v != v || math.IsInf(float64(v), 0) {
			return nil
		}
		largest = max(largest, v, -v)
	}
	if largest == 0 {
		return nil
	}
	rounded := make(Vector, len(values))
	for i, v := range values {
		rounded[i] = byte(int8(math.Round(float64(v) / float64(largest) * math.MaxInt8)))
	}
	return rounded
}

// Cosine returns the cosine of the angle between two vectors; 0 for vectors of different models.
func Cosine(a, b Vector) float64 {
	if len(a) != len(b) || len(a) == 0 {
		return 0
	}
	var product, squareA, squareB int64
	for i := range a {
		x, y := int64(int8(a[i])), int64(int8(b[i]))
		product, squareA, squareB = product+x*y, squareA+x*x, squareB+y*y
	}
	if squareA == 0 || squareB == 0 {
		return 0
	}
	return float64(product) / math.Sqrt(float64(squareA)*float64(squareB))
}

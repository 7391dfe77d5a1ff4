package mechanisms

import "math"

// unlimited is what a sampler reads where the number of words doesn't matter.
func unlimited(src Source) *words { return &words{from: src, left: math.MaxUint64} }

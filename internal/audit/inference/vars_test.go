package inference_test

import (
	"context"
)

var (
	ctx = context.Background()
)

package estimates_test

import (
	"context"
)

var (
	ctx = context.Background()
)

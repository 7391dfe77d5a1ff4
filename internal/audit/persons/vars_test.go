package persons_test

import (
	"context"
)

var (
	ctx = context.Background()
)

package learners_test

import (
	"context"
	"math"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

var (
	ctx      = context.Background()
	inf, nan = math.Inf(1), math.NaN()
	logistic = dpglm.Problem{Loss: losses.Logistic{}}
	squared  = dpglm.Problem{Loss: losses.Squared{}}
)

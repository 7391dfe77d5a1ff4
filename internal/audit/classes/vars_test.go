package classes_test

import (
	"context"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

var (
	ctx      = context.Background()
	logistic = dpglm.Problem{Loss: losses.Logistic{}}
	squared  = dpglm.Problem{Loss: losses.Squared{}}

	dataset, seeded, run = given.Dataset, given.Seeded, given.Fit
)

// Package given has what the audits' packages share: data sets, ways to give rows, engines and
// parties in this process, and a tape that hears each release before its noise. Only tests
// import it.
//
// Read tape.go first: record and replay rest on it.
package given

import (
	"context"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

var (
	ctx      = context.Background()
	logistic = dpglm.Problem{Loss: losses.Logistic{}}
)

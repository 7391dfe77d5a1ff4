package beam

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
)

// provision is what runners start the command of a PROCESS environment with, beside -id, which Beam has.
var provision = flag.String("provision_endpoint", "", "the `address` where a runner that has started this program as a worker tells it what to do")

// Init makes a process that a runner started a worker, which never returns. Call it after
// flag.Parse and before all else. The program itself may be the command of Beam's PROCESS environment, where all machines have it under one path:
// then no worker fetches it, as Beam's boot does for each of them.
func Init() {
	if *provision != "" {
		if err := provisioned(context.Background(), *provision); err != nil {
			fmt.Fprintln(os.Stderr, "worker:", err)
			os.Exit(1)
		}
	}
	beam.Init()
}

// provisioning is how long a runner has to tell.
const provisioning = 2 * time.Minute

// provisioned asks the runner for what Beam's flags of a worker are to be, and sets them.
func provisioned(ctx context.Context, endpoint string) error {
	cc, err := grpc.NewClient("passthrough:///"+endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer cc.Close()
	ctx, stop := context.WithTimeout(grpcx.WriteWorkerID(ctx, flag.Lookup("id").Value.String()), provisioning)
	defer stop()
	r, err := fnpb.NewProvisionServiceClient(cc).GetProvisionInfo(ctx, &fnpb.GetProvisionInfoRequest{}, grpc.WaitForReady(true))
	if err != nil {
		return fmt.Errorf("asking the runner at %s: %w", endpoint, err)
	}
	info := r.GetInfo()
	options, err := protojson.Marshal(info.GetPipelineOptions())
	if err != nil {
		return err
	}
	if err := os.Setenv("RUNNER_CAPABILITIES", strings.Join(info.GetRunnerCapabilities(), " ")); err != nil {
		return err
	}
	for _, f := range [][2]string{
		{"worker", "true"}, {"options", string(options)},
		{"logging_endpoint", info.GetLoggingEndpoint().GetUrl()}, {"control_endpoint", info.GetControlEndpoint().GetUrl()},
	} {
		if err := flag.Set(f[0], f[1]); err != nil {
			return err
		}
	}
	return nil
}

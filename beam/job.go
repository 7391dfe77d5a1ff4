package beam

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
)

// A job whose workers are of this process ("loopback", as those of Prism) has an empty file in
// place of a worker's program, which Beam makes in the directory for temporary files and leaves
// there. Its name, which is random, is in the pipeline that Beam sends to the runner: that is
// how a pass knows its own file, of all that this process or others make. What the runner answers has the job's name,
// by which the job is cancelled where the pass is: Beam doesn't.

func init() {
	plain := grpcx.Dial
	grpcx.Dial = func(ctx context.Context, endpoint string, timeout time.Duration) (*grpc.ClientConn, error) {
		if j, ok := ctx.Value(jobKey{}).(*job); ok {
			return j.dial(ctx, endpoint, timeout)
		}
		return plain(ctx, endpoint, timeout)
	}
}

// job is what a pass has of its pipeline outside of this package.
type job struct {
	lock     sync.Mutex
	paths    []string // that Beam made in place of a program
	seen     bool     // whether the pipeline was
	endpoint string   // of the runner that it runs on
	name     string   // there; empty before
}

type jobKey struct{}

// noting returns a context for a pipeline that j is to know.
func (j *job) noting(ctx context.Context) context.Context {
	return context.WithValue(ctx, jobKey{}, j)
}

// How long a runner has to take a job, and the word that it isn't wanted.
const (
	submitting = time.Minute
	cancelling = 10 * time.Second
)

// cancel tells the runner that the job isn't wanted any longer, if there is one.
func (j *job) cancel() error {
	j.lock.Lock()
	endpoint, name := j.endpoint, j.name
	j.lock.Unlock()
	if name == "" {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), cancelling)
	defer stop()
	cc, err := grpc.NewClient("passthrough:///"+endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer cc.Close()
	if _, err = jobpb.NewJobServiceClient(cc).Cancel(ctx, &jobpb.CancelJobRequest{JobId: name}); err != nil {
		return fmt.Errorf("job %s may run on: the runner at %s was not told that it isn't wanted: %w", name, endpoint, err)
	}
	return nil
}

// remove removes them.
func (j *job) remove() {
	j.lock.Lock()
	defer j.lock.Unlock()
	for _, path := range j.paths {
		os.Remove(path) // which Windows refuses while it is open
	}
	j.paths = nil
}

// dial is Beam's own, which comes after the file, for a connection that notes the pipeline.
// Where it fails, as it does when the job is cancelled, the connection's first call does, so
// that the pipeline is noted nevertheless.
func (j *job) dial(ctx context.Context, endpoint string, timeout time.Duration) (*grpc.ClientConn, error) {
	var failed error
	cc, err := grpc.NewClient("passthrough:///"+endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)),
		grpc.WithUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			if p, ok := req.(*jobpb.PrepareJobRequest); ok {
				j.note(p.GetPipeline())
			}
			if failed != nil {
				return failed
			}
			r, ok := reply.(*jobpb.RunJobResponse)
			if !ok {
				return invoke(ctx, method, req, reply, cc, opts...)
			}
			// Ended in the middle of this, the job would run, and nobody would know its name.
			ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), submitting)
			defer stop()
			err := invoke(ctx, method, req, reply, cc, opts...)
			if err == nil {
				j.runs(endpoint, r.GetJobId())
			}
			return err
		}))
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	for state := cc.GetState(); state != connectivity.Ready; state = cc.GetState() {
		cc.Connect()
		if !cc.WaitForStateChange(ctx, state) {
			failed = fmt.Errorf("connecting to %s: %w", endpoint, ctx.Err())
			break
		}
	}
	if failed != nil && j.noted() {
		cc.Close()
		return nil, failed
	}
	return cc, nil
}

// runs takes down where the job runs, and its name there.
func (j *job) runs(endpoint, name string) {
	j.lock.Lock()
	defer j.lock.Unlock()
	j.endpoint, j.name = endpoint, name
}

func (j *job) noted() bool {
	j.lock.Lock()
	defer j.lock.Unlock()
	return j.seen
}

// note takes down the files of a pipeline that Beam made.
func (j *job) note(p *pipepb.Pipeline) {
	j.lock.Lock()
	defer j.lock.Unlock()
	j.seen = true
	for _, env := range p.GetComponents().GetEnvironments() {
		for _, dep := range env.GetDependencies() {
			var file pipepb.ArtifactFilePayload
			if proto.Unmarshal(dep.GetTypePayload(), &file) != nil {
				continue
			}
			if path := file.GetPath(); filepath.Dir(path) == filepath.Clean(os.TempDir()) && strings.HasPrefix(filepath.Base(path), "beamloopbackworker-") {
				j.paths = append(j.paths, path)
			}
		}
	}
}

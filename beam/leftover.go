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
// how a pass knows its own file, of all that this process or others make.

func init() {
	plain := grpcx.Dial
	grpcx.Dial = func(ctx context.Context, endpoint string, timeout time.Duration) (*grpc.ClientConn, error) {
		if l, ok := ctx.Value(leftoverKey{}).(*leftover); ok {
			return l.dial(ctx, endpoint, timeout)
		}
		return plain(ctx, endpoint, timeout)
	}
}

// leftover are the files that Beam made in place of a program for a job.
type leftover struct {
	lock  sync.Mutex
	paths []string
	seen  bool // whether the job's pipeline was
}

type leftoverKey struct{}

// noting returns a context for a job whose files go to l.
func (l *leftover) noting(ctx context.Context) context.Context {
	return context.WithValue(ctx, leftoverKey{}, l)
}

// remove removes them.
func (l *leftover) remove() {
	l.lock.Lock()
	defer l.lock.Unlock()
	for _, path := range l.paths {
		os.Remove(path) // which Windows refuses while it is open
	}
	l.paths = nil
}

// dial is Beam's own, which comes after the file, for a connection that notes the pipeline.
// Where it fails, as it does when the job is cancelled, the connection's first call does, so
// that the pipeline is noted nevertheless.
func (l *leftover) dial(ctx context.Context, endpoint string, timeout time.Duration) (*grpc.ClientConn, error) {
	var failed error
	cc, err := grpc.NewClient("passthrough:///"+endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)),
		grpc.WithUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			if p, ok := req.(*jobpb.PrepareJobRequest); ok {
				l.note(p.GetPipeline())
			}
			if failed != nil {
				return failed
			}
			return invoke(ctx, method, req, reply, cc, opts...)
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
	if failed != nil && l.noted() {
		cc.Close()
		return nil, failed
	}
	return cc, nil
}

func (l *leftover) noted() bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.seen
}

// note takes down the files of a pipeline that Beam made.
func (l *leftover) note(p *pipepb.Pipeline) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.seen = true
	for _, env := range p.GetComponents().GetEnvironments() {
		for _, dep := range env.GetDependencies() {
			var file pipepb.ArtifactFilePayload
			if proto.Unmarshal(dep.GetTypePayload(), &file) != nil {
				continue
			}
			if path := file.GetPath(); filepath.Dir(path) == filepath.Clean(os.TempDir()) && strings.HasPrefix(filepath.Base(path), "beamloopbackworker-") {
				l.paths = append(l.paths, path)
			}
		}
	}
}

package beam

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc"
)

// runner is a job service whose only job begins when the context of who asks has ended.
type runner struct {
	jobpb.UnimplementedJobServiceServer
	stop      context.CancelFunc
	cancelled string
}

func (r *runner) Run(context.Context, *jobpb.RunJobRequest) (*jobpb.RunJobResponse, error) {
	r.stop()
	time.Sleep(10 * time.Millisecond) // for the caller to notice
	return &jobpb.RunJobResponse{JobId: "job 7"}, nil
}

func (r *runner) Cancel(_ context.Context, q *jobpb.CancelJobRequest) (*jobpb.CancelJobResponse, error) {
	r.cancelled = q.GetJobId()
	return new(jobpb.CancelJobResponse), nil
}

// A job is cancelled also where the context ends while the runner takes it, and it is said where the runner can't be told.
func TestJobsAreCancelled(t *testing.T) {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r, server := &runner{stop: stop}, grpc.NewServer()
	jobpb.RegisterJobServiceServer(server, r)
	go server.Serve(listener)
	defer server.Stop()
	var j job
	cc, err := j.dial(ctx, listener.Addr().String(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer cc.Close()
	if _, err := jobpb.NewJobServiceClient(cc).Run(ctx, &jobpb.RunJobRequest{}); err != nil {
		t.Errorf("a job that is taken when the context has ended: %v", err)
	}
	if err := j.cancel(); err != nil || r.cancelled != "job 7" {
		t.Errorf("cancelled %q: %v", r.cancelled, err)
	}
	server.Stop()
	if err := j.cancel(); err == nil || !strings.Contains(err.Error(), "job 7 may run on") {
		t.Errorf("a runner that is away: %v", err)
	}
	if err := new(job).cancel(); err != nil {
		t.Errorf("no job: %v", err)
	}
}

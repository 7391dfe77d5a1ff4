// Serve answers predictions of a stored model over HTTP:
//
//	go run ./examples/csvfit fit -data testdata/cps1988.csv.gz -schema examples/csvfit/cps1988.json -epsilon 1 -o model.json
//	go run ./examples/serve -model model.json
//	curl localhost:8080/predict -d '{"education": 16, "experience": 10, "ethnicity": "cauc", "smsa": "yes", "region": "west", "parttime": "no"}'
//
// POST /predict takes a record, or a list of them, and answers with a number for each or, of a
// label with several levels, their probabilities and the most likely one; GET /model says what is
// predicted from which columns, and how private it is. A model with exposures answers with means
// for each record's own, as csvfit predict does, and for an exposure of 1 where a record has none,
// which "per" says. Numbers outside the range of their column count as the range's end:
// "held_to_range" lists the columns where that was so, with the numbers of the records. A model is
// released: answering queries with it spends nothing more, however many there are.
//
// Eight requests of up to 1 MB are answered at a time; others get status 503, and are to ask
// again. An interrupt or a termination signal lets those at work end, and a second one kills.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/dpglm/dpglm"
)

func main() {
	path := flag.String("model", "model.json", "`file` of a model that was trained on a table")
	address := flag.String("listen", "localhost:8080", "`address` to listen at")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal kills
	if err := run(ctx, *path, *address); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

// run serves until ctx is cancelled, and then until what is at work has ended.
func run(ctx context.Context, path, address string) error {
	handler, err := load(path)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "serving at http://"+listener.Addr().String())
	return serve(ctx, listener, handler)
}

func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 60 * time.Second, MaxHeaderBytes: 1 << 14}
	ended := make(chan error, 1)
	go func() {
		<-ctx.Done()
		ended <- server.Shutdown(context.Background()) // the timeouts bound it
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-ended
}

// load reads a model and returns what serves it.
func load(path string) (http.Handler, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m := new(dpglm.Model)
	switch file.Format {
	case "dpglm inference":
		found := new(dpglm.Inference)
		err = json.Unmarshal(text, found)
		m = found.Model()
	case "dpglm inference of classes":
		found := new(dpglm.ClassInference)
		err = json.Unmarshal(text, found)
		m = found.Model()
	default:
		err = json.Unmarshal(text, m)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if m.Encoder() == nil {
		return nil, fmt.Errorf("%s: the model was not trained on a table, so it knows no records", path)
	}
	return newServer(m), nil
}

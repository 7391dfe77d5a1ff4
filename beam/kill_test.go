//go:build unix

package beam_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/beam"
	"github.com/dpglm/dpglm/losses"
)

var (
	kills = flag.Int("kills", 0, "how often TestKills does what it does to the engine of beam/engines/run; 0 leaves it out")
	only  = flag.String("killed", "", "which of task1, server, manager, cancel and driver are; empty is all")
	drive = flag.String("drive", "", "a file of rows: TestDriver fits them and waits to be killed")
)

// fitSteps makes a model in that many passes, after one of intake, with whatever is done before a release.
func fitSteps(ctx context.Context, d *dpglm.Dataset, steps int, before func(done int)) ([][]float64, error) {
	env := seeded()
	env.Progress = func(done, _ int) { before(done) }
	return weights(dpglm.NoisyGD(ctx, d, dpglm.Problem{Loss: losses.Poisson{}, Radius: 1}, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: steps, Clip: 0.5}, env))
}

const (
	killSteps = 4
	longSteps = 20              // of a driver, which isn't to end before it is killed
	killAfter = 2               // releases
	soon      = 2 * time.Second // about the time that a pass takes
)

// engine is what beam/engines/run has started.
type engine string

// pid is the process of a name.
func (e engine) pid(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(string(e), name+".pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// has tells whether the engine has a process of a name: Spark is all in one.
func (e engine) has(name string) bool {
	_, err := os.Stat(filepath.Join(string(e), name+".pid"))
	return err == nil
}

// kill kills a process and starts another one.
func (e engine) kill(t *testing.T, name string) {
	syscall.Kill(e.pid(t, name), syscall.SIGKILL)
	if out, err := exec.Command("bash", filepath.Join(string(e), name+".start")).CombinedOutput(); err != nil {
		t.Errorf("%s: %s", name, out)
	}
}

// running are jobs that haven't ended, after some time for these to.
func (e engine) running(t *testing.T) (list []string) {
	states := serverJobs
	if os.Getenv("REST") != "" {
		states = flinkJobs
	}
	for range 60 {
		all, err := states()
		if err != nil {
			t.Fatal(err)
		}
		list = slices.DeleteFunc(all, func(state string) bool { return slices.Contains(ended, state) })
		if len(list) == 0 {
			return nil
		}
		time.Sleep(time.Second)
	}
	return list
}

// ended are states of jobs, as Flink and as Beam call them.
var ended = []string{"FINISHED", "CANCELED", "FAILED", "DONE", "CANCELLED"}

// flinkJobs are the states of the jobs of a Flink cluster.
func flinkJobs() (states []string, err error) {
	r, err := http.Get(os.Getenv("REST") + "/jobs")
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	var jobs struct {
		Jobs []struct{ ID, Status string }
	}
	err = json.NewDecoder(r.Body).Decode(&jobs)
	for _, j := range jobs.Jobs {
		states = append(states, j.Status)
	}
	return states, err
}

// serverJobs are those of Beam's job server, as far as it knows them: of Spark, which runs in it, all there are.
func serverJobs() (states []string, err error) {
	cc, err := grpc.NewClient(flag.Lookup("endpoint").Value.String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	defer cc.Close()
	jobs, err := jobpb.NewJobServiceClient(cc).GetJobs(ctx, &jobpb.GetJobsRequest{}, grpc.WaitForReady(true))
	for _, j := range jobs.GetJobInfo() {
		states = append(states, j.GetState().String())
	}
	return states, err
}

// loopbacks are Beam's files in the directory for temporary files.
func loopbacks() []string {
	list, _ := filepath.Glob(filepath.Join(os.TempDir(), "beamloopbackworker-*"))
	return list
}

// TestDriver is the process that TestKills kills.
func TestDriver(t *testing.T) {
	if *drive == "" {
		t.Skip("-drive isn't given")
	}
	if !elsewhere {
		t.Fatal("-endpoint isn't given")
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	d, err := beam.OpenRows(ctx, *drive, bounds, beam.Options{Runner: execute, Temp: filepath.Dir(*drive) + "/temp", Pieces: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := fitSteps(ctx, d, longSteps, func(done int) { fmt.Println("driver has", done) }); err != nil {
		t.Fatal(err)
	}
}

// driven runs a driver on the same runner and sends it a signal some time after its second release; it tells whether that stopped it, and
// how many directories it leaves.
func driven(t *testing.T, path, temp string, s syscall.Signal) (stopped bool, left int) {
	args := []string{"-test.run=^TestDriver$", "-drive=" + path}
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") && f.Name != "kills" && f.Name != "killed" {
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	c := exec.Command(os.Args[0], args...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	signalled := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == fmt.Sprint("driver has ", killAfter) {
			signalled = true
			time.Sleep(time.Duration(rand.Float64() * float64(soon)))
			c.Process.Signal(s)
		}
	}
	if stopped = c.Wait() != nil; !signalled {
		t.Error("a driver ended before its second release")
	}
	names, err := filepath.Glob(filepath.Join(temp, "*"))
	for _, name := range names {
		err = errors.Join(err, os.RemoveAll(name))
	}
	if err != nil {
		t.Fatal(err)
	}
	return stopped, len(names)
}

// With -kills n, started by beam/engines/run, it kills parts of the cluster, cancels and kills drivers, n times each, and prints
// for docs/CLUSTER.md what became of fits: these end with the bits of memory, or with an error; what is left behind is an error of the test.
func TestKills(t *testing.T) {
	e := engine(os.Getenv("ENGINE"))
	if *kills == 0 || e == "" {
		t.Skip("-kills isn't given, or beam/engines/run hasn't started it")
	}
	x, y := rows(20_000, 12)
	memory, err := dpglm.NewDataset(x, y, bounds)
	if err != nil {
		t.Fatal(err)
	}
	want, err := fitSteps(ctx, memory, killSteps, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path, temp := filepath.Join(dir, "x.rows"), filepath.Join(dir, "temp")
	if err := errors.Join(dpglm.WriteRows(ctx, path, x, y), os.Mkdir(temp, 0o700)); err != nil {
		t.Fatal(err)
	}
	before := loopbacks()
	// fit opens the rows and fits, with something done in the pass of intake, in a later one, or between two.
	fit := func(ctx context.Context, where string, do func()) ([][]float64, error) {
		if where == "intake" {
			go func() { time.Sleep(time.Duration(rand.Float64() * float64(soon))); do() }()
		}
		d, err := beam.OpenRows(ctx, path, bounds, beam.Options{Runner: execute, Temp: temp, Pieces: 4})
		if err != nil {
			return nil, err
		}
		defer d.Close()
		return fitSteps(ctx, d, killSteps, func(done int) {
			switch {
			case done != killAfter:
			case where == "between":
				do()
			case where == "pass 3":
				go func() { time.Sleep(time.Duration(rand.Float64() * float64(soon))); do() }()
			}
		})
	}
	fmt.Println("| what | where | times | same bits | error | seconds (median) |\n|---|---|---|---|---|---|")
	for _, what := range []string{"task1", "server", "manager", "cancel"} {
		if *only != "" && *only != what || what != "cancel" && !e.has(what) {
			continue
		}
		for _, where := range []string{"intake", "pass 3", "between"} {
			same, failed, took := 0, 0, []float64{}
			for range *kills {
				ctx, stop := context.WithCancel(ctx)
				start := time.Now()
				got, err := fit(ctx, where, func() {
					if what == "cancel" {
						stop()
						return
					}
					e.kill(t, what)
				})
				took = append(took, time.Since(start).Seconds())
				stop()
				switch {
				case err != nil:
					failed++
					t.Logf("%s in %s: %v", what, where, err)
					if what == "cancel" && !errors.Is(err, context.Canceled) {
						t.Errorf("cancelled in %s: %v", where, err)
					}
				case slices.EqualFunc(got, want, slices.Equal):
					same++
				default:
					t.Errorf("%s in %s: other bits", what, where)
				}
				nothingLeft(t, temp)
				if left := e.running(t); left != nil {
					t.Errorf("%s in %s: jobs are %v", what, where, left)
				}
				if after := loopbacks(); len(after) > len(before) {
					t.Errorf("%s in %s: %v", what, where, after)
				}
			}
			slices.Sort(took)
			fmt.Printf("| %s | %s | %d | %d | %d | %.0f |\n", what, where, *kills, same, failed, took[len(took)/2])
		}
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if *only != "" && *only != "driver" {
			break
		}
		stops, left := 0, 0
		for range *kills {
			stopped, directories := driven(t, path, temp, s)
			if left += directories; stopped {
				stops++
			}
			if s == syscall.SIGKILL && !e.has("task1") { // workers were of the driver's process, and nobody is left to cancel
				continue
			}
			if running := e.running(t); running != nil {
				t.Errorf("driver, %v: jobs are %v", s, running)
			}
			if after := loopbacks(); len(after) > len(before) {
				t.Errorf("driver, %v: %v", s, after)
			}
		}
		if stops < *kills {
			t.Errorf("driver, %v: %d of %d were stopped", s, stops, *kills)
		}
		if s == syscall.SIGTERM && left > 0 {
			t.Errorf("drivers whose context ends left %d directories", left)
		}
		fmt.Printf("| driver, %v | pass 3 | %d | | %d | %d left a sealed directory, %d a file of Beam's |\n", s, *kills, stops, left, len(loopbacks())-len(before))
	}
}

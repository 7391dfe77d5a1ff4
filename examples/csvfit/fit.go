package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/progress"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/mechanisms"
)

// fitting are the flags of fit.
type fitting struct {
	budget
	source          *task.Source
	output, file    string   // of the model, and of the budget
	public, begin   string   // files of public rows, or of a public model, to begin at
	beginning       string   // what that is
	dataName        string   // of what the budget is for
	resume          string   // the budget's entry to go on from
	evaluated       float64  // the fraction of the rows to evaluate on privately
	page            string   // for reviewers
	registry        string   // for an entry of a registry
	args            []string // of the command
	given           map[string]bool
	expected        expected // at other ε, for the page
	seed, noiseSeed uint64
	seeded, json    bool
}

func parseFit(args []string, stdout, stderr io.Writer) (*fitting, error) {
	f := flag.NewFlagSet("csvfit fit", flag.ContinueOnError)
	o := &fitting{source: task.NewSource(f)}
	o.source.TakesLevels = true
	f.Lookup("data").Usage += ", or of rows, " + task.RowsEnding + ", by csvfit store, also in parts (\"people-*.rows\")"
	o.addTo(f)
	f.StringVar(&o.output, "o", "", "`file` for the model, with its intervals by -method infer; there must be none of that name")
	f.StringVar(&o.file, "budget", "", "`file` of a budget to spend from, that csvfit budget made")
	f.StringVar(&o.dataName, "name", "", "`name` of the data that the budget is for, as csvfit budget was told")
	f.StringVar(&o.resume, "resume", "", "`entry` of the budget whose fit was interrupted: it goes on from what it had released, and spends nothing more; all else must be given as it was")
	f.StringVar(&o.public, "public", "", "data `file` of rows that nobody protects, with the columns of -data: the fit begins at a model of theirs, as far as the private rows agree")
	f.StringVar(&o.begin, "prior", "", "`file` of a model, by csvfit fit -o of the same schema, to begin at in the same way: such as last year's")
	f.StringVar(&o.page, "report", "", "HTML `file` for a page to hand to reviewers; there must be none of that name")
	f.StringVar(&o.registry, "registry", "", "JSON `file` for a draft of an entry in the public registry of deployments of differential privacy; there must be none of that name")
	share := evaluated(f)
	f.Float64Var(&o.source.HeldOut, "test", 0, "`share` of the rows, to the nearest number, or of the persons, rounded up, to hold out and score on, for the curator only (default: none)")
	o.expected.addMeanTo(f, "the labels' `mean`, such as the fraction of ones, if it is publicly known: -report then predicts by made-up rows how well models do at other ε")
	f.Uint64Var(&o.seed, "seed", 1, "`seed` of the splits; the noise doesn't use it")
	f.Uint64Var(&o.noiseSeed, "insecure-noise-seed", 0, "`seed` of the noise, for experiments: no privacy against those who know it")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	given, err := task.Parse(f, args, stdout)
	if err != nil {
		return nil, err
	}
	if err := o.check(given); err != nil {
		return nil, err
	}
	o.args, o.given = args, given
	if o.seeded, o.evaluated = given["insecure-noise-seed"], *share; o.seeded {
		o.source.Coins = mechanisms.NewSeededSource(o.noiseSeed)
	}
	if err := canEvaluate(given, o.evaluated); err != nil {
		return nil, err
	}
	switch {
	case o.source.HeldOut < 0 || o.source.HeldOut >= 1:
		return nil, task.Usage("-test %g must lie between 0 and 1", o.source.HeldOut)
	case o.source.HeldOut > 0 && task.IsRows(o.source.Path):
		return nil, task.Usage("-test is for files that fit in memory, and -data %s is a file of rows: hold rows out by -evaluate", o.source.Path)
	case o.source.HeldOut == 0 && o.output == "" && o.page == "" && o.registry == "" && o.method != "infer": // whose table is printed
		return nil, task.Usage("-o is missing: name a file for the model, or hold rows out with -test to see how well it does")
	}
	if o.expected.table = given["mean"]; o.expected.table && o.page == "" {
		return nil, task.Usage("-mean is for -report, which shows a forecast by made-up rows: name a file for the page, or leave -mean out")
	}
	if err := o.checkResume(); err != nil {
		return nil, err
	}
	if o.file != "" {
		if err := task.Exists("budget", o.file); err != nil {
			return nil, err
		}
	}
	if given["budget"] != given["name"] {
		return nil, task.Usage("-budget and -name go together: the file's budget is for data of one name")
	}
	if err := o.source.ResolveData("csvfit", stderr); err != nil {
		return nil, err
	}
	if o.expected.table && o.source.Levels() != nil {
		return nil, task.Usage("-mean is for a label that is a number or a class of two, and this one has levels: leave it out")
	}
	if err := o.choose(o.source); err != nil {
		return nil, err
	}
	if err := o.checkCohort(o.source, o.evaluated); err != nil {
		return nil, err
	}
	if err := o.checkPrior(); err != nil {
		return nil, err
	}
	return o, errors.Join(o.checkRadius(), o.expected.checkMean(o.source))
}

func fit(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseFit(args, stdout, stderr)
	if err != nil {
		return err
	}
	out, err := newFile("o", o.output, o.resume != "")
	if err != nil {
		return err
	}
	defer out.discard()
	page, err := newFile("report", o.page, o.resume != "")
	if err != nil {
		return err
	}
	defer page.discard()
	entry, err := newFile("registry", o.registry, o.resume != "")
	if err != nil {
		return err
	}
	defer entry.discard()
	if err := errors.Join(differ(out, page), differ(out, entry), differ(page, entry)); err != nil {
		return err
	}
	r, err := o.prepare(ctx, stderr)
	if err != nil {
		return err
	}
	if r.charge, err = o.pay(ctx, r.planned); err != nil {
		return err
	}
	if err := r.charge.settled(ctx, r.account()); err != nil {
		return err
	}
	if err := r.charge.settled(ctx, r.release(ctx, out, page, entry)); err != nil {
		return err
	}
	if err := r.charge.done(); err != nil {
		return err
	}
	if o.json {
		return r.printJSON(stdout)
	}
	return r.print(stdout)
}

// prepare reads and checks all that the fit needs, and plans it. It spends nothing.
func (o *fitting) prepare(ctx context.Context, stderr io.Writer) (*report, error) {
	data, trial, err := o.load(ctx, stderr)
	if err != nil {
		return nil, err
	}
	r := &report{fitting: o, env: o.environment(ctx), data: data, trial: trial}
	if o.evaluated > 0 {
		if r.data, r.held, err = data.Split(o.evaluated, o.seed); err != nil {
			return nil, fmt.Errorf("-evaluate %g: %w", o.evaluated, err)
		}
	}
	r.shape = r.data.Shape()
	if err := o.findPrior(ctx, stderr); err != nil {
		return nil, err
	}
	if r.plan, r.warnings, err = o.of(r.shape, o.source, stderr); err != nil {
		return nil, err
	}
	if err := r.plan.Check(ctx, r.data); err != nil {
		return nil, err
	}
	o.noteAlike(r.plan, stderr)
	r.radius = r.bound(r.plan)
	if r.planned, err = r.withEvaluation(r.plan.Ledger); err != nil {
		return nil, err
	}
	if r.foreseen, err = o.expected.around(ctx, &o.budget, o.source, r.shape.Rows); err != nil {
		return nil, fmt.Errorf("-mean: %w", err)
	}
	if r.origin, err = r.originOf(); err != nil {
		return nil, err
	}
	if trial != nil {
		r.testRows, r.constant = trial.HeldOut(), trial.Constant()
		progress.Doing(ctx, "fitting without privacy")
		r.nonPrivate, err = trial.NonPrivate(ctx)
	}
	return r, err
}

// noteAlike says whether each row counts alike or each person, of whom there may be several rows: some methods have persons count
// alike whatever the schema says.
func (o *fitting) noteAlike(p *dpglm.Plan, stderr io.Writer) {
	claim, _ := p.Ledger.Claim()
	facts := o.source.Facts()
	switch {
	case claim.PersonRows <= 1:
	case !claim.Alike:
		fmt.Fprintln(stderr, "csvfit: each row counts alike")
	case facts != nil && !facts.PersonsAlike:
		fmt.Fprintf(stderr, "csvfit: each person counts alike, by this method, though the schema doesn't say \"persons_alike\": what is estimated is a mean over persons\n")
	default:
		fmt.Fprintln(stderr, "csvfit: each person counts alike")
	}
}

// release trains and evaluates, and keeps what comes of it: what was trained also where the
// evaluation fails.
func (r *report) release(ctx context.Context, out, page, entry *file) error {
	if err := r.run(ctx); err != nil {
		return err
	}
	if err := out.keepModel(r.released()); err != nil {
		return fmt.Errorf("the budget is spent, but the model can't be written: %w", err)
	}
	if err := r.evaluate(ctx); err != nil {
		return err
	}
	if err := r.keepPage(page); err != nil {
		return fmt.Errorf("the budget is spent, but the report can't be written: %w", err)
	}
	if err := r.keepEntry(entry); err != nil {
		return fmt.Errorf("the budget is spent, but the registry's entry can't be written: %w", err)
	}
	if r.trial == nil {
		return nil
	}
	var err error
	progress.Doing(ctx, "scoring")
	if r.private, err = r.trial.Score(r.model); err == nil {
		r.levels, err = r.trial.Levels(r.model)
	}
	return err
}

// load reads the rows, and holds some out if that is asked for.
func (o *fitting) load(ctx context.Context, stderr io.Writer) (data *dpglm.Dataset, trial *task.Trial, err error) {
	if task.IsRows(o.source.Path) {
		if err = sameSchema(o.source.Path, o.source.FileFacts(), stderr); err != nil {
			return nil, nil, err
		}
		data, err = dpglm.OpenRows(ctx, o.source.Path, nil, o.source.Order()...)
		return data, nil, err
	}
	t, err := o.source.Load(ctx)
	if err != nil {
		return nil, nil, err
	}
	if o.source.HeldOut > 0 {
		if trial, err = o.source.Divide(t, o.seed); err != nil {
			return nil, nil, err
		}
		return trial.Train, trial, nil
	}
	data, err = o.source.Dataset(t)
	return data, nil, err
}

// run trains a model, and by -method infer finds intervals with it.
func (r *report) run(ctx context.Context) (err error) {
	progress.Doing(ctx, "training")
	start := time.Now()
	if r.model, r.inference, err = r.train(ctx, r.plan, r.data, r.charge.keep(r.env, "fit")); err != nil {
		return err
	}
	r.ledger, r.seconds = r.model.Ledger(), time.Since(start).Seconds()
	return nil
}

func (o *fitting) environment(ctx context.Context) *dpglm.Env {
	env := &dpglm.Env{Progress: progress.Steps(ctx, "steps")}
	if o.seeded {
		env.NoiseForTests = mechanisms.NewSeededSource(o.noiseSeed)
	}
	return env
}

// released is the model or, by -method infer, the inference with the model in it.
func (r *report) released() any {
	return r.inference.or(r.model)
}

// keepModel writes a model, indented, for people to read.
func (f *file) keepModel(m any) error {
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil || f == nil {
		return err
	}
	if _, err := f.Write(append(text, '\n')); err != nil {
		return err
	}
	return f.keep()
}

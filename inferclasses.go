package dpglm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/infer"
	"github.com/dpglm/dpglm/internal/labelsonly"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/sealed"
	"github.com/dpglm/dpglm/losses"
)

// ClassInference is a model of several classes with what is known of the coefficients of each against the reference. It
// is made of released numbers only, immutable and safe for concurrent use.
type ClassInference struct {
	model *Model
	of    []*Inference // by class; nil for the reference
	// together says that all classes were inferred of one sum, and not each among the rows of both.
	together bool
}

// InferClasses fits a model of several classes and tells how far its coefficients can be trusted: of each class k
// against the reference, the first or that of a table's schema, it is an [Infer] of the logistic loss on the rows that
// are of either. Where labels follow softmax regression its coefficients are those of the softmax (Begg and Gray
// 1984), and the model has them. Where they don't, each interval is about the coefficients that best tell these two
// classes apart, whatever the others are. Rows of both should be many: each class has its own n·μ.
//
// Errors are those of [InferConfig.Plan], before anything is released, and of [Plan.Run]. The loss is losses.Logistic,
// and the rows must lie in memory.
//
// # Privacy
//
// Replace-one. A row of the reference is in all K−1 inferences, so that these compose in sequence: each has μ/√(K−1).
// Rows of other classes have a weight of 0 in one; a row's weight and label depend on its own class only, so that
// a replaced row moves sums as it does in [Infer] on rows that have [Weights].
//
// Under [Budget.LabelsOnly], of at most 1000 weights, the intercept's included, times K − 1, and rows without weights of their own, all classes are inferred together in place of this: by the counts of
// classes and the sum that [Softmax] releases there, with the whole budget. Coefficients are those of the softmax whether labels follow it or not, by a step
// of Newton's from its estimate to where no law draws weights; their covariance takes labels to have the probabilities that softmax says, and adds
// the noise and what rows that count less may change. Of a class that features tell from the reference, or whose scores may be far off, nothing is
// determined, whatever is of others. Marginal effects are on the class's probability among two, on average over rows as likely
// as softmax says to be of either.
func InferClasses(ctx context.Context, d *Dataset, p Problem, b Budget, cfg InferConfig, env *Env) (*ClassInference, error) {
	if err := d.given(ctx, p); err != nil {
		return nil, err
	}
	if p.Classes == 0 {
		return nil, check.Fail(ErrConfig, "Problem.Classes", 0, "must be the number of classes, 2 or more; Infer is for one score")
	}
	plan, err := cfg.Plan(d.Shape(), p, b)
	if err != nil {
		return nil, err
	}
	laws := make([]*infer.Law, p.Classes)
	model, err := plan.observed(ctx, d, env, func(class int, l *infer.Law) { laws[class] = l })
	if err != nil {
		return nil, err
	}
	f := &ClassInference{model, make([]*Inference, p.Classes), plan.asks.together}
	for k, l := range laws {
		if k == model.Reference() {
			continue
		}
		if f.of[k], err = newInference(f.one(k), plan.Learner.(InferConfig).Confidence, b.String(), d.Shape().Rows, l); err != nil {
			return nil, err
		}
		if l == nil {
			names := model.Levels()
			f.of[k].note = fmt.Sprintf("Nothing is determined of %s against %s: more rows of both, a larger budget or fewer columns may do.", names[k], names[model.Reference()])
		}
	}
	return f, nil
}

// one is the model of a class against the reference, whose score is the logarithm of the ratio of their probabilities.
func (f *ClassInference) one(class int) *Model {
	of := Problem{Loss: losses.Logistic{}}.response(&fitted{loss: losses.Logistic{}})
	return &Model{f.model.weights[class : class+1], f.model.facts, f.model.columns, of, f.model.offset, f.model.ledger, f.model.library}
}

// planClasses plans the inferences of all classes but one.
func (c InferConfig) planClasses(s Shape, p Problem, b Budget) (*Plan, error) {
	if err := p.isOfClasses(s); err != nil {
		return nil, err
	}
	if !p.logistic() {
		return nil, check.Fail(ErrConfig, "Problem.Loss", p.Loss.Name(), "must be losses.Logistic, for inference of several classes")
	}
	if p.Prior != nil {
		return nil, check.Fail(ErrConfig, "Problem.Prior", nil, "must be nil for inference of several classes")
	}
	s, err := s.under(p.Loss)
	if err != nil {
		return nil, err
	}
	if b.labelsOnly {
		if plan, err := c.planLabels(s, p, b); plan != nil || err != nil {
			return plan, err
		}
	}
	some := s
	some.Weighted = true
	child, err := planChild(c, some, p.against(), b.share(p.Classes-1))
	if err != nil {
		return nil, err
	}
	plans := make([]*release.Schedule, p.Classes-1)
	for k := range plans {
		plans[k] = child.schedule
	}
	schedule, err := release.Woven(fmt.Sprintf("inference of %d classes, each against the reference", p.Classes-1), plans...)
	if err != nil {
		return nil, err
	}
	p.Radius = child.Problem.Radius
	plan, err := newPlan(c, s, p, b, schedule, func(r *run) (*fitted, error) { return child.eachAgainst(r, p) })
	if err != nil {
		return nil, err
	}
	plan.weightBound, plan.spread, plan.Passes, plan.Note = child.weightBound, child.spread, len(plans)*child.Passes, child.Note
	plan.asks.pairs = true
	return plan, nil
}

// planLabels plans the inference of all classes together, where labels alone are private; nil where none is made of these.
func (c InferConfig) planLabels(s Shape, p Problem, b Budget) (*Plan, error) {
	o, err := uncalibrated(s, p.against(), b)
	if err != nil {
		return nil, err
	}
	o.estimate.Classes = p.Classes
	if o.labels = b.labelsOnly && labelsonly.Suits(o.estimate); !o.labels {
		return nil, nil
	}
	if err := o.calibrate(b, p.Classes*s.Dim); err != nil {
		return nil, err
	}
	schedule, err := release.Pool("inference of classes together", o.mu, o.releases, o.dim)
	if err != nil {
		return nil, err
	}
	p.Radius = o.problem.Radius
	plan, err := newPlan(c, o.shape, p, b, schedule, func(r *run) (*fitted, error) { return o.inferClasses(r, p) })
	if err != nil {
		return nil, err
	}
	plan.asks.pairs, plan.asks.together = true, true
	plan.weightBound, plan.Note = weightRadii*p.Radius, o.note() // as many passes as it takes to find a mode
	return plan, nil
}

// inferClasses releases the sum of classes.
func (o *standardised) inferClasses(r *run, p Problem) (*fitted, error) {
	classes, err := r.data.Classes(r.ctx, p.Classes)
	if err != nil {
		return nil, err
	}
	of := *r
	of.data = r.data.Against(0)
	weights, laws, err := labelsonly.InferClasses(o.estimate, of.task(), classes, r.reference)
	for k, l := range laws {
		if l != nil && r.observe != nil && err == nil {
			r.observe(k, l)
		}
	}
	return &fitted{weights, p.Loss, true}, err
}

// eachAgainst infers each class but the reference, among the rows of both.
func (p *Plan) eachAgainst(r *run, of Problem) (*fitted, error) {
	f, done := &fitted{loss: of.Loss, joint: true}, 0
	for k := range of.Classes {
		if k == r.reference {
			f.weights = append(f.weights, make([]float64, p.shape.Dim))
			continue
		}
		if err := check.Cancelled(r.ctx); err != nil {
			return nil, err
		}
		allow, err := r.allow.Part(done)
		if err != nil {
			return nil, err
		}
		inner := *r
		if r.observe != nil {
			inner.observe = func(_ int, l *infer.Law) { r.observe(k, l) }
		}
		one, err := p.inside(&inner, curator.Among(r.data, k, r.reference), allow)
		if err != nil {
			return nil, err
		}
		f.weights = append(f.weights, one.weights[0])
		done++
		r.progress(done, of.Classes-1)
	}
	return f, nil
}

// Model is the model of all classes.
func (f *ClassInference) Model() *Model {
	if f == nil {
		return nil
	}
	return f.model
}

// Together reports whether all classes were inferred of one sum, as under [Budget.LabelsOnly], and not each among the rows of both.
func (f *ClassInference) Together() bool { return f != nil && f.together }

// Of is what is known of a class against the reference, by its name of [Model.Levels]. It fails for the reference
// and where there is no such class ([ErrConfig]).
func (f *ClassInference) Of(class string) (*Inference, error) {
	if f == nil || f.model == nil {
		return nil, check.Fail(ErrModel, "inference", nil, "must be made by InferClasses")
	}
	k := slices.Index(f.model.Levels(), class)
	if k < 0 || f.of[k] == nil {
		return nil, check.Fail(ErrConfig, "class", fmt.Sprintf("%q", class), "must be the name of a class other than the reference")
	}
	return f.of[k], nil
}

// String prints the table of each class, in which n are all rows, those of other classes too.
func (f *ClassInference) String() string {
	if f == nil || f.model == nil {
		return "empty inference"
	}
	var b strings.Builder
	names, among := f.model.Levels(), ", among the rows of both"
	if f.together {
		among = ""
	}
	for k, one := range f.of {
		if one != nil {
			fmt.Fprintf(&b, "%s against %s%s: %v", names[k], names[f.model.Reference()], among, one)
		}
	}
	return b.String()
}

// classInferenceFormat is that of the JSON of inferences of several classes, whose versions are those of models.
const classInferenceFormat = "dpglm inference of classes"

type classInferenceJSON struct {
	Format     string     `json:"format"`
	Version    int        `json:"version"`
	Confidence float64    `json:"confidence"`
	Rows       int        `json:"rows"`
	Budget     string     `json:"budget"`
	Together   bool       `json:"together,omitempty"`
	Classes    []oneClass `json:"classes"` // in the order of the model's, the reference's empty
	Model      *Model     `json:"model"`
}

// oneClass is what is inferred of a class against the reference.
type oneClass struct {
	Note         string        `json:"note,omitempty"`
	Coefficients []Coefficient `json:"coefficients,omitempty"`
	Ratios       *ratiosJSON   `json:"exponentials,omitempty"`
	PerStep      *stepsJSON    `json:"per_step,omitempty"`
	Covariance   [][]*float64  `json:"covariance,omitempty"`
	Law          *lawJSON      `json:"law,omitempty"`
}

// MarshalJSON writes the model, and what is inferred of each class as [Inference.MarshalJSON] does. It fails for one that
// [InferClasses] hasn't made.
func (f *ClassInference) MarshalJSON() ([]byte, error) {
	if f == nil || f.model == nil {
		return nil, check.Fail(ErrModel, "inference", nil, "must be made by InferClasses")
	}
	j := classInferenceJSON{Format: classInferenceFormat, Version: modelVersion, Together: f.together, Classes: make([]oneClass, len(f.of)), Model: f.model}
	for k, one := range f.of {
		if one != nil {
			j.Confidence, j.Rows, j.Budget = one.confidence, one.rows, one.budget
			j.Classes[k] = oneClass{one.note, one.coefficients, ratiosOf(one, one.coefficients), stepsOf(one, nil), covarianceOf(one), newLawJSON(one.law)}
		}
	}
	return sealed.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote. It refuses what [Inference.UnmarshalJSON] refuses.
func (f *ClassInference) UnmarshalJSON(data []byte) error {
	if f == nil {
		return check.Fail(ErrModel, "inference", nil, "must not be nil")
	}
	j, err := decodeModel[classInferenceJSON](data, classInferenceFormat)
	if err != nil {
		return err
	}
	if err := j.Model.usable(); err != nil {
		return err
	}
	reference := j.Model.Reference()
	if reference < 0 || len(j.Classes) != j.Model.response.classes {
		return check.Fail(ErrModel, "classes", len(j.Classes), "must be those of a softmax model")
	}
	if err := told(j.Model, j.Confidence, j.Rows); err != nil {
		return err
	}
	read := &ClassInference{j.Model, make([]*Inference, len(j.Classes)), j.Together}
	for k, of := range j.Classes {
		if k == reference {
			continue
		}
		if read.of[k], err = inferenceOf(read.one(k), j.Confidence, j.Budget, j.Rows, of.Note, of.Coefficients, of.Law); err != nil {
			return err
		}
	}
	*f = *read
	return nil
}

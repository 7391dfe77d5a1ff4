// Package dpglm trains generalized linear models under differential privacy.
//
// # A first model
//
//	data, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 1})
//	model, err := dpglm.Auto(ctx, data, dpglm.Problem{Loss: losses.Logistic{}},
//		dpglm.ApproxDP(1, 1e-6), nil)
//	fmt.Println(model.Ledger())          // what was released, how private it is
//	p, err := model.Probabilities(xNew)  // raw features, as given to NewDataset
//
// The user states public facts (bounds or a Schema, a radius, a budget), never
// anything computed from the data; everything else has a default made of those.
//
// Rows in a file or a database, with texts, dates and missing values, are read by package
// [table], to which [NewTableDataset] is the way from here. Such a [Model] reads records
// by the names of their columns, and is stored as JSON with all that it needs:
//
//	schema, err := table.ReadSchemaFile("hospital.schema.json")
//	t, err := table.ReadCSVFile("hospital.csv", schema)
//	data, err := dpglm.NewTableDataset(t)
//	model, err := dpglm.Auto(ctx, data, problem, budget, nil)
//	x, err := model.Encode(map[string]string{"age": "64", "ward": "surgery"})
//	p, err := model.Probabilities(x)
//
// # From rows to a model
//
//	facts (Bounds, Schema or a table's schema)        Problem, Budget, configuration
//	   │                                                 │
//	rows ─▶ NewDataset ─▶ Dataset ─▶ Plan: what will be released ─▶ Run ─▶ Model ─▶ predictions
//	        checks, bounds  n×d      from public numbers alone     noise   weights, facts,
//	        each row                                                       ledger
//
// A [Dataset] refers to the caller's matrix of n rows and p columns, and reads each row
// through the facts: columns are mapped to [−1, 1] by their ranges ([Schema]) or taken as they
// are ([Bounds]), an intercept is appended where it is asked for, and the row is scaled down
// to the bound on its norm. What comes out has d = [Shape].Dim features, and so has the model
// weights. Predictions take raw columns, as NewDataset does, and encode them the same way:
// queries beyond a range count as its end.
//
// Labels have the units of the caller, in and out. Those of binary losses are 0 and 1, or −1
// and 1; real ones are held to their range; counts and amounts are held to [0, Y].
//
// # Learners
//
// [Auto] chooses the method and its parameters; begin with it. [StandardisedGD],
// [ObjectivePerturbation], [NoisyGD], [OutputPerturbation] and [JL] train one model; [Infer]
// estimates one with standard errors, intervals and tests of its coefficients; [FrankWolfe]
// selects a few of many columns; of several classes ([Problem].Classes) [Softmax] trains one model, and
// [OneAgainstRest] makes one of any of these;
// [GridSearch] and [Boost] train several and select one. Each has a configuration, a
// plain value that is a Learner, and JL, GridSearch and Boost take Learners: they
// nest. A [Plan] shows what a fit would spend before it sees data, and package forecast what
// it will be worth. [NewPredictor] makes a
// Predictor, which answers queries and releases no model, by votes, averages, scores or
// a walk; [SelectModel] chooses among given models, and [Evaluate] tells how good
// one is, on rows held out by [Dataset.Split]. Several fits on
// the same data add up in a [mechanisms.Accountant], which package budgetfile keeps in a file.
//
// # Privacy
//
// Neighbouring data sets differ in the whole value of one row, features and
// label (replace-one); the number of rows is public. With [Persons] they are sets of persons
// of whom one is replaced, with all rows, and the number of persons is public: ids and the
// order of rows mean nothing. Every guarantee holds for
// the float64 values that are released: noise is drawn from an exact sampler on
// a grid, and sensitivities include the rounding of sums. A Model holds nothing
// that was computed from raw data except through a mechanism. Errors at intake
// ([NewDataset], and the check of labels against a loss) may depend on the data
// and are for the curator only; after them nothing that is returned does.
// Running time and memory are outside the threat model.
//
// # Budgets and their units
//
// A [Budget] is one of three promises about neighbours. [ApproxDP](ε, δ): whatever is
// released is at most e^ε times as likely on one as on the other, but for a probability of δ.
// [PureDP](ε): the same with δ = 0. [GDP](μ): the two are as hard to tell apart as one draw
// from N(0, 1) and one from N(μ, 1). ε and μ have no unit and δ is a probability. Gaussian
// noise has all of (ε, δ) at once, a curve, which μ stands for; at δ = 1e-6:
//
//	ε = 0.1     μ = 0.0275     best guess of which neighbour it was is right 50.5 % of the time
//	ε = 1       μ = 0.237                                                    54.7 %
//	ε = 4       μ = 0.838                                                    66.2 %
//
// where guessing blindly is right for 50 %. Two releases of ε spend 2ε if they are pure, and
// √2·μ if they are Gaussian: by the curve that is less.
//
// # Choosing ε and δ
//
// δ is the probability of any failure, so it belongs well below one over the number of rows:
// n^-1.5 is usual, and costs little, as noise grows with √log(1/δ). ε is a policy. Values up to
// 1 are strong promises; around 4 most single rows are still hard to tell; beyond 10 the
// promise means little for the worst row. Then let the plan say what it costs:
//
//	plan, err := dpglm.AutoConfig{}.Plan(data.Shape(), problem, dpglm.ApproxDP(1, 1e-6))
//	fmt.Println(plan)
//
// Noise is in proportion to 1/(nμ): twice the rows allow half the ε for the same
// accuracy. Trying several ε on the data and publishing the one that looks best spends all of
// them. To choose by accuracy use [GridSearch], which pays for its choice.
//
// # Stating bounds without looking
//
// Bounds come from a codebook, the law, the instrument, or common sense, never from the rows: the
// largest income in a table is somebody's. A range should hold most values; those
// beyond count as its end. One that is ten times too wide costs accuracy for learners that
// don't rescale ([NoisyGD], [OutputPerturbation], [ObjectivePerturbation]), and little for
// [Auto], which finds the scale privately. Where nothing is known take a generous
// range. A radius needs no thought for Auto.
//
// # Reading a ledger
//
//	(ε = 1, δ = 1e-06)-DP, unit: one row (replace-one), n = 10,000
//	Noisy GD, gradient sums: 100 × Gaussian in 20 dimensions, σ = 42.2468 × sensitivity, together 0.236704-GDP
//
// The first line is the promise, what it protects, and how many of these there are. Each
// further line is a group of releases: what it is, how often, its law, how many numbers, the noise
// in units of what one row can change, and what the group spends. "At most" stands where later
// releases depend on earlier ones and a pool bounds them all. Branches belong to the
// line above, which says whether they add up ("sequential") or the largest counts ("parallel",
// on disjoint rows). A NOTE says that noise was the caller's: such a model must not
// be released. [mechanisms.Ledger] has methods for other δ, for groups of rows, and JSON.
//
// # Errors
//
// Every function that can fail checks its arguments first: an [ArgumentError] names the
// parameter, its value and the rule, and errors.Is finds its kind among [ErrShape],
// [ErrValue], [ErrLabel], [ErrBound], [ErrSchema], [ErrBudget], [ErrConfig], [ErrModel],
// [ErrRowFile] and [ErrSpent]. Nothing has been spent then. Bounds, ranges' widths, radii, clips,
// step sizes, λ and μ are numbers from 1e-60 to 1e60, where nothing else is said. A run that is
// cancelled, or fails, after it may have drawn noise returns an [Interrupted] with the ledger of
// what counts as spent; with a [Journal] it can go on later. One that stops before has spent
// nothing. Nothing panics for what a caller can pass, but, as slices and gonum's
// matrices do, an index that is out of range (matrices' At, mechanisms.Ranking's Set).
//
// # Stability
//
// [Version] follows semantic versioning. Within a major version from 1 on, programs go
// on compiling, and files (models, inferences, ledgers, accountants, budgets, predictors' states, schemas)
// go on being read. Before that a minor version may change names, and says so in CHANGELOG.md;
// files that one version wrote are read by the next, or refused by their version, never
// misread. Not promised: the same noise, weights and defaults, which may get better; the
// texts of errors and printed forms; packages under internal. A guarantee is never
// weakened silently: see SECURITY.md.
//
// # Symbols
//
// [AB+22] is Arora, Bassily, Guzmán, Menart, Ullah, Differentially Private
// Generalized Linear Models Revisited, NeurIPS 2022, arXiv:2205.03014v2.
// [DF18] is Dwork, Feldman, Privacy-preserving Prediction, COLT 2018. [W21] is
// Wang, Redberg, Lecture 10: Objective Perturbation, 2021.
//
//	n           Shape.Rows             number of rows, or of persons, public
//	d           Shape.Dim              number of weights, the intercept included
//	‖X‖         Shape.FeatureBound     bound on a row's L2 norm, enforced
//	–           Shape.LabelCentre      middle of the labels' range, which real labels are
//	                                   shifted by: 0 for a plain bound
//	–           Shape.LabelBound       bound Y on a shifted label, enforced by clamping
//	B           Problem.Radius         radius of the constraint ball
//	‖Y‖²        Constants.AtZero       sup_y φ_y(0) (not the label bound)
//	H, H̃        Constants.Smoothness   sup φ''; H̃ = H‖X‖²
//	G           Constants.Slope        sup |φ'| over the ball, times ‖X‖
//	T, η        NoisyGDConfig          steps, step size
//	λ           Lambda                 weight of the regulariser
//	Φ, k        JLConfig               Johnson–Lindenstrauss map and its dimension
//	K, B_j      GridSearchConfig       candidates and their radii
//	m           BoostConfig.Chunks     chunks to train on
package dpglm

import (
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// The errors of this module, for errors.Is. Every error about an argument is
// an [ArgumentError] that unwraps to one of them.
var (
	ErrShape   = check.ErrShape   // sizes that don't fit together
	ErrValue   = check.ErrValue   // data that is not finite
	ErrLabel   = check.ErrLabel   // a label outside the loss's domain
	ErrBound   = check.ErrBound   // a public bound
	ErrSchema  = check.ErrSchema  // a schema
	ErrBudget  = check.ErrBudget  // ε, δ or μ
	ErrConfig  = check.ErrConfig  // any other parameter
	ErrModel   = check.ErrModel   // a decoded model, ledger or state
	ErrRowFile = check.ErrRowFile // a row file that is damaged, has changed, or is none
	ErrSpent   = check.ErrSpent   // a query after the last answer that the budget allows
)

// ArgumentError is an error about an argument, for errors.As. None holds a value
// taken from the data.
type ArgumentError interface {
	error
	Param() string // the parameter's name
	Value() string // its value as given; empty where it would be data
	Rule() string  // what it must be
	Unwrap() error // one of the errors above
}

var _ ArgumentError = (*check.Error)(nil)

// Ledger lists the releases of a computation and is its privacy profile.
type Ledger = mechanisms.Ledger

// Interrupted is the error of a run that stopped after it may have drawn noise:
// its planned Ledger counts as spent, in full. A run that fails before has spent nothing, and
// its error is what stopped it.
type Interrupted struct {
	Ledger *Ledger // what the whole run was planned to spend
	Err    error   // what stopped it
	// Made is how many releases were made, and Planned how many would have been, at most.
	Made, Planned int
	// Kept says that Env.Journal has the releases, and that the same call can go on from there,
	// which spends nothing more.
	Kept bool
}

// Error says that the planned budget is spent, what of it is left to be had, and why the run
// stopped.
func (e *Interrupted) Error() string {
	resume := "and no journal can go on from there"
	if e.Kept {
		resume = "and the same call with its journal goes on from there without spending more"
	}
	return fmt.Sprintf("dpglm: stopped after %d of at most %d releases, the planned budget is spent, %s: %v", e.Made, e.Planned, resume, e.Err)
}

// Unwrap returns what stopped the run, such as context.Canceled.
func (e *Interrupted) Unwrap() error { return e.Err }

// Version is this library's, by semantic versioning. It is written into models' JSON.
const Version = "0.1.0"

package main

import (
	"strings"
	"time"
)

// step is a run of a package's tests, short ones, all but those that skip matches.
type step struct{ Package, Skip string }

// Tests that take a quarter of a second or more (go test -short -v tells), which a first step of their package
// leaves to a last one, and those that no step has.
const (
	slowRoot = "^(TestBandsHoldNewLabels|TestRMSEAllowsForHiddenTails|TestFiguresLieInTheirRanges|TestAuditCatches.*|TestMinimiserStability.*|" +
		"TestLevelsOfManyColumns|TestLabelsOnlyIntervals|TestObjectivePerturbationHugeBudgets|TestAnswersFillTheBudget|TestPriorIsWeighed|TestReadme.*|" +
		"TestAUCIsNearTheRows|TestObjectivePerturbationBudget|TestGuide.*|TestDoc.*|Example.*)$"
	slowReplays   = "^(TestNoiseIsTheLedgers|TestReleasesAreTheLedgers|TestNoiseHasItsLaw|TestObjectiveDeclaresItsHessian)$"
	slowStored    = "^TestStoredRowsHaveTheSameBits$"
	slowInference = "^(TestInferenceOfRareLevels.*|TestAutoEstimatesRareLevels|TestEffectsWithoutNoise)$"
	slowQuestions = "^(TestTilesDontShowInLengths|TestGradientSensitivityBySearch|TestSparseRowsOfEachLength|TestProjectedRowsAreBoundedAgain|" +
		"TestEveryRowIsBoundedInEverySource|TestRoundingBound.*|TestNarrowFrames.*|TestScoresBySearch|TestAnswersAreSumsOfShares|TestQuadraticBySearch|" +
		"TestFramedMatchesItsDefinition|TestPartiesSensitivity|TestCoordinatesSensitivity|TestLogisticAtOnce)$"
	slowNoise = "^(TestSpendingIsOneStep|TestAccountantsAreFilters|TestEqualSensitivitySelectionIsPrivate|TestReferenceProfiles|TestRankingFollowsTheLaw|" +
		"TestGeneralizedIsPrivate|TestPartsOnlyAdd|TestGivingBack|.*IsExact|TestHostileTrees|TestNoisyMinLawWithTies|TestSelectionLaws)$"
	slowCurves = "^(TestWorkIsBounded|TestObjectivesCompose|TestTransformDominatesDirectSums|TestObjectiveAudit|TestEachReleaseCosts|TestGroupsAcrossParallelParts|" +
		"TestObjectiveAgainstExactDensities|TestRatioForShares|TestNoisyObjectiveEverywhere|TestPureWithGaussianClosedForm|TestPowersOfGaussians)$"
)

var (
	questions  = step{"internal/curator/internal/questions", slowQuestions}
	searches   = step{"internal/curator/internal/questions", "^TestTilesDontShowInLengths$"}
	curator    = step{"internal/curator", ""}
	door       = step{"internal/release", ""}
	noise      = step{"mechanisms", slowNoise}
	allNoise   = step{"mechanisms", ""}
	curves     = step{"internal/accounting", slowCurves}
	allCurves  = step{"internal/accounting", "^TestWorkIsBounded$"}
	root       = step{".", slowRoot}
	replays    = step{"internal/audit/replay", slowReplays}
	stored     = step{"internal/audit/stored", slowStored}
	parties    = step{"internal/audit/parties", ""}
	persons    = step{"internal/audit/persons", ""}
	journals   = step{"internal/audit/journal", ""}
	numbers    = step{"internal/audit/numbers", ""}
	learners   = step{"internal/audit/learners", ""}
	failing    = step{"internal/audit/failing", ""}
	inferences = step{"internal/audit/inference", slowInference}
	inference  = step{"internal/infer", "^TestLongerIntervalsCover$"}
)

// suites are the tests of which one should fail where a package is changed: those that fail
// first, then audits. Where there is no entry mutants aren't made.
var suites = map[string][]step{
	"internal/accounting":                 {curves, noise, allCurves, numbers, root, allNoise},
	"mechanisms":                          {noise, door, numbers, allNoise, replays, root},
	"internal/release":                    {door, curator, numbers, failing, journals, replays, root, learners},
	"internal/curator":                    {curator, questions, numbers, failing, root, replays, parties, stored, persons},
	"internal/curator/internal/blocks":    {{"internal/curator/internal/blocks", ""}, questions, numbers, failing, curator, searches, persons, root, stored},
	"internal/curator/internal/encoding":  {{"internal/curator/internal/encoding", ""}, questions, numbers, curator, searches, root, stored},
	"internal/curator/internal/questions": {questions, numbers, failing, curator, searches, root, parties, replays, stored, persons},
	"internal/curator/internal/rows":      {{"internal/curator/internal/rows", ""}, questions, numbers, failing, curator, searches, stored, root, persons},
	"internal/curator/internal/solve":     {{"internal/curator/internal/solve", ""}, curator, numbers, root},
	"internal/curator/worker":             {stored},
	"internal/evaluate":                   {{"internal/evaluate", ""}, numbers, failing, root},
	"internal/infer":                      {inference, numbers, failing, root, stored, inferences},
	"internal/labelsonly":                 {{"internal/labelsonly", ""}, numbers, failing, root, inferences},
	"internal/linalg":                     {{"internal/linalg", ""}, inference, numbers, root},
	"table/party":                         {{"table/party", ""}, parties},
}

// args are the arguments of go test, which takes no result of an earlier run.
func (s step) args(overlay string, limit time.Duration) []string {
	args := []string{"test", "-short", "-failfast", "-vet=off", "-count=1", "-timeout=" + limit.Round(time.Second).String()}
	if overlay != "" {
		args = append(args, "-overlay="+overlay)
	}
	if s.Skip != "" {
		args = append(args, "-skip="+s.Skip)
	}
	return append(args, "./"+s.Package)
}

// killer is what the output of a failed go test says of why: a test, or what else ended it.
func killer(output string) string {
	for line := range strings.Lines(output) {
		if _, name, ok := strings.Cut(line, "--- FAIL: "); ok {
			return strings.Fields(name)[0]
		}
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return strings.TrimSpace(line)
		}
	}
	return "a failure"
}

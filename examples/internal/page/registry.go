package page

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/dpglm/dpglm/internal/digits"
	"github.com/dpglm/dpglm/mechanisms"
)

// The entry's fields are those of the public registry of deployments of differential privacy, which
// arXiv:2509.13509 describes: schemas/deployments-schema.yaml of github.com/opendp/deployments-registry-data
// at commit 3e9c812a. JSON is YAML, so that a file of it is an entry there.
type (
	registryEntry struct {
		Slug       string             `json:"url_slug"`
		Status     string             `json:"status"`
		Tier       int                `json:"tier"`
		Deployment registryDeployment `json:"deployment"`
	}
	registryDeployment struct {
		Basic          registryBasic          `json:"basic"`
		Variant        registryVariant        `json:"dp_variant"`
		Loss           registryLoss           `json:"privacy_loss"`
		Model          registryModel          `json:"deployment_model"`
		Accounting     registryAccounting     `json:"accounting"`
		Implementation registryImplementation `json:"implementation"`
		Administrative registryAdministrative `json:"administrative"`
	}
	registryBasic struct {
		Name        string   `json:"name"`
		Curators    []string `json:"data_curators"`
		Use         string   `json:"intended_use"`
		Type        string   `json:"data_product_type"`
		Region      string   `json:"data_product_region"`
		Description string   `json:"description"`
		Date        string   `json:"publication_date"`
	}
	registryVariant struct {
		Name        string `json:"variant_name"`
		Domain      string `json:"data_domain"`
		Unprotected string `json:"unprotected_quantities"`
	}
	registryLoss struct {
		Unit       string             `json:"privacy_unit"`
		Neighbours string             `json:"privacy_unit_details"`
		Parameters registryParameters `json:"privacy_parameters"`
		Details    string             `json:"privacy_parameters_details"`
	}
	registryParameters struct {
		Epsilon float64 `json:"epsilon"`
		Delta   float64 `json:"delta"`
	}
	registryModel struct {
		Name          string `json:"model_name"`
		Details       string `json:"model_name_details"`
		Actors        string `json:"actors"`
		Releases      string `json:"release_type"`
		ReleasesAre   string `json:"release_type_details"`
		Source        string `json:"data_source_type"`
		Access        string `json:"access_type"`
		AccessDetails string `json:"access_type_details"`
	}
	registryAccounting struct {
		After       string `json:"post_processing"`
		Composition string `json:"composition"`
	}
	registryImplementation struct {
		Before        string `json:"preprocessing_and_hyperparameter_tuning"`
		Mechanisms    string `json:"mechanisms"`
		Justification string `json:"justification"`
	}
	registryAdministrative struct {
		Notes   string   `json:"notes"`
		Authors []string `json:"registry_authors"`
	}
)

// toFillIn begins what the program can't know.
const toFillIn = "TO FILL IN: "

// WriteEntry writes an entry of the registry as indented JSON. It is a draft, whose words that begin
// with TO FILL IN are for the curator, and has nothing that the page hasn't.
func WriteEntry(w io.Writer, c Content) error {
	e, err := c.entry()
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	return encoder.Encode(e)
}

func (c Content) entry() (*registryEntry, error) {
	claim, _ := c.Ledger.Claim()
	epsilon, err := c.Ledger.Epsilon(claim.Delta)
	if err != nil {
		return nil, err
	}
	loss, err := c.registryLoss(epsilon, claim)
	if err != nil {
		return nil, err
	}
	title := fmt.Sprintf("%s of “%s”", c.kind(), c.Model.Label())
	d := registryDeployment{
		Basic: registryBasic{title, []string{toFillIn + "who publishes the model"}, toFillIn + "what the model is to be used for", "Machine learning model",
			toFillIn + "what region the data describe", title + ", trained by dpglm under differential privacy.", c.Origin.Date},
		Variant:        registryVariant{"Approximate DP", c.domain(claim), c.unprotected()},
		Loss:           loss,
		Model:          c.registryModel(),
		Accounting:     registryAccounting{"Coefficients, intervals, predictions and the report are made of released and of public numbers alone.", c.composed()},
		Implementation: c.implementation(),
		Administrative: registryAdministrative{"Written by csvfit fit -registry from the ledger and the schema." + void(c.marks()), []string{toFillIn + "who wrote the entry"}},
	}
	return &registryEntry{slug(c.Model.Label()) + "_" + strings.ReplaceAll(c.Origin.Date, "-", "_"), "Draft", 3, d}, nil
}

func (c Content) registryLoss(epsilon float64, claim mechanisms.Claim) (registryLoss, error) {
	up, err := strconv.ParseFloat(digits.RoundedUp(epsilon), 64)
	details := "The guarantee holds for every pair of ε and δ on the ledger’s curve"
	if mu := c.Ledger.Mu(); !math.IsInf(mu, 1) {
		details += fmt.Sprintf(", which is at most that of %s-GDP", digits.RoundedUp(mu))
	}
	if claim.Group > 1 {
		of, err := c.Ledger.GroupEpsilon(claim.Group, claim.Delta)
		if err != nil {
			return registryLoss{}, err
		}
		details += fmt.Sprintf("; for any %d together ε = %s at the same δ", claim.Group, digits.RoundedUp(of))
	}
	return registryLoss{c.Ledger.Unit().String(), c.neighbours().Says + " " + c.unit().Says, registryParameters{up, claim.Delta}, details + "."}, err
}

// domain says which data sets are protected.
func (c Content) domain(claim mechanisms.Claim) string {
	columns := fmt.Sprintf("%s features whose norm is at most %s", grouped(c.Shape.Dim), significant(c.Shape.FeatureBound, 4))
	if e := c.Model.Encoder(); e != nil {
		var list []string
		s := e.Schema()
		for _, col := range s.Columns {
			if d := describe(s, col); d.Role != "not used" {
				list = append(list, fmt.Sprintf("“%s” (%s)", d.Name, d.Values))
			}
		}
		columns = "columns " + strings.Join(list, ", ")
	}
	return fmt.Sprintf("Tables of %s %s with %s. SHA-256 of the schema: %s", counted(c.Ledger, claim.Rows), unitsOf(c.Ledger), columns, c.Origin.Schema)
}

func (c Content) unprotected() string {
	switch {
	case secret(c.Ledger):
		return "None: of how many there are, a bound is public."
	case c.Ledger.Unit().Of == mechanisms.Label:
		return "Who is in the table, and all features."
	}
	return "The number of " + unitsOf(c.Ledger) + "."
}

func (c Content) registryModel() registryModel {
	var actors []string
	for _, p := range c.trust()[:2] {
		actors = append(actors, capital(p.Name)+": "+p.Says)
	}
	releases := "One fit"
	if c.Evaluation != nil {
		releases += ", and an evaluation on rows held out"
	}
	if a := c.Origin.Account; a != nil {
		releases += fmt.Sprintf(", charged to a total of %s; left after it: %s", a.Total, a.Left)
	}
	return registryModel{"Central", "Noise is added by the curator’s program, to sums over the rows.", strings.Join(actors, " "),
		"One release", releases + ".", "Static", "Non-interactive", "The model is released; predictions cost nothing more."}
}

func (c Content) composed() string {
	return fmt.Sprintf("Sequential on the same rows, parallel on disjoint ones, computed from the list of releases: %s", strings.ReplaceAll(strings.TrimSpace(c.Ledger.String()), "\n", "; "))
}

func (c Content) implementation() registryImplementation {
	var choices []string
	for _, choice := range c.Origin.Choices {
		choices = append(choices, fmt.Sprintf("%s: %s (%s)", choice.Name, choice.Value, choice.By))
	}
	before := "Ranges, levels and settings are stated without looking at the rows; what the method adapts to was released within ε and δ."
	if c.Origin.Looked {
		before += " The curator saw scores without noise on rows held out, which isn’t accounted for."
	}
	trust := c.trust()
	return registryImplementation{
		before + " " + toFillIn + "what was done to the data before, and whether other fits were tried.",
		fmt.Sprintf("dpglm %s (program %s, commit %s), method %s. Timing: %s Floating point: %s Randomness: %s", c.Origin.Library, c.Origin.Program, c.Origin.Commit, c.Method, trust[2].Says, trust[3].Says, trust[4].Says),
		strings.Join(choices, "; ") + ". " + toFillIn + "why this ε.",
	}
}

// void says which marks the entry's reader must know.
func void(marks []string) string {
	if marks == nil {
		return ""
	}
	return " " + strings.Join(marks, " ")
}

var others = regexp.MustCompile(`[^a-z0-9]+`)

// slug is a name in the registry's letters.
func slug(name string) string {
	if s := strings.Trim(others.ReplaceAllString(strings.ToLower(name), "_"), "_"); s != "" {
		return s
	}
	return "model"
}

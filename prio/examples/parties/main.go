// Parties trains one model on the rows of three parties, of which none shows its rows, nor a sum over
// them, to anyone: each party, two aggregators and the driver are programs of their own, which this one
// starts. It makes rows up, and certificates and budgets for all, in a temporary directory. At the end it trains
// on all rows in one program, with the same noise, and compares: the weights are the same to the last bit.
//
//	go -C prio run ./examples/parties
//	go -C prio run ./examples/parties -columns 20
//	go -C prio run ./examples/parties -rows 20000,10000,5000 -columns 100 -steps 50
//
// The learner is Auto, or by -steps noisy gradient descent of so many steps.
package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	randv2 "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/mechanisms/budgetfile"
	"github.com/dpglm/dpglm/prio"
	"github.com/dpglm/dpglm/table/party"
)

const (
	epsilon, delta = 1, 1e-6
	patience       = time.Minute
	lifetime       = 24 * time.Hour // of certificates
	keySize        = 32
	mostCells      = 200 // of a histogram
	room           = 1.2 // of parties' budgets, for one fit and not for two
)

func main() {
	log.SetFlags(0)
	var (
		rows    = flag.String("rows", "4000,2500,1500", "how many rows each party has")
		columns = flag.Int("columns", 12, "of each row")
		steps   = flag.Int("steps", 0, "of noisy gradient descent; 0 for Auto")
		role    = flag.String("role", "", "for the programs that this one starts: who it is")
		dir     = flag.String("dir", "", "for these: where their files are")
		listen  = flag.String("listen", "127.0.0.1:0", "for these: the address to listen at")
	)
	flag.Parse()
	if *role != "" {
		if err := serve(*dir, *role, *listen); err != nil {
			log.Fatal(*role, ": ", err)
		}
		return
	}
	setup := prio.Setup{Bits: 64, Numbers: numbers(*columns)}
	for _, n := range strings.Split(*rows, ",") {
		k, err := strconv.Atoi(n)
		if err != nil {
			log.Fatal("-rows: ", err)
		}
		setup.Rows = append(setup.Rows, k)
	}
	if err := demonstrate(context.Background(), os.Stdout, setup, *columns, *steps); err != nil {
		log.Fatal(err)
	}
}

// numbers is how many a sum has at most: a histogram's, or second moments'.
func numbers(columns int) int { return max(mostCells, (columns+1)*(columns+2)/2) }

// demonstrate prints what it costs to train with the programs, and whether it is the same model.
func demonstrate(ctx context.Context, out io.Writer, s prio.Setup, columns, steps int) error {
	where, err := os.MkdirTemp("", "parties")
	if err != nil {
		return err
	}
	defer os.RemoveAll(where)
	f, err := start(ctx, where, s, columns)
	if err != nil {
		return err
	}
	defer f.stop()
	var rounds []prio.Round
	f.driver.Observe = func(r prio.Round) { rounds = append(rounds, r) }
	fmt.Fprintf(out, "%d parties of %v rows with %d columns, 2 aggregators and a driver, each a process\n", len(s.Rows), s.Rows, columns)
	fmt.Fprintln(out, "round     seconds   megabytes")
	begun := time.Now()
	apart, err := fit(ctx, f.driver, s, columns, steps)
	if err != nil {
		return err
	}
	print := func(name string, list []prio.Round) {
		var seconds, sent float64
		for _, r := range list {
			seconds, sent = seconds+r.Time.Seconds(), sent+float64(r.Sent)
		}
		n := float64(len(list))
		fmt.Fprintf(out, "%-9s %-9.3f %.3f\n", name, seconds/n, sent/n/1e6)
	}
	print("plan", rounds[:1])
	print("question", rounds[1:])
	fmt.Fprintf(out, "(the mean of %d questions; megabytes are those of all bodies between programs)\n", len(rounds)-1)
	fmt.Fprintf(out, "in all: %.2f s and %.1f MB\n", time.Since(begun).Seconds(), total(rounds)/1e6)
	begun = time.Now()
	pooled, err := together(ctx, where, s, columns, steps)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "all rows in one program: %.3f s\n", time.Since(begun).Seconds())
	fmt.Fprintf(out, "the first weights are %.4g, and %.4g of rows in one program\n", apart[:min(3, len(apart))], pooled[:min(3, len(pooled))])
	if !slices.Equal(apart, pooled) {
		return errors.New("the weights differ")
	}
	fmt.Fprintln(out, "all weights are the same to the last bit")
	return nil
}

// total is how many bytes rounds took.
func total(list []prio.Round) (sent float64) {
	for _, r := range list {
		sent += float64(r.Sent)
	}
	return sent
}

// fit trains on what parties hold, with noise that is the same in each run: for a comparison only.
func fit(ctx context.Context, a dpglm.Aggregator, s prio.Setup, columns, steps int) ([]float64, error) {
	d, err := dpglm.OpenParties(s.Parties(columns), dpglm.Bounds{Feature: 1}, a)
	if err != nil {
		return nil, err
	}
	problem, budget := dpglm.Problem{Loss: losses.Logistic{}, Radius: 5}, dpglm.ApproxDP(epsilon, delta)
	var learner dpglm.Learner = dpglm.AutoConfig{}
	if steps > 0 {
		learner = dpglm.NoisyGDConfig{Steps: steps, Clip: 0.5}
	}
	plan, err := learner.Plan(d.Shape(), problem, budget)
	if err != nil {
		return nil, err
	}
	model, err := plan.Run(ctx, d, &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)})
	if err != nil {
		return nil, err
	}
	return model.Weights()[0], nil
}

// pooled is one party with all rows, in this program.
type pooled struct{ of *party.Party }

func (p pooled) Sum(ctx context.Context, message []byte) ([]uint64, error) {
	return p.of.Answer(ctx, message)
}

// together trains on all rows in this program.
func together(ctx context.Context, dir string, s prio.Setup, columns, steps int) ([]float64, error) {
	n := 0
	for _, k := range s.Rows {
		n += k
	}
	all := filepath.Join(dir, "all.rows")
	if err := write(ctx, all, 0, n, columns); err != nil {
		return nil, err
	}
	p, err := party.Open(all, party.Within(10))
	if err != nil {
		return nil, err
	}
	defer p.Close()
	s.Rows = []int{n}
	return fit(ctx, pooled{p}, s, columns, steps)
}

// write makes rows up, from one of them to another.
func write(ctx context.Context, path string, from, to, columns int) error {
	x, y := mat.NewDense(to-from, columns, nil), make([]float64, to-from)
	for i := range y {
		r := randv2.New(randv2.NewPCG(1, uint64(from+i)))
		z := 0.0
		for j := range columns {
			v := r.NormFloat64() / float64(columns)
			x.Set(i, j, v)
			z += v * float64(4-j%9)
		}
		if r.Float64() < 0.5+min(max(z, -0.5), 0.5) {
			y[i] = 1
		}
	}
	return dpglm.WriteRows(ctx, path, x, y)
}

// federation are all programs but the driver, which this one is.
type federation struct {
	dir      string
	programs map[string]*program
	driver   *prio.Driver
}

// program is one that was started.
type program struct {
	*exec.Cmd
	url string
}

// start makes files for all, and starts them: the helper, the leader, parties.
func start(ctx context.Context, dir string, s prio.Setup, columns int) (*federation, error) {
	names := []string{prio.HelperName, prio.LeaderName}
	for k := range s.Rows {
		names = append(names, prio.PartyName(k+1))
	}
	if err := prepare(ctx, dir, s, columns, append(names, prio.DriverName)); err != nil {
		return nil, err
	}
	f := &federation{dir: dir, programs: map[string]*program{}}
	var urls []string
	for _, name := range names {
		if err := f.run(name, "127.0.0.1:0"); err != nil {
			f.stop()
			return nil, err
		}
		urls = append(urls, f.programs[name].url)
	}
	i, err := identity(dir, prio.DriverName)
	if err == nil {
		f.driver, err = prio.NewDriver(s, i, urls[1], urls[0], urls[2:])
	}
	if err != nil {
		f.stop()
		return nil, err
	}
	f.driver.Patience = patience
	return f, nil
}

// run starts a program, which prints its address and ends with its input.
func (f *federation) run(name, listen string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(self, "-role", name, "-dir", f.dir, "-listen", listen)
	c.Stderr, c.Env = os.Stderr, append(os.Environ(), roleVariable+"=1")
	if _, err := c.StdinPipe(); err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return errors.Join(fmt.Errorf("%s doesn't start: %w", name, err), c.Process.Kill(), c.Wait())
	}
	f.programs[name] = &program{c, strings.TrimSpace(line)}
	return os.WriteFile(filepath.Join(f.dir, name+".url"), []byte(f.programs[name].url), 0o600)
}

// stop ends all programs.
func (f *federation) stop() {
	for _, p := range f.programs {
		p.Process.Kill()
		p.Wait()
	}
}

// roleVariable is set for the programs that this one starts.
const roleVariable = "DPGLM_PARTIES_ROLE"

// serve is a program's part: it answers until its input ends.
func serve(dir, role, listen string) error {
	var s prio.Setup
	text, err := os.ReadFile(filepath.Join(dir, "setup.json"))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return err
	}
	i, err := identity(dir, role)
	if err != nil {
		return err
	}
	h, err := handler(dir, role, s, i)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0) // as who started it has ended
	}()
	fmt.Println("https://" + l.Addr().String())
	return i.Server(h).ServeTLS(l, "", "")
}

// handler is what a program answers with.
func handler(dir, role string, s prio.Setup, i prio.Identity) (http.Handler, error) {
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, name)) // where it isn't there, an address or a key is refused
		return string(text)
	}
	leader, helper := read(prio.LeaderName+".url"), read(prio.HelperName+".url")
	switch role {
	case prio.LeaderName:
		return prio.NewLeader(s, i, []byte(read("key")), helper)
	case prio.HelperName:
		return prio.NewHelper(s, i, []byte(read("key")))
	}
	number, err := strconv.Atoi(strings.TrimPrefix(role, "party-"))
	if err != nil {
		return nil, fmt.Errorf("nobody is called %s", role)
	}
	budget, err := budgetfile.Open(filepath.Join(dir, role+".budget.json"))
	if err != nil {
		return nil, err
	}
	kept, err := prio.Keep(budget, role)
	if err != nil {
		return nil, err
	}
	p, err := party.OpenKept(filepath.Join(dir, role+".rows"), func(party.Plan) error { return nil }, kept) // all that the budget allows
	if err != nil {
		return nil, err
	}
	return prio.NewParty(s, i, number, p, leader, helper, func(err error) { log.Print(role, ": ", err) })
}

// prepare writes each program's files: the setup, certificates, the aggregators' key, parties' rows
// and budgets. Programs that are apart have their own directories.
func prepare(ctx context.Context, dir string, s prio.Setup, columns int, names []string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	key := make([]byte, keySize)
	rand.Read(key) // never fails
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "setup.json"), text, 0o600), os.WriteFile(filepath.Join(dir, "key"), key, 0o600), certify(dir, names)); err != nil {
		return err
	}
	from := 0
	for k, n := range s.Rows {
		name := filepath.Join(dir, prio.PartyName(k+1))
		if err := write(ctx, name+".rows", from, from+n, columns); err != nil {
			return err
		}
		from += n
		total := budgetfile.Total{Data: prio.PartyName(k + 1), Unit: mechanisms.OneRow(), Group: 1, Epsilon: room * epsilon, Delta: delta}
		if _, err := budgetfile.Create(ctx, name+".budget.json", total); err != nil {
			return err
		}
	}
	return nil
}

// certify makes an authority and a certificate for each name.
func certify(dir string, names []string) error {
	authority, key, err := sign("authority", nil, nil)
	if err != nil {
		return err
	}
	if err := writePEM(dir, "authority.pem", "CERTIFICATE", authority.Raw); err != nil {
		return err
	}
	for _, name := range names {
		c, own, err := sign(name, authority, key)
		if err != nil {
			return err
		}
		secret, err := x509.MarshalPKCS8PrivateKey(own)
		if err != nil {
			return err
		}
		if err := errors.Join(writePEM(dir, name+".pem", "CERTIFICATE", c.Raw), writePEM(dir, name+".key", "PRIVATE KEY", secret)); err != nil {
			return err
		}
	}
	return nil
}

// sign makes a key and a certificate of it, signed by an authority or, for one, by itself.
func sign(name string, by *x509.Certificate, key *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	number, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 64))
	if err != nil {
		return nil, nil, err
	}
	c := &x509.Certificate{SerialNumber: number, Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(lifetime)}
	if by == nil {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
		by, key = c, own
	} else {
		c.DNSNames, c.KeyUsage = []string{name}, x509.KeyUsageDigitalSignature
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, by, &own.PublicKey, key)
	if err != nil {
		return nil, nil, err
	}
	c, err = x509.ParseCertificate(raw)
	return c, own, err
}

// writePEM writes one block of PEM.
func writePEM(dir, name, kind string, raw []byte) error {
	return os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600)
}

// identity reads a program's certificate, and the authority's.
func identity(dir, name string) (i prio.Identity, err error) {
	at := filepath.Join(dir, name)
	if i.Certificate, err = tls.LoadX509KeyPair(at+".pem", at+".key"); err != nil {
		return i, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "authority.pem"))
	if err != nil {
		return i, err
	}
	i.Authorities = x509.NewCertPool()
	if !i.Authorities.AppendCertsFromPEM(text) {
		return i, errors.New("authority.pem must be a certificate")
	}
	return i, nil
}

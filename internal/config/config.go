// Package config reads the policy of a repository, .ken/config.yaml.
//
// Without the file, the defaults apply. A malformed file is an error with the name of the file and the line: ken
// never ignores a policy silently.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v3"

	"ken/internal/contract"
	"ken/internal/docs"
	"ken/internal/fault"
	"ken/internal/fresh"
	"ken/internal/model"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/review"
	"ken/internal/share"
	"ken/internal/spec"
	"ken/internal/survey"
)

// Name is the path of the policy, from the repository root.
const Name = ".ken/config.yaml"

// maxBytes is the size of the largest file that is parsed. A policy is written by hand.
const maxBytes = 1 << 20

// A Config is the policy of a repository.
type Config struct {
	Registry registry.Policy
	State    State
	Spec     Spec
	Survey   Survey
	Docs     docs.Policy
	Review   Review
	Share    share.Policy
	Team     Team
}

// Survey is the policy of the survey.
type Survey struct {
	Provider string   // provider of the model; "" makes outlines only
	Model    string   // name of the model
	BaseURL  string   // address of the provider
	Command  []string // for the provider "command": the program and its arguments
	Protocol string   // protocol of the program: "text" (the default) or "json"
	Exclude  []string // globs of files and directories that are left out
	Ranks    map[repo.Path]survey.Rank
	Jobs     int
	// MaxTokens and MaxCost limit one run; nil is no limit.
	MaxTokens *int64
	MaxCost   *float64
	// Prices are the prices of models, by name. They replace the built-in prices.
	Prices map[string]model.Price
}

// Spec is the policy of specs.
type Spec struct {
	// Main is the branch with the canonical specs; "" is the main branch of the remote.
	Main string
	// Gate is the policy of the gate.
	Gate spec.GatePolicy
}

// Review is the policy of reviews.
type Review struct {
	// FailOn are the kinds of lines that fail ken review --check; nil for the usual ones.
	FailOn []review.Kind
}

// State is the policy of the workflow directory.
type State struct {
	// Dir is the path from the root of the work tree, inside it; "" is the path in the contract.
	Dir string
	// ArchiveRuns is the number of snapshots in the archive; nil is the number in the contract.
	ArchiveRuns *int
}

// A file is the content of .ken/config.yaml.
type file struct {
	Registry registryPolicy `yaml:"registry"`
	State    statePolicy    `yaml:"state"`
	Spec     specPolicy     `yaml:"spec"`
	Survey   surveyPolicy   `yaml:"survey"`
	Docs     docsPolicy     `yaml:"docs"`
	Review   reviewPolicy   `yaml:"review"`
	Share    sharePolicy    `yaml:"share"`
	Store    string         `yaml:"store"`
	Team     teamPolicy     `yaml:"team"`
}

type docsPolicy struct {
	OK      []string `yaml:"ok"`
	Exclude []string `yaml:"exclude"`
}

type reviewPolicy struct {
	FailOn []string `yaml:"fail_on"`
}

type surveyPolicy struct {
	Provider  string                 `yaml:"provider"`
	Model     string                 `yaml:"model"`
	BaseURL   string                 `yaml:"base_url"`
	Command   []string               `yaml:"command"`
	Protocol  string                 `yaml:"protocol"`
	Exclude   []string               `yaml:"exclude"`
	Ranks     map[string]survey.Rank `yaml:"ranks"`
	Jobs      int                    `yaml:"jobs"`
	MaxTokens *int64                 `yaml:"max_tokens"`
	MaxCost   *float64               `yaml:"max_cost"`
	Prices    map[string]price       `yaml:"prices"`
}

// A price is the cost of a million tokens, in dollars.
type price struct {
	Input   float64 `yaml:"input"`
	Cached  float64 `yaml:"cached"`
	Written float64 `yaml:"written"`
	Output  float64 `yaml:"output"`
}

// prices checks and converts prices. An empty price means that the model is free.
func prices(given map[string]price) (map[string]model.Price, error) {
	list := make(map[string]model.Price, len(given))
	for name, p := range given {
		for _, n := range []float64{p.Input, p.Cached, p.Written, p.Output} {
			if n < 0 || math.IsNaN(n) || math.IsInf(n, 0) {
				return nil, fmt.Errorf("prices: %s: expected dollars per million tokens, 0 or more", name)
			}
		}
		list[name] = model.Price{Input: p.Input, Cached: p.Cached, Written: p.Written, Output: p.Output, Free: p == price{}}
	}
	return list, nil
}

// policy checks and converts the section survey.
func (p surveyPolicy) policy() (Survey, error) {
	s := Survey{
		Provider: p.Provider, Model: p.Model, BaseURL: p.BaseURL, Command: p.Command, Protocol: p.Protocol, Exclude: p.Exclude,
		Jobs: p.Jobs, MaxTokens: p.MaxTokens, MaxCost: p.MaxCost, Ranks: make(map[repo.Path]survey.Rank),
	}
	for dir, rank := range p.Ranks {
		if dir = path.Clean(dir); dir == "." {
			dir = ""
		}
		s.Ranks[repo.Path(dir)] = rank
	}
	var err error
	if s.Prices, err = prices(p.Prices); err != nil {
		return s, err
	}
	if err := repo.CheckGlobs(p.Exclude); err != nil {
		return s, err
	}
	switch {
	case !slices.Contains([]string{"", "outline", "anthropic", "openai", "command"}, p.Provider):
		return s, fmt.Errorf("unknown provider %q (valid: outline, anthropic, openai, command)", p.Provider)
	case p.Provider == "command" && len(p.Command) == 0:
		return s, errors.New("the provider command needs survey.command: a list of the program and its arguments")
	case !slices.Contains([]string{"", "text", "json"}, p.Protocol):
		return s, fmt.Errorf("unknown protocol %q (valid: text, json)", p.Protocol)
	case p.Jobs < 0 || p.MaxTokens != nil && *p.MaxTokens < 0 || p.MaxCost != nil && !(*p.MaxCost >= 0):
		return s, errors.New("jobs, max_tokens and max_cost cannot be negative")
	}
	return s, nil
}

type specPolicy struct {
	Main          string      `yaml:"main"`
	GateThreshold *threshold  `yaml:"gate_threshold"`
	GateUnknown   gateUnknown `yaml:"gate_unknown"`
}

// A threshold is the drift from which a spec blocks a commit. It is at least 1; a threshold of 0 would block every
// commit.
type threshold int

// UnmarshalYAML accepts whole numbers from 1.
func (t *threshold) UnmarshalYAML(n *yaml.Node) error {
	if n.ShortTag() != "!!int" || n.Decode((*int)(t)) != nil || *t < 1 {
		return fmt.Errorf("line %d: %q is not a whole number of at least 1", n.Line, n.Value)
	}
	return nil
}

// A gateUnknown says whether the gate blocks a commit that it could not judge.
type gateUnknown bool

// UnmarshalYAML accepts the words warn and block.
func (g *gateUnknown) UnmarshalYAML(n *yaml.Node) error {
	switch n.Value {
	case "block":
		*g = true
	case "warn":
		*g = false
	default:
		return fmt.Errorf("line %d: spec: unknown gate_unknown %q (valid: warn, block)", n.Line, n.Value)
	}
	return nil
}

type statePolicy struct {
	Dir         stateDir `yaml:"dir"`
	ArchiveRuns *whole   `yaml:"archive_runs"`
}

// A stateDir is the path of the workflow directory.
type stateDir string

// UnmarshalYAML accepts directories in the work tree.
func (s *stateDir) UnmarshalYAML(n *yaml.Node) error {
	if err := n.Decode((*string)(s)); err != nil {
		return err
	}
	if err := contract.CheckDir(string(*s)); err != nil {
		return fmt.Errorf("line %d: state: %w", n.Line, err)
	}
	return nil
}

// A whole is a whole number. The YAML decoder would accept 1.5 as 1.
type whole int

// UnmarshalYAML accepts whole numbers from 0.
func (w *whole) UnmarshalYAML(n *yaml.Node) error {
	if n.ShortTag() != "!!int" || n.Decode((*int)(w)) != nil || *w < 0 {
		return fmt.Errorf("line %d: %q is not a whole number of at least 0", n.Line, n.Value)
	}
	return nil
}

type registryPolicy struct {
	Exclude     []string      `yaml:"exclude"`
	Include     []string      `yaml:"include"`
	MaxBytes    int64         `yaml:"max_bytes"`
	StaleGrades []fresh.Grade `yaml:"stale_grades"`
}

// Load reads the policy of the work tree at root. It follows no link out of root.
func Load(root string) (Config, error) {
	b, err := read(root, Name)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, nil
	}
	if err != nil {
		return Config{}, &fault.Error{
			Hint: "correct " + Name + ", or move it aside to use the defaults",
			Err:  fmt.Errorf("read %s: %w", Name, err),
		}
	}
	return Parse(b)
}

// read reads a file of the work tree.
func read(root, name string) ([]byte, error) {
	// Most repositories do not have the file: check with one system call before opening anything.
	info, err := os.Lstat(root + "/" + name)
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, fs.ErrNotExist // .ken is a file of another program
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(b) > maxBytes {
		err = fmt.Errorf("larger than %d bytes", maxBytes)
	}
	return b, err
}

// Parse parses the text of a policy.
func Parse(b []byte) (Config, error) {
	var f file
	dec := yaml.NewDecoder(bytes.NewReader(b))
	dec.KnownFields(true)
	if err := dec.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, malformed(err)
	}
	c := Config{Registry: registry.Policy(f.Registry)}
	if err := c.Registry.Validate(); err != nil {
		return Config{}, malformed(atGlob(b, fmt.Errorf("registry: %w", err)))
	}
	c.Spec = Spec{Main: f.Spec.Main, Gate: spec.GatePolicy{BlockUnknown: bool(f.Spec.GateUnknown)}}
	if t := f.Spec.GateThreshold; t != nil {
		c.Spec.Gate.Threshold = int(*t)
	}
	var err error
	if c.Survey, err = f.Survey.policy(); err != nil {
		return Config{}, malformed(atGlob(b, fmt.Errorf("survey: %w", err)))
	}
	if c.Share, err = f.Share.policy(); err != nil {
		return Config{}, malformed(atGlob(b, fmt.Errorf("share: %w", err)))
	}
	if c.Team, err = team(f.Store, f.Team); err != nil {
		return Config{}, malformed(err)
	}
	if err := repo.CheckGlobs(f.Docs.Exclude); err != nil {
		return Config{}, malformed(atGlob(b, fmt.Errorf("docs: %w", err)))
	}
	for _, g := range f.Docs.OK { // an entry may also be a mention, which need not be a valid glob
		if err := repo.CheckGlobSize(g); err != nil {
			return Config{}, malformed(atGlob(b, fmt.Errorf("docs: %w", err)))
		}
	}
	c.Docs = docs.Policy(f.Docs)
	if f.Review.FailOn != nil {
		if c.Review.FailOn, err = review.ParseKinds(f.Review.FailOn); err != nil {
			return Config{}, malformed(fmt.Errorf("review: fail_on: %w", err))
		}
	}
	c.State = State{Dir: string(f.State.Dir), ArchiveRuns: (*int)(f.State.ArchiveRuns)}
	return c, nil
}

// atGlob adds the line of a refused glob to an error, as the decoder does.
func atGlob(text []byte, err error) error {
	refused, ok := errors.AsType[*repo.GlobError](err)
	if !ok {
		return err
	}
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil {
		return err
	}
	if line := lineOf(&doc, refused.Glob); line > 0 {
		return fmt.Errorf("line %d: %w", line, err)
	}
	return err
}

// lineOf returns the line of the first scalar with a value, 0 if there is none.
func lineOf(n *yaml.Node, value string) int {
	if n.Kind == yaml.ScalarNode && n.Value == value {
		return n.Line
	}
	for _, child := range n.Content {
		if line := lineOf(child, value); line > 0 {
			return line
		}
	}
	return 0
}

// malformed turns an error of the decoder into the form FILE:LINE: MESSAGE.
func malformed(err error) error {
	// Compile the expressions only in case of an error.
	atLine := regexp.MustCompile(`line (\d+): `)
	notAField := regexp.MustCompile(`field (\S+) not found in type \S+`)
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:\n"), "yaml: ")
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	place := Name
	if m := atLine.FindStringSubmatch(first); m != nil {
		place += ":" + m[1]
		first = strings.Replace(first, m[0], "", 1)
	}
	first = notAField.ReplaceAllString(first, "unknown field $1")
	return &fault.Error{
		Hint: "correct " + Name + ", or move it aside to use the defaults",
		Err:  fmt.Errorf("%s: %s", place, first),
	}
}

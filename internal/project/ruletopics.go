package project

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"ken/internal/repo"
)

// A topic is a subject of rules, with its importance for a change of code.
type topic struct {
	words  func() *regexp.Regexp
	weight int
}

// topics are looked for in this order: a rule has the first one that it names.
var topics = []topic{
	{lazyRegexp(`(?i)\bsign(?:ed)?[- ]?off\b|\bDCO\b|\bCLA\b|contributor licen[sc]e agreement|certificate of origin|\bsign (?:your|all|the|each) commits?|commits? (?:must|should) be signed`), 4},
	{lazyRegexp(`(?i)change[- ]?log|(?-i:\bCHANGES\b)|release notes?|news (?:entry|fragment|file)|change ?sets?\b|versionadded`), 4},
	{lazyRegexp(`(?i)\bAI\b|\bLLMs?\b|autonomous agents?`), 3},
	{lazyRegexp(`(?i)\bcommits?\b|subject line|\bsquash\w*|\brebas\w+`), 3},
	{lazyRegexp(`(?i)\bbranch(?:es)?\b`), 3},
	{lazyRegexp(`(?i)\bgenerated\b|\bregenerate\b|\bcodegen\b`), 3},
	{lazyRegexp(`(?i)\bformat(?:s|ted|ter|ting)?\b|\blint\w*|gofmt|go fmt|goimports|prettier|\bblack\b|\bruff\b|eslint|clippy|rustfmt|cargo fmt|pre-commit|\b(?:code|coding) (?:style|standards?|conventions?)|style ?guide|static analysis|type[- ]check\w*|checkstyle|line length|\bindent\w*`), 3},
	{lazyRegexp(`(?i)\btest(?:s|ed|ing)?\b|\bcoverage\b`), 3},
	{lazyRegexp(`(?i)breaking change|public (?:API|interface)|backwards?[- ]compat\w*|\bsemver\b|version numbers?|\bdeprecat\w*`), 2},
	{lazyRegexp(`(?i)\b(?:python|node(?:\.js)?|go|java|jdk|ruby|php|rust)\s*(?:version|v?\d)|\bMSRV\b|minimum (?:supported )?(?:\w+ )?version|supported (?:\w+ )?versions?`), 2},
	{lazyRegexp(`(?i)\bdocument(?:s|ed|ation)?\b|\bdocs\b|docstrings?|doc comments?|javadoc`), 2},
	{lazyRegexp(`(?i)\bdependenc(?:y|ies)\b|licen[sc]e header|copyright`), 2},
	{lazyRegexp(`(?i)\bCI\b|\bchecks? (?:pass|succeed|are green)`), 2},
	{lazyRegexp(`(?i)\bpull requests?\b|\bPRs?\b|\bpatch(?:es)?\b|merge requests?`), 2},
}

const (
	signTopic = 0  // the first of topics
	noTopic   = -1 // of a rule that names none of them
)

// topicOf returns the topic of a rule, noTopic for none.
func topicOf(text string) int {
	return slices.IndexFunc(topics, func(t topic) bool { return t.words().MatchString(text) })
}

var (
	strongWord = lazyRegexp(`(?i)\b(must|never|always|shall|(?:is|are) required|not allowed|forbidden|mandatory|do(?:es)? not accept|will not be (?:merged|accepted|considered)|will be (?:closed|rejected))\b|(?:^|[,;:.]\s|please\s|you\s|and\s|but\s|however,\s)(?:do not|don['’]t)\b`)
	refused    = lazyRegexp(`(?i)\b(?:is|are|will) not (?:be )?(?:welcome|accepted)\b`)
	forbids    = lazyRegexp(`^(?i)(?:please\s+)?(?:do not|don['’]t|never)\b`)
	softWord   = lazyRegexp(`(?i)\b(should|shouldn['’]t|(?:is|are) expected|avoid|prefer|ensure|make sure|be sure to|ought to|have to|has to|needs? to|needs? an?|we (?:require|expect|ask)|please)\b`)
	imperative = lazyRegexp(`^(?i)(?:(?:also|then|before [^,]{3,60}|after [^,]{3,60}|when [^,]{3,80}|if [^,]{3,80}|in [^,]{3,60}|for [^,]{3,60}),\s+)?(?:please\s+)?(?:use|run|add|keep|write|follow|put|name|update|place|include|document|format|import|return|handle|test|check|make|wrap|declare|register|regenerate|sign|rebase|squash|set|call|pass|start|prefix|commit|treat|create|submit|target|base|have|describe|provide|limit|verify|reference|mention|link|bump|no)\b`)
	// conversational matches sentences that are not rules, even if they contain words of rules.
	conversational = lazyRegexp(`(?i)^(?:although|so,|you may|you can|feel free|don['’]t (?:worry|hesitate|be|let)|do not (?:worry|hesitate|be afraid|be discouraged|let)|if you (?:wish|are an? (?:AI|LLM|bot|agent)|have (?:any|a|questions|trouble|problems)|find|would|want|are (?:not sure|unsure|new|unfamiliar|looking|interested)|think|like|propose|believe)|we (?:will|are|would|love|welcome)|it (?:is|was)|my |note that [^.]* do not (?:need|require)|for (?:full|more) (?:details|information)|this (?:guide|document|page|section)|see |read |watch |learn )|\bI\b|\b(?:could|will|can) always\b|\bplease (?:try|note|see|review|read|refer|feel|learn|reach|visit|join)\b|\bwe['’](?:d|ll|re)\b|\bthank|\bwelcom|\bencourag|\bappreciat|\bintimidat|\bfeel free\b|\bhappy to\b|\bcode of conduct\b|\bshould (?:see|output|look|work|appear|now|be able)\b|\bfollow (?:the|this|our|these) [^.]{0,60}\b(?:guide|instructions|steps|template|checklist)\b|bullet points?|guidelines below|\bstressed\b|\?$`)
	// procedure matches sentences about people and not about code: how to contact them, and steps on GitHub.
	procedure = lazyRegexp(`(?i)\b(bug reports?|report (?:an?|the) \w+|issues?|discord|slack|mailing list|forum|sponsor\w*|donat\w*|stack overflow|fork (?:the|your|it|and)|git (?:clone|remote|push|checkout|fetch|pull)|github account|labels?|maintainers?|collaborators?|reviewers?|contributors? (?:can|may)|screenshots?|security@|see instructions|vulnerabilit\w+|click|your fork)\b|^fork\b|^clone\b`)
	// sideHeading matches sections that are not about changes of code.
	sideHeading = lazyRegexp(`(?i)\b(bugs?|issues?|report\w*|questions?|support|security|governance|releas\w+|publish\w*|onboarding|offboarding|collaborators?|plugins?|community|conduct|translat\w*|donat\w*|sponsor\w*|maintainers?|reviewers?|triage|help|prerequisites?|set ?up|setting up|environment|flaky|find something|learn more|install\w*|fork\w*|clon\w+|fetching|previous versions|feature requests?|proposals?|becoming|ways to contribute|financial|benchmark\w*|certificate of origin|credits?|license)\b`)
	ruleHeading = lazyRegexp(`(?i)\b(rules?|conventions?|style|guidelines?|standards?|requirements?|principles|policy|checklist)\b`)
	workHeading = lazyRegexp(`(?i)\b(commits?|pull requests?|tests?|testing|submit\w*|code|coding)\b`)
	// continuation matches sentences that need the one before them.
	continuation = lazyRegexp(`^(?i)(?:it|this|these|they|however|in such cases|upon|also|otherwise|then)\b|\bof this\b`)
	noTouch      = lazyRegexp(`(?i)\b(edit|modify|change|touch|format|delete|remove|rename|move)\b`)
)

// forceOf returns how much a sentence obliges its reader: 0 for not at all, 4 for most.
func forceOf(text, heading string, item bool) int {
	switch {
	case refused().MatchString(text):
		return 3
	case conversational().MatchString(text):
		return 0
	case forbids().MatchString(text):
		return 4
	case strongWord().MatchString(text):
		return 3
	case softWord().MatchString(text):
		return 2
	case imperative().MatchString(text) && (item || topicOf(text) != noTopic):
		return 2
	case item && ruleHeading().MatchString(heading) && topicOf(text) != noTopic:
		return 1
	}
	return 0
}

// minScore is the least score of a rule that is not about a path in particular.
const minScore = 3

// score returns the importance of a rule for a change of code.
func (l *ruleLine) score() int {
	if l.force == 0 {
		return 0
	}
	n := l.force + 1
	if l.topic != noTopic {
		n = l.force + topics[l.topic].weight
	}
	if strings.Contains(l.text, "`") {
		n++
	}
	if l.bold {
		n++
	}
	if ruleHeading().MatchString(l.heading) || workHeading().MatchString(l.heading) {
		n++
	}
	if continuation().MatchString(l.text) {
		n--
	}
	if sideHeading().MatchString(l.section) && l.topic != signTopic {
		n -= 4
		if l.force > 3 {
			n += 2 // a plain prohibition holds wherever it stands
		}
	}
	if procedure().MatchString(l.text) {
		n -= 3
	}
	if strings.HasSuffix(l.text, ":") {
		n -= 3 // half a rule
	}
	return n
}

// pickRules returns the general rules that are worth most, each topic once before others come again.
func pickRules(list []rankedRule, most int) []rankedRule {
	var picked []rankedRule
	seen := make(map[int]int)
	left := slices.Clone(list)
	for len(picked) < most && len(left) > 0 {
		best, bestScore := 0, -1<<30
		for i, r := range left {
			if s := 2*r.score - 8*min(seen[r.topic], 2); s > bestScore {
				best, bestScore = i, s
			}
		}
		seen[left[best].topic]++
		picked = append(picked, left[best])
		left = slices.Delete(left, best, best+1)
	}
	return picked
}

var languageNames = lazyRegexp(`(?i)(?:\b(?:in|for|all|new|of|our)\s+(?:the\s+)?|^)(python|golang|go|rust|typescript|javascript|java|kotlin|ruby|php|c\+\+|c#|markdown|css|sql|shell|bash)\s+(?:code|files?|tests?|sources?|modules?|packages?|classes|scripts?|style|programs?)\b|^(?:in|for)\s+(python|golang|go|rust|typescript|javascript|java|kotlin|ruby|php|markdown)\b`)

// languageNamed returns the language of files that a rule is about, by its text or the heading above it; "" for any.
func (l *ruleLine) languageNamed() string {
	if lang := languageByName(l.heading); lang != "" {
		return lang
	}
	for _, m := range languageNames().FindAllStringSubmatch(l.text, -1) {
		for _, name := range m[1:] {
			if lang := languageByName(name); lang != "" {
				return lang
			}
		}
	}
	return ""
}

func languageByName(name string) string {
	first, rest, _ := strings.Cut(strings.ToLower(strings.TrimSpace(name)), " ")
	switch rest {
	case "", "code", "style", "guidelines", "conventions", "rules", "coding style", "style guide", "code style":
	default:
		return ""
	}
	switch first {
	case "go", "golang":
		return "go"
	case "typescript", "javascript", "typescript/javascript", "javascript/typescript", "ts":
		return "js"
	case "java", "kotlin":
		return "jvm"
	case "c++":
		return "c"
	case "c#":
		return "dotnet"
	case "python", "rust", "ruby", "php", "markdown", "css", "sql", "shell", "bash":
		return first
	}
	return ""
}

// ruleLanguage returns the language of a file as rules name it.
func ruleLanguage(file repo.Path) string {
	if lang := languageOf(file); lang != "" {
		return lang
	}
	switch strings.ToLower(path.Ext(file.Base())) {
	case ".md", ".markdown", ".mdx":
		return "markdown"
	case ".css", ".scss", ".less":
		return "css"
	case ".sql":
		return "sql"
	case ".sh", ".bash":
		return "shell"
	}
	return ""
}

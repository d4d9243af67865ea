package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
)

// surveyRecipe names the way repositories of code are generated, as recipe does.
const surveyRecipe = "1"

// A surveyPlan is the size of a repository of code.
type surveyPlan struct {
	directories int
	files       int // to a directory
	small       bool
}

func (p surveyPlan) total() int { return p.directories * p.files }

// surveyRepository returns a generated repository of code in many languages, made now
// unless an earlier run left it whole and clean.
func surveyRepository(ctx context.Context, cache string, env []string, plan surveyPlan) (string, error) {
	name := fmt.Sprintf("survey-v%s-%d-%d", surveyRecipe, plan.directories, plan.files)
	return repositoryOf(ctx, filepath.Join(cache, name), env, func(w io.Writer) error { return writeCode(w, plan) })
}

// writeCode writes one commit of all files, in git fast-import's format.
func writeCode(w io.Writer, plan surveyPlan) error {
	out := bufio.NewWriterSize(w, 1<<16)
	rng := rand.New(rand.NewPCG(2, uint64(plan.total())))
	fmt.Fprint(out, "commit refs/heads/main\ncommitter Bench <bench@example.com> 1700000000 +0000\ndata 9\ngenerated\n")
	for d := range plan.directories {
		for i := range plan.files {
			name, lang := codeFile(plan, d, i)
			most := size(rng)
			if plan.small {
				most = min(most, 600)
			}
			text := lang.text(rng, most)
			fmt.Fprintf(out, "M 100644 inline %s\ndata %d\n%s\n", name, len(text), text)
		}
	}
	return out.Flush()
}

// codeFile names a file of a directory and says what it is written in: most of a
// directory in one language, with a page about it and something beside.
func codeFile(plan surveyPlan, d, i int) (name string, in *codeLanguage) {
	in = &codeLanguages[d%len(codeLanguages)]
	name = fmt.Sprintf("%s_%d%s", vocabulary[25+(d+i)%20], i, in.ext)
	switch {
	case i == 0:
		in, name = &codePage, "README.md"
	case i%6 == 5:
		in = &codeBeside[(d+i)%len(codeBeside)]
		name = fmt.Sprintf("%s_%d%s", vocabulary[25+(d+i)%20], i, in.ext)
	}
	for ; d > 0; d = (d - 1) / fanOut {
		name = fmt.Sprintf("%s%d/%s", vocabulary[25+d%20], d, name)
	}
	return name, in
}

// A codeLanguage is how files of a language look: what they begin with, pieces of
// which they have as many as their size asks for, and what they end in. In all of
// them §N, §n and §w are names and §d is a sentence.
type codeLanguage struct {
	ext    string
	head   string
	pieces []string
	tail   string
}

// text returns a file of about so many bytes.
func (l *codeLanguage) text(rng *rand.Rand, most int) string {
	var b strings.Builder
	b.WriteString(named(rng, l.head))
	for b.Len() == 0 || b.Len() < most {
		b.WriteString(named(rng, l.pieces[rng.IntN(len(l.pieces))]))
	}
	b.WriteString(l.tail)
	return b.String()
}

// surveySeed makes another text for each round and side.
func surveySeed(round, side int) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(round), uint64(side)))
}

// named fills in names and sentences, the same name in all of a piece.
func named(rng *rand.Rand, piece string) string {
	word := func() string { return vocabulary[25+rng.IntN(20)] }
	upper := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
	a, b, n := word(), word(), fmt.Sprint(rng.IntN(10_000))
	return strings.NewReplacer(
		"§N", upper(a)+upper(b)+n, "§n", a+upper(b)+n, "§w", word(), "§i", n,
		"§d", fmt.Sprintf("keeps the %s of a %s until the %s has been asked for", a, b, word()),
	).Replace(piece)
}

var codeLanguages = []codeLanguage{
	{".go", "// Package store §d.\npackage store\n\nimport (\n\t\"context\"\n\t\"errors\"\n\t\"fmt\"\n\t\"sync\"\n)\n\n", []string{
		`// A §N §d.
type §N struct {
	mu    sync.Mutex
	items map[string][]byte // by name
	limit int
}

// New§N returns one that holds no more than limit items.
func New§N(limit int) *§N {
	return &§N{items: make(map[string][]byte), limit: limit}
}

// Add§N keeps an item, unless there are too many.
func (s *§N) Add§N(ctx context.Context, name string, item []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.items) >= s.limit {
		return fmt.Errorf("add %s: %w", name, err§N)
	}
	for k, v := range s.items {
		if k == name && len(v) > 0 { // it is there already
			continue
		}
	}
	s.items[name] = append([]byte(nil), item...)
	return ctx.Err()
}

var err§N = errors.New("too many items")

`,
		`// §n §d.
func §n(values []int, most int) (sum int, ok bool) {
	for i, v := range values {
		switch {
		case v < 0:
			return 0, false
		case i%2 == 0 && v <= most:
			sum += v * 2
		default:
			sum += v
		}
	}
	return sum, sum > §i
}

`,
	}, ""},
	{".py", "\"\"\"§d.\"\"\"\n\nimport os\nimport sys\nfrom typing import Any, Optional\n\n", []string{
		`
class §N:
    """§d."""

    limit = §i

    def __init__(self, name: str, items: Optional[list] = None) -> None:
        self.name = name
        self.items = items or []

    def add(self, item: Any, *, force: bool = False) -> bool:
        """Keep an item, unless there are too many."""
        if len(self.items) >= self.limit and not force:
            raise ValueError(f"too many items in {self.name}: {len(self.items)}")
        for i, other in enumerate(self.items):
            if other == item:  # it is there already
                return False
        self.items.append(item)
        return True

    @property
    def §n(self) -> dict[str, int]:
        return {k: len(v) for k, v in sorted(self.items) if v is not None}

`,
		`
def §n(values, most=§i):
    """§d."""
    total = 0
    for value in values:
        if value < 0:
            continue
        elif value % 2 == 0 and value <= most:
            total += value * 2
        else:
            total += value
    try:
        return os.path.join("§w", str(total))
    except OSError as err:
        print("failed", err, file=sys.stderr)
        return None

`,
	}, ""},
	{".ts", "/** @file §d. */\nimport { readFile } from \"node:fs/promises\";\nimport type { Request, Response } from \"./types\";\n\n", []string{
		`/** §d. */
export interface §NOptions {
  name: string;
  limit?: number;
  onChange?: (name: string, count: number) => void;
}

/** §d, by name. */
export class §N<T extends object> {
  private readonly items = new Map<string, T>();

  constructor(private options: §NOptions) {}

  /** Keeps an item, unless there are too many. */
  async add(name: string, item: T, force = false): Promise<boolean> {
    if (this.items.size >= (this.options.limit ?? §i) && !force) {
      throw new Error(` + "`too many items: ${this.items.size}`" + `);
    }
    const text = await readFile(name, "utf8");
    for (const [key, value] of this.items) {
      if (key === name && value !== item) {
        return false; // it is there already
      }
    }
    this.items.set(name, { ...item, text });
    this.options.onChange?.(name, this.items.size);
    return true;
  }
}

`,
		`/** §d. */
export function §n(values: number[], most: number = §i): number | undefined {
  let sum = 0;
  for (const v of values.filter((x) => x >= 0)) {
    sum += v % 2 === 0 && v <= most ? v * 2 : v;
  }
  return sum > 0 ? sum : undefined;
}

export type §NState = "open" | "closed" | { kind: "broken"; reason: string };

`,
	}, ""},
	{".java", "package com.example.store;\n\nimport java.util.ArrayList;\nimport java.util.List;\nimport java.util.Map;\n\n/** §d. */\npublic class Store {\n", []string{
		`    /** §d. */
    public static final class §N<T> implements Comparable<§N<T>> {
        private final String name;
        private final List<T> items = new ArrayList<>();
        private static final int LIMIT = §i;

        public §N(String name) {
            this.name = name;
        }

        /** Keeps an item, unless there are too many. */
        public boolean add(T item, boolean force) throws IllegalStateException {
            if (items.size() >= LIMIT && !force) {
                throw new IllegalStateException("too many items in " + name + ": " + items.size());
            }
            for (T other : items) {
                if (other.equals(item)) { // it is there already
                    return false;
                }
            }
            return items.add(item);
        }

        @Override
        public int compareTo(§N<T> other) {
            return name.compareTo(other.name);
        }
    }

`,
		`    /** §d. */
    protected int §n(Map<String, Integer> values, int most) {
        int sum = 0;
        for (Map.Entry<String, Integer> e : values.entrySet()) {
            int v = e.getValue();
            sum += v % 2 == 0 && v <= most ? v * 2 : v;
        }
        return Math.max(sum, §i);
    }

`,
	}, "}\n"},
	{".c", "/* §d. */\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n#include \"store.h\"\n\n#define LIMIT 64\n\n", []string{
		`struct §n_item {
	char *name;
	size_t size;
	struct §n_item *next;
};

/* §d. */
int §n_add(struct §n_item **list, const char *name, size_t size)
{
	struct §n_item *item;

	for (item = *list; item; item = item->next) {
		if (strcmp(item->name, name) == 0 && item->size != 0)
			return -1; /* it is there already */
	}
	item = malloc(sizeof(*item));
	if (item == NULL) {
		fprintf(stderr, "no memory for %s\n", name);
		return -2;
	}
	item->name = strdup(name);
	item->size = size;
	item->next = *list;
	*list = item;
	return 0;
}

`,
		`/* §d. */
static unsigned long §n(const int *values, int count, int most)
{
	unsigned long sum = 0;
	int i;

	for (i = 0; i < count; i++) {
		switch (values[i] % 3) {
		case 0:
			sum += values[i] <= most ? values[i] * 2 : §i;
			break;
		default:
			sum ^= (sum << 5) + values[i];
		}
	}
	return sum;
}

`,
	}, ""},
	{".rs", "//! §d.\n\nuse std::collections::HashMap;\nuse std::fmt;\n\n", []string{
		`/// §d.
#[derive(Debug, Clone)]
pub struct §N<T> {
    name: String,
    items: HashMap<String, T>,
    limit: usize,
}

impl<T: Clone + PartialEq> §N<T> {
    /// Returns one that holds no more than limit items.
    pub fn new(name: &str, limit: usize) -> Self {
        Self { name: name.to_string(), items: HashMap::new(), limit }
    }

    /// Keeps an item, unless there are too many.
    pub fn add(&mut self, key: &str, item: T) -> Result<bool, String> {
        if self.items.len() >= self.limit {
            return Err(format!("too many items in {}: {}", self.name, self.items.len()));
        }
        match self.items.get(key) {
            Some(other) if *other == item => Ok(false), // it is there already
            _ => {
                self.items.insert(key.to_string(), item);
                Ok(true)
            }
        }
    }
}

`,
		`/// §d.
pub fn §n(values: &[i64], most: i64) -> Option<i64> {
    let mut sum = 0;
    for v in values.iter().filter(|v| **v >= 0) {
        sum += if v % 2 == 0 && *v <= most { v * 2 } else { *v };
    }
    if sum > §i { Some(sum) } else { None }
}

`,
	}, ""},
	{".rb", "# frozen_string_literal: true\n\n# §d.\nmodule Store\n", []string{
		`  # §d.
  class §N
    LIMIT = §i

    attr_reader :name, :items

    def initialize(name, items = [])
      @name = name
      @items = items
    end

    # Keeps an item, unless there are too many.
    def add(item, force: false)
      raise ArgumentError, "too many items in #{name}: #{items.size}" if items.size >= LIMIT && !force
      return false if items.any? { |other| other == item }

      items << item
      true
    end
  end

`,
		`  # §d.
  def self.§n(values, most)
    values.each_with_index.sum do |v, i|
      if v.even? && v <= most
        v * 2
      else
        v + i
      end
    end
  end

`,
	}, "end\n"},
	{".cs", "using System;\nusing System.Collections.Generic;\n\nnamespace Example.Store\n{\n", []string{
		`    /// <summary>§d.</summary>
    public class §N<T> : IDisposable where T : class
    {
        private readonly List<T> _items = new List<T>();
        public string Name { get; private set; }

        public §N(string name)
        {
            Name = name;
        }

        /// <summary>Keeps an item, unless there are too many.</summary>
        public bool Add(T item, bool force = false)
        {
            if (_items.Count >= §i && !force)
            {
                throw new InvalidOperationException($"too many items in {Name}: {_items.Count}");
            }
            foreach (var other in _items)
            {
                if (other.Equals(item)) return false; // it is there already
            }
            _items.Add(item);
            return true;
        }

        public void Dispose() => _items.Clear();
    }

`,
	}, "}\n"},
	{".php", "<?php\n\nnamespace Example\\Store;\n\nuse InvalidArgumentException;\n\n", []string{
		`/**
 * §d.
 */
final class §N
{
    private array $items = [];

    public function __construct(private string $name, private int $limit = §i)
    {
    }

    /** Keeps an item, unless there are too many. */
    public function add(string $key, mixed $item, bool $force = false): bool
    {
        if (count($this->items) >= $this->limit && !$force) {
            throw new InvalidArgumentException("too many items in {$this->name}");
        }
        foreach ($this->items as $other => $value) {
            if ($other === $key && $value == $item) { // it is there already
                return false;
            }
        }
        $this->items[$key] = $item;
        return true;
    }
}

`,
	}, ""},
	{".js", "/**\n * @module store\n * §d.\n */\nconst fs = require(\"fs\");\n\n", []string{
		`/** §d. */
class §N {
  constructor(name, limit = §i) {
    this.name = name;
    this.limit = limit;
    this.items = new Map();
  }

  /** Keeps an item, unless there are too many. */
  add(key, item, { force = false } = {}) {
    if (this.items.size >= this.limit && !force) {
      throw new Error("too many items in " + this.name);
    }
    for (const [other, value] of this.items) {
      if (other === key && value === item) return false; // it is there already
    }
    this.items.set(key, item);
    return true;
  }
}

`,
		`/** §d. */
exports.§n = function (values, most) {
  return values
    .filter((v) => v >= 0)
    .map((v, i) => (v % 2 === 0 && v <= most ? v * 2 : v + i))
    .reduce((a, b) => a + b, 0);
};

`,
	}, ""},
	{".cpp", "// §d.\n#include <map>\n#include <string>\n#include <vector>\n\nnamespace store {\n\n", []string{
		`// §d.
template <typename T>
class §N {
 public:
  explicit §N(std::string name, size_t limit = §i) : name_(std::move(name)), limit_(limit) {}
  virtual ~§N() = default;

  // Keeps an item, unless there are too many.
  bool Add(const std::string& key, const T& item) {
    if (items_.size() >= limit_) {
      return false;
    }
    for (const auto& entry : items_) {
      if (entry.first == key && entry.second == item) return false;
    }
    items_[key] = item;
    return true;
  }

 private:
  std::string name_;
  size_t limit_;
  std::map<std::string, T> items_;
};

`,
		`// §d.
static int §n(const std::vector<int>& values, int most) {
  int sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    sum += values[i] % 2 == 0 && values[i] <= most ? values[i] * 2 : values[i];
  }
  return sum > §i ? sum : -1;
}

`,
	}, "}  // namespace store\n"},
}

// codePage is what a directory says of itself.
var codePage = codeLanguage{".md", "# §N\n\nThis part §d. It §d.\n\n", []string{
	"## §N\n\nIt §d, and `§n` §d. See [the other page](../README.md).\n\n- one that §d\n- another: `§w`\n\n```\n§n --limit §i\n```\n\n",
}, ""}

// codeBeside is what lies beside code.
var codeBeside = []codeLanguage{
	{".sh", "#!/bin/sh\n# §d.\nset -eu\n\n", []string{`# §d.
§n() {
  local name="$1"
  if [ -z "$name" ]; then
    echo "usage: §n NAME" >&2
    return 1
  fi
  for f in "$name"/*.txt; do
    [ -e "$f" ] || continue
    grep -q "§w" "$f" && echo "${f##*/}: §i"
  done
}

`}, ""},
	{".json", "{\n  \"name\": \"store\",\n", []string{"  \"§n\": {\"limit\": §i, \"title\": \"§d\", \"tags\": [\"§w\", \"§w\"]},\n"}, "  \"end\": true\n}\n"},
	{".yaml", "# §d\n", []string{"§n:\n  limit: §i\n  title: §d\n  tags: [§w]\n"}, ""},
	{".css", "/* §d */\n", []string{".§n {\n  margin: 0 §ipx;\n  color: #333;\n}\n\n"}, ""},
}

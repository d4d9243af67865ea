package project_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"ken/internal/project"
	"ken/internal/repo"
)

// Each test file marks the lines that use something with USE. The command runs the tests with these lines, and no others.
func TestTestCaseCommand(t *testing.T) {
	for _, tt := range []struct {
		name, file, want string
		archive          string
	}{
		{"go", "a/a_test.go", "go test ./a -run '^(TestOne|TestTwo)$'", `
-- go.mod --
module m
-- a/a_test.go --
package a

import "m/use" // USE

var table = []int{
	use(1), // USE
}

func TestOne(t *testing.T) {
	for range table {
		use() // USE
	}
}

func TestRaw(t *testing.T) {
	text := ` + "`" + `
at the margin
` + "`" + `
}

func TestTwo(
	t *testing.T,
) {
	t.Run("x", func(t *testing.T) {
		use() // USE
	})
}

func BenchmarkOne(b *testing.B) {
	use() // USE
}
`},
		{"go: one test", "a_test.go", "go test . -run '^TestOne$'", "-- go.mod --\nmodule m\n-- a_test.go --\npackage a\n\nfunc TestOne(t *testing.T) { use() } // USE\n"},
		{"go: TestMain is no test", "a_test.go", "", "-- go.mod --\nmodule m\n-- a_test.go --\npackage a\n\nfunc TestMain(m *testing.M) { use() } // USE\n"},
		{"go: tests of another system", "a_windows_test.go", "", "-- go.mod --\nmodule m\n-- a_windows_test.go --\npackage a\n\nfunc TestOne(t *testing.T) { use() } // USE\n"},
		{"cargo: a raw name", "tests/api.rs", "cargo test --test api 'r#move'", "-- Cargo.toml --\n[package]\nname = \"x\"\n-- tests/api.rs --\n#[test]\nfn r#move() {\n    use(); // USE\n}\n"},
		{"unittest", "tests/test_a.py", "python -m unittest tests.test_a.Cart.test_one tests.test_a.Cart.test_two", `
-- tests/test_a.py --
import unittest

class Cart(unittest.TestCase):
    def test_one(self):
        use()  # USE

    async def test_two(self):
        use()  # USE

    def test_three(self):
        pass
`},
		{"unittest: a function that it does not run", "test_a.py", "", "-- test_a.py --\nclass A(unittest.TestCase):\n    pass\n\ndef test_a():\n    use()  # USE\n"},
		{"pytest: a class that it does not look into", "test_a.py", "", "-- pytest.ini --\n-- test_a.py --\nclass Helper:\n    def test_a(self):\n        use()  # USE\n"},
		{"a package below", "web/test/a.test.js", "(cd web && npx vitest run test/a.test.js -t adds)", "-- web/package.json --\n{\"scripts\": {\"test\": \"vitest\"}}\n-- web/test/a.test.js --\nit('adds', () => {\n  use() // USE\n})\n"},
		{"go: only benchmarks", "a_test.go", "go test . -run '^$' -bench '^BenchmarkOne$'", "-- go.mod --\nmodule m\n-- a_test.go --\npackage a\n\nfunc BenchmarkOne(b *testing.B) {\n\tuse() // USE\n}\n"},
		{"go: a helper counts for the tests that call it", "a_test.go", "go test . -run '^(TestA|TestC)$'", `
-- go.mod --
module m
-- a_test.go --
package a

func newStore(t *testing.T) *Store {
	return use() // USE
}

func TestA(t *testing.T) {
	s := newStore(t)
}

func TestB(t *testing.T) {
	s := newStoreOfOthers(t)
}

func TestC(t *testing.T) {
	s := newStore(t)
}
`},
		{"pytest", "tests/test_cart.py", "pytest tests/test_cart.py::TestCart::test_total tests/test_cart.py::test_alone", `
-- pyproject.toml --
[tool.pytest.ini_options]
-- tests/test_cart.py --
from shop import use  # USE


class TestCart:
    def test_empty(self):
        pass

    def test_total(
        self,
    ):
        if True:
            use()  # USE


async def test_alone():
    class Fake:
        value = use()  # USE
`},
		{"pytest: a fixture", "test_a.py", "pytest test_a.py::test_x", `
-- pyproject.toml --
[tool.pytest.ini_options]
-- test_a.py --
@pytest.fixture
def app():
    return use()  # USE


def test_x(app):
    pass


def test_y():
    pass
`},
		{"cargo: a module of the library", "src/parse.rs", "cargo test --lib -- parse::tests::one parse::tests::two", `
-- Cargo.toml --
[package]
name = "shop"
-- src/lib.rs --
mod parse;
-- src/parse.rs --
fn used() {}

#[cfg(test)]
mod tests {
    #[test]
    fn one() {
        used(); // USE
    }

    #[tokio::test]
    #[ignore]
    async fn two() {
        used(); // USE
    }

    #[test]
    fn three() {}
}
`},
		{"cargo: an integration test", "tests/api.rs", "cargo test --test api one", `
-- Cargo.toml --
[package]
name = "shop"
-- tests/api.rs --
use shop::used; // USE

#[test]
fn one() {
    used(); // USE
}
`},
		{"cargo: a macro", "tests/api.rs", "cargo test --test api r123", `
-- Cargo.toml --
[package]
name = "shop"
-- tests/api.rs --
rgtest!(r123, |dir: Dir| {
    used(); // USE
});
`},
		{"vitest", "a.test.ts", "npx vitest run a.test.ts -t 'adds \\(one\\)|it'\\''s two'", `
-- package.json --
{"scripts": {"test": "vitest"}}
-- a.test.ts --
import { use } from './a' // USE
describe('sum', () => {
  it('adds (one)', async () => {
    use() // USE
  })
  it('other', () => {})
  it("it's two", () => {
    use() // USE
  })
})
`},
		{"jest: a use between tests runs the block", "a.test.js", "npx jest a.test.js -t sum", `
-- package.json --
{"scripts": {"test": "jest"}}
-- a.test.js --
describe('sum', () => {
  const app = use() // USE
  it('adds', () => {})
})
`},
		{"jest: a computed title", "a.test.js", "npx jest a.test.js -t 'adds in'", `
-- package.json --
{"scripts": {"test": "jest"}}
-- a.test.js --
it.each(all)(` + "`adds`" + `, () => {})
it(` + "`adds in ${name} mode`" + `, () => {
  use() // USE
})
`},
		{"node", "a.test.js", "node --test --test-name-pattern 'adds two' a.test.js", `
-- package.json --
{"scripts": {"test": "node --test"}}
-- a.test.js --
test('adds two', async t => {
  await t.test('inside', () => {
    use() // USE
  })
})
`},
		{"borp is node's runner", "test/a.test.js", "node --test --test-name-pattern 'adds two' test/a.test.js", `
-- package.json --
{"scripts": {"test": "npm run unit", "unit": "borp --reporter=x"}}
-- test/a.test.js --
test('adds two', t => {
  use() // USE
})
`},
		{"maven", "src/test/java/CartTest.java", "mvn -Dtest=CartTest#total+empty test", `
-- pom.xml --
<project></project>
-- src/test/java/CartTest.java --
package shop;

public class CartTest {
  @Test
  public void total() {
    use(); // USE
  }

  @Test(expected = X.class)
  public void empty() throws Exception {
    use(); // USE
  }

  @Test
  public void other() {}
}
`},
		{"gradle", "src/test/java/CartTest.java", "gradle test --tests shop.CartTest.total", `
-- build.gradle --
-- src/test/java/CartTest.java --
package shop;

public class CartTest {
  @Test
  public void total() {
    use(); // USE
  }
}
`},
		{"rspec", "spec/cart_spec.rb", "rspec spec/cart_spec.rb:2:6", `
-- .rspec --
-- spec/cart_spec.rb --
describe Cart do
  it "adds" do
    use # USE
  end

  it "drops" do
    use # USE
  end
end
`},
		{"phpunit", "tests/CartTest.php", `vendor/bin/phpunit tests/CartTest.php --filter '/::(testTotal)\b/'`, `
-- composer.json --
{"require-dev": {"phpunit/phpunit": "^10"}}
-- tests/CartTest.php --
<?php
class CartTest extends TestCase
{
    public function testTotal(): void
    {
        use(); // USE
    }
}
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := open(t, tt.archive)
			_, content, _ := strings.Cut(tt.archive, "-- "+tt.file+" --\n")
			var lines []int
			for i, line := range strings.Split(content, "\n") {
				if strings.Contains(line, "USE") {
					lines = append(lines, i+1)
				}
			}
			got, ok := p.TestCaseCommand(repo.Path(tt.file), p.TestCasesAt(repo.Path(tt.file), lines))
			if ok != (tt.want != "") || got.Run != tt.want {
				t.Errorf("got %q, %v; want %q", got.Run, ok, tt.want)
			}
		})
	}
}

// Of any set of test functions exactly those are found that contain one of the lines, and the command names each of them.
func TestTestCasesAtNamesExactlyTheTests(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		content := "package a\n"
		var lines []int
		want := ""
		used := 0
		for i := range rng.IntN(16) {
			content += fmt.Sprintf("\nfunc Test%d(t *testing.T) {\n", i)
			uses := false
			for range rng.IntN(4) {
				content += strings.Repeat("\t", 1+rng.IntN(3)) + "call()\n"
				if rng.IntN(4) == 0 {
					uses = true
					lines = append(lines, strings.Count(content, "\n"))
				}
			}
			content += "}\n"
			if uses {
				used++
				want += fmt.Sprintf("Test%d ", i)
			}
		}
		p := open(t, "-- go.mod --\nmodule m\n-- a_test.go --\n"+content)
		cases := p.TestCasesAt("a_test.go", lines)
		got := ""
		for _, c := range cases {
			got += c.Name + " "
		}
		if got != want {
			t.Fatalf("lines %v are in %q; want %q in\n%s", lines, got, want, content)
		}
		cmd, ok := p.TestCaseCommand("a_test.go", cases)
		if ok != (used > 0 && used <= 10) {
			t.Fatalf("%d tests have a command: %v", used, ok)
		}
		if n := len(regexp.MustCompile(`Test\d`).FindAllString(cmd.Run, -1)); ok && n != used {
			t.Fatalf("%q names %d tests; want %d", cmd.Run, n, used)
		}
	}
}

// Lines outside of the file, unknown languages and files that are no tests have no tests; nothing fails.
func TestTestCasesAtBadInput(t *testing.T) {
	p := open(t, "-- go.mod --\nmodule m\n-- a_test.go --\npackage a\n-- b.txt --\nx\n")
	for _, file := range []repo.Path{"a_test.go", "b.txt", "gone_test.go"} {
		if cases := p.TestCasesAt(file, []int{-1, 0, 1, 1 << 30}); len(cases) > 0 {
			t.Errorf("%s has tests %v; want none", file, cases)
		}
	}
	if _, ok := p.TestCaseCommand("a_test.go", []project.TestCase{}); ok {
		t.Error("a command without tests; want none")
	}
}

package outline

import "testing"

// The number of arguments of a call follows from the parameters of a signature.
func TestArguments(t *testing.T) {
	const any = NoMost
	for _, c := range []struct {
		lang        Language
		kind        Kind
		signature   string
		least, most int
		unknown     bool
	}{
		{Go, Method, "func (s *Store) get(key string) (string, error)", 1, 1, false},
		{Go, Method, "func (s *Store[K, V]) get(a, b K, f func(x, y int) error) error", 3, 3, false},
		{Go, Method, "get()", 0, 0, false},
		{Go, Func, "func get(format string, args ...any)", 1, any, false},
		{TypeScript, Method, "get(this: Store, key: string, n?: number, m = 3): void", 1, 3, false},
		{TypeScript, Method, "get<T>(...keys: Array<[string, T]>)", 0, any, false},
		{TypeScript, Method, "get = 3", 0, 0, true},
		{JavaScript, Method, "get(key)", 0, 0, true}, // a call may have more
		{Python, Method, "def get(self, key, /, n=1, *, m: int = 2, flag)", 2, 5, false},
		{Python, Method, "@staticmethod def get(key)", 1, 1, false},
		{Python, Method, "def get(self, *args, **options)", 0, any, false},
		{Python, Method, "@cached def get(self, key)", 0, 0, true},
		{Rust, Method, "pub fn get<T>(&mut self, key: (u8, u8), f: impl Fn(u8, u8) -> u8) -> u8", 2, 2, false},
		{Rust, Method, "fn get(self: Box<Self>)", 0, 0, false},
		{Rust, Method, "fn get<'a>(&'a self, key: &'a str)", 0, 0, true},
		{Rust, Func, "pub fn get(myself: u8)", 1, 1, false},
		{Java, Method, "void get(int a)", 0, 0, true},
		{Go, Var, "get = f(a, b)", 0, 0, true},
	} {
		s := Symbol{Kind: c.kind, Name: "get", Signature: c.signature}
		least, most, ok := s.Arguments(c.lang)
		isRight := least == c.least && min(most, any) == c.most
		if ok == c.unknown || ok && !isRight {
			t.Errorf("%s %s: %d to %d, known: %t, expected %d to %d", c.lang, c.signature, least, most, ok, c.least, c.most)
		}
	}
	s := Symbol{Kind: Method, Name: "Get", Signature: "Get(key string) (value string, err error)"}
	if n, ok := s.Results(); n != 2 || !ok {
		t.Errorf("%s has %d results, expected 2", s.Signature, n)
	}
}

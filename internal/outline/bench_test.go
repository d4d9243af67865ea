package outline

import "testing"

// Of reads a few megabytes a second; the grammar is loaded before.
func BenchmarkOf(b *testing.B) {
	for _, s := range samples(b) {
		b.Run(string(s.path), func(b *testing.B) {
			if _, err := Of(s.path, s.src); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(s.src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Of(s.path, s.src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package outline_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ken/internal/outline"
	"ken/internal/repo"
)

var (
	corpus     = flag.String("corpus", "", "directories, parted by commas, whose files' outlines are compared")
	corpusSums = flag.String("corpus-sums", "", "file with the digests of an earlier run; written if it does not exist")
)

// The outlines of real repositories are the same as in an earlier version. Run the test in the earlier version
// first, with the same flags.
//
//	go test ./internal/outline -run Corpus -corpus ../a,../b -corpus-sums /tmp/sums
func TestCorpus(t *testing.T) {
	if *corpus == "" || *corpusSums == "" {
		t.Skip("no -corpus or no -corpus-sums")
	}
	oldSums := make(map[string]string)
	known, err := os.Open(*corpusSums)
	if err == nil {
		for lines := bufio.NewScanner(known); lines.Scan(); {
			sum, name, _ := strings.Cut(lines.Text(), " ")
			oldSums[name] = sum
		}
		known.Close()
	}
	var out strings.Builder
	files, outlines, bytes, differ := 0, 0, 0, 0
	for _, dir := range strings.Split(*corpus, ",") {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && d.Name() == ".git" {
				if err == nil {
					err = fs.SkipDir
				}
				return err
			}
			if !d.Type().IsRegular() || !outline.MayHaveOutline(repo.Path(filepath.ToSlash(name))) {
				return nil
			}
			content, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			files++
			o, err := outline.Parse(repo.Path(filepath.ToSlash(name)), content)
			text, _ := json.Marshal(o)
			if err != nil {
				text = []byte(err.Error())
			} else {
				outlines++
				bytes += len(content)
			}
			sum := fmt.Sprintf("%x", sha256.Sum256(text))
			fmt.Fprintf(&out, "%s %q\n", sum, name)
			if known != nil {
				if old := oldSums[fmt.Sprintf("%q", name)]; old != sum {
					if differ++; differ <= 20 {
						t.Errorf("the outline of %s changed: %.300s", name, text)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d files, %d outlines of %d bytes, %d differ", files, outlines, bytes, differ)
	if known == nil {
		if err := os.WriteFile(*corpusSums, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

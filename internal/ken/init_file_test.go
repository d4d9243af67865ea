package ken_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"ken/internal/config"
	"ken/internal/install"
	"ken/internal/ken"
)

// The configuration that ken install git creates is the default one. Without the comment signs, each of its lines is
// valid.
func TestConfigOfInit(t *testing.T) {
	for _, f := range install.SetupFiles {
		if f.Path != config.Name {
			continue
		}
		made, err := ken.ParseConfig([]byte(f.Text))
		if err != nil {
			t.Fatal(err)
		}
		none, err := ken.ParseConfig(nil)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(made, none) {
			t.Errorf("the file of ken install git changes the default: %+v", made)
		}
		all := regexp.MustCompile(`(?m)^#([^ ]|  )`).ReplaceAllString(f.Text, "$1")
		if _, err := ken.ParseConfig([]byte(all)); err != nil {
			t.Errorf("the file of ken install git is invalid without its comment signs: %v\n%s", err, all)
		}
		if strings.Count(all, "\n#") > 2 {
			t.Errorf("some lines are never YAML:\n%s", all)
		}
		return
	}
	t.Errorf("ken install git does not create %s", config.Name)
}

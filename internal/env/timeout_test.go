package env_test

import (
	"testing"
	"time"

	"ken/internal/env"
	"ken/internal/fault"
)

func TestTimeout(t *testing.T) {
	const variable = "KEN_TEST_TIMEOUT"
	for text, want := range map[string]time.Duration{
		"": time.Minute, "90s": 90 * time.Second, "2": 2 * time.Second, "0.5": 500 * time.Millisecond, "1m30s": 90 * time.Second,
	} {
		t.Setenv(variable, text)
		if got, err := env.Timeout(variable, time.Minute); err != nil || got != want {
			t.Errorf("%s=%q gives %v, %v; want %v", variable, text, got, err, want)
		}
	}
	for _, text := range []string{"0", "-1s", "soon", "NaN"} {
		t.Setenv(variable, text)
		if got, err := env.Timeout(variable, time.Minute); fault.KindOf(err) != fault.Usage || fault.HintOf(err) == "" {
			t.Errorf("%s=%q gives %v, %v; want a usage error with a hint", variable, text, got, err)
		}
	}
}

// Package env reads settings from environment variables.
package env

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"ken/internal/fault"
)

// Timeout returns the duration in an environment variable: a Go duration such as 90s, or
// a number of seconds. It returns unset if the variable is empty, and an error for
// anything that is not a duration above zero.
func Timeout(variable string, unset time.Duration) (time.Duration, error) {
	s := os.Getenv(variable)
	if s == "" {
		return unset, nil
	}
	d, err := time.ParseDuration(s)
	if n, numErr := strconv.ParseFloat(s, 64); numErr == nil {
		d, err = time.Duration(n*float64(time.Second)), nil
	}
	if err != nil || d <= 0 {
		return 0, &fault.Error{
			Kind: fault.Usage,
			Hint: "for example: export " + variable + "=90s",
			Err:  fmt.Errorf("%s is %q: want a duration above zero", variable, s),
		}
	}
	return d, nil
}
